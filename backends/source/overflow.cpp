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

/// A variable, or a local array, of integers.
bool holds_integers(const ir::Variable& variable) { return variable.type.element().is_integer_scalar(); }

/// Operations whose value is one of their operands from the given one on, or -1.
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

Overflow::Overflow(const ir::Function& function) : function_(function), small_(function.variables.size()) {
  for (VarId variable = 0; variable < static_cast<VarId>(small_.size()); ++variable) {
    const ir::Variable& declared = function.var(variable);
    const bool own = !function.is_parameter(variable) || (function.is_kernel && !declared.type.is_array());
    small_[static_cast<std::size_t>(variable)] = own && holds_integers(declared);
  }
  collect();
  std::ranges::stable_sort(given_, {}, &std::pair<VarId, ExprId>::first);
  collect_indices();
  // From the assumption that all are small, until none is left that contradicts it.
  for (bool changed = true; changed;) {
    changed = false;
    for (VarId variable = 0; variable < static_cast<VarId>(small_.size()); ++variable) {
      if (!is_small_variable(variable) || is_given_small_values(variable)) continue;
      small_[static_cast<std::size_t>(variable)] = false;
      changed = true;
    }
  }
}

void Overflow::give(VarId variable, ExprId value) {
  if (value != ir::kNone) given_.emplace_back(variable, value);
}

/// Results of calls and atomics are not small; nor is what is stored through anything but a local array's name.
void Overflow::collect() {
  ir::for_each_statement(function_.body, [&](const ir::Stmt& statement) {
    std::visit(ir::Overloaded{
                   [&](const ir::Let& node) { give(node.variable, node.value); },
                   [&](const ir::Assign& node) { give(node.variable, node.value); },
                   [&](const ir::Store& node) {
                     const Expr& array = function_.expr(node.array);
                     if (array.kind == ExprKind::kVariable) give(array.variable, node.value);
                   },
                   [&](const ir::Atomic& node) {
                     if (node.result != ir::kNone) small_[static_cast<std::size_t>(node.result)] = false;
                     const Expr& array = function_.expr(node.array);
                     if (array.kind == ExprKind::kVariable) small_[static_cast<std::size_t>(array.variable)] = false;
                   },
                   [&](const ir::Call& node) {
                     for (const VarId result : node.results)
                       small_[static_cast<std::size_t>(result)] = false;
                   },
                   [](const auto&) {},
               },
               statement.node);
  });
}

void Overflow::collect_indices() {
  for (const Expr& expr : function_.expressions) {
    if (expr.kind != ExprKind::kLoad) continue;
    std::for_each(expr.args.begin() + 1, expr.args.end(), [&](ExprId index) { take_as_index(index); });
  }
  ir::for_each_statement(function_.body, [&](const ir::Stmt& statement) {
    if (const auto* store = std::get_if<ir::Store>(&statement.node))
      std::ranges::for_each(store->indices, [&](ExprId index) { take_as_index(index); });
    if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node))
      std::ranges::for_each(atomic->indices, [&](ExprId index) { take_as_index(index); });
  });
}

void Overflow::take_as_index(ExprId id) {
  const Expr& expr = function_.expr(id);
  if (expr.kind != ExprKind::kOperation) return;
  const bool product = expr.op == Op::kMul && (is_scale(expr.args[0]) || is_scale(expr.args[1]));
  if (expr.op != Op::kAdd && expr.op != Op::kSub && !product) return;
  in_index_.insert(&expr);
  for (const ExprId arg : expr.args)
    take_as_index(arg);
}

bool Overflow::is_given_small_values(VarId variable) const {
  return std::ranges::all_of(given_to(variable),
                             [&](ExprId value) { return is_small(value) && !grows(variable, value); });
}

/// Whether the value is made from the variable's own by more than choices and small steps.
bool Overflow::grows(VarId variable, ExprId value) const {
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

bool Overflow::depends_on(ExprId value, VarId variable) const {
  std::vector<bool> seen(small_.size());
  return depends_on(value, variable, seen);
}

bool Overflow::depends_on(ExprId value, VarId variable, std::vector<bool>& seen) const {
  bool depends = false;
  ir::for_each_expression(function_, value, [&](ExprId, const Expr& expr) {
    if (expr.kind != ExprKind::kVariable || depends) return;
    if (expr.variable == variable) depends = true;
    const auto index = static_cast<std::size_t>(expr.variable);
    if (depends || seen[index]) return;
    seen[index] = true;
    for (const ExprId given : given_to(expr.variable))
      depends = depends || depends_on(given, variable, seen);
  });
  return depends;
}

bool Overflow::is_small(const Expr& expr) const {
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

/// What an index is multiplied by: a constant, an extent or a parameter.
bool Overflow::is_scale(ExprId id) const {
  const Expr& expr = function_.expr(id);
  return is_constant_within(expr, kLargestConstant) || expr.kind == ExprKind::kShapeOf ||
         (expr.kind == ExprKind::kVariable && function_.is_parameter(expr.variable));
}

bool Overflow::is_small_operation(const Expr& expr) const {
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
