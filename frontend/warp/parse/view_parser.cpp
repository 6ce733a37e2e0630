// The part of WarpExpressionParser that parses slices of arrays: a[i], a[1:, j].
#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

ExprId WarpExpressionParser::as_i32(SyntaxNode node, ExprId value) {
  if (value == kNone || context_.type_of(value) == ir::kI32) return value;
  context_.builder.at(node.loc());
  return context_.builder.cast(ir::kI32, value);
}

/// Fixes or slices the first remaining dimension after `passed` others. False after a reported error.
bool WarpExpressionParser::index_dimension(AssignmentTarget& place, SyntaxNode index, std::size_t& passed) {
  if (const auto tile = context_.compound_tiles.find(place.variable);
      tile != context_.compound_tiles.end() && tile->second.size() > 1)
    return index_compound_tile(place, index, tile->second);
  if (place.root_kind == AssignmentTarget::RootKind::kMissingArray) return index_missing_array(place, index);
  if (place.root_kind == AssignmentTarget::RootKind::kArrayStruct && is_slice(index)) {
    context_.error(index, "slices of arrays of structs with array fields are not supported");
    return false;
  }
  auto at = place.dimensions.begin();
  int number = 0;
  for (std::size_t left = passed;; ++at) {
    if (at == place.dimensions.end()) {
      context_.error(index, "too many indices for the remaining array dimensions");
      return false;
    }
    if (at->kind == SliceDimension::Kind::kSingleIndex) continue;
    if (left-- == 0) break;
    ++number;
  }
  if (is_slice(index)) {
    ++passed;
    return cut(place, *at, index, number);
  }
  const auto written = literal(index);
  const bool from_end = written && !written->number().is_real && written->number().integer < 0;
  ExprId position = kNone;
  if (from_end) {
    const ExprId extent = extent_of(context_, index, place, number);
    context_.builder.at(index.loc());
    position = context_.operation(index, Op::kAdd, {extent, context_.builder.i32(written->number().integer)});
  } else {
    position = index_value(index);
  }
  if (position == kNone) return false;
  if (at->kind == SliceDimension::Kind::kRange) {
    position = as_i32(index, position);
    const bool counts_up = from_end || (written && !written->number().is_real);
    if (!counts_up) {
      // An index below zero counts from the end of the range, not of the array.
      const ExprId extent = extent_of(context_, index, place, number);
      position = context_.operation(index, Op::kWrapIndex, {position, extent});
    }
    position = position_in(index, *at, position);
  }
  if (at->kind == SliceDimension::Kind::kIndexed) {
    // The indices that the array holds do not count from the end, so they are unsigned here.
    context_.builder.at(index.loc());
    context_.loaded_arrays.push_back(at->indices);
    position = context_.builder.cast(scalar_type(ir::Scalar::kU32), context_.builder.load(at->indices, {position}));
  }
  *at = {.kind = SliceDimension::Kind::kSingleIndex, .index = position};
  const ir::Type element = place.type.element();
  const auto rank = std::ranges::count_if(place.dimensions, [](const SliceDimension& dimension) {
    return dimension.kind != SliceDimension::Kind::kSingleIndex;
  });
  place.type = element.array_of(static_cast<int>(rank));
  return true;
}

/// An element of a missing array is a call of a function that reads beyond the end of an array, so that the inputs of
/// the launch are outside of the domain.
bool WarpExpressionParser::index_missing_array(AssignmentTarget& place, SyntaxNode index) {
  const ir::Type element = place.type.element();
  if (is_slice(index) || contains_arrays(context_.file.module(), element)) {
    context_.error(index, "this array field of a constructed struct is not assigned yet");
    return false;
  }
  if (index_value(index) == kNone) return false;
  place.type = element.array_of(place.type.rank - 1);
  if (place.type.is_array()) return true;
  std::string name = "wp_missing_" + context_.type_name(element);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  const auto make = [&](const ir::Module& module) {
    ir::Function function{.name = name, .results = {element}};
    ir::Builder b(module, function);
    const ir::VarId none = b.let_zero("none", element.local_array_of(1));
    b.return_({b.load(none, {b.i32(1)})});
    return function;
  };
  const std::int32_t function = context_.file.library_function(name, make);
  context_.builder.at(index.loc());
  place = {
      .root_kind = AssignmentTarget::RootKind::kValue, .value = context_.builder.call(function, {}), .type = element};
  return true;
}

