// The part of WarpExpressionParser that parses constructors of vectors, matrices, quaternions, transforms and structs.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

namespace {

constexpr auto kMakers =
    std::to_array<std::string_view>({"vector", "matrix", "identity", "matrix_from_rows", "matrix_from_cols",
                                     "quaternion", "transformation", "quat_identity", "transform_identity"});

/// The type constructed by wp.quaternion or wp.transformation, with a given scalar type.
ir::Type general_type(std::string_view name, ir::Scalar scalar) {
  return name.starts_with("quat") ? ir::quaternion_type(scalar) : ir::transform_type(scalar);
}

SyntaxNode keyword(const CallArguments& arguments, std::string_view name) {
  const auto found = arguments.keyword_arguments.find(name);
  return found == arguments.keyword_arguments.end() ? SyntaxNode() : found->second;
}

}  // namespace

bool WarpExpressionParser::is_maker(std::string_view name) {
  return std::find(kMakers.begin(), kMakers.end(), name) != kMakers.end();
}

ExprId WarpExpressionParser::make(SyntaxNode node, std::string_view name) {
  const CallArguments arguments = arguments_of(node);
  if (arguments.has_star_argument && name != "vector" && name != "matrix") {
    return context_.error(node, "starred arguments are not supported for this constructor");
  }
  if (name == "identity") return identity(node, arguments);
  if (name == "matrix_from_rows" || name == "matrix_from_cols") return from_vectors(node, name, arguments);
  if (name == "vector" || name == "matrix") return sized(node, name, arguments);
  return general(node, name, arguments);
}

ExprId WarpExpressionParser::convert_constant(SyntaxNode node, const Constant& number, ir::Type type) {
  SyntaxNode named = node;
  while (named.is(SyntaxKind::kParenthesized) || named.is(SyntaxKind::kUnary))
    named = named.is(SyntaxKind::kUnary) ? named.part(SyntaxField::kArgument) : named.children()[0];
  const bool is_wide = type == ir::scalar_type(ir::Scalar::kF64) || type == ir::scalar_type(ir::Scalar::kI64) ||
                       type == ir::scalar_type(ir::Scalar::kU64);
  // Conversions between integers keep the low bits, so that the int32 between does not matter.
  const bool keeps_bits = type.is_integer_scalar();
  if (overflows(number) && !is_wide && !keeps_bits) {
    return context_.error(
        node, fmt::format("integer is out of range for int32, which Warp makes of it before the conversion to {}; "
                          "write a float literal, such as 4294967296.0, or convert it to wp.int64 first",
                          context_.type_name(type)));
  }
  if (named.is(SyntaxKind::kIdentifier) && is_wide && !number.is_typed) {
    if (context_.used_constants.contains(named.text())) {
      return context_.error(node, fmt::format("the constant '{}' is used before and after a conversion to {}, which in "
                                              "Warp changes the type of the constant itself; use a second constant",
                                              named.text(), context_.type_name(type)));
    }
    context_.retyped_constant_types_by_name[named.text()] = type;
  }
  return constant(node, number.as(type));
}

/// A value for a component: literals and untyped constants take its type, as in Warp.
ExprId WarpExpressionParser::component(SyntaxNode node, ir::Type type) {
  const bool is_variable = node.is(SyntaxKind::kIdentifier) && context_.bindings.find(node.text()) != kNone;
  const auto number = is_variable ? std::nullopt : known_number(node);
  if (number && number->type.is_scalar() && !number->is_typed) return constant(node, number->as(type));
  return value(node);
}

