#include "ir/text_expressions.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/limits.hpp"
#include "ir/text_names.hpp"

namespace assay::ir::text {
namespace {

/// Parses all of `text` as a number; nothing if that fails.
template <class T, class... Base>
std::optional<T> to_number(std::string_view text, Base... base) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value, base...);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// Parses in the type's own precision, so that f32 text is rounded only once.
std::optional<double> to_float(Scalar scalar, std::string_view text) {
  if (scalar == Scalar::kF32) {
    const std::optional<float> value = to_number<float>(text);
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  }
  const std::optional<double> value = to_number<double>(text);
  if (!value || std::isinf(round_to(scalar, *value))) return std::nullopt;
  return round_to(scalar, *value);
}

/// Greatest magnitude of a positive or negative value of an integer type.
std::uint64_t greatest_magnitude(Scalar scalar, bool negative) {
  const int digits = row(scalar).significant_bits;
  const std::uint64_t greatest =
      digits == 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << digits) - 1;
  if (!negative) return greatest;
  return row(scalar).is_signed ? greatest + 1 : 0;
}

}  // namespace

ExprId ExpressionParser::fail(Loc loc, std::string message) {
  cursor_.fail(loc, std::move(message));
  return kNone;
}

ExprId ExpressionParser::add(Expr expr, Loc loc) {
  if (cursor_.failed()) return kNone;
  expr.loc = loc;
  function_.expressions.push_back(std::move(expr));
  return static_cast<ExprId>(function_.expressions.size()) - 1;
}

ExprId ExpressionParser::literal(Scalar scalar, std::uint64_t bits, Loc loc) {
  return add({.kind = ExprKind::kLiteral, .type = scalar_type(scalar), .bits = bits}, loc);
}

ExprId ExpressionParser::parse() {
  if (nesting_depth_ >= kMaxExpressionDepth) {
    return fail(cursor_.token().loc, fmt::format("expression must not be nested deeper than {}", kMaxExpressionDepth));
  }
  ++nesting_depth_;
  const ExprId id = parse_postfix(parse_primary());
  --nesting_depth_;
  return cursor_.failed() ? kNone : id;
}

std::vector<ExprId> ExpressionParser::parse_list(std::string_view close) {
  std::vector<ExprId> list;
  if (cursor_.accept(close)) return list;
  do
    list.push_back(parse());
  while (cursor_.accept(","));
  cursor_.expect(close);
  return list;
}

ExprId ExpressionParser::parse_primary() {
  const Token token = cursor_.token();
  const bool number = token.kind == TokenKind::kNumber || cursor_.at("-") || cursor_.at("inf") || cursor_.at("nan");
  if (number) return parse_literal();
  if (token.kind != TokenKind::kWord) {
    cursor_.fail_expecting("an expression");
    return kNone;
  }
  cursor_.take();
  if (token.text == "true" || token.text == "false") {
    return literal(Scalar::kBool, token.text == "true" ? 1 : 0, token.loc);
  }
  if (cursor_.at("(") || cursor_.at("<")) return parse_application(token);
  const auto found = variables_.find(token.text);
  if (found == variables_.end()) return fail(token.loc, fmt::format("unknown variable {}", token.text));
  return add({.kind = ExprKind::kVariable, .type = function_.var(found->second).type, .variable = found->second},
             token.loc);
}

ExprId ExpressionParser::parse_postfix(ExprId operand) {
  while (!cursor_.failed()) {
    const Loc loc = cursor_.token().loc;
    if (cursor_.accept("[")) {
      operand = parse_load(operand, loc);
    } else if (cursor_.accept(".")) {
      operand = parse_field(operand, loc);
    } else {
      return operand;
    }
  }
  return kNone;
}

// ---- literals

Scalar ExpressionParser::parse_suffix(Scalar otherwise) {
  return cursor_.accept(":") ? parse_scalar(cursor_) : otherwise;
}

