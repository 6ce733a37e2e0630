#include "frontend/warp/parse/target.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/visit.hpp"

namespace assay::frontend {
namespace {

/// The value that the root holds, before any step.
ir::ExprId read_root(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place) {
  context.builder.at(node.loc());
  switch (place.root_kind) {
    case AssignmentTarget::RootKind::kValue: return place.value;
    case AssignmentTarget::RootKind::kVariable: return context.builder.var(place.variable);
    case AssignmentTarget::RootKind::kArray:
      context.loaded_arrays.push_back(place.variable);
      return context.builder.load(place.variable, place.indices());
    case AssignmentTarget::RootKind::kMissingArray:
    case AssignmentTarget::RootKind::kArrayStruct:
    case AssignmentTarget::RootKind::kFailed: break;
  }
  return ir::kNone;
}

std::vector<ir::ExprId> tile_operands(ir::ExprId tile, const AssignmentTarget::Accessor& step) {
  std::vector<ir::ExprId> operands{tile};
  operands.insert(operands.end(), step.tile_indices.begin(), step.tile_indices.end());
  return operands;
}

ir::ExprId read_step(FunctionContext& context, SyntaxNode node, ir::ExprId object,
                     const AssignmentTarget::Accessor& step) {
  context.builder.at(node.loc());
  if (step.is_field) return context.builder.field(object, step.field_index);
  if (step.transform_part) return context.operation(node, *step.transform_part, {object});
  if (!step.tile_indices.empty()) {
    // Unlike those of wp.tile_extract(), indices below zero count from the end.
    std::vector<ir::ExprId> operands = tile_operands(object, step);
    for (std::size_t d = 1; d < operands.size(); ++d)
      operands[d] = context.wrapped_index(node, operands[d], context.type_of(object).tile[d - 1]);
    return context.operation(node, ir::Op::kTileExtract, operands);
  }
  return context.operation(node, ir::Op::kExtract, {object, step.index});
}

/// The value of a slice of `whole_array`.
ir::ExprId read_slice(FunctionContext& context, SyntaxNode node, const AssignmentTarget& slice, ir::ExprId whole) {
  std::vector<ir::ExprId> components;
  for (const std::vector<AssignmentTarget::Accessor>& path : slice.components) {
    ir::ExprId component = components.empty() ? whole : context.copy(whole);
    for (const AssignmentTarget::Accessor& step : path)
      component = read_step(context, node, component, step);
    components.push_back(component);
  }
  const bool is_single = components.size() == 1;
  return context.operation(node, is_single ? ir::Op::kSplat : ir::Op::kMake, components, slice.type);
}

/// Stores the components of `value` one by one.
void write_slice(FunctionContext& context, SyntaxNode node, const AssignmentTarget& slice, ir::ExprId value) {
  // The value may depend on the components that change.
  context.builder.at(node.loc());
  const ir::VarId held = context.builder.let("value", value);
  for (std::size_t k = 0; k < slice.components.size(); ++k) {
    context.builder.at(node.loc());
    const auto extract = [&](ir::ExprId whole, std::size_t index) {
      return context.builder.op(ir::Op::kExtract, {whole, context.builder.i32(static_cast<std::int64_t>(index))});
    };
    const std::size_t columns = slice.type.is_matrix() ? slice.type.cols : 1;
    ir::ExprId component = extract(context.builder.var(held), k / columns);
    if (slice.type.is_matrix()) component = extract(component, k % columns);
    write_target(context, node,
                 {.root_kind = slice.root_kind,
                  .variable = slice.variable,
                  .accessors = slice.components[k],
                  .type = slice.type.component()},
                 component);
  }
}

bool calls_function(const ir::Function& function, ir::ExprId root) {
  bool calls = false;
  ir::for_each_expression(function, root,
                          [&](ir::ExprId, const ir::Expr& expr) { calls |= expr.kind == ir::ExprKind::kCall; });
  return calls;
}

/// Indices that call functions become variables: a store to a part of an element mentions its indices twice, and two
/// calls are not known to have the same result (ir/element_part.hpp).
AssignmentTarget without_calls_in_indices(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place) {
  AssignmentTarget result = place;
  const auto keep = [&](ir::ExprId& index) {
    if (index == ir::kNone || !calls_function(context.function, index)) return;
    context.builder.at(node.loc());
    index = context.builder.var(context.builder.let("index", index));
  };
  for (SliceDimension& dimension : result.dimensions)
    keep(dimension.index);
  for (AssignmentTarget::Accessor& step : result.accessors)
    keep(step.index);
  return result;
}

/// A transform with one of its two parts replaced.
ir::ExprId with_part(FunctionContext& context, SyntaxNode node, ir::ExprId transform, ir::Op part, ir::ExprId value) {
  const ir::Type type = context.type_of(transform);
  const bool moves = part == ir::Op::kTranslation;
  const ir::ExprId kept = context.operation(node, moves ? ir::Op::kRotation : ir::Op::kTranslation, {transform});
  return context.operation(node, ir::Op::kMake, moves ? std::vector{value, kept} : std::vector{kept, value}, type);
}

/// `object` with the part reached by the steps from `first` on replaced by `value`.
ir::ExprId updated(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, std::size_t first,
                   ir::ExprId object, ir::ExprId value) {
  if (first == place.accessors.size() || object == ir::kNone) return value;
  AssignmentTarget::Accessor step = place.accessors[first];
  ir::ExprId inner = value;
  if (first + 1 < place.accessors.size()) {
    AssignmentTarget::Accessor again = step;
    if (again.index != ir::kNone) again.index = context.copy(again.index);
    inner = updated(context, node, place, first + 1, read_step(context, node, context.copy(object), again), value);
  }
  if (inner == ir::kNone) return ir::kNone;
  context.builder.at(node.loc());
  if (step.is_field) return context.builder.op(ir::Op::kWithField, {object, inner}, ir::kVoid, step.field_index);
  if (step.transform_part) return with_part(context, node, object, *step.transform_part, inner);
  if (!step.tile_indices.empty()) {
    std::vector<ir::ExprId> operands = tile_operands(object, step);
    operands.push_back(inner);
    return context.operation(node, ir::Op::kTileInsert, operands);
  }
  return context.operation(node, ir::Op::kInsert, {object, step.index, inner});
}

/// The variable that holds the value from here on: a new one, unless the value is a parameter or a thread index.
ir::VarId kept(FunctionContext& context, SyntaxNode node, ir::ExprId expr, std::string name) {
  const ir::Expr& value = context.function.expr(expr);
  const bool stays = value.kind == ir::ExprKind::kVariable &&
                     value.variable < context.function.parameter_count + context.function.launch_rank;
  if (stays) return value.variable;
  context.builder.at(node.loc());
  return context.builder.let(std::move(name), expr);
}

/// The array slice at the place. `keep` returns the variable that holds an index.
template <class Keep>
ArrayView view_of(const AssignmentTarget& place, const Keep& keep) {
  ArrayView view{.array = place.variable, .type = place.type, .dimensions = {}};
  for (const SliceDimension& dimension : place.dimensions) {
    view.dimensions.push_back({.kind = dimension.kind,
                               .index = keep(dimension.index, "_at"),
                               .start = keep(dimension.start, "_from"),
                               .extent = keep(dimension.extent, "_extent"),
                               .step = dimension.step,
                               .indices = dimension.indices});
  }
  return view;
}

/// An alias of the struct at the place, whose indices are variables that stay.
ir::VarId struct_view_of(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place,
                         const std::string& name) {
  const auto& fields = context.file.module().structs[place.type.struct_id].fields;
  const auto variable = [&](ir::ExprId expr, std::string_view) {
    return expr == ir::kNone ? ir::kNone : context.function.expr(expr).variable;
  };
  ArrayStruct view{.type = place.type, .fields = {}};
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::string part_name = fmt::format("{}_{}", name, fields[f].name);
    const AssignmentTarget part = place_of_field(context, node, place, f);
    if (part.root_kind == AssignmentTarget::RootKind::kMissingArray) {
      view.fields.push_back(part.variable);
    } else if (part.root_kind == AssignmentTarget::RootKind::kArrayStruct) {
      view.fields.push_back(struct_view_of(context, node, part, part_name));
    } else if (part.lacks_indices()) {
      view.fields.push_back(context.add(view_of(part, variable)));
    } else {
      const ir::ExprId value = read_target(context, node, part);
      context.builder.at(node.loc());
      view.fields.push_back(context.builder.let(part_name, value));
    }
  }
  return context.add(std::move(view));
}

/// Assigns the root of the place, whatever its path is.
void write_whole(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, ir::ExprId whole) {
  if (whole == ir::kNone) return;
  context.builder.at(node.loc());
  if (place.root_kind == AssignmentTarget::RootKind::kVariable && context.function.is_parameter(place.variable)) {
    context.error(node, "fields of structs with array fields cannot be assigned; store the new value in a variable");
  } else if (place.root_kind == AssignmentTarget::RootKind::kVariable) {
    context.builder.assign(place.variable, whole);
    if (context.type_of(whole).is_tile()) context.changed_tiles.emplace_back(place.variable, node);
  } else {
    context.builder.store(place.variable, place.indices(), whole);
  }
}

}  // namespace