/// type(...): with no argument, one scalar for all components, a value of the same shape, or all components.
ExprId WarpExpressionParser::construct(SyntaxNode node, ir::Type type, std::span<const SyntaxNode> arguments) {
  if (arguments.empty()) {
    context_.builder.at(node.loc());
    return context_.builder.zero(type);
  }
  std::vector<ExprId> values;
  for (const SyntaxNode argument : arguments) {
    if (is_starred(argument)) {
      if (!spread(argument, values, Spread::kComponents)) return kNone;
      continue;
    }
    values.push_back(component(argument, type.component()));
    if (values.back() == kNone) return kNone;
  }
  const ir::Type first = context_.type_of(values[0]);
  if (values.size() == 1 && first.is_scalar() && !type.is_quaternion())
    return context_.operation(node, Op::kSplat, values, type);
  ir::Type converted = first;
  converted.scalar = type.scalar;
  if (values.size() == 1 && converted == type) return convert_components(node, values[0], type);
  if (type.is_transform() && values.size() == 1 && first == ir::vector_type(type.scalar, 3))
    values.push_back(identity_of(ir::quaternion_type(type.scalar)));
  // Warp makes a spatial vector of two vectors only where it is called by this name.
  const bool is_spatial =
      node.is(SyntaxKind::kCall) && context_.scope().warp_name(node.part(SyntaxField::kFunction)) == "spatial_vector";
  if (!takes(type, values, is_spatial)) {
    return context_.error(node,
                          fmt::format("type {} must be constructed from {} values of type {}", context_.type_name(type),
                                      type.components(), context_.type_name(type.component())));
  }
  return context_.operation(node, Op::kMake, values, type);
}

/// *v: the parts or components of a vector, matrix, quaternion or transform, one by one.
bool WarpExpressionParser::spread(SyntaxNode starred, std::vector<ExprId>& values, Spread kind) {
  const auto inner = starred.children();
  const ExprId whole = inner.size() == 1 ? value(inner[0]) : kNone;
  if (whole == kNone) return false;
  const ir::Type type = context_.type_of(whole);
  if (!type.is_aggregate()) {
    context_.error(starred, fmt::format("a starred argument must be a vector, matrix, quaternion or transform, got {}",
                                        context_.type_name(type)));
    return false;
  }
  const bool by_rows = type.is_matrix() && kind == Spread::kParts;
  for (int k = 0; k < (by_rows ? type.rows : type.components()); ++k) {
    context_.builder.at(starred.loc());
    ExprId part = k == 0 ? whole : context_.copy(whole);
    const bool is_element = type.is_matrix() && !by_rows;
    if (is_element) part = context_.operation(starred, Op::kExtract, {part, context_.builder.i32(k / type.cols)});
    const int last = is_element ? k % type.cols : k;
    values.push_back(context_.operation(starred, Op::kExtract, {part, context_.builder.i32(last)}));
  }
  return true;
}

/// Whether Warp constructs the type from these values: its components, or the parts of quaternions, transforms and
/// spatial vectors.
bool WarpExpressionParser::takes(ir::Type type, const std::vector<ExprId>& values, bool is_spatial) const {
  const auto is = [&](std::size_t k, ir::Type wanted) { return context_.type_of(values[k]) == wanted; };
  const bool scalars = std::all_of(values.begin(), values.end(),
                                   [&](ExprId value) { return context_.type_of(value) == type.component(); });
  if (scalars) return static_cast<int>(values.size()) == type.components();
  if (values.size() != 2 || !is(0, ir::vector_type(type.scalar, 3))) return false;
  if (type.is_quaternion()) return is(1, type.component());
  if (type.is_transform()) return is(1, ir::quaternion_type(type.scalar));
  return is_spatial && is(1, ir::vector_type(ir::Scalar::kF32, 3));
}

ExprId WarpExpressionParser::convert_components(SyntaxNode node, ExprId whole, ir::Type type) {
  const ir::Type from = context_.type_of(whole);
  if (from == type) return whole;
  std::vector<ExprId> converted;
  for (int k = 0; k < from.components(); ++k) {
    context_.builder.at(node.loc());
    ExprId part = k == 0 ? whole : context_.copy(whole);
    if (from.is_matrix()) part = context_.operation(node, Op::kExtract, {part, context_.builder.i32(k / from.cols)});
    const int last = from.is_matrix() ? k % from.cols : k;
    part = context_.operation(node, Op::kExtract, {part, context_.builder.i32(last)});
    converted.push_back(context_.operation(node, Op::kCast, {part}, type.component()));
  }
  return context_.operation(node, Op::kMake, converted, type);
}

/// wp.vector(v, dtype=) of a vector and wp.matrix(m, dtype=) of a matrix: a conversion.
ExprId WarpExpressionParser::of_same_size(SyntaxNode node, SyntaxNode argument, bool is_vector, SyntaxNode dtype) {
  const ExprId whole = value(argument);
  if (whole == kNone) return kNone;
  ir::Type type = context_.type_of(whole);
  if (is_vector ? !type.is_vector() : !type.is_matrix())
    return context_.error(node, "size must be given as a compile-time constant");
  if (dtype) {
    const auto scalar = type_of_node(dtype);
    if (!scalar.ok() || !scalar->is_scalar()) return context_.error(dtype, "dtype must be a Warp scalar type");
    type.scalar = scalar->scalar;
  }
  return convert_components(node, whole, type);
}

