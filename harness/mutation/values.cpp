// Mutations of the values that local derivatives use.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "harness/mutation/exact_values.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

bool is_primal_value(const MutationContext& context, const Expr& expr) {
  return expr.kind == ExprKind::kVariable && !context.carries_gradient[static_cast<std::size_t>(expr.variable)] &&
         expr.type.has_float_components() && expr.type.is_value();
}

/// Whether the variable is a checkpoint: a local array that saves the states of a loop.
bool is_checkpoint(const MutationContext& context, VarId variable) {
  const Variable& array = context.function.var(variable);
  return array.type.is_local_array() && array.name.starts_with("checkpoint_") && array.name != "checkpoint_at" &&
         !context.carries_gradient[static_cast<std::size_t>(variable)];
}

/// Whether the node is only compared, so that a close value gives the same result.
bool decides(const MutationContext& context, const std::vector<ExpressionNode>& nodes, const ExpressionNode& node) {
  for (const ExpressionNode* at = &node;; at = &nodes[at->parent]) {
    if (context.function.expr(at->id).type.is_bool()) return true;
    if (&nodes[at->parent] == at || at->position.node == 0) return false;
  }
}

void replace_by(MutationOperator op, const MutationContext& context, const ExpressionNode& node, VarId from, VarId to,
                std::vector<Mutation>& found) {
  const ExpressionPosition place = node.position;
  found.push_back({op, place.statement, context.statements[place.statement].statement->loc,
                   op == MutationOperator::kOtherVariableVersion
                       ? fmt::format("a different value of '{}' is used", name_of(context, from))
                       : fmt::format("'{}' is used instead of '{}'", name_of(context, to), name_of(context, from)),
                   [=](FunctionEditor& edit) { edit.replace(place, edit.make().var(to)); }});
}

bool defines_from(const MutationContext& context, VarId result, VarId operand) {
  return std::ranges::any_of(context.statements, [&](const ListedStatement& listed) {
    const auto* let = std::get_if<Let>(&listed.statement->node);
    if (let == nullptr || let->variable != result || let->value == kNone) return false;
    const Expr& value = context.function.expr(let->value);
    return value.kind == ExprKind::kOperation &&
           std::ranges::any_of(value.args, [&](ExprId arg) { return context.function.expr(arg).variable == operand; });
  });
}

/// Whether the value is an integer: a converted integer, or a rounded float.
bool is_whole(const MutationContext& context, ExprId value) {
  if (value == kNone) return false;
  const Expr& expr = context.function.expr(value);
  if (expr.kind == ExprKind::kLiteral) {
    const double number = expr.type.is_float_scalar() ? std::bit_cast<double>(expr.bits) : 0;
    return std::trunc(number) == number;
  }
  if (expr.kind == ExprKind::kVariable) return is_whole(context, value_of(context, expr.variable));
  if (expr.kind != ExprKind::kOperation) return false;
  switch (expr.op) {
    case Op::kCast: return !context.function.expr(expr.args[0]).type.has_float_components();
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kRint:
    case Op::kTrunc:
    case Op::kSign:
    case Op::kStep: return true;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul: return is_whole(context, expr.args[0]) && is_whole(context, expr.args[1]);
    default: return false;
  }
}

/// The number that literals and operations on them give; nullopt for other values.
std::optional<double> constant_number(const MutationContext& context, ExprId value) {
  const Expr& expr = context.function.expr(value);
  if (expr.kind == ExprKind::kLiteral && expr.type.is_float_scalar()) return std::bit_cast<double>(expr.bits);
  if (expr.kind != ExprKind::kOperation || expr.args.size() != 2) return std::nullopt;
  const std::optional<double> a = constant_number(context, expr.args[0]);
  const std::optional<double> b = constant_number(context, expr.args[1]);
  if (!a || !b) return std::nullopt;
  switch (expr.op) {
    case Op::kAdd: return *a + *b;
    case Op::kSub: return *a - *b;
    case Op::kMul: return *a * *b;
    default: return std::nullopt;
  }
}