ir::ExprId FunctionContext::wrapped_index(SyntaxNode node, ir::ExprId index, int extent) {
  const ir::Type type = type_of(index);
  if (function.expr(index).kind == ir::ExprKind::kLiteral || !ir::row(type.scalar).is_signed) return index;
  builder.at(node.loc());
  return operation(node, ir::Op::kWrapIndex, {index, builder.literal(type, std::int64_t{extent})});
}

bool AssignmentTarget::is_whole_array() const {
  return lacks_indices() && std::all_of(dimensions.begin(), dimensions.end(), [](const SliceDimension& dimension) {
           return dimension.kind == SliceDimension::Kind::kAllIndices;
         });
}

bool AssignmentTarget::is_indexed_array() const {
  return lacks_indices() && std::any_of(dimensions.begin(), dimensions.end(), [](const SliceDimension& dimension) {
           return dimension.kind == SliceDimension::Kind::kIndexed;
         });
}

std::vector<ir::ExprId> AssignmentTarget::indices() const {
  std::vector<ir::ExprId> result;
  for (const SliceDimension& dimension : dimensions)
    result.push_back(dimension.index);
  return result;
}

AssignmentTarget place_of(FunctionContext& context, SyntaxNode node, ir::VarId name) {
  context.builder.at(node.loc());
  if (const ArrayStruct* array_struct = context.find_array_struct(name)) {
    return {.root_kind = AssignmentTarget::RootKind::kArrayStruct,
            .variable = name,
            .dimensions = std::vector<SliceDimension>(array_struct->type.rank),
            .type = array_struct->type};
  }
  if (const ArrayView* view = context.find_array_view(name)) {
    if (view->array == ir::kNone) {
      return {.root_kind = AssignmentTarget::RootKind::kMissingArray, .variable = name, .type = view->type};
    }
    AssignmentTarget place{
        .root_kind = AssignmentTarget::RootKind::kArray, .variable = view->array, .type = view->type};
    for (const ArrayViewDimension& dimension : view->dimensions) {
      const auto expr = [&](ir::VarId variable) {
        return variable == ir::kNone ? ir::kNone : context.builder.var(variable);
      };
      place.dimensions.push_back({.kind = dimension.kind,
                                  .index = expr(dimension.index),
                                  .start = expr(dimension.start),
                                  .extent = expr(dimension.extent),
                                  .step = dimension.step,
                                  .indices = dimension.indices});
    }
    return place;
  }
  const ir::Type type = context.function.var(name).type;
  const bool is_array = type.is_array() || type.is_local_array();
  AssignmentTarget place{
      .root_kind = is_array ? AssignmentTarget::RootKind::kArray : AssignmentTarget::RootKind::kVariable,
      .variable = name,
      .type = type};
  if (is_array) place.dimensions.resize(type.is_array() ? type.rank : 1);
  return place;
}