/// wp.vector(..., length=, dtype=) and wp.matrix(..., shape=, dtype=). The dtype may follow from the values.
ExprId WarpExpressionParser::sized(SyntaxNode node, std::string_view name, const CallArguments& arguments) {
  const bool is_vector = name == "vector";
  const SyntaxNode size = keyword(arguments, is_vector ? "length" : "shape");
  const SyntaxNode dtype = keyword(arguments, "dtype");
  const auto& given = arguments.positional_arguments;
  if (arguments.keyword_arguments.size() != (size ? 1U : 0U) + (dtype ? 1U : 0U)) {
    return context_.error(node, fmt::format("wp.{} accepts only the keyword arguments {}=... and dtype=...", name,
                                            is_vector ? "length" : "shape"));
  }
  if (!size && given.size() == 1) return of_same_size(node, given[0], is_vector, dtype);
  if (!size && (!is_vector || given.size() < 2))
    return context_.error(node, "size must be given as a compile-time constant");
  ir::Type scalar = ir::kF32;
  if (dtype) {
    const auto type = type_of_node(dtype);
    if (!type.ok() || !type->is_scalar()) return context_.error(dtype, "dtype must be a Warp scalar type");
    scalar = *type;
  } else if (!given.empty()) {
    const ExprId first = value(given[0]);
    if (first == kNone) return kNone;
    scalar = context_.type_of(first).component();
  }
  const auto type = size ? context_.scope().sized_type(size, scalar, is_vector)
                         : Result<ir::Type>(ir::vector_type(scalar.scalar, static_cast<int>(given.size())));
  if (!type.ok()) return context_.error(node, type.error().message);
  return construct(node, *type, given);
}

/// wp.quaternion(..., dtype=), wp.transformation(..., dtype=) and their identities. The dtype may follow from the
/// values.
ExprId WarpExpressionParser::general(SyntaxNode node, std::string_view name, const CallArguments& arguments) {
  SyntaxNode dtype = keyword(arguments, "dtype");
  std::vector<SyntaxNode> given = arguments.positional_arguments;
  if (arguments.keyword_arguments.size() != (dtype ? 1U : 0U))
    return context_.error(node, fmt::format("wp.{} accepts only component values and dtype=...", name));
  if (name.ends_with("_identity") && !dtype && given.size() == 1) dtype = std::exchange(given, {}).front();
  ir::Type scalar = ir::kF32;
  if (dtype) {
    const auto type = type_of_node(dtype);
    if (!type.ok() || !type->is_float_scalar()) return context_.error(dtype, "dtype must be a Warp float type");
    if (name == "quaternion" && given.empty() && dtype.text() == "float")
      return context_.error(dtype, "Warp does not compile wp.quaternion(dtype=float); write dtype=wp.float32");
    scalar = *type;
  } else if (!given.empty()) {
    const ExprId first = value(given[0]);
    if (first == kNone) return kNone;
    scalar = context_.type_of(first).component();
  }
  const ir::Type type = general_type(name, scalar.scalar);
  if (!name.ends_with("_identity")) return construct(node, type, given);
  if (!given.empty()) return context_.error(node, fmt::format("wp.{} accepts only dtype", name));
  context_.builder.at(node.loc());
  return identity_of(type);
}

/// The quaternion or transform that does not move anything.
ExprId WarpExpressionParser::identity_of(ir::Type type) {
  std::vector<ExprId> components;
  for (int k = 0; k < type.components(); ++k)
    components.push_back(context_.builder.literal(type.component(), k + 1 == type.components() ? 1.0 : 0.0));
  return context_.builder.make(type, components);
}