bool fits(const MutationContext& context, VarId variable, Scalar low, int copies);

/// Whether the lower precision represents the value exactly.
bool value_fits(const MutationContext& context, ExprId value, Scalar low, int copies) {
  const Expr& expr = context.function.expr(value);
  if (expr.kind == ExprKind::kVariable) return copies > 0 && fits(context, expr.variable, low, copies - 1);
  if (const std::optional<double> number = constant_number(context, value)) return round_to(low, *number) == *number;
  if (expr.kind == ExprKind::kField)
    return has_exact_field(context.module, context.function.expr(expr.args[0]).type, expr.index, low);
  if (expr.kind != ExprKind::kOperation) return false;
  if (expr.op == Op::kWhere || expr.op == Op::kConditional)
    return value_fits(context, expr.args[1], low, copies) && value_fits(context, expr.args[2], low, copies);
  if (expr.op == Op::kCast && context.function.expr(expr.args[0]).type == scalar_type(low)) return true;
  return is_whole(context, value);
}

/// Whether the lower precision represents every value of the variable exactly: integers, or values of that precision. A
/// variable declared without a value is zero until it is assigned. Follows at most `copies` copies.
bool fits(const MutationContext& context, VarId variable, Scalar low, int copies) {
  std::vector<ExprId> values{value_of(context, variable)};
  for (const ListedStatement& listed : context.statements) {
    const auto* assign = std::get_if<Assign>(&listed.statement->node);
    if (assign != nullptr && assign->variable == variable) values.push_back(assign->value);
  }
  if (values[0] == kNone) values.erase(values.begin());
  return !values.empty() &&
         std::ranges::all_of(values, [&](ExprId value) { return value_fits(context, value, low, copies); });
}

/// The values that an operator uses instead of a variable in a statement.
std::vector<VarId> others(MutationOperator op, const MutationContext& context, std::size_t s, VarId variable) {
  std::vector<VarId> found;
  const Variable& own = context.function.var(variable);
  for (const VarId v : context.visible(s)) {
    const Variable& other = context.function.var(v);
    if (v == variable || other.type != own.type || context.carries_gradient[static_cast<std::size_t>(v)]) continue;
    const bool same_name = other.name == own.name && context.is_from_source(variable);
    const bool fits = op == MutationOperator::kOtherVariableVersion ? same_name
                      : op == MutationOperator::kResultInsteadOfOperand
                          ? defines_from(context, v, variable)
                          : other.name != own.name && !context.function.is_parameter(v);
    if (!fits || origin_of(context, v) == origin_of(context, variable) ||
        is_loaded_with_same_indices(context, v, variable))
      continue;
    found.push_back(v);
  }
  // The most recently computed operand in scope is the likeliest mistake.
  if (op == MutationOperator::kWrongOperand && found.size() > 1) found.erase(found.begin(), found.end() - 1);
  return found;
}

void find_swaps(const MutationContext& context, std::size_t s, std::vector<Mutation>& found) {
  for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
    const bool ordered = expr.kind == ExprKind::kOperation &&
                         (expr.op == Op::kSub || expr.op == Op::kDiv || expr.op == Op::kPow || expr.op == Op::kAtan2);
    if (!ordered || !expr.type.has_float_components()) return;
    const Expr swapped = expr;
    if (context.function.expr(expr.args[0]).type != context.function.expr(expr.args[1]).type) return;
    const ExpressionPosition place = node.position;
    found.push_back({MutationOperator::kWrongOperand, s, context.statements[s].statement->loc,
                     fmt::format("the operands of {} are swapped", ir::row(expr.op).mnemonic),
                     [=](FunctionEditor& edit) {
                       edit.replace(place, edit.make().op(swapped.op, {swapped.args[1], swapped.args[0]}));
                     }});
  });
}

