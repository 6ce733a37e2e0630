#include "ir/text_scope.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "ir/text_names.hpp"

namespace assay::ir::text {
namespace {

/// Parses ',' and a number from 1 to `greatest`.
template <class T>
T parse_count(Cursor& cursor, T greatest = std::numeric_limits<T>::max()) {
  cursor.expect(",");
  const Token token = cursor.expect(TokenKind::kNumber, "a number");
  std::uint64_t value = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, status] = std::from_chars(token.text.data(), end, value);
  if (status != std::errc{} || stop != end || value < 1 || value > greatest) {
    cursor.fail(token.loc, fmt::format("found {}, expected a number from 1 to {}", token.text, greatest));
    return 1;
  }
  return static_cast<T>(value);
}

Type parse_struct_name(Cursor& cursor, const ParsedDeclarations& scope, const Token& word) {
  const auto found = scope.structs.find(word.text);
  if (found != scope.structs.end()) return struct_type(found->second);
  cursor.fail(word.loc, fmt::format("unknown type {}", word.text));
  return kVoid;
}

/// Parses a type that is not an array<> or local<>; `word` has been taken.
Type parse_element(Cursor& cursor, const ParsedDeclarations& scope, const Token& word) {
  if (const ScalarTypeProperties* scalar = find_scalar(word.text)) return scalar_type(scalar->scalar);
  if (!is_type_word(word.text)) return parse_struct_name(cursor, scope, word);
  cursor.expect("<");
  Type type{.shape = Shape::kVoid, .scalar = parse_scalar(cursor)};
  if (word.text == "vec") {
    type.shape = Shape::kVector;
    type.rows = parse_count<std::uint8_t>(cursor);
  } else if (word.text == "mat") {
    type.shape = Shape::kMatrix;
    type.rows = parse_count<std::uint8_t>(cursor);
    type.cols = parse_count<std::uint8_t>(cursor);
  } else if (word.text == "quat") {
    type.shape = Shape::kQuaternion;
  } else if (word.text == "transform") {
    type.shape = Shape::kTransform;
  } else {
    cursor.fail(word.loc, fmt::format("found {}, expected a value type", word.text));
  }
  cursor.expect(">");
  return type;
}

}  // namespace

Scalar parse_scalar(Cursor& cursor) {
  const Token word = cursor.expect(TokenKind::kWord, "a scalar type");
  if (const ScalarTypeProperties* scalar = find_scalar(word.text)) return scalar->scalar;
  cursor.fail(word.loc, fmt::format("found {}, expected a scalar type such as f32", word.text));
  return Scalar::kBool;
}

namespace {

/// Parses tile<scalar,n> or tile<scalar,r,c>, starting at '<'.
Type parse_tile(Cursor& cursor, const ParsedDeclarations& scope) {
  cursor.expect("<");
  const Token inner = cursor.expect(TokenKind::kWord, "the type of an element");
  if (cursor.failed()) return kVoid;
  Type type = parse_element(cursor, scope, inner);
  type.tile[0] = parse_count<std::uint16_t>(cursor);
  if (cursor.at(",")) type.tile[1] = parse_count<std::uint16_t>(cursor);
  cursor.expect(">");
  return cursor.failed() ? kVoid : type;
}

}  // namespace

Type parse_type(Cursor& cursor, const ParsedDeclarations& scope) {
  const Token word = cursor.expect(TokenKind::kWord, "a type");
  if (cursor.failed()) return kVoid;
  if (word.text == "tile") return parse_tile(cursor, scope);
  if (word.text != "array" && word.text != "local") return parse_element(cursor, scope, word);
  cursor.expect("<");
  const Token inner = cursor.expect(TokenKind::kWord, "the type of an element");
  if (cursor.failed()) return kVoid;
  Type type = inner.text == "tile" ? parse_tile(cursor, scope) : parse_element(cursor, scope, inner);
  if (word.text == "array") {
    type.rank = parse_count<std::uint8_t>(cursor);
  } else {
    type.extent = parse_count<std::uint32_t>(cursor);
  }
  cursor.expect(">");
  return cursor.failed() ? kVoid : type;
}

std::string_view parse_new_name(Cursor& cursor, const IndexByName& taken_names, std::string_view what,
                                bool (*reserved)(std::string_view)) {
  const Token word = cursor.expect(TokenKind::kWord, fmt::format("the name of a {}", what));
  if (cursor.failed()) return {};
  if (reserved(word.text)) {
    cursor.fail(word.loc, fmt::format("{} is a reserved word and cannot name a {}", word.text, what));
  } else if (taken_names.contains(word.text)) {
    cursor.fail(word.loc, fmt::format("{} {} is already declared", what, word.text));
  }
  return word.text;
}

}  // namespace assay::ir::text