AssignmentTarget place_of_field(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place,
                                std::size_t field) {
  AssignmentTarget result = place_of(context, node, context.find_array_struct(place.variable)->fields[field]);
  auto at = result.dimensions.begin();
  int fixed = 0;
  for (const SliceDimension& dimension : place.dimensions) {
    at = std::ranges::find(at, result.dimensions.end(), SliceDimension::Kind::kAllIndices, &SliceDimension::kind);
    if (dimension.kind == SliceDimension::Kind::kSingleIndex) {
      *at = {.kind = SliceDimension::Kind::kSingleIndex, .index = context.copy(dimension.index)};
      ++fixed;
    }
    ++at;
  }
  result.type = result.type.array_of(result.type.rank - fixed);
  return result;
}

ir::ExprId extent_of(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, int number) {
  if (place.root_kind == AssignmentTarget::RootKind::kArrayStruct)
    return extent_of(context, node, place_of_field(context, node, place, 0), number);
  context.builder.at(node.loc());
  if (place.root_kind == AssignmentTarget::RootKind::kMissingArray) return context.builder.i32(0);
  for (std::size_t d = 0; d < place.dimensions.size(); ++d) {
    const SliceDimension& dimension = place.dimensions[d];
    if (dimension.kind == SliceDimension::Kind::kSingleIndex || number-- > 0) continue;
    if (dimension.kind == SliceDimension::Kind::kRange) return context.copy(dimension.extent);
    if (dimension.kind == SliceDimension::Kind::kIndexed) return context.builder.shape_of(dimension.indices, 0);
    const ir::Type array = context.function.var(place.variable).type;
    if (array.is_local_array()) return context.builder.i32(array.extent);
    return context.builder.shape_of(place.variable, static_cast<int>(d));
  }
  return ir::kNone;
}