/// The index of element `position` of the range. Consumes the range's start.
ExprId WarpExpressionParser::position_in(SyntaxNode node, const SliceDimension& range, ExprId position) {
  context_.builder.at(node.loc());
  if (range.step != 1) position = context_.operation(node, Op::kMul, {position, context_.builder.i32(range.step)});
  return context_.operation(node, Op::kAdd, {range.start, position});
}

/// start:stop:step of a dimension. As in Python, bounds are clamped to the extent, and negative numbers count from
/// the end.
bool WarpExpressionParser::cut(AssignmentTarget& place, SliceDimension& dimension, SyntaxNode slice, int number) {
  if (context_.function.var(place.variable).type.is_local_array()) {
    context_.error(slice, "slices of local arrays are not supported");
    return false;
  }
  if (dimension.kind == SliceDimension::Kind::kIndexed) {
    context_.error(slice, "slices of indexed arrays are not supported");
    return false;
  }
  const SliceParts parts = slice_parts(slice);
  const auto step = parts.step ? context_.constant(parts.step) : std::optional(Constant::integer(1));
  if (!step || !step->type.is_integer_scalar() || step->number().integer < 1) {
    context_.error(slice, "slice step must be a positive compile-time constant");
    return false;
  }
  if (!parts.start && !parts.stop && step->number().integer == 1) return true;
  const auto bound = [&](SyntaxNode node, ExprId otherwise) -> ExprId {
    if (!node) return otherwise;
    const auto written = literal(node);
    const ExprId extent = extent_of(context_, slice, place, number);
    if (written && !written->number().is_real && written->number().integer >= 0) {
      const ExprId position = as_i32(node, index_value(node));
      return context_.operation(node, Op::kMin, {position, extent});
    }
    if (written && !written->number().is_real) {
      const ExprId position =
          context_.operation(node, Op::kAdd, {extent, context_.builder.i32(written->number().integer)});
      return context_.operation(node, Op::kMax, {position, context_.builder.i32(0)});
    }
    const ExprId position = as_i32(node, index_value(node));
    return position == kNone ? kNone : context_.operation(node, Op::kMin, {position, extent});
  };
  context_.builder.at(slice.loc());
  const ExprId start = bound(parts.start, context_.builder.i32(0));
  const ExprId stop = bound(parts.stop, parts.stop ? kNone : extent_of(context_, slice, place, number));
  if (start == kNone || stop == kNone) return false;
  ExprId extent = stop;
  if (parts.start) {
    extent = context_.operation(slice, Op::kSub, {stop, context_.copy(start)});
    extent = context_.operation(slice, Op::kMax, {extent, context_.builder.i32(0)});
  }
  const std::int64_t stride = step->number().integer;
  if (stride > 1) {
    extent = context_.operation(slice, Op::kAdd, {extent, context_.builder.i32(stride - 1)});
    extent = context_.operation(slice, Op::kDiv, {extent, context_.builder.i32(stride)});
  }
  const bool is_range = dimension.kind == SliceDimension::Kind::kRange;
  const ExprId first = is_range ? position_in(slice, dimension, start) : start;
  dimension = {.kind = SliceDimension::Kind::kRange,
               .start = first,
               .extent = extent,
               .step = is_range ? dimension.step * stride : stride};
  return true;
}

// ---- array aliases

/// The rank of the array or slice that the expression names; 0 if it names none.
int WarpExpressionParser::array_rank_of(SyntaxNode node) {
  if (node.is(SyntaxKind::kParenthesized) && node.children().size() == 1) return array_rank_of(node.children()[0]);
  if (node.is(SyntaxKind::kSubscript)) {
    int rank = array_rank_of(node.part(SyntaxField::kValue));
    const auto parts = node.children();
    const auto count = [&](const auto& self, SyntaxNode index) -> void {
      if (index.is(SyntaxKind::kTuple)) {
        for (const SyntaxNode part : index.children())
          self(self, part);
      } else if (!is_slice(index)) {
        --rank;
      }
    };
    for (std::size_t i = 1; i < parts.size() && rank > 0; ++i)
      count(count, parts[i]);
    return std::max(rank, 0);
  }
  const bool is_field = node.is(SyntaxKind::kAttribute);
  const StructPart whole = is_field ? struct_part(node.part(SyntaxField::kObject)) : StructPart{};
  const ir::VarId name =
      whole.array_struct == nullptr ? name_of(node) : field_of(*whole.array_struct, node.part(SyntaxField::kAttribute));
  if (const ArrayView* view = context_.find_array_view(name)) return view->type.rank - whole.fixed_dimensions;
  if (name < 0) return 0;
  const ir::Type type = context_.function.var(name).type;
  return type.is_array() ? type.rank - whole.fixed_dimensions : 0;
}

