// The part of ExpressionReader that reads names, subscripts and attributes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/expression_reader.hpp"

namespace assay::frontend {
namespace {

using ir::ExprId;
using ir::kNone;

/// The component that .x, .y, .z or .w names, or -1.
int component_number(std::string_view name) {
  constexpr std::string_view kNames = "xyzw";
  return name.size() == 1 ? static_cast<int>(kNames.find(name[0]) + 1) - 1 : -1;
}

}  // namespace

Place ExpressionReader::place(Node node) {
  switch (node.kind()) {
    case Syntax::kIdentifier:
      if (context_.bindings.find(node.text()) != kNone) return name_place(node);
      break;
    case Syntax::kParenthesized:
      if (const auto inner = node.children(); inner.size() == 1) return place(inner[0]);
      break;
    case Syntax::kSubscript: return subscript_place(node);
    case Syntax::kAttribute: return attribute_place(node);
    default: break;
  }
  const ExprId result = value(node);
  if (result == kNone) return {};
  return {.root = Place::Root::kValue, .value = result, .type = context_.type_of(result)};
}

Place ExpressionReader::name_place(Node node) {
  const ir::VarId variable = context_.bindings.find(node.text());
  const ir::Type type = context_.function.var(variable).type;
  const bool is_array = type.is_array() || type.is_local_array();
  return {.root = is_array ? Place::Root::kArray : Place::Root::kVariable, .variable = variable, .type = type};
}

Place ExpressionReader::subscript_place(Node node) {
  const auto parts = node.children();
  const Node object = parts[0];
  if (object.is(Syntax::kAttribute) && object.part(Part::kAttribute).text() == "shape") {
    const Place array = place(object.part(Part::kObject));
    if (array.failed()) return {};
    if (array.is_whole_array() && array.type.is_array()) return shape_element(node, object.part(Part::kObject));
  }
  Place result = place(object);
  for (std::size_t i = 1; i < parts.size() && !result.failed(); ++i)
    add_index(node, result, parts[i]);
  return result;
}

Place ExpressionReader::shape_element(Node node, Node array) {
  const Place measured = place(array);
  const auto parts = node.children();
  const auto number = parts.size() == 2 ? context_.scope().constant(parts[1]) : std::nullopt;
  if (!number || !number->type.is_integer_scalar()) {
    context_.error(node, "a dimension of a shape is a number known here");
    return {};
  }
  const std::int64_t dimension = number->number().integer;
  if (dimension < 0 || dimension >= measured.type.rank) {
    context_.error(node, fmt::format("the array has {} dimensions", measured.type.rank));
    return {};
  }
  context_.builder.at(node.loc());
  const ExprId extent = context_.builder.shape_of(measured.variable, static_cast<int>(dimension));
  return {.root = Place::Root::kValue, .value = extent, .type = ir::kI32};
}

void ExpressionReader::add_index(Node node, Place& place, Node index) {
  if (index.is(Syntax::kTuple)) {
    for (const Node part : index.children())
      add_index(node, place, part);
    return;
  }
  if (place.failed()) return;
  if (index.grammar_name() == "slice") {
    context_.error(index, "slices are not read");
    place = {};
    return;
  }
  const ExprId position = value(index);
  if (position == kNone) {
    place = {};
    return;
  }
  const ir::Type type = context_.type_of(position);
  if (!type.is_integer_scalar()) {
    context_.error(index, fmt::format("an index is an integer, got {}", context_.type_name(type)));
    place = {};
    return;
  }
  if (place.lacks_indices()) {
    place.indices.push_back(position);
    if (place.type.is_local_array() || place.indices.size() == place.type.rank) place.type = place.type.element();
    return;
  }
  if (!place.type.is_aggregate()) {
    const std::string found = context_.type_name(place.type);
    context_.error(node, place.root == Place::Root::kArray ? fmt::format("too many indices: the element is {}", found)
                                                           : fmt::format("{} cannot be indexed", found));
    place = {};
    return;
  }
  ExprId component = position;
  if (const auto number = literal(index); number && !number->number().is_real) {
    const std::int64_t written = number->number().integer;
    const std::int64_t counted = written < 0 ? written + place.type.parts() : written;
    if (counted < 0 || counted >= place.type.parts()) {
      context_.error(index, fmt::format("{} has {} {}", context_.type_name(place.type), place.type.parts(),
                                        place.type.is_matrix() ? "rows" : "components"));
      place = {};
      return;
    }
    context_.builder.at(index.loc());
    component = context_.builder.i32(counted);
  } else if (type != ir::kI32) {
    context_.builder.at(index.loc());
    component = context_.builder.cast(ir::kI32, position);
  }
  place.path.push_back({.index = component});
  place.type = place.type.part();
}

Place ExpressionReader::transform_part(Place whole, bool translation) {
  const ir::Type type = whole.type;
  whole.path.push_back({.part = translation ? ir::Op::kTranslation : ir::Op::kRotation});
  whole.type = translation ? ir::vector_type(type.scalar, 3) : ir::quaternion_type(type.scalar);
  return whole;
}

Place ExpressionReader::attribute_place(Node node) {
  const Node object = node.part(Part::kObject);
  const std::string_view name = node.part(Part::kAttribute).text();
  if (const std::string warp = context_.scope().warp_name(node); !warp.empty()) {
    if (const auto number = context_.scope().constant(node)) {
      const ExprId made = constant(node, *number);
      return {.root = Place::Root::kValue, .value = made, .type = number->type};
    }
    context_.error(node, "this name of Warp is not a value that the reader knows");
    return {};
  }
  Place result = place(object);
  if (result.failed()) return result;
  if (result.lacks_indices()) {
    context_.error(node, name == "shape" ? "a shape is read one dimension at a time, as in a.shape[0]"
                                         : fmt::format("an array has no attribute '{}' that is read", name));
    return {};
  }
  const auto fail = [&](std::string reason) {
    context_.error(node, std::move(reason));
    return Place{};
  };
  if (result.type.is_struct()) {
    const auto& definition = context_.file.module().structs[result.type.struct_id];
    const auto field = std::find_if(definition.fields.begin(), definition.fields.end(),
                                    [&](const ir::Field& candidate) { return candidate.name == name; });
    if (field == definition.fields.end())
      return fail(fmt::format("struct {} has no field '{}'", definition.name, name));
    if (field->type.is_array()) return fail("an array inside a struct is not read: pass it as a parameter");
    result.path.push_back({.is_field = true, .field = static_cast<std::int32_t>(field - definition.fields.begin())});
    result.type = field->type;
    return result;
  }
  if (result.type.is_transform() && (name == "p" || name == "q")) return transform_part(result, name == "p");
  const int component = component_number(name);
  const bool has_names = result.type.is_vector() || result.type.is_quaternion();
  if (!has_names || component < 0 || component >= result.type.parts()) {
    return fail(fmt::format("{} has no attribute '{}' that is read", context_.type_name(result.type), name));
  }
  context_.builder.at(node.loc());
  result.path.push_back({.index = context_.builder.i32(component)});
  result.type = result.type.component();
  return result;
}

}  // namespace assay::frontend
