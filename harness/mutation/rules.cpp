// Mutations of local derivatives.
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

double value_of(const Expr& literal) { return std::bit_cast<double>(literal.bits); }
bool is_float_literal(const Expr& expr) { return expr.kind == ExprKind::kLiteral && expr.type.is_float_scalar(); }
bool is_operation(const Expr& expr, Op op) { return expr.kind == ExprKind::kOperation && expr.op == op; }

std::optional<Op> cofunction(Op op) {
  switch (op) {
    case Op::kSin: return Op::kCos;
    case Op::kCos: return Op::kSin;
    case Op::kSinh: return Op::kCosh;
    case Op::kCosh: return Op::kSinh;
    default: return std::nullopt;
  }
}

/// The replacement of the node by the operator; nothing if it does not apply.
std::function<ExprId(Builder&)> adjoint_replacement(MutationOperator op, const MutationContext& context,
                                                    const Expr& expr) {
  const auto operand = [&](std::size_t k) -> const Expr& { return context.function.expr(expr.args[k]); };
  const auto same_type = [&](std::size_t k) { return operand(k).type == expr.type; };
  const auto give = [](ExprId id) { return [id](Builder&) { return id; }; };
  const Expr node = expr;
  switch (op) {
    case MutationOperator::kWrongFunction:
      if (expr.kind != ExprKind::kOperation || !cofunction(expr.op)) return nullptr;
      return [node](Builder& make) { return make.op(*cofunction(node.op), node.args); };
    case MutationOperator::kMissingConstantFactor:
      if (!is_operation(expr, Op::kMul)) return nullptr;
      for (const std::size_t k : {0U, 1U}) {
        if (is_float_literal(operand(k)) && std::abs(value_of(operand(k))) != 1 && same_type(1 - k))
          return give(expr.args[1 - k]);
      }
      return nullptr;
    case MutationOperator::kMissingChainRuleFactor: {
      if (!is_operation(expr, Op::kMul) && !is_operation(expr, Op::kDiv)) return nullptr;
      const bool first = context.carries_any(expr.args[0]);
      if (first == context.carries_any(expr.args[1])) return nullptr;
      const std::size_t kept = first ? 0 : 1;
      return same_type(kept) && !is_float_literal(operand(1 - kept)) ? give(expr.args[kept])
                                                                     : std::function<ExprId(Builder&)>{};
    }
    case MutationOperator::kWrongSign:
      if (is_operation(expr, Op::kNeg)) return give(expr.args[0]);
      if (is_operation(expr, Op::kSub)) return [node](Builder& make) { return make.op(Op::kAdd, node.args); };
      return nullptr;
    case MutationOperator::kMissingSquare:
      if (!is_operation(expr, Op::kMul) || operand(0).kind != ExprKind::kVariable ||
          operand(0).variable != operand(1).variable)
        return nullptr;
      return give(expr.args[0]);
    case MutationOperator::kRuleConstantOffByOnePercent:
      if (!is_float_literal(expr) || value_of(expr) == 0) return nullptr;
      return [node](Builder& make) { return make.literal(node.type, value_of(node) * 1.01); };
    case MutationOperator::kGradientToOtherBranch:
      if (!is_operation(expr, Op::kWhere) && !is_operation(expr, Op::kConditional)) return nullptr;
      return [node](Builder& make) { return make.op(node.op, {node.args[0], node.args[2], node.args[1]}); };
    default: return nullptr;
  }
}

void find_scaled(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  const double factor = op == MutationOperator::kDerivativeOffByOnePercent ? 1.01 : 1.0001;
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    if (!is_contribution(context, s)) continue;
    const AssignedValue definition = assigned_value_of(*context.statements[s].statement);
    const Type scalar = context.function.expr(definition.value).type.component();
    // The 16-bit types have no number this close to 1.
    if (round_to(scalar.scalar, factor) == 1) continue;
    found.push_back(
        {op, s, context.statements[s].statement->loc,
         fmt::format("'{}' is multiplied by {}", name_of(context, definition.variable), factor),
         [=](FunctionEditor& edit) {
           const ExprId scaled = edit.make().op(Op::kMul, {definition.value, edit.make().literal(scalar, factor)});
           edit.replace({.statement = s, .root = 0, .node = 0}, scaled);
         }});
  }
}

void find_unit_cotangents(const MutationContext& context, std::vector<Mutation>& found) {
  for (const CotangentLoad& seed : cotangent_loads(context)) {
    const Type type = seed.load->type;
    if (!type.is_float_scalar() && !type.is_aggregate()) continue;
    const ExpressionPosition place = seed.position;
    found.push_back({MutationOperator::kUnitCotangent, seed.statement,
                     context.statements[seed.statement].statement->loc,
                     fmt::format("1 is used instead of the value of '{}'", name_of(context, seed.gradient)),
                     [=](FunctionEditor& edit) { edit.replace(place, one(edit.make(), type)); }});
  }
}

}  // namespace

void find_rules(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  if (op == MutationOperator::kDerivativeOffByOnePercent || op == MutationOperator::kDerivativeOffByBasisPoint)
    return find_scaled(op, context, found);
  if (op == MutationOperator::kUnitCotangent) return find_unit_cotangents(context, found);
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    if (!is_contribution(context, s)) continue;
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      const auto make = adjoint_replacement(op, context, expr);
      if (!make) return;
      const ExpressionPosition place = node.position;
      found.push_back({op, s, context.statements[s].statement->loc,
                       fmt::format("{}: in '{}'", row(op).change,
                                   name_of(context, assigned_value_of(*context.statements[s].statement).variable)),
                       [=](FunctionEditor& edit) { edit.replace(place, make(edit.make())); }});
    });
  }
}

}  // namespace assay::mutation
