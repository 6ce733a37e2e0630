#include "backends/source/overflow.hpp"

#include <algorithm>
#include <cstdint>

#include "ir/visit.hpp"

namespace assay::source {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Op;
using ir::VarId;

constexpr std::int64_t kLargestConstant = 1 << 15;
/// A loop would have to step millions of times to overflow.
constexpr std::int64_t kLargestStep = 1 << 10;

bool is_constant_within(const Expr& expr, std::int64_t bound) {
  if (expr.kind != ExprKind::kLiteral || !expr.type.is_integer_scalar()) return false;
  const auto value = static_cast<std::int64_t>(expr.bits);
  return -bound <= value && value <= bound;
}

/// Whether this is an integer variable or a local array of integers.
bool holds_integers(const ir::Variable& variable) { return variable.type.element().is_integer_scalar(); }

/// For operations whose value is one of their operands, the index of the first such operand; otherwise -1.
int first_choice(Op op) {
  switch (op) {
    case Op::kConditional:
    case Op::kWhere: return 1;
    case Op::kMin:
    case Op::kMax:
    case Op::kClamp: return 0;
    default: return -1;
  }
}

}  // namespace

OverflowAnalysis::OverflowAnalysis(const ir::Function& function)
    : function_(function), has_only_small_values_(function.variables.size()) {
  for (VarId variable = 0; variable < static_cast<VarId>(has_only_small_values_.size()); ++variable) {
    const ir::Variable& declared = function.var(variable);
    const bool own = !function.is_parameter(variable) || (function.is_kernel && !declared.type.is_array());
    has_only_small_values_[static_cast<std::size_t>(variable)] = own && holds_integers(declared);
  }
  collect();
  std::ranges::stable_sort(assignments_, {}, &std::pair<VarId, ExprId>::first);
  collect_indices();
  // Start by assuming that all variables are small, and remove contradictions until there are none left.
  for (bool changed = true; changed;) {
    changed = false;
    for (VarId variable = 0; variable < static_cast<VarId>(has_only_small_values_.size()); ++variable) {
      if (!is_small_variable(variable) || is_assigned_small_values(variable)) continue;
      has_only_small_values_[static_cast<std::size_t>(variable)] = false;
      changed = true;
    }
  }
}

void OverflowAnalysis::add_assignment(VarId variable, ExprId value) {
  if (value != ir::kNone) assignments_.emplace_back(variable, value);
}

/// Results of calls and atomics are not small, and neither are values stored other than through a local array's name.
void OverflowAnalysis::collect() {
  ir::for_each_statement(function_.body, [&](const ir::Stmt& statement) {
    std::visit(ir::Overloaded{
                   [&](const ir::Let& node) { add_assignment(node.variable, node.value); },
                   [&](const ir::Assign& node) { add_assignment(node.variable, node.value); },
                   [&](const ir::Store& node) {
                     const Expr& array = function_.expr(node.array);
                     if (array.kind == ExprKind::kVariable) add_assignment(array.variable, node.value);
                   },
                   [&](const ir::Atomic& node) {
                     if (node.result != ir::kNone)
                       has_only_small_values_[static_cast<std::size_t>(node.result)] = false;
                     const Expr& array = function_.expr(node.array);
                     if (array.kind == ExprKind::kVariable)
                       has_only_small_values_[static_cast<std::size_t>(array.variable)] = false;
                   },
                   [&](const ir::Call& node) {
                     for (const VarId result : node.results)
                       has_only_small_values_[static_cast<std::size_t>(result)] = false;
                   },
                   [](const auto&) {},
               },
               statement.node);
  });
}

void OverflowAnalysis::collect_indices() {
  for (const Expr& expr : function_.expressions) {
    if (expr.kind != ExprKind::kLoad) continue;
    std::for_each(expr.args.begin() + 1, expr.args.end(), [&](ExprId index) { mark_as_index(index); });
  }
  ir::for_each_statement(function_.body, [&](const ir::Stmt& statement) {
    if (const auto* store = std::get_if<ir::Store>(&statement.node))
      std::ranges::for_each(store->indices, [&](ExprId index) { mark_as_index(index); });
    if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node))
      std::ranges::for_each(atomic->indices, [&](ExprId index) { mark_as_index(index); });
  });
}