/// The struct with arrays, or the part of an array of such structs, that the expression names.
WarpExpressionParser::StructPart WarpExpressionParser::struct_part(SyntaxNode node) {
  if (node.is(SyntaxKind::kParenthesized) && node.children().size() == 1) return struct_part(node.children()[0]);
  if (node.is(SyntaxKind::kSubscript)) {
    StructPart part = struct_part(node.part(SyntaxField::kValue));
    if (part.array_struct == nullptr) return {};
    for (const SyntaxNode index : node.children().subspan(1))
      part.fixed_dimensions += index.is(SyntaxKind::kTuple) ? static_cast<int>(index.children().size()) : 1;
    return part.fixed_dimensions <= part.array_struct->type.rank ? part : StructPart{};
  }
  if (!node.is(SyntaxKind::kAttribute)) return {.array_struct = context_.find_array_struct(name_of(node))};
  const StructPart whole = struct_part(node.part(SyntaxField::kObject));
  if (whole.array_struct == nullptr) return {};
  const ir::VarId field = field_of(*whole.array_struct, node.part(SyntaxField::kAttribute));
  return {.array_struct = context_.find_array_struct(field), .fixed_dimensions = whole.fixed_dimensions};
}

/// The variable or alias of a field; kNone if the struct has no such field.
ir::VarId WarpExpressionParser::field_of(const ArrayStruct& array_struct, SyntaxNode name) const {
  const auto& fields = context_.file.module().structs[array_struct.type.struct_id].fields;
  const auto found = std::ranges::find(fields, name.text(), &ir::Field::name);
  return found == fields.end() ? kNone : array_struct.fields[static_cast<std::size_t>(found - fields.begin())];
}

/// The variable or alias of a name, or of a field of a struct with arrays.
ir::VarId WarpExpressionParser::name_of(SyntaxNode node) {
  if (node.is(SyntaxKind::kIdentifier)) return context_.bindings.find(node.text());
  if (node.is(SyntaxKind::kCall) && warp_function_name(node) == "mesh_get") return mesh_alias(node);
  if (!node.is(SyntaxKind::kAttribute)) return kNone;
  const ArrayStruct* array_struct = context_.find_array_struct(name_of(node.part(SyntaxField::kObject)));
  if (array_struct == nullptr || array_struct->type.is_array()) return kNone;
  return field_of(*array_struct, node.part(SyntaxField::kAttribute));
}

ir::VarId* WarpExpressionParser::array_field(SyntaxNode node) {
  if (!node.is(SyntaxKind::kAttribute)) return nullptr;
  ArrayStruct* array_struct = context_.find_array_struct(name_of(node.part(SyntaxField::kObject)));
  if (array_struct == nullptr || array_struct->type.is_array()) return nullptr;
  const auto& fields = context_.file.module().structs[array_struct->type.struct_id].fields;
  const auto found = std::ranges::find(fields, node.part(SyntaxField::kAttribute).text(), &ir::Field::name);
  if (found == fields.end() || !found->type.is_array()) return nullptr;
  return &array_struct->fields[static_cast<std::size_t>(found - fields.begin())];
}

ir::VarId WarpExpressionParser::alias(SyntaxNode node, std::string_view name) {
  // A struct is copied, because its fields that are values can be assigned.
  const bool is_struct = struct_part(node).array_struct != nullptr;
  if (!is_struct && array_rank_of(node) == 0) return kNone;
  const AssignmentTarget part = place(node);
  if (part.failed()) return kNone;
  return is_struct ? make_struct_view(context_, node, part, name) : make_view(context_, node, part, name);
}

/// The type of S(), for a struct S with arrays.
std::optional<ir::Type> WarpExpressionParser::array_struct_without_arguments(SyntaxNode node) const {
  if (!node.is(SyntaxKind::kCall)) return std::nullopt;
  const CallArguments arguments = arguments_of(node);
  const bool is_bare = arguments.positional_arguments.empty() && arguments.keyword_arguments.empty();
  const auto type = context_.scope().type(node.part(SyntaxField::kFunction));
  const bool has_arrays = is_bare && type.ok() && contains_arrays(context_.file.module(), *type);
  return has_arrays ? std::optional(*type) : std::nullopt;
}

bool WarpExpressionParser::is_array_expression(SyntaxNode node) {
  return struct_part(node).array_struct != nullptr || array_rank_of(node) > 0;
}

}  // namespace assay::frontend
