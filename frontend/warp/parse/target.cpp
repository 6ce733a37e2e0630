#include "frontend/warp/parse/target.hpp"

#include <algorithm>
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
      return context.builder.load(place.variable, place.indices());
    case Place::Root::kPack:
    case Place::Root::kFailed: break;
  }
  return ir::kNone;
}

std::vector<ir::ExprId> tile_operands(ir::ExprId tile, const Place::Step& step) {
  std::vector<ir::ExprId> operands{tile};
  operands.insert(operands.end(), step.tile.begin(), step.tile.end());
  return operands;
}

ir::ExprId read_step(FunctionContext& context, Node node, ir::ExprId object, const Place::Step& step) {
  context.builder.at(node.loc());
  if (step.is_field) return context.builder.field(object, step.field);
  if (step.part) return context.operation(node, *step.part, {object});
  if (!step.tile.empty()) return context.operation(node, ir::Op::kTileExtract, tile_operands(object, step));
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
  if (!step.tile.empty()) {
    std::vector<ir::ExprId> operands = tile_operands(object, step);
    operands.push_back(inner);
    return context.operation(node, ir::Op::kTileInsert, operands);
  }
  return context.operation(node, ir::Op::kInsert, {object, step.index, inner});
}

}  // namespace

bool Place::is_whole_array() const {
  return lacks_indices() && std::all_of(dimensions.begin(), dimensions.end(), [](const Dimension& dimension) {
           return dimension.kind == Dimension::Kind::kWhole;
         });
}

std::vector<ir::ExprId> Place::indices() const {
  std::vector<ir::ExprId> result;
  for (const Dimension& dimension : dimensions)
    result.push_back(dimension.index);
  return result;
}

Place place_of(FunctionContext& context, Node node, ir::VarId name) {
  context.builder.at(node.loc());
  if (const Pack* pack = context.pack(name)) return {.root = Place::Root::kPack, .variable = name, .type = pack->type};
  if (const View* view = context.view(name)) {
    Place place{.root = Place::Root::kArray, .variable = view->array, .type = view->type};
    for (const ViewDimension& dimension : view->dimensions) {
      const auto expr = [&](ir::VarId variable) {
        return variable == ir::kNone ? ir::kNone : context.builder.var(variable);
      };
      place.dimensions.push_back({.kind = dimension.kind,
                                  .index = expr(dimension.index),
                                  .start = expr(dimension.start),
                                  .extent = expr(dimension.extent),
                                  .step = dimension.step});
    }
    return place;
  }
  const ir::Type type = context.function.var(name).type;
  const bool is_array = type.is_array() || type.is_local_array();
  Place place{.root = is_array ? Place::Root::kArray : Place::Root::kVariable, .variable = name, .type = type};
  if (is_array) place.dimensions.resize(type.is_array() ? type.rank : 1);
  return place;
}

ir::ExprId extent_of(FunctionContext& context, Node node, const Place& place, int number) {
  context.builder.at(node.loc());
  for (std::size_t d = 0; d < place.dimensions.size(); ++d) {
    const Dimension& dimension = place.dimensions[d];
    if (dimension.kind == Dimension::Kind::kFixed || number-- > 0) continue;
    if (dimension.kind == Dimension::Kind::kRange) return context.copy(dimension.extent);
    const ir::Type array = context.function.var(place.variable).type;
    if (array.is_local_array()) return context.builder.i32(array.extent);
    return context.builder.shape_of(place.variable, static_cast<int>(d));
  }
  return ir::kNone;
}

ir::VarId make_view(FunctionContext& context, Node node, const Place& place, std::string_view name) {
  View view{.array = place.variable, .type = place.type, .dimensions = {}};
  const auto keep = [&](ir::ExprId expr, std::string_view what) {
    if (expr == ir::kNone) return ir::kNone;
    const ir::Expr& value = context.function.expr(expr);
    const bool stays = value.kind == ir::ExprKind::kVariable &&
                       value.variable < context.function.parameter_count + context.function.launch_rank;
    if (stays) return value.variable;
    context.builder.at(node.loc());
    return context.builder.let(std::string(name) + std::string(what), expr);
  };
  for (const Dimension& dimension : place.dimensions) {
    view.dimensions.push_back({.kind = dimension.kind,
                               .index = keep(dimension.index, "_at"),
                               .start = keep(dimension.start, "_from"),
                               .extent = keep(dimension.extent, "_extent"),
                               .step = dimension.step});
  }
  return context.add(std::move(view));
}

Place copy_place(FunctionContext& context, const Place& place) {
  Place result = place;
  if (result.value != ir::kNone) result.value = context.copy(result.value);
  for (Dimension& dimension : result.dimensions) {
    for (ir::ExprId* expr : {&dimension.index, &dimension.start, &dimension.extent})
      if (*expr != ir::kNone) *expr = context.copy(*expr);
  }
  for (Place::Step& step : result.path) {
    if (step.index != ir::kNone) step.index = context.copy(step.index);
    for (ir::ExprId& index : step.tile)
      index = context.copy(index);
  }
  return result;
}

ir::ExprId read_place(FunctionContext& context, Node node, const Place& place) {
  if (place.failed()) return ir::kNone;
  if (place.root == Place::Root::kPack) return context.error(node, "a struct with arrays is no value: use its fields");
  if (place.lacks_indices()) {
    return context.error(node, place.is_whole_array() ? "an array is not a value: index it"
                                                      : "a part of an array is no value: give it all its indices");
  }
  if (!place.tile_indices.empty()) return context.error(node, "a part of a tile is not read: give it all its indices");
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
  if (place.root == Place::Root::kPack || place.lacks_indices()) {
    context.error(node, "an array is assigned one element at a time");
    return;
  }
  ir::ExprId whole = value;
  if (!place.path.empty())
    whole = updated(context, node, place, 0, read_root(context, node, copy_place(context, place)), value);
  if (whole == ir::kNone) return;
  context.builder.at(node.loc());
  if (place.root == Place::Root::kVariable && context.function.is_parameter(place.variable)) {
    context.error(node, "a field of a struct with arrays is not assigned: keep it in a variable");
  } else if (place.root == Place::Root::kVariable) {
    context.builder.assign(place.variable, whole);
  } else {
    context.builder.store(place.variable, place.indices(), whole);
  }
}

}  // namespace assay::frontend
