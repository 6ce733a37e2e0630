#include "frontend/warp/parse/inferred_types.hpp"

#include <algorithm>
#include <array>

namespace assay::frontend {
namespace {

constexpr auto kGenericNames =
    std::to_array<std::string_view>({"Any", "Callable", "Function", "Scalar", "Float", "Int"});

/// The last part of a name: "Any" of typing.Any.
std::string_view last_name(SyntaxNode node) {
  if (node.is(SyntaxKind::kType) && node.children().size() == 1) return last_name(node.children()[0]);
  if (node.is(SyntaxKind::kIdentifier)) return node.text();
  if (node.is(SyntaxKind::kAttribute)) return node.part(SyntaxField::kAttribute).text();
  return {};
}

bool takes_value(std::string_view generic, ir::Type type) {
  if (generic == "Any") return true;
  if (generic == "Scalar") return type.is_scalar() && !type.is_bool();
  if (generic == "Float") return type.is_float_scalar();
  if (generic == "Int") return type.is_integer_scalar();
  return false;
}

/// The type of an array that contains this field of all structs in an array of `rank` dimensions.
ir::Type stacked(ir::Type field, int rank) { return field.array_of(field.rank + rank); }

/// Whether the annotation of a dtype, or of a whole value, takes the type.
bool takes(const ModuleScope& scope, SyntaxNode annotation, ir::Type type) {
  if (annotation.is(SyntaxKind::kType) && annotation.children().size() == 1) {
    return takes(scope, annotation.children()[0], type);
  }
  if (const std::string_view generic = generic_name(annotation); !generic.empty()) return takes_value(generic, type);
  const std::string name =
      annotation.is(SyntaxKind::kCall) ? scope.warp_name(annotation.part(SyntaxField::kFunction)) : "";
  if (!is_generic(annotation) || (name != "types.vector" && name != "types.matrix")) {
    const auto known = scope.type(annotation);
    return known.ok() && *known == type;
  }
  const CallArguments arguments = arguments_of(annotation);
  const auto argument = [&](std::size_t position, std::string_view keyword) -> SyntaxNode {
    if (position < arguments.positional_arguments.size()) return arguments.positional_arguments[position];
    const auto found = arguments.keyword_arguments.find(keyword);
    return found == arguments.keyword_arguments.end() ? SyntaxNode() : found->second;
  };
  const bool is_vector = name == "types.vector";
  const SyntaxNode size = argument(0, is_vector ? "length" : "shape");
  const SyntaxNode dtype = argument(1, "dtype");
  if (!size || !dtype || (is_vector ? !type.is_vector() : !type.is_matrix())) return false;
  const std::span<const SyntaxNode> extents = size.elements({SyntaxKind::kTuple});
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (!generic_name(extents[k]).empty()) continue;
    const auto number = scope.constant(extents[k]);
    if (!number || number->number().integer != (k == 0 ? type.rows : type.cols)) return false;
  }
  return takes(scope, dtype, type.component());
}

}  // namespace

bool ArgumentSpec::is_plain() const {
  if (kind == Kind::kFunction || kind == Kind::kMissingArray) return false;
  if (kind == Kind::kArrayStruct) return std::ranges::all_of(fields, &ArgumentSpec::is_plain);
  return std::ranges::all_of(dimensions,
                             [](const DimensionSpec& part) { return part.kind == DimensionSelection::kAllIndices; });
}

bool ArgumentSpec::is_indexed() const {
  return std::ranges::any_of(dimensions,
                             [](const DimensionSpec& part) { return part.kind == DimensionSelection::kIndexed; });
}

bool contains_arrays(const ir::Module& module, ir::Type type) {
  if (!type.is_struct()) return false;
  const auto& fields = module.structs[type.struct_id].fields;
  return std::ranges::any_of(
      fields, [&](const ir::Field& field) { return field.type.is_array() || contains_arrays(module, field.type); });
}

