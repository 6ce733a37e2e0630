// Mutations of the forward kernel, and of the kernel that is differentiated.
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

using Make = std::function<ExprId(Builder&)>;

std::optional<Op> exchanged(Op op) {
  switch (op) {
    case Op::kAdd: return Op::kSub;
    case Op::kSub: return Op::kAdd;
    case Op::kMul: return Op::kAdd;
    case Op::kDiv: return Op::kMul;
    case Op::kMin: return Op::kMax;
    case Op::kMax: return Op::kMin;
    case Op::kSin: return Op::kCos;
    case Op::kCos: return Op::kSin;
    case Op::kTanh: return Op::kAtan;
    case Op::kExp: return Op::kExp2;
    case Op::kLog: return Op::kLog2;
    case Op::kFloor: return Op::kCeil;
    case Op::kCeil: return Op::kFloor;
    case Op::kAnd: return Op::kOr;
    case Op::kOr: return Op::kAnd;
    case Op::kBitAnd: return Op::kBitOr;
    case Op::kBitOr: return Op::kBitXor;
    case Op::kBitXor: return Op::kBitAnd;
    case Op::kShiftLeft: return Op::kShiftRight;
    case Op::kShiftRight: return Op::kShiftLeft;
    default: return std::nullopt;
  }
}

/// The adjacent comparison for integers (< and <=); the opposite one for floats, which are seldom equal.
std::optional<Op> other_comparison(Op op, bool integers) {
  switch (op) {
    case Op::kLt: return integers ? Op::kLe : Op::kGe;
    case Op::kLe: return integers ? Op::kLt : Op::kGt;
    case Op::kGt: return integers ? Op::kGe : Op::kLe;
    case Op::kGe: return integers ? Op::kGt : Op::kLt;
    case Op::kEq: return Op::kNe;
    case Op::kNe: return Op::kEq;
    default: return std::nullopt;
  }
}

Make replacement(MutationOperator op, const MutationContext& context, const Expr& expr) {
  const Expr node = expr;
  if (op == MutationOperator::kFloatConstantOffByThousandth) {
    if (expr.kind != ExprKind::kLiteral || !expr.type.is_float_scalar()) return nullptr;
    const double value = std::bit_cast<double>(expr.bits);
    const double off = round_to(expr.type.scalar, value * 1.001);
    if (off == value) return nullptr;
    return [=](Builder& make) { return make.literal(node.type, off); };
  }
  if (expr.kind != ExprKind::kOperation) return nullptr;
  const Type first = expr.args.empty() ? kVoid : context.function.expr(expr.args[0]).type;
  if (op == MutationOperator::kWrongOperator) {
    const auto other = exchanged(expr.op);
    if (!other) return nullptr;
    std::vector<Type> types;
    for (const ExprId arg : expr.args)
      types.push_back(context.function.expr(arg).type);
    const Result<Type> type = result_type(*other, types);
    if (!type.ok() || *type != expr.type) return nullptr;
    return [=](Builder& make) { return make.op(*other, node.args); };
  }
  const auto other = other_comparison(expr.op, first.is_integer_scalar());
  if (!other || first.is_tile()) return nullptr;
  if (op == MutationOperator::kWrongComparison) return [=](Builder& make) { return make.op(*other, node.args); };
  if (!first.is_integer_scalar()) return nullptr;
  return [=](Builder& make) {
    const ExprId shifted = make.op(Op::kAdd, {node.args[1], make.literal(first, std::int64_t{1})});
    return make.op(node.op, {node.args[0], shifted});
  };
}

void find_arrays(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      if (expr.kind != ExprKind::kLoad || expr.type.is_tile()) return;
      const VarId array = context.function.expr(expr.args[0]).variable;
      for (VarId other = 0; other < context.function.parameter_count; ++other) {
        if (other == array || context.function.var(other).type != context.function.var(array).type) continue;
        const std::vector<ExprId> indices(expr.args.begin() + 1, expr.args.end());
        const ExpressionPosition place = node.position;
        found.push_back({MutationOperator::kReadOfOtherArray, s, context.statements[s].statement->loc,
                         fmt::format("'{}' is read instead of '{}'", name_of(context, other), name_of(context, array)),
                         [=](FunctionEditor& edit) { edit.replace(place, edit.make().load(other, indices)); }});
      }
    });
  }
}

void find_dropped(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const Stmt& statement = *context.statements[s].statement;
    const bool acts = std::holds_alternative<Store>(statement.node) || std::holds_alternative<Assign>(statement.node) ||
                      std::holds_alternative<Atomic>(statement.node);
    if (!acts) continue;
    found.push_back({MutationOperator::kDroppedStatement, s, statement.loc, "a statement is dropped",
                     [s](FunctionEditor& edit) { edit.erase(s); }});
  }
}

void find_bounds(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* loop = std::get_if<For>(&context.statements[s].statement->node);
    if (loop == nullptr) continue;
    const ExprId stop = loop->stop, step = loop->step;
    found.push_back({MutationOperator::kGuardOffByOne, s, context.statements[s].statement->loc,
                     "a loop stops one step later", [=](FunctionEditor& edit) {
                       std::get<For>(edit.at(s).node).stop = edit.make().op(Op::kAdd, {stop, step});
                     }});
  }
}

bool is_step(Op op) {
  return op == Op::kFloor || op == Op::kCeil || op == Op::kRound || op == Op::kRint || op == Op::kTrunc ||
         op == Op::kSign || op == Op::kStep;
}

}  // namespace

void find_forward(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  if (op == MutationOperator::kReadOfOtherArray) return find_arrays(context, found);
  if (op == MutationOperator::kDroppedStatement) return find_dropped(context, found);
  if (op == MutationOperator::kGuardOffByOne) find_bounds(context, found);
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      const Make make = replacement(op, context, expr);
      if (!make) return;
      const ExpressionPosition place = node.position;
      found.push_back({op, s, context.statements[s].statement->loc,
                       expr.kind == ExprKind::kLiteral
                           ? fmt::format("the constant {} is off by a thousandth", std::bit_cast<double>(expr.bits))
                           : fmt::format("{}: '{}'", row(op).change, ir::row(expr.op).mnemonic),
                       [=](FunctionEditor& edit) { edit.replace(place, make(edit.make())); }});
    });
  }
}

void find_primal(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const Stmt& statement = *context.statements[s].statement;
    if (op == MutationOperator::kContinueActsAsBreak && std::holds_alternative<Continue>(statement.node)) {
      found.push_back({op, s, statement.loc, "continue is treated as break",
                       [s](FunctionEditor& edit) { edit.at(s).node = Break{}; }});
    }
    if (op != MutationOperator::kStepFunctionHasSlope) continue;
    const std::vector<ExpressionNode> nodes = nodes_of(context.function, statement, s);
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      if (expr.kind != ExprKind::kOperation || !is_step(expr.op) || !expr.type.is_float_scalar()) return;
      // An integer has no derivative.
      const Expr& above = context.function.expr(nodes[node.parent].id);
      if (above.kind == ExprKind::kOperation && above.op == Op::kCast && !above.type.is_float_scalar()) return;
      const ExprId operand = expr.args[0];
      const ExpressionPosition place = node.position;
      // Only in the differentiated kernel: replacing floor(x) by x gives the derivative 1, and the backward kernel
      // also computes with the value x.
      found.push_back({op, s, statement.loc, fmt::format("the derivative of {} is 1", ir::row(expr.op).mnemonic),
                       [=](FunctionEditor& edit) { edit.replace(place, operand); }});
    });
  }
}

}  // namespace assay::mutation