void OverflowAnalysis::mark_as_index(ExprId id) {
  const Expr& expr = function_.expr(id);
  if (expr.kind != ExprKind::kOperation) return;
  const bool product = expr.op == Op::kMul && (is_scale(expr.args[0]) || is_scale(expr.args[1]));
  if (expr.op != Op::kAdd && expr.op != Op::kSub && !product) return;
  index_expressions_.insert(&expr);
  for (const ExprId arg : expr.args)
    mark_as_index(arg);
}

bool OverflowAnalysis::is_assigned_small_values(VarId variable) const {
  return std::ranges::all_of(assigned_values(variable),
                             [&](ExprId value) { return is_small(value) && !grows(variable, value); });
}

/// Whether the value is derived from the variable's own value by more than choices and small steps.
bool OverflowAnalysis::grows(VarId variable, ExprId value) const {
  const Expr& expr = function_.expr(value);
  if (expr.kind != ExprKind::kOperation || !depends_on(value, variable)) return false;
  if (const int first = first_choice(expr.op); first >= 0) {
    return std::any_of(expr.args.begin() + first, expr.args.end(), [&](ExprId arg) { return grows(variable, arg); });
  }
  if (expr.op == Op::kCast) return grows(variable, expr.args[0]);
  const bool steps =
      (expr.op == Op::kAdd || expr.op == Op::kSub) && is_constant_within(function_.expr(expr.args[1]), kLargestStep);
  return !steps || grows(variable, expr.args[0]);
}

bool OverflowAnalysis::depends_on(ExprId value, VarId variable) const {
  std::vector<bool> seen(has_only_small_values_.size());
  return depends_on(value, variable, seen);
}

bool OverflowAnalysis::depends_on(ExprId value, VarId variable, std::vector<bool>& seen) const {
  bool depends = false;
  ir::for_each_expression(function_, value, [&](ExprId, const Expr& expr) {
    if (expr.kind != ExprKind::kVariable || depends) return;
    if (expr.variable == variable) depends = true;
    const auto index = static_cast<std::size_t>(expr.variable);
    if (depends || seen[index]) return;
    seen[index] = true;
    for (const ExprId given : assigned_values(expr.variable))
      depends = depends || depends_on(given, variable, seen);
  });
  return depends;
}

bool OverflowAnalysis::is_small(const Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::kLiteral: return is_constant_within(expr, kLargestConstant);
    case ExprKind::kVariable: return is_small_variable(expr.variable);
    case ExprKind::kShapeOf: return true;
    case ExprKind::kOperation: return is_small_operation(expr);
    case ExprKind::kLoad: {
      const Expr& array = function_.expr(expr.args[0]);
      return array.type.is_local_array() && array.kind == ExprKind::kVariable && is_small_variable(array.variable);
    }
    case ExprKind::kField:
    case ExprKind::kCall: return false;
  }
  return false;
}

/// Whether this is a valid factor of an index: a constant, an extent or a parameter.
bool OverflowAnalysis::is_scale(ExprId id) const {
  const Expr& expr = function_.expr(id);
  return is_constant_within(expr, kLargestConstant) || expr.kind == ExprKind::kShapeOf ||
         (expr.kind == ExprKind::kVariable && function_.is_parameter(expr.variable));
}

bool OverflowAnalysis::is_small_operation(const Expr& expr) const {
  const auto all_small = [&](int from) {
    return std::all_of(expr.args.begin() + from, expr.args.end(), [&](ExprId arg) { return is_small(arg); });
  };
  if (const int first = first_choice(expr.op); first >= 0) return all_small(first);
  switch (expr.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kNeg:
    case Op::kDiv:
    case Op::kMod:
    case Op::kFloorDiv:
    case Op::kAbs: return all_small(0);
    case Op::kMul: return all_small(0) && (is_scale(expr.args[0]) || is_scale(expr.args[1]));
    case Op::kCast: return function_.expr(expr.args[0]).type.is_integer_scalar() && all_small(0);
    default: return false;
  }
}

}  // namespace assay::source
