#include "ir/element_part.hpp"

#include <algorithm>
#include <functional>

namespace assay::ir {
namespace {

using IsWhole = std::function<bool(ExprId)>;

bool is_operation(const Expr& expr, Op op) { return expr.kind == ExprKind::kOperation && expr.op == op; }

/// If `value` is the value that `is_whole` recognizes with some part replaced, the part, otherwise the whole value.
ChangedElementPart changed_part(const Function& function, ExprId value, IsWhole is_whole) {
  ChangedElementPart part{.path = {}, .value = value};
  while (true) {
    const Expr& expr = function.expr(part.value);
    part.combines_with_old_value = expr.kind == ExprKind::kOperation && !expr.args.empty() && is_whole(expr.args[0]);
    if (!part.combines_with_old_value || (expr.op != Op::kInsert && expr.op != Op::kWithField)) return part;
    if (expr.op == Op::kInsert) {
      const ExprId index = expr.args[1];
      part.path.push_back({.whole_type = expr.type, .index = index});
      part.value = expr.args[2];
      is_whole = [&function, is_whole, index](ExprId id) {
        const Expr& inner = function.expr(id);
        return is_operation(inner, Op::kExtract) && is_whole(inner.args[0]) &&
               same_expression(function, inner.args[1], index);
      };
    } else {
      const std::int32_t field = expr.index;
      part.path.push_back({.whole_type = expr.type, .field_index = field});
      part.value = expr.args[1];
      is_whole = [&function, is_whole, field](ExprId id) {
        const Expr& inner = function.expr(id);
        return inner.kind == ExprKind::kField && inner.index == field && is_whole(inner.args[0]);
      };
    }
  }
}

/// Whether the expression is a vector or matrix of zeros, made from all components or from a single one.
bool is_zero_aggregate(const Function& function, ExprId id) {
  const Expr& expr = function.expr(id);
  if (!is_operation(expr, Op::kMake) && !is_operation(expr, Op::kSplat)) return false;
  return std::ranges::all_of(expr.args, [&](ExprId arg) {
    const Expr& component = function.expr(arg);
    return component.kind == ExprKind::kLiteral && component.bits == 0;
  });
}

}  // namespace

ChangedElementPart stored_part(const Function& function, const Store& store) {
  return changed_part(function, store.value, [&](ExprId id) {
    const Expr& load = function.expr(id);
    return load.kind == ExprKind::kLoad && same_expression(function, load.args[0], store.array) &&
           std::equal(load.args.begin() + 1, load.args.end(), store.indices.begin(), store.indices.end(),
                      [&](ExprId a, ExprId b) { return same_expression(function, a, b); });
  });
}

ChangedElementPart assigned_part(const Function& function, const Assign& assign) {
  return changed_part(function, assign.value, [&](ExprId id) {
    const Expr& expr = function.expr(id);
    return expr.kind == ExprKind::kVariable && expr.variable == assign.variable;
  });
}

ChangedElementPart updated_part(const Module& module, const Function& function, const Atomic& atomic) {
  ChangedElementPart part{.path = {}, .value = atomic.value};
  Type whole = function.expr(atomic.array).type.element();
  for (const std::int32_t field : atomic.fields) {
    part.path.push_back({.whole_type = whole, .field_index = field});
    whole = part_type(module, whole, {part.path.back()});
  }
  const bool adds = atomic.op == AtomicOp::kAdd || atomic.op == AtomicOp::kSub;
  if (!adds || atomic.result != kNone) return part;
  while (true) {
    const Expr& expr = function.expr(part.value);
    if (!is_operation(expr, Op::kInsert) || !is_zero_aggregate(function, expr.args[0])) return part;
    part.path.push_back({.whole_type = expr.type, .index = expr.args[1]});
    part.value = expr.args[2];
  }
}

LoadedElementPart loaded_part(const Function& function, ExprId id) {
  LoadedElementPart part;
  const Expr* expr = &function.expr(id);
  for (; expr->kind == ExprKind::kField || is_operation(*expr, Op::kExtract);
       id = expr->args[0], expr = &function.expr(id)) {
    const Type whole = function.expr(expr->args[0]).type;
    const bool is_field = expr->kind == ExprKind::kField;
    part.path.push_back({.whole_type = whole,
                         .field_index = is_field ? expr->index : kNone,
                         .index = is_field ? kNone : expr->args[1]});
  }
  const bool loads = expr->kind == ExprKind::kLoad && !expr->type.is_tile() && !part.path.empty();
  if (!loads) return {};
  std::ranges::reverse(part.path);
  part.load = id;
  return part;
}

Type part_type(const Module& module, Type whole, const std::vector<ElementPartStep>& path) {
  for (const ElementPartStep& step : path) {
    whole = step.field_index == kNone
                ? whole.indexed_part_type()
                : module.structs[whole.struct_id].fields[static_cast<std::size_t>(step.field_index)].type;
  }
  return whole;
}

bool same_expression(const Function& function, ExprId a, ExprId b) {
  if (a == b) return true;
  const Expr& x = function.expr(a);
  const Expr& y = function.expr(b);
  return x.kind == y.kind && x.op == y.op && x.type == y.type && x.bits == y.bits && x.variable == y.variable &&
         x.index == y.index && x.kind != ExprKind::kCall &&
         std::ranges::equal(x.args, y.args, [&](ExprId p, ExprId q) { return same_expression(function, p, q); });
}

}  // namespace assay::ir