bool has_few_dimensions(const ir::Module& module, ir::Type type) {
  if (type.rank > ir::kMaxRank) return false;
  if (!contains_arrays(module, type.element())) return true;
  const auto& fields = module.structs[type.struct_id].fields;
  return std::ranges::all_of(
      fields, [&](const ir::Field& field) { return has_few_dimensions(module, stacked(field.type, type.rank)); });
}

ArgumentSpec whole_argument(const ir::Module& module, ir::Type type) {
  const bool has_arrays = contains_arrays(module, type.element());
  if (type.is_array() && !has_arrays) {
    return {.kind = ArgumentSpec::Kind::kArray,
            .type = type,
            .whole_array_type = type,
            .dimensions = std::vector<ArgumentSpec::DimensionSpec>(type.rank)};
  }
  if (!has_arrays) return {.kind = ArgumentSpec::Kind::kValue, .type = type};
  ArgumentSpec array_struct{.kind = ArgumentSpec::Kind::kArrayStruct, .type = type};
  for (const ir::Field& field : module.structs[type.struct_id].fields)
    array_struct.fields.push_back(whole_argument(module, stacked(field.type, type.rank)));
  return array_struct;
}

ArgumentSpec indexed_argument(ir::Type type) {
  return {.kind = ArgumentSpec::Kind::kArray,
          .type = type,
          .whole_array_type = type,
          .dimensions = std::vector<ArgumentSpec::DimensionSpec>(type.rank, {.kind = DimensionSelection::kIndexed})};
}

std::string_view generic_name(SyntaxNode node) {
  const std::string_view name = last_name(node);
  return std::ranges::find(kGenericNames, name) != kGenericNames.end() ? name : std::string_view();
}

bool is_generic(SyntaxNode annotation) {
  if (!annotation) return false;
  if (!generic_name(annotation).empty()) return true;
  if (annotation.is(SyntaxKind::kAttribute) || annotation.is(SyntaxKind::kString)) return false;
  if (annotation.is(SyntaxKind::kKeywordArgument)) return is_generic(annotation.part(SyntaxField::kValue));
  return std::ranges::any_of(annotation.children(), is_generic);
}

bool accepts(const ModuleScope& scope, SyntaxNode annotation, const ArgumentSpec& given) {
  if (annotation.is(SyntaxKind::kType) && annotation.children().size() == 1) {
    return accepts(scope, annotation.children()[0], given);
  }
  if (given.kind == ArgumentSpec::Kind::kFunction) {
    const SyntaxNode head = annotation.is(SyntaxKind::kSubscript) ? annotation.part(SyntaxField::kValue) : annotation;
    const std::string_view name = last_name(head);
    return name == "Any" || name == "Callable" || name == "Function";
  }
  if (given.is_indexed() && scope.is_indexed_array(annotation) && !is_generic(annotation)) {
    const auto known = scope.indexed_array_type(annotation);
    return known.ok() && *known == given.type;
  }
  if (given.is_indexed() && !is_generic(annotation)) return false;
  if (given.kind != ArgumentSpec::Kind::kArray || !is_generic(annotation)) return takes(scope, annotation, given.type);
  if (last_name(annotation) == "Any") return true;
  if (given.is_indexed()) return false;
  // wp.array(dtype=Any, ndim=...), wp.array2d(dtype=Any), wp.array[Any]
  const bool is_call = annotation.is(SyntaxKind::kCall);
  if (!is_call && !annotation.is(SyntaxKind::kSubscript)) return false;
  int rank = array_rank(scope.warp_name(annotation.part(is_call ? SyntaxField::kFunction : SyntaxField::kValue)));
  SyntaxNode element;
  if (is_call) {
    for (const auto& [name, value] : arguments_of(annotation).keyword_arguments) {
      if (name == "dtype") element = value;
      if (name != "ndim") continue;
      const auto number = scope.constant(value);
      rank = number ? static_cast<int>(number->number().integer) : 0;
    }
  } else if (annotation.children().size() == 2) {
    element = annotation.children()[1];
  }
  return element && rank == given.type.rank && takes(scope, element, given.type.element());
}

}  // namespace assay::frontend
