// Mutations of loops and branches of the backward kernel.
#include <algorithm>

#include <fmt/format.h>

#include "harness/mutation/analyses.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

bool works_on_gradients_inside(const MutationContext& context, const Stmt& statement) {
  bool works = false;
  for_each_child_block(statement, [&](const Block& block) {
    for_each_statement(block, [&](const Stmt& inner) { works = works || context.works_on_gradients(inner); });
  });
  return works;
}

void find_loops(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const Stmt& statement = *context.statements[s].statement;
    const auto* loop = std::get_if<For>(&statement.node);
    if (loop == nullptr || !works_on_gradients_inside(context, statement)) continue;
    const Expr& step = context.function.expr(loop->step);
    const bool reversed = step.kind == ExprKind::kLiteral && static_cast<std::int64_t>(step.bits) < 0;
    // Independent iterations may run in any order.
    if (op == MutationOperator::kLoopRunsForward && (!reversed || is_order_independent(context, *loop))) continue;
    const ExprId start = loop->start, stop = loop->stop, stride = loop->step;
    const Type type = context.function.expr(start).type;
    found.push_back({op, s, statement.loc,
                     fmt::format("{}: loop over '{}'", row(op).change, name_of(context, loop->variable)),
                     [=](FunctionEditor& edit) {
                       Builder& make = edit.make();
                       auto& changed = std::get<For>(edit.at(s).node);
                       if (op == MutationOperator::kLoopRunsForward) {
                         const ExprId unit = make.literal(type, std::int64_t{1});
                         changed.start = make.op(Op::kAdd, {stop, unit});
                         changed.stop = make.op(Op::kAdd, {start, unit});
                         changed.step = unit;
                       } else {
                         const Op away = op == MutationOperator::kOneIterationMore ? Op::kSub : Op::kAdd;
                         changed.start = make.op(away, {start, stride});
                       }
                     }});
  }
}

bool is_comparison(const MutationContext& context, ExprId root) {
  const Expr& expr = context.function.expr(root);
  return expr.kind == ExprKind::kOperation &&
         (ir::row(expr.op).rule == TypeRule::kOrderedComparison || ir::row(expr.op).rule == TypeRule::kEquality);
}

/// The root expression of the statement that contains the place.
ExprId node_root(const MutationContext& context, std::size_t s, const ExpressionPosition& place) {
  return roots_of(*context.statements[s].statement)[place.root];
}

void find_changed_decisions(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const Stmt& statement = *context.statements[s].statement;
    const auto* branch = std::get_if<If>(&statement.node);
    const auto* let = std::get_if<Let>(&statement.node);
    const bool decides =
        branch != nullptr || (let != nullptr && let->value != kNone && is_comparison(context, let->value));
    if (!decides) continue;
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      if (expr.kind != ExprKind::kVariable || !expr.type.is_value()) return;
      const Variable& own = context.function.var(expr.variable);
      if (!context.is_from_source(expr.variable)) return;
      for (const VarId v : context.visible(s)) {
        const Variable& other = context.function.var(v);
        if (v == expr.variable || other.type != own.type || other.name != own.name) continue;
        if (origin_of(context, v) == origin_of(context, expr.variable) ||
            is_loaded_with_same_indices(context, v, expr.variable))
          continue;
        if (context.known_ranges.truth(node_root(context, s, node.position))) continue;
        const ExpressionPosition place = node.position;
        found.push_back({MutationOperator::kBranchOnOtherVersion, s, statement.loc,
                         fmt::format("a branch condition uses an earlier or later value of '{}'", own.name),
                         [=](FunctionEditor& edit) { edit.replace(place, edit.make().var(v)); }});
      }
    });
  }
}

void find_branches(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const Stmt& statement = *context.statements[s].statement;
    const auto* branch = std::get_if<If>(&statement.node);
    if (branch == nullptr || !works_on_gradients_inside(context, statement)) continue;
    if (op == MutationOperator::kBranchNegated) {
      const ExprId condition = branch->condition;
      found.push_back({op, s, statement.loc, "a branch is negated", [=](FunctionEditor& edit) {
                         std::get<If>(edit.at(s).node).condition = edit.make().op(Op::kNot, {condition});
                       }});
      continue;
    }
    const auto skip = [&](bool then, const Block& arm) {
      const bool works = std::ranges::any_of(arm.statements, [&](const Stmt& inner) {
        return context.works_on_gradients(inner) || works_on_gradients_inside(context, inner);
      });
      if (!works) return;
      found.push_back({op, s, statement.loc, fmt::format("the {} branch of an if is skipped", then ? "first" : "else"),
                       [=](FunctionEditor& edit) {
                         auto& changed = std::get<If>(edit.at(s).node);
                         (then ? changed.then_block : changed.else_block).statements.clear();
                       }});
    };
    skip(true, branch->then_block);
    skip(false, branch->else_block);
  }
}

/// Whether the statements after the declaration read the variable before they assign it.
bool read_first(const MutationContext& context, std::size_t declaration, VarId variable) {
  for (std::size_t s = declaration + 1; s < context.statements.size(); ++s) {
    const Stmt& statement = *context.statements[s].statement;
    for (const ExprId root : roots_of(statement)) {
      if (std::ranges::binary_search(variables_read(context.function, root), variable)) return true;
    }
    const auto* assign = std::get_if<Assign>(&statement.node);
    if (assign != nullptr && assign->variable == variable) return false;
  }
  return false;
}

void find_counters(const MutationContext& context, std::vector<Mutation>& found) {
  const std::vector<VarId> assigned = assigned_variables(context.function.body);
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* let = std::get_if<Let>(&context.statements[s].statement->node);
    if (let == nullptr || !context.in_loop(s)) continue;
    const bool constant = let->value == kNone || context.function.expr(let->value).kind == ExprKind::kLiteral;
    if (!constant || !context.function.var(let->variable).type.is_integer_scalar()) continue;
    // The counter that counts checkpoints down returns to the first by itself.
    if (context.function.var(let->variable).name == "checkpoint") continue;
    if (!std::ranges::binary_search(assigned, let->variable) || !read_first(context, s, let->variable)) continue;
    if (!may_use_initial_value(context.function, *context.statements[s].statement)) continue;
    found.push_back({MutationOperator::kInnerCounterNotReset, s, context.statements[s].statement->loc,
                     fmt::format("'{}' is not reset", name_of(context, let->variable)),
                     [s](FunctionEditor& edit) { edit.hoist_out_of_loop(s); }});
  }
}

}  // namespace

void find_control(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  switch (op) {
    case MutationOperator::kBranchOnOtherVersion: return find_changed_decisions(context, found);
    case MutationOperator::kBranchNegated:
    case MutationOperator::kSkippedBranchReversal: return find_branches(op, context, found);
    case MutationOperator::kInnerCounterNotReset: return find_counters(context, found);
    default: return find_loops(op, context, found);
  }
}

}  // namespace assay::mutation
