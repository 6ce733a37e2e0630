#include "backends/source/warp/unassigned_guards.hpp"

#include <cstddef>
#include <optional>
#include <variant>

#include "ir/guard_array.hpp"
#include "ir/visit.hpp"

namespace assay::source::warp {
namespace {

/// The variables that a guarded read reads in addition to the value.
struct GuardedRead {
  ir::VarId flag = ir::kNone;
  ir::VarId guard_array = ir::kNone;
};

/// Matches where(eq(guard[cast<i32>(not(flag))], 0), value, value).
std::optional<GuardedRead> guarded_read(const ir::Function& function, const ir::Expr& expr) {
  const auto operand = [&](const ir::Expr* whole, ir::ExprKind kind, std::optional<ir::Op> op,
                           std::size_t number) -> const ir::Expr* {
    if (whole == nullptr || whole->kind != kind || (op && whole->op != *op) || whole->args.size() <= number)
      return nullptr;
    return &function.expr(whole->args[number]);
  };
  const auto argument = [&](const ir::Expr* whole, ir::Op op) {
    return operand(whole, ir::ExprKind::kOperation, op, 0);
  };
  const ir::Expr* const load = argument(argument(&expr, ir::Op::kWhere), ir::Op::kEq);
  const ir::Expr* const array = operand(load, ir::ExprKind::kLoad, std::nullopt, 0);
  const ir::Expr* const index = operand(load, ir::ExprKind::kLoad, std::nullopt, 1);
  const ir::Expr* const flag = argument(argument(index, ir::Op::kCast), ir::Op::kNot);
  const auto is_variable = [](const ir::Expr* one) { return one != nullptr && one->kind == ir::ExprKind::kVariable; };
  if (!is_variable(array) || !is_variable(flag)) return std::nullopt;
  const ir::Variable& guard = function.var(array->variable);
  if (guard.type != ir::kUnassignedGuardArrayType || !guard.name.ends_with(ir::kUnassignedGuardArraySuffix))
    return std::nullopt;
  return GuardedRead{.flag = flag->variable, .guard_array = array->variable};
}

void find_declarations(const ir::Function& function, const ir::Block& block, UnassignedGuards& guards) {
  for (std::size_t k = 0; k < block.statements.size(); ++k) {
    const auto* const flag = std::get_if<ir::Let>(&block.statements[k].node);
    const bool is_flag = flag != nullptr && flag->value != ir::kNone && guards.variables.contains(flag->variable);
    const auto* const declared = is_flag && k > 0 ? std::get_if<ir::Let>(&block.statements[k - 1].node) : nullptr;
    // A flag that starts as true belongs to a variable that the source assigns here.
    if (declared != nullptr && function.expr(flag->value).bits == 0) guards.declarations.insert(declared);
    ir::for_each_child_block(block.statements[k],
                             [&](const ir::Block& inner) { find_declarations(function, inner, guards); });
  }
}

}  // namespace

UnassignedGuards find_unassigned_guards(const ir::Function& function) {
  UnassignedGuards guards;
  for (const ir::Expr& expr : function.expressions) {
    const std::optional<GuardedRead> read = guarded_read(function, expr);
    if (read) guards.variables.insert({read->flag, read->guard_array});
  }
  if (!guards.variables.empty()) find_declarations(function, function.body, guards);
  return guards;
}

ir::ExprId guarded_value(const ir::Function& function, const ir::Expr& expr) {
  return guarded_read(function, expr) ? expr.args[1] : ir::kNone;
}

}  // namespace assay::source::warp
