#include "frontend/place.hpp"

#include <utility>

namespace assay::frontend {
namespace {

/// The value that the root holds, before any step.
ir::ExprId read_root(FunctionContext& context, Node node, const Place& place) {
  context.builder.at(node.loc());
  switch (place.root) {
    case Place::Root::kValue: return place.value;
    case Place::Root::kVariable: return context.builder.var(place.variable);
    case Place::Root::kArray:
      context.loads.push_back(place.variable);
      return context.builder.load(place.variable, place.indices);
    case Place::Root::kFailed: break;
  }
  return ir::kNone;
}

ir::ExprId read_step(FunctionContext& context, Node node, ir::ExprId object, const Place::Step& step) {
  context.builder.at(node.loc());
  if (step.is_field) return context.builder.field(object, step.field);
  if (step.part) return context.operation(node, *step.part, {object});
  return context.operation(node, ir::Op::kExtract, {object, step.index});
}

/// A transform with one of its two parts replaced.
ir::ExprId with_part(FunctionContext& context, Node node, ir::ExprId transform, ir::Op part, ir::ExprId value) {
  const ir::Type type = context.type_of(transform);
  const bool moves = part == ir::Op::kTranslation;
  const ir::ExprId kept = context.operation(node, moves ? ir::Op::kRotation : ir::Op::kTranslation, {transform});
  return context.operation(node, ir::Op::kMake, moves ? std::vector{value, kept} : std::vector{kept, value}, type);
}

/// `object` with `value` at the end of the steps from number `first`.
ir::ExprId updated(FunctionContext& context, Node node, const Place& place, std::size_t first, ir::ExprId object,
                   ir::ExprId value) {
  if (first == place.path.size() || object == ir::kNone) return value;
  Place::Step step = place.path[first];
  ir::ExprId inner = value;
  if (first + 1 < place.path.size()) {
    Place::Step again = step;
    if (again.index != ir::kNone) again.index = context.copy(again.index);
    inner = updated(context, node, place, first + 1, read_step(context, node, context.copy(object), again), value);
  }
  if (inner == ir::kNone) return ir::kNone;
  context.builder.at(node.loc());
  if (step.is_field) return context.builder.op(ir::Op::kWithField, {object, inner}, ir::kVoid, step.field);
  if (step.part) return with_part(context, node, object, *step.part, inner);
  return context.operation(node, ir::Op::kInsert, {object, step.index, inner});
}

}  // namespace

Place copy_place(FunctionContext& context, const Place& place) {
  Place result = place;
  if (result.value != ir::kNone) result.value = context.copy(result.value);
  for (ir::ExprId& index : result.indices)
    index = context.copy(index);
  for (Place::Step& step : result.path) {
    if (step.index != ir::kNone) step.index = context.copy(step.index);
  }
  return result;
}

ir::ExprId read_place(FunctionContext& context, Node node, const Place& place) {
  if (place.failed()) return ir::kNone;
  if (place.lacks_indices()) {
    return context.error(node, place.indices.empty() ? "an array is not a value: index it"
                                                     : "a part of an array is not read: give it all its indices");
  }
  ir::ExprId value = read_root(context, node, place);
  for (const Place::Step& step : place.path) {
    if (value == ir::kNone) break;
    value = read_step(context, node, value, step);
  }
  return value;
}

void write_place(FunctionContext& context, Node node, const Place& place, ir::ExprId value) {
  if (place.failed() || value == ir::kNone) return;
  if (place.root == Place::Root::kValue) {
    context.error(node, "the result of an expression cannot be changed");
    return;
  }
  if (place.lacks_indices()) {
    context.error(node, "an array is assigned one element at a time");
    return;
  }
  ir::ExprId whole = value;
  if (!place.path.empty())
    whole = updated(context, node, place, 0, read_root(context, node, copy_place(context, place)), value);
  if (whole == ir::kNone) return;
  context.builder.at(node.loc());
  if (place.root == Place::Root::kVariable) {
    context.builder.assign(place.variable, whole);
  } else {
    context.builder.store(place.variable, place.indices, whole);
  }
}

}  // namespace assay::frontend