void find_precision(const MutationContext& context, const ExpressionNode& node, const Expr& expr,
                    std::vector<Mutation>& found) {
  if (!expr.type.is_float_scalar() || (expr.type != kF32 && expr.type != kF64)) return;
  const Scalar lower = expr.type == kF64 ? Scalar::kF32 : Scalar::kF16;
  const Type low = scalar_type(lower);
  constexpr int kCopies = 4;
  if (fits(context, expr.variable, lower, kCopies)) return;
  const ExpressionPosition place = node.position;
  const VarId variable = expr.variable;
  const Type type = expr.type;
  found.push_back({MutationOperator::kLowerPrecision, place.statement,
                   context.statements[place.statement].statement->loc,
                   fmt::format("'{}' is rounded to {}", name_of(context, variable), ir::row(low.scalar).name),
                   [=](FunctionEditor& edit) {
                     Builder& make = edit.make();
                     edit.replace(place, make.cast(type, make.cast(low, make.var(variable))));
                   }});
}

/// Replaces loads of a saved state by the first state or the last state of the loop.
void find_states(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* assign = std::get_if<Assign>(&context.statements[s].statement->node);
    if (assign == nullptr) continue;
    const Expr& load = context.function.expr(assign->value);
    if (load.kind != ExprKind::kLoad) continue;
    const VarId array = context.function.expr(load.args[0]).variable;
    if (!is_checkpoint(context, array) || !context.is_read(assign->variable)) continue;
    const Loc loc = context.statements[s].statement->loc;
    const std::string what = fmt::format("{}: '{}'", row(op).change, name_of(context, assign->variable));
    if (op == MutationOperator::kInitialInsteadOfSavedLoopState) {
      found.push_back({op, s, loc, what, [=](FunctionEditor& edit) {
                         std::get<Assign>(edit.at(s).node).value = edit.make().load(array, {edit.make().i32(0)});
                       }});
      continue;
    }
    const auto versions = others(MutationOperator::kOtherVariableVersion, context, s, assign->variable);
    if (versions.empty()) continue;
    const VarId last = versions.front();
    found.push_back({op, s, loc, what,
                     [=](FunctionEditor& edit) { std::get<Assign>(edit.at(s).node).value = edit.make().var(last); }});
  }
}

void find_saves(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* store = std::get_if<Store>(&context.statements[s].statement->node);
    if (store == nullptr) continue;
    const VarId array = context.function.expr(store->array).variable;
    if (!is_checkpoint(context, array)) continue;
    const Store saved = *store;
    found.push_back({MutationOperator::kUnsavedLoopState, s, context.statements[s].statement->loc,
                     fmt::format("a loop state is saved one position too late in '{}'", name_of(context, array)),
                     [=](FunctionEditor& edit) {
                       Builder& make = edit.make();
                       const ExprId next = make.op(Op::kAdd, {saved.indices[0], make.i32(1)});
                       std::get<Store>(edit.at(s).node).indices[0] =
                           make.op(Op::kMin, {next, make.i32(context.function.var(array).type.extent - 1)});
                     }});
  }
}

}  // namespace

void find_values(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  if (op == MutationOperator::kInitialInsteadOfSavedLoopState || op == MutationOperator::kFinalInsteadOfSavedLoopState)
    return find_states(op, context, found);
  if (op == MutationOperator::kUnsavedLoopState) return find_saves(context, found);
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    if (!is_contribution(context, s)) continue;
    if (op == MutationOperator::kWrongOperand) find_swaps(context, s, found);
    const std::vector<ExpressionNode> nodes = nodes_of(context.function, *context.statements[s].statement, s);
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      if (!is_primal_value(context, expr) || decides(context, nodes, node)) return;
      if (op == MutationOperator::kLowerPrecision) return find_precision(context, node, expr, found);
      for (const VarId other : others(op, context, s, expr.variable))
        replace_by(op, context, node, expr.variable, other, found);
    });
  }
}

}  // namespace assay::mutation
