// The part of WarpExpressionParser that parses names, subscripts and attributes.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"

namespace assay::frontend {
namespace {

using ir::ExprId;
using ir::kNone;

/// Appends the indices of a subscript, also those in parentheses.
void append_indices(SyntaxNode index, std::vector<SyntaxNode>& indices) {
  if (!index.is(SyntaxKind::kTuple)) return indices.push_back(index);
  for (const SyntaxNode part : index.children())
    append_indices(part, indices);
}

/// The component that .x, .y, .z or .w names, or -1.
int component_number(std::string_view name) {
  constexpr std::string_view kNames = "xyzw";
  return name.size() == 1 ? static_cast<int>(kNames.find(name[0]) + 1) - 1 : -1;
}

}  // namespace

AssignmentTarget WarpExpressionParser::place(SyntaxNode node) {
  switch (node.kind()) {
    case SyntaxKind::kIdentifier:
      if (context_.bindings.find(node.text()) != kNone) return name_target(node);
      break;
    case SyntaxKind::kParenthesized:
      if (const auto inner = node.children(); inner.size() == 1) return place(inner[0]);
      break;
    case SyntaxKind::kCall:
      if (const ir::VarId mesh = name_of(node); mesh != kNone) return place_of(context_, node, mesh);
      break;
    case SyntaxKind::kSubscript: return subscript_target(node);
    case SyntaxKind::kAttribute: return attribute_target(node);
    default: break;
  }
  const ExprId result = value(node);
  if (result == kNone) return {};
  if (context_.compound_tile(result)) return place_of(context_, node, context_.function.expr(result).variable);
  return {.root_kind = AssignmentTarget::RootKind::kValue, .value = result, .type = context_.type_of(result)};
}

AssignmentTarget WarpExpressionParser::name_target(SyntaxNode node) {
  return place_of(context_, node, context_.bindings.find(node.text()));
}

/// wp.adjoint[x]: the sum of the adjoints of parameter x so far, or the adjoint array of an array.
AssignmentTarget WarpExpressionParser::adjoint_target(SyntaxNode node) {
  const auto parts = node.children();
  const auto found = parts.size() == 2 ? context_.adjoint_variables_by_parameter.find(parts[1].text())
                                       : context_.adjoint_variables_by_parameter.end();
  if (found != context_.adjoint_variables_by_parameter.end()) {
    return {.root_kind = AssignmentTarget::RootKind::kVariable,
            .variable = found->second,
            .type = context_.function.var(found->second).type};
  }
  if (context_.entry.differentiated_function == nullptr) {
    context_.error(node, "wp.adjoint is supported only in functions decorated with @wp.func_grad");
    return {};
  }
  AssignmentTarget array;
  if (parts.size() == 2 && is_array_expression(parts[1])) array = place(parts[1]);
  const auto adjoint = context_.adjoint_arrays_by_parameter.find(array.variable);
  if (adjoint == context_.adjoint_arrays_by_parameter.end()) {
    context_.error(node,
                   "wp.adjoint requires a parameter with float components, or an array parameter whose elements have "
                   "float components and are not structs");
    return {};
  }
  array.variable = adjoint->second;
  return array;
}

bool WarpExpressionParser::is_adjoint(SyntaxNode node) const {
  if (node.is(SyntaxKind::kAttribute)) return is_adjoint(node.part(SyntaxField::kObject));
  if (!node.is(SyntaxKind::kSubscript)) return false;
  const SyntaxNode object = node.children()[0];
  return context_.scope().warp_name(object) == "adjoint" || is_adjoint(object);
}

AssignmentTarget WarpExpressionParser::subscript_target(SyntaxNode node) {
  const auto parts = node.children();
  const SyntaxNode object = parts[0];
  if (context_.scope().warp_name(object) == "adjoint") return adjoint_target(node);
  if (object.is(SyntaxKind::kAttribute) && object.part(SyntaxField::kAttribute).text() == "shape") {
    const AssignmentTarget array = place(object.part(SyntaxField::kObject));
    if (array.failed()) return {};
    if (array.can_be_indexed()) return shape_element(node, array);
  }
  AssignmentTarget result = object_target(object);
  if (result.root_kind == AssignmentTarget::RootKind::kArrayStruct && !result.is_array_of_structs()) {
    context_.error(node, "structs cannot be indexed");
    return {};
  }
  std::vector<SyntaxNode> indices;
  for (std::size_t i = 1; i < parts.size(); ++i)
    append_indices(parts[i], indices);
  if (result.type.is_aggregate() && std::ranges::any_of(indices, is_slice)) return slice_of(node, result, indices);
  const bool is_tile =
      result.type.is_tile() && result.root_kind == AssignmentTarget::RootKind::kVariable && result.accessors.empty();
  if (is_tile && std::ranges::any_of(indices, is_slice)) {
    const ExprId part = tile_slice(node, result.variable, indices);
    if (part == kNone) return {};
    return {.root_kind = AssignmentTarget::RootKind::kValue, .value = part, .type = context_.type_of(part)};
  }
  std::size_t passed = 0;
  for (const SyntaxNode index : indices)
    if (!result.failed()) add_index(node, result, index, passed);
  return result;
}

/// The place of x in x[...] and x.name. A slice is a value there.
AssignmentTarget WarpExpressionParser::object_target(SyntaxNode node) {
  const AssignmentTarget object = place(node);
  if (!object.is_slice()) return object;
  const ExprId made = read_target(context_, node, object);
  if (made == kNone) return {};
  return {.root_kind = AssignmentTarget::RootKind::kValue, .value = made, .type = object.type};
}

AssignmentTarget WarpExpressionParser::shape_element(SyntaxNode node, const AssignmentTarget& measured) {
  const auto parts = node.children();
  const auto number = parts.size() == 2 ? context_.constant(parts[1]) : std::nullopt;
  if (!number || !number->type.is_integer_scalar()) {
    context_.error(node, "shape index must be a compile-time constant");
    return {};
  }
  const int rank = measured.type.is_array() ? measured.type.rank : 1;
  const std::int64_t dimension = number->number().integer;
  if (dimension < 0 || dimension >= rank) {
    context_.error(node, fmt::format("shape index {} is out of range; the array has {} dimension{}", dimension, rank,
                                     rank == 1 ? "" : "s"));
    return {};
  }
  const ExprId extent = extent_of(context_, node, measured, static_cast<int>(dimension));
  return {.root_kind = AssignmentTarget::RootKind::kValue, .value = extent, .type = ir::kI32};
}

ExprId WarpExpressionParser::index_value(SyntaxNode index) {
  const ExprId position = value(index);
  if (position == kNone) return kNone;
  const ir::Type type = context_.type_of(position);
  if (type.is_integer_scalar()) return position;
  return context_.error(index, fmt::format("index must be an integer, got {}", context_.type_name(type)));
}

/// `passed` counts the remaining dimensions that earlier indices have sliced.
void WarpExpressionParser::add_index(SyntaxNode node, AssignmentTarget& place, SyntaxNode index, std::size_t& passed) {
  if (place.failed()) return;
  if (place.can_be_indexed()) {
    if (!index_dimension(place, index, passed)) place = {};
    return;
  }
  if (is_slice(index)) {
    context_.error(index, "only arrays, vectors, matrices, quaternions and transforms can be sliced");
    place = {};
    return;
  }
  if (place.type.is_aggregate()) {
    const ExprId component = component_index(index, place.type);
    if (component == kNone) {
      place = {};
      return;
    }
    place.accessors.push_back({.index = component});
    place.type = place.type.indexed_part_type();
    return;
  }
  const ExprId position =
      place.type.is_tile()
          ? index_below(index, place.type, place.type.tile[place.pending_tile_indices.size()], "positions")
          : index_value(index);
  if (position == kNone) {
    place = {};
    return;
  }
  if (place.type.is_tile()) {
    place.pending_tile_indices.push_back(position);
    if (static_cast<int>(place.pending_tile_indices.size()) < place.type.tile_rank()) return;
    place.accessors.push_back({.tile_indices = std::exchange(place.pending_tile_indices, {})});
    place.type = place.type.tile_element_type();
    return;
  }
  const std::string found = context_.type_name(place.type);
  context_.error(node, place.root_kind == AssignmentTarget::RootKind::kArray
                           ? fmt::format("too many indices; the element has type {}", found)
                           : fmt::format("a value of type {} cannot be indexed", found));
  place = {};
}

/// The index of a row, or a component of types other than matrices; kNone after a reported error.
ExprId WarpExpressionParser::component_index(SyntaxNode index, ir::Type type) {
  return index_below(index, type, type.parts(), type.is_matrix() ? "rows" : "components");
}

ExprId WarpExpressionParser::index_below(SyntaxNode index, ir::Type type, int parts, std::string_view what) {
  const ExprId position = index_value(index);
  if (position == kNone) return kNone;
  const auto number = literal(index);
  if (!number || number->number().is_real) return as_i32(index, position);
  const std::int64_t written = number->number().integer;
  const std::int64_t counted = written < 0 ? written + parts : written;
  if (counted < 0 || counted >= parts) {
    return context_.error(index, fmt::format("{} has {} {}", context_.type_name(type), parts, what));
  }
  context_.builder.at(index.loc());
  return context_.builder.i32(counted);
}

AssignmentTarget WarpExpressionParser::transform_part(AssignmentTarget whole, bool translation) {
  const ir::Type type = whole.type;
  whole.accessors.push_back({.transform_part = translation ? ir::Op::kTranslation : ir::Op::kRotation});
  whole.type = translation ? ir::vector_type(type.scalar, 3) : ir::quaternion_type(type.scalar);
  return whole;
}

AssignmentTarget WarpExpressionParser::attribute_target(SyntaxNode node) {
  const SyntaxNode object = node.part(SyntaxField::kObject);
  const std::string_view name = node.part(SyntaxField::kAttribute).text();
  if (const std::string warp = context_.scope().warp_name(node); !warp.empty()) {
    if (const auto number = context_.constant(node)) {
      const ExprId made = constant(node, *number);
      return {.root_kind = AssignmentTarget::RootKind::kValue, .value = made, .type = number->type};
    }
    context_.error(node, "unknown or unsupported Warp constant");
    return {};
  }
  AssignmentTarget result = object_target(object);
  if (result.failed()) return result;
  if (result.can_be_indexed()) {
    context_.error(node, name == "shape" ? "shape must be indexed, as in a.shape[0]"
                                         : fmt::format("array attribute '{}' is not supported", name));
    return {};
  }
  if (result.root_kind == AssignmentTarget::RootKind::kArrayStruct) {
    const ir::StructDef& definition = context_.file.module().structs[result.type.struct_id];
    const auto found = std::ranges::find(definition.fields, name, &ir::Field::name);
    if (found != definition.fields.end())
      return place_of_field(context_, node, result, static_cast<std::size_t>(found - definition.fields.begin()));
    context_.error(node, fmt::format("struct {} has no field '{}'", definition.name, name));
    return {};
  }
  const auto fail = [&](std::string reason) {
    context_.error(node, std::move(reason));
    return AssignmentTarget{};
  };
  if (result.type.is_struct()) {
    const auto& definition = context_.file.module().structs[result.type.struct_id];
    const auto field = std::find_if(definition.fields.begin(), definition.fields.end(),
                                    [&](const ir::Field& candidate) { return candidate.name == name; });
    if (field == definition.fields.end())
      return fail(fmt::format("struct {} has no field '{}'", definition.name, name));
    if (field->type.is_array()) return fail("array fields are supported only in structs that are parameters");
    result.accessors.push_back(
        {.is_field = true, .field_index = static_cast<std::int32_t>(field - definition.fields.begin())});
    result.type = field->type;
    return result;
  }
  if (result.type.is_transform() && (name == "p" || name == "q")) return transform_part(result, name == "p");
  if (result.type == ir::scalar_type(ir::Scalar::kU64) && is_texture_extent(name)) {
    const ExprId extent = texture_extent(node, name);
    return {.root_kind = extent == kNone ? AssignmentTarget::RootKind::kFailed : AssignmentTarget::RootKind::kValue,
            .value = extent,
            .type = ir::kI32};
  }
  const int component = component_number(name);
  const bool has_names = result.type.is_vector() || result.type.is_quaternion();
  if (!has_names || component < 0 || component >= result.type.parts()) {
    return fail(fmt::format("type {} has no supported attribute '{}'", context_.type_name(result.type), name));
  }
  context_.builder.at(node.loc());
  result.accessors.push_back({.index = context_.builder.i32(component)});
  result.type = result.type.component();
  return result;
}

}  // namespace assay::frontend