ExprId ExpressionParser::parse_literal() {
  const bool negative = cursor_.accept("-");
  if (cursor_.at("inf") || cursor_.at("nan")) return parse_named_float(cursor_.take(), negative);
  const Token number = cursor_.expect(TokenKind::kNumber, "a number");
  if (cursor_.failed()) return kNone;
  const bool integral = number.text.find_first_of(".e") == std::string_view::npos;
  const Scalar scalar = parse_suffix(integral ? Scalar::kI32 : Scalar::kF32);
  if (is_float(scalar)) return parse_float(number, negative, scalar);
  if (!integral || scalar == Scalar::kBool) {
    return fail(number.loc, fmt::format("{} is not a valid {} literal", number.text, row(scalar).name));
  }
  return parse_integer(number, negative, scalar);
}

ExprId ExpressionParser::parse_integer(const Token& number, bool negative, Scalar scalar) {
  const std::optional<std::uint64_t> magnitude = to_number<std::uint64_t>(number.text);
  if (!magnitude || *magnitude > greatest_magnitude(scalar, negative)) {
    return fail(number.loc,
                fmt::format("{}{} is not a valid {} literal", negative ? "-" : "", number.text, row(scalar).name));
  }
  return literal(scalar, negative ? 0 - *magnitude : *magnitude, number.loc);
}

ExprId ExpressionParser::parse_float(const Token& number, bool negative, Scalar scalar) {
  const std::optional<double> value = to_float(scalar, number.text);
  if (!value) return fail(number.loc, fmt::format("{} is not a valid {} literal", number.text, row(scalar).name));
  return literal(scalar, std::bit_cast<std::uint64_t>(negative ? -*value : *value), number.loc);
}

ExprId ExpressionParser::parse_named_float(const Token& word, bool negative) {
  double value = std::numeric_limits<double>::infinity();
  if (word.text == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
    if (cursor_.accept("(")) {
      const Token token = cursor_.expect(TokenKind::kNumber, "the bits of a NaN");
      const bool prefixed = token.text.starts_with("0x");
      const auto bits = prefixed ? to_number<std::uint64_t>(token.text.substr(2), 16) : std::nullopt;
      if (bits) value = std::bit_cast<double>(*bits);
      if (!bits || value == value) cursor_.fail(token.loc, "expected the bits of a NaN, such as 0x7ff8000000000001");
      cursor_.expect(")");
    }
  }
  const Scalar scalar = parse_suffix(Scalar::kF32);
  if (!is_float(scalar))
    return fail(word.loc, fmt::format("{} is not a valid {} literal", word.text, row(scalar).name));
  return literal(scalar, std::bit_cast<std::uint64_t>(negative ? -value : value), word.loc);
}

// ---- operations and calls: a word and operands in parentheses

ExprId ExpressionParser::parse_application(const Token& word) {
  if (word.text == "shape") return parse_shape(word);
  if (word.text == kTileLoadKeyword) return parse_tile_load(word);
  const OperationEntry* operation = find_operation(word.text);
  if (operation == nullptr) return parse_call(word);
  return operation->rule == TypeRule::kWithField ? parse_with_field(word) : parse_operation(word, operation->op);
}

ExprId ExpressionParser::parse_operation(const Token& word, Op op) {
  Type requested = kVoid;
  if (takes_requested_type(row(op).rule)) {
    cursor_.expect("<");
    requested = parse_type(cursor_, scope_);
    cursor_.expect(">");
  }
  cursor_.expect("(");
  std::vector<ExprId> args = parse_list(")");
  if (cursor_.failed()) return kNone;
  std::vector<Type> types;
  for (const ExprId arg : args)
    types.push_back(type_of(arg));
  const Result<Type> type = result_type(op, types, requested);
  if (!type.ok()) return fail(word.loc, type.error().message);
  return add({.kind = ExprKind::kOperation, .op = op, .type = type.value(), .args = std::move(args)}, word.loc);
}

ExprId ExpressionParser::parse_with_field(const Token& word) {
  cursor_.expect("(");
  const ExprId object = parse();
  cursor_.expect(",");
  const std::int32_t index = parse_field_name(object);
  cursor_.expect(",");
  const ExprId value = parse();
  cursor_.expect(")");
  if (cursor_.failed()) return kNone;
  const Type type = type_of(object);
  const Field& field = scope_.module.structs[type.struct_id].fields[static_cast<std::size_t>(index)];
  if (type_of(value) != field.type) {
    return fail(word.loc, fmt::format("field {} has type {}, but the value has type {}", field.name,
                                      to_text(scope_.module, field.type), to_text(scope_.module, type_of(value))));
  }
  return add(
      {.kind = ExprKind::kOperation, .op = Op::kWithField, .type = type, .index = index, .args = {object, value}},
      word.loc);
}