ir::VarId make_view(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, std::string_view name) {
  if (place.root_kind == AssignmentTarget::RootKind::kMissingArray) return place.variable;
  return context.add(view_of(place, [&](ir::ExprId expr, std::string_view what) {
    return expr == ir::kNone ? ir::kNone : kept(context, node, expr, std::string(name) + std::string(what));
  }));
}

ir::VarId new_array_struct(FunctionContext& context, const std::string& name, ir::Type type) {
  const std::vector<ir::Field> fields = context.file.module().structs[type.struct_id].fields;
  ArrayStruct made{.type = type, .fields = {}};
  for (const ir::Field& field : fields) {
    const std::string part = fmt::format("{}_{}", name, field.name);
    if (field.type.is_array()) {
      made.fields.push_back(context.add(ArrayView{.array = ir::kNone, .type = field.type, .dimensions = {}}));
    } else if (contains_arrays(context.file.module(), field.type)) {
      made.fields.push_back(new_array_struct(context, part, field.type));
    } else {
      made.fields.push_back(field.type.is_scalar() ? context.builder.let(part, context.builder.zero(field.type))
                                                   : context.builder.let_zero(part, field.type));
    }
  }
  return context.add(std::move(made));
}

ir::VarId make_struct_view(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place,
                           std::string_view name) {
  AssignmentTarget evaluated = place;
  for (SliceDimension& dimension : evaluated.dimensions) {
    if (dimension.kind == SliceDimension::Kind::kSingleIndex)
      dimension.index = context.builder.var(kept(context, node, dimension.index, std::string(name) + "_at"));
  }
  return struct_view_of(context, node, evaluated, std::string(name));
}

AssignmentTarget copy_target(FunctionContext& context, const AssignmentTarget& place) {
  AssignmentTarget result = place;
  if (result.value != ir::kNone) result.value = context.copy(result.value);
  for (SliceDimension& dimension : result.dimensions) {
    for (ir::ExprId* expr : {&dimension.index, &dimension.start, &dimension.extent})
      if (*expr != ir::kNone) *expr = context.copy(*expr);
  }
  const auto copy_path = [&](std::vector<AssignmentTarget::Accessor>& path) {
    for (AssignmentTarget::Accessor& step : path) {
      if (step.index != ir::kNone) step.index = context.copy(step.index);
      for (ir::ExprId& index : step.tile_indices)
        index = context.copy(index);
    }
  };
  copy_path(result.accessors);
  std::ranges::for_each(result.components, copy_path);
  return result;
}

