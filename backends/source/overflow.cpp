#include "backends/source/overflow.hpp"

#include <algorithm>

#include "ir/visit.hpp"

namespace assay::source {
namespace {

using ir::ExprKind;
using ir::Op;

constexpr std::int64_t kLargestConstant = 1 << 15;

bool is_small_literal(const ir::Expr& expr) {
  if (expr.kind != ExprKind::kLiteral || !expr.type.is_integer_scalar()) return false;
  const auto value = static_cast<std::int64_t>(expr.bits);
  return -kLargestConstant <= value && value <= kLargestConstant;
}

}  // namespace

Overflow::Overflow(const ir::Function& function)
    : function_(function), small_(function.variables.size()), assigned_(function.variables.size()) {
  if (function.is_kernel) {
    for (int i = 0; i < function.parameter_count + function.launch_rank; ++i) {
      small_[static_cast<std::size_t>(i)] = function.var(i).type.is_integer_scalar();
    }
  }
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    if (const auto* assign = std::get_if<ir::Assign>(&statement.node)) {
      assigned_[static_cast<std::size_t>(assign->variable)].push_back(assign->value);
    }
  });
  scan(function.body);
}

/// In the order of the text, so that a variable is known before it is used.
void Overflow::scan(const ir::Block& block) {
  ir::for_each_statement(block, [&](const ir::Stmt& statement) {
    if (const auto* loop = std::get_if<ir::For>(&statement.node)) {
      small_[static_cast<std::size_t>(loop->variable)] = true;
    } else if (const auto* let = std::get_if<ir::Let>(&statement.node)) {
      const auto variable = static_cast<std::size_t>(let->variable);
      if (!function_.var(let->variable).type.is_integer_scalar()) return;
      small_[variable] =
          (let->value == ir::kNone || is_small(let->value)) &&
          std::ranges::all_of(assigned_[variable], [&](ir::ExprId value) { return counts(let->variable, value); });
    }
  });
}

/// A variable that is set to constants, or stepped by one, stays small for as long as a kernel runs.
bool Overflow::counts(ir::VarId variable, ir::ExprId value) const {
  const ir::Expr& expr = function_.expr(value);
  if (is_small_literal(expr)) return true;
  if (expr.kind != ExprKind::kOperation || (expr.op != Op::kAdd && expr.op != Op::kSub)) return false;
  const ir::Expr& left = function_.expr(expr.args[0]);
  return left.kind == ExprKind::kVariable && left.variable == variable &&
         is_small_literal(function_.expr(expr.args[1]));
}

bool Overflow::is_small(const ir::Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::kLiteral: return is_small_literal(expr);
    case ExprKind::kVariable: return is_small_variable(expr.variable);
    case ExprKind::kShapeOf: return true;
    case ExprKind::kOperation: return is_small_operation(expr);
    case ExprKind::kLoad:
    case ExprKind::kField:
    case ExprKind::kCall: return false;
  }
  return false;
}

/// What an index is multiplied by: a constant, an extent or a parameter.
bool Overflow::is_scale(ir::ExprId id) const {
  const ir::Expr& expr = function_.expr(id);
  return is_small_literal(expr) || expr.kind == ExprKind::kShapeOf ||
         (expr.kind == ExprKind::kVariable && function_.is_parameter(expr.variable) &&
          is_small_variable(expr.variable));
}

bool Overflow::is_small_operation(const ir::Expr& expr) const {
  const auto all_small = [&](std::size_t from) {
    return std::all_of(expr.args.begin() + static_cast<std::ptrdiff_t>(from), expr.args.end(),
                       [&](ir::ExprId arg) { return is_small(arg); });
  };
  switch (expr.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kNeg:
    case Op::kDiv:
    case Op::kMod:
    case Op::kFloorDiv:
    case Op::kMin:
    case Op::kMax:
    case Op::kClamp:
    case Op::kAbs: return all_small(0);
    case Op::kMul: return all_small(0) && (is_scale(expr.args[0]) || is_scale(expr.args[1]));
    case Op::kConditional:
    case Op::kWhere: return all_small(1);
    case Op::kCast: return expr.type == ir::kI64 && function_.expr(expr.args[0]).type == ir::kI32 && all_small(0);
    default: return false;
  }
}

}  // namespace assay::source
