#include "ir/compared_constants.hpp"

#include <limits>
#include <set>
#include <variant>
#include <vector>

#include "ir/operations/operations.hpp"
#include "ir/visit.hpp"

namespace assay::ir {
namespace {

/// Collects the constants of a function and of those that it calls, and counts the uses of extents and the tests of
/// floats.
class OperandWalk {
 public:
  explicit OperandWalk(const Module& module) : module_(module) {}

  void walk(const Function& function) {
    for (const Expr& expr : function.expressions) {
      if (expr.kind == ExprKind::kCall) enter(expr.index);
      if (expr.kind == ExprKind::kShapeOf) ++extents_;
      if (expr.kind == ExprKind::kOperation) add(function, expr);
    }
    for_each_statement(function.body, [&](const Stmt& statement) {
      if (const auto* call = std::get_if<Call>(&statement.node)) enter(call->function);
    });
  }

  [[nodiscard]] std::vector<std::int64_t> constants() const { return {constants_.begin(), constants_.end()}; }
  [[nodiscard]] bool uses_extents() const { return extents_ > 0; }
  [[nodiscard]] bool tests_finiteness() const { return finiteness_tests_ > 0; }

 private:
  void enter(std::int32_t callee) {
    if (entered_.insert(callee).second) walk(module_.functions[static_cast<std::size_t>(callee)]);
  }

  void add(const Function& function, const Expr& operation) {
    if (operation.op == Op::kWrapIndex && function.expr(operation.args[1]).kind == ExprKind::kShapeOf) --extents_;
    if (operation.op == Op::kIsNan || operation.op == Op::kIsInf || operation.op == Op::kIsFinite) ++finiteness_tests_;
    const TypeRule rule = row(operation.op).rule;
    const bool is_order = rule == TypeRule::kOrderedComparison;
    const bool is_mask = operation.op == Op::kBitAnd;
    if (!is_order && !is_mask && rule != TypeRule::kEquality) return;
    for (const ExprId operand : operation.args) {
      const Expr& literal = function.expr(operand);
      if (literal.kind != ExprKind::kLiteral || !literal.type.is_integer_scalar()) continue;
      const auto value = static_cast<std::int64_t>(literal.bits);
      constants_.insert(value);
      if (!is_order) continue;
      if (value > std::numeric_limits<std::int64_t>::min()) constants_.insert(value - 1);
      if (value < std::numeric_limits<std::int64_t>::max()) constants_.insert(value + 1);
    }
  }

  const Module& module_;
  std::set<std::int32_t> entered_;  ///< the functions walked
  std::set<std::int64_t> constants_;
  std::int64_t extents_ = 0;           ///< number of extents that are not operands of wrap_index
  std::int64_t finiteness_tests_ = 0;  ///< number of tests whether a float is NaN, infinite or finite
};

}  // namespace

std::vector<std::int64_t> compared_constants(const Module& module, const Function& kernel) {
  OperandWalk walk(module);
  walk.walk(kernel);
  return walk.constants();
}

bool uses_extents(const Module& module, const Function& kernel) {
  OperandWalk walk(module);
  walk.walk(kernel);
  return walk.uses_extents();
}

bool tests_finiteness(const Module& module, const Function& kernel) {
  OperandWalk walk(module);
  walk.walk(kernel);
  return walk.tests_finiteness();
}

}  // namespace assay::ir