std::optional<std::int64_t> known_integer(const ir::Function& function, ir::ExprId value) {
  const ir::Expr& expr = function.expr(value);
  if (expr.kind == ir::ExprKind::kLiteral) return static_cast<std::int64_t>(expr.bits);
  if (expr.kind != ir::ExprKind::kOperation || expr.args.empty()) return std::nullopt;
  const auto first = known_integer(function, expr.args[0]);
  if (expr.op == ir::Op::kCast) return first;
  if (expr.op != ir::Op::kAdd && expr.op != ir::Op::kMul) return std::nullopt;
  const auto second = known_integer(function, expr.args[1]);
  if (!first || !second) return std::nullopt;
  return expr.op == ir::Op::kAdd ? *first + *second : *first * *second;
}

std::optional<std::vector<std::optional<std::int64_t>>> tile_element(const FunctionContext& context,
                                                                     const AssignmentTarget& place) {
  const auto step = std::ranges::find_if(
      place.accessors, [](const AssignmentTarget::Accessor& each) { return !each.tile_indices.empty(); });
  std::vector<ir::ExprId> indices;
  if (context.compound_tiles.contains(place.variable) && !place.lacks_indices()) {
    indices = {place.dimensions[0].index};
  } else if (place.root_kind == AssignmentTarget::RootKind::kVariable && step != place.accessors.end()) {
    indices = step->tile_indices;
  } else {
    return std::nullopt;
  }
  std::vector<std::optional<std::int64_t>> known;
  for (const ir::ExprId index : indices)
    known.push_back(known_integer(context.function, index));
  return known;
}

ir::ExprId read_target(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place) {
  if (place.failed()) return ir::kNone;
  if (const auto indices = tile_element(context, place))
    context.tile_element_reads.push_back({.tile = place.variable, .indices = *indices, .node = node});
  if (place.root_kind == AssignmentTarget::RootKind::kMissingArray)
    return context.error(node, "this array field of a constructed struct is not assigned yet");
  if (place.root_kind == AssignmentTarget::RootKind::kArrayStruct)
    return context.error(node, "structs with array fields cannot be used as values; use their fields");
  const bool is_whole_tile = place.lacks_indices() && context.compound_tiles.contains(place.variable);
  if (is_whole_tile && place.pending_tile_indices.empty()) return context.builder.var(place.variable);
  if (place.lacks_indices() && !is_whole_tile) {
    return context.error(node, place.is_whole_array() ? "arrays cannot be used as values; index the array"
                                                      : "array slices cannot be used as values; index every dimension");
  }
  if (!place.pending_tile_indices.empty())
    return context.error(node, "partially indexed tiles are not supported; index every dimension");
  ir::ExprId value = read_root(context, node, place);
  for (const AssignmentTarget::Accessor& step : place.accessors) {
    if (value == ir::kNone) break;
    value = read_step(context, node, value, step);
  }
  return place.is_slice() && value != ir::kNone ? read_slice(context, node, place, value) : value;
}

void write_target(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, ir::ExprId value) {
  if (place.failed() || value == ir::kNone) return;
  if (place.root_kind == AssignmentTarget::RootKind::kValue) {
    context.error(node, "cannot assign to the result of an expression");
    return;
  }
  if (place.can_be_indexed() || place.root_kind == AssignmentTarget::RootKind::kArrayStruct) {
    context.error(node, "arrays cannot be assigned as a whole; assign each element");
    return;
  }
  if (place.is_slice() && !place.is_assignable_slice()) {
    context.error(
        node,
        "Warp can assign only to a slice of a variable, not of an array element or a field; copy the vector or matrix "
        "to a variable, assign to the slice, and store the variable");
    return;
  }
  if (place.is_slice()) return write_slice(context, node, place, value);
  if (place.accessors.empty()) return write_whole(context, node, place, value);
  const AssignmentTarget evaluated = without_calls_in_indices(context, node, place);
  const ir::ExprId old = read_root(context, node, copy_target(context, evaluated));
  write_whole(context, node, evaluated, updated(context, node, evaluated, 0, old, value));
}

}  // namespace assay::frontend
