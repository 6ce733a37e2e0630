// Visitors of statements and expressions, for code that analyses or rewrites a program.
//
// Each function accepts const and mutable programs. The order is source order: a statement before the statements in its
// blocks, an expression before its operands.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include "ir/module.hpp"

namespace assay::ir {

/// A visitor for std::visit that combines one lambda per alternative.
template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

template <class T, class Base>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Base>;

/// Calls visit(Block&) for each block directly inside the statement.
template <MaybeConst<Stmt> Statement, class Visit>
void for_each_child_block(Statement& statement, Visit&& visit) {
  std::visit(Overloaded{
                 [&](MaybeConst<If> auto& node) {
                   visit(node.then_block);
                   visit(node.else_block);
                 },
                 [&](MaybeConst<For> auto& node) { visit(node.body); },
                 [&](MaybeConst<While> auto& node) { visit(node.body); },
                 [](auto&) {},
             },
             statement.node);
}

/// Calls visit(Stmt&) for each statement of the block, including nested blocks.
template <MaybeConst<Block> AnyBlock, class Visit>
void for_each_statement(AnyBlock& block, Visit&& visit) {
  for (auto& statement : block.statements) {
    visit(statement);
    for_each_child_block(statement, [&](auto& inner) { for_each_statement(inner, visit); });
  }
}

/// Calls visit(int32&) with the index of the called function, for each call in the body of a function.
template <MaybeConst<Function> AnyFunction, class Visit>
void for_each_call(AnyFunction& function, Visit&& visit) {
  for (auto& expr : function.expressions)
    if (expr.kind == ExprKind::kCall) visit(expr.index);
  for_each_statement(function.body, [&](auto& statement) {
    if (auto* call = std::get_if<Call>(&statement.node)) visit(call->function);
  });
}

/// Calls visit(ExprId&) for each expression that the statement itself evaluates, excluding absent expressions and
/// expressions of nested blocks.
template <MaybeConst<Stmt> Statement, class Visit>
void for_each_root_expression(Statement& statement, Visit&& visit) {
  const auto one = [&](auto& id) {
    if (id != kNone) visit(id);
  };
  const auto all = [&](auto& ids) {
    for (auto& id : ids)
      one(id);
  };
  std::visit(Overloaded{
                 [&](MaybeConst<Let> auto& node) { one(node.value); },
                 [&](MaybeConst<Assign> auto& node) { one(node.value); },
                 [&](MaybeConst<Store> auto& node) { one(node.array), all(node.indices), one(node.value); },
                 [&](MaybeConst<Atomic> auto& node) {
                   one(node.array), all(node.indices), one(node.compare_operand), one(node.value);
                 },
                 [&](MaybeConst<Call> auto& node) { all(node.args); },
                 [&](MaybeConst<If> auto& node) { one(node.condition); },
                 [&](MaybeConst<For> auto& node) { one(node.start), one(node.stop), one(node.step); },
                 [&](MaybeConst<While> auto& node) { one(node.condition); },
                 [&](MaybeConst<Return> auto& node) { all(node.values); },
                 [](auto&) {},
             },
             statement.node);
}

/// Calls visit(VarId&) for each variable that the statement itself declares.
template <MaybeConst<Stmt> Statement, class Visit>
void for_each_declared_variable(Statement& statement, Visit&& visit) {
  std::visit(Overloaded{
                 [&](MaybeConst<Let> auto& node) { visit(node.variable); },
                 [&](MaybeConst<Atomic> auto& node) {
                   if (node.result != kNone) visit(node.result);
                 },
                 [&](MaybeConst<Call> auto& node) {
                   for (auto& result : node.results)
                     visit(result);
                 },
                 [&](MaybeConst<For> auto& node) { visit(node.variable); },
                 [](auto&) {},
             },
             statement.node);
}

/// Calls visit(ExprId, const Expr&) for the root, unless it is kNone, and for every operand below it. A shared node is
/// visited once for each parent.
template <class Visit>
void for_each_expression(const Function& function, ExprId root, Visit&& visit) {
  if (root == kNone) return;
  const Expr& expr = function.expr(root);
  visit(root, expr);
  for (const ExprId arg : expr.args)
    for_each_expression(function, arg, visit);
}

}  // namespace assay::ir