ExprId ExpressionParser::parse_shape(const Token& word) {
  cursor_.expect("(");
  const ExprId array = parse();
  cursor_.expect(",");
  const Token number = cursor_.expect(TokenKind::kNumber, "a dimension");
  cursor_.expect(")");
  if (cursor_.failed()) return kNone;
  const std::optional<std::int32_t> dimension = to_number<std::int32_t>(number.text);
  if (!dimension || *dimension >= type_of(array).rank) {
    return fail(number.loc, fmt::format("an array of rank {} has no dimension {}", type_of(array).rank, number.text));
  }
  return add({.kind = ExprKind::kShapeOf, .type = kI32, .index = *dimension, .args = {array}}, word.loc);
}

/// tile_load<TYPE>(array[offsets]): parsed as the load of an element, then given the tile type.
ExprId ExpressionParser::parse_tile_load(const Token& word) {
  cursor_.expect("<");
  const Type type = parse_type(cursor_, scope_);
  cursor_.expect(">");
  cursor_.expect("(");
  const ExprId load = parse();
  cursor_.expect(")");
  if (cursor_.failed()) return kNone;
  Expr& expr = function_.expressions[static_cast<std::size_t>(load)];
  if (expr.kind != ExprKind::kLoad || !type.is_tile() || expr.type.is_tile()) {
    return fail(word.loc, "tile_load requires a tile type and the array element at which the tile starts");
  }
  expr.type = type;
  return load;
}

ExprId ExpressionParser::parse_call(const Token& word) {
  const auto found = scope_.functions.find(word.text);
  if (found == scope_.functions.end()) {
    return fail(word.loc, fmt::format("unknown operation or function {}", word.text));
  }
  const Function& callee = scope_.module.functions[static_cast<std::size_t>(found->second)];
  cursor_.expect("(");
  std::vector<ExprId> args = parse_list(")");
  if (callee.results.size() != 1) {
    return fail(word.loc, fmt::format("function {} returns {} values; a call in an expression must return one",
                                      word.text, callee.results.size()));
  }
  const Type type = called_type(function_, callee, args);
  return add({.kind = ExprKind::kCall, .type = type, .index = found->second, .args = std::move(args)}, word.loc);
}

// ---- postfix: indices and fields

ExprId ExpressionParser::parse_load(ExprId array, Loc loc) {
  std::vector<ExprId> args = parse_list("]");
  const Type type = type_of(array);
  if (!type.is_array() && !type.is_local_array()) return fail(loc, "only arrays can be indexed");
  args.insert(args.begin(), array);
  return add({.kind = ExprKind::kLoad, .type = type.element(), .args = std::move(args)}, loc);
}

ExprId ExpressionParser::parse_field(ExprId object, Loc loc) {
  const std::int32_t index = parse_field_name(object);
  if (cursor_.failed()) return kNone;
  const Field& field = scope_.module.structs[type_of(object).struct_id].fields[static_cast<std::size_t>(index)];
  return add({.kind = ExprKind::kField, .type = field.type, .index = index, .args = {object}}, loc);
}

std::int32_t ExpressionParser::parse_field_name(ExprId object) {
  const Token name = cursor_.expect(TokenKind::kWord, "the name of a field");
  if (cursor_.failed()) return kNone;
  const Type type = type_of(object);
  if (!type.is_struct())
    return fail(name.loc, fmt::format("cannot access field {}: operand is not a struct", name.text));
  const StructDef& definition = scope_.module.structs[type.struct_id];
  for (std::size_t i = 0; i < definition.fields.size(); ++i) {
    if (definition.fields[i].name == name.text) return static_cast<std::int32_t>(i);
  }
  return fail(name.loc, fmt::format("struct {} has no field {}", definition.name, name.text));
}

}  // namespace assay::ir::text