/// wp.identity(n=3, dtype=float)
ExprId WarpExpressionParser::identity(SyntaxNode node, const CallArguments& arguments) {
  const auto& given = arguments.positional_arguments;
  const SyntaxNode size = given.empty() ? keyword(arguments, "n") : given[0];
  const SyntaxNode dtype = given.size() > 1 ? given[1] : keyword(arguments, "dtype");
  auto rows = size ? context_.constant(size) : std::nullopt;
  if (const auto length = size ? component_count(size) : std::nullopt) rows = Constant::integer(*length);
  const auto scalar = dtype ? type_of_node(dtype) : Result<ir::Type>(Error{"no dtype"});
  const bool fits = rows && rows->type.is_integer_scalar() && rows->number().integer >= 1 &&
                    rows->number().integer <= 16 && scalar.ok() && scalar->is_scalar() && !scalar->is_bool();
  if (!fits) return context_.error(node, "wp.identity takes n (1 to 16) and a scalar dtype");
  const auto n = static_cast<int>(rows->number().integer);
  context_.builder.at(node.loc());
  std::vector<ExprId> components;
  for (int k = 0; k < n * n; ++k)
    components.push_back(context_.builder.literal(*scalar, std::int64_t{k % (n + 1) == 0}));
  return context_.operation(node, Op::kMake, components, ir::matrix_type(scalar->scalar, n, n));
}

ExprId WarpExpressionParser::from_vectors(SyntaxNode node, std::string_view name, const CallArguments& arguments) {
  std::vector<ExprId> vectors;
  for (const SyntaxNode argument : arguments.positional_arguments) {
    vectors.push_back(value(argument));
    if (vectors.back() == kNone) return kNone;
  }
  const bool same = !vectors.empty() && vectors.size() <= ir::kMaxMatrixSide && arguments.keyword_arguments.empty() &&
                    std::all_of(vectors.begin(), vectors.end(), [&](ExprId vector) {
                      const ir::Type type = context_.type_of(vector);
                      return type.is_vector() && type == context_.type_of(vectors[0]);
                    });
  if (!same) return context_.error(node, fmt::format("wp.{} takes vectors of the same type", name));
  const ir::Type vector = context_.type_of(vectors[0]);
  const ir::Type rows = ir::matrix_type(vector.scalar, static_cast<int>(vectors.size()), vector.rows);
  const ExprId made = context_.operation(node, Op::kMake, vectors, rows);
  return name == "matrix_from_rows" ? made : context_.operation(node, Op::kTranspose, {made});
}

/// A struct from values by position or by field: one for each field or none.
ExprId WarpExpressionParser::construct_struct(SyntaxNode node, ir::Type type) {
  if (!context_.may_hoist) {
    return context_.error(
        node,
        "structs cannot be constructed in conditionally evaluated expressions; assign the struct to a variable first");
  }
  const ir::StructDef& definition = context_.file.module().structs[type.struct_id];
  std::string names;
  for (const ir::Field& field : definition.fields)
    names += (names.empty() ? "" : " ") + field.name;
  const CallArguments written = arguments_of(node);
  std::vector<SyntaxNode> arguments = written.positional_arguments;
  if (!written.keyword_arguments.empty() && !match_named_arguments(node, {names}, arguments))
    return context_.error(node,
                          fmt::format("arguments of {} must set each of its fields exactly once", definition.name));
  std::vector<ExprId> values;
  for (const SyntaxNode argument : arguments) {
    if (is_starred(argument)) {
      if (!spread(argument, values, Spread::kParts)) return kNone;
    } else {
      values.push_back(value(argument));
    }
  }
  if (!values.empty() && values.size() != definition.fields.size()) {
    return context_.error(node, fmt::format("struct {} takes one value for each of its {} fields", definition.name,
                                            definition.fields.size()));
  }
  context_.builder.at(node.loc());
  const ir::VarId made = context_.builder.let_zero("made", type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kNone) return kNone;
    const ir::Field& field = definition.fields[i];
    if (context_.type_of(values[i]) != field.type) {
      return context_.error(written.has_star_argument ? node : arguments[i],
                            fmt::format("field '{}' has type {}, got {}", field.name, context_.type_name(field.type),
                                        context_.type_name(context_.type_of(values[i]))));
    }
    context_.builder.at(node.loc());
    const ExprId before = context_.builder.var(made);
    context_.builder.assign(
        made, context_.builder.op(Op::kWithField, {before, values[i]}, ir::kVoid, static_cast<std::int32_t>(i)));
  }
  return context_.builder.var(made);
}

}  // namespace assay::frontend
