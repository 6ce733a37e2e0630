#include "backends/ptx/parse/declarations.hpp"

#include <bit>
#include <cstring>

namespace assay::ptx {

namespace {

constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 32;

void append_element(TokenCursor& cursor, Variable& variable) {
  const unsigned bytes = bytes_of(variable.type);
  const bool negative = cursor.accept("-");
  const Token& token = cursor.peek();
  std::uint64_t bits = token.value;
  if (token.kind == Token::Kind::kFloat && is_float(variable.type)) {
    if (token.is_double && bytes == 4) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    }
    if (negative) bits ^= std::uint64_t{1} << (8 * bytes - 1);
  } else if (token.kind == Token::Kind::kInteger && !is_float(variable.type)) {
    if (negative) bits = 0 - bits;
  } else {
    cursor.fail(fmt::format("a number of type .{}", to_text(variable.type)));
  }
  cursor.take();
  const std::size_t position = variable.initial_bytes.size();
  variable.initial_bytes.resize(position + bytes);
  std::memcpy(variable.initial_bytes.data() + position, &bits, bytes);
}

void parse_initializer(TokenCursor& cursor, Variable& variable) {
  const Position position = cursor.peek().position;
  if (cursor.accept("{")) {
    if (!cursor.at("}")) {
      do {
        append_element(cursor, variable);
      } while (cursor.accept(","));
    }
    cursor.expect("}");
  } else {
    append_element(cursor, variable);
  }
  if (variable.initial_bytes.size() > variable.bytes) {
    TokenCursor::fail_at(fmt::format("{} bytes of initial values exceed the variable's size of {} bytes",
                                     variable.initial_bytes.size(), variable.bytes),
                         position);
  }
  variable.initial_bytes.resize(variable.bytes);
}

}  // namespace

Space space_of(std::string_view directive) {
  if (directive == ".global") return Space::kGlobal;
  if (directive == ".shared") return Space::kShared;
  if (directive == ".local") return Space::kLocal;
  if (directive == ".const") return Space::kConst;
  if (directive == ".param") return Space::kParam;
  return Space::kGeneric;
}

Variable parse_variable(TokenCursor& cursor, Space space) {
  Variable variable{.space = space};
  while (cursor.peek().kind == Token::Kind::kWord && cursor.peek().text.starts_with('.')) {
    const std::string_view word = cursor.peek().text;
    if (word == ".align") {
      cursor.take();
      const Position position = cursor.peek().position;
      variable.alignment = static_cast<std::uint32_t>(cursor.take_integer("an alignment"));
      if (!std::has_single_bit(variable.alignment) || variable.alignment > 4096) {
        TokenCursor::fail_at("alignment must be a power of two up to 4096", position);
      }
    } else if (word == ".ptr" || space_of(word) != Space::kGeneric) {  // attributes of a pointer parameter
      cursor.take();
      if (word == ".ptr" && cursor.at(".align")) {
        cursor.take();
        cursor.take_integer("an alignment");
      }
    } else if (const auto type = find_type(word.substr(1)); type && *type != Type::kPred) {
      cursor.take();
      variable.type = *type;
    } else {
      cursor.fail("a type");
    }
  }
  variable.position = cursor.peek().position;
  variable.name = cursor.take_word("a variable name");
  if (variable.type == Type::kNone) TokenCursor::fail_at("variable must have a type such as .b8", variable.position);
  variable.bytes = bytes_of(variable.type);
  variable.alignment = std::max(variable.alignment, bytes_of(variable.type));
  while (cursor.accept("[")) {
    const std::uint64_t extent = cursor.at("]") ? 0 : cursor.take_integer("an array extent");
    if (extent > kLargestVariable || variable.bytes * extent > kLargestVariable) {
      TokenCursor::fail_at("variable must not be larger than 4 GiB", variable.position);
    }
    variable.bytes *= extent;
    cursor.expect("]");
  }
  if (cursor.accept("=")) parse_initializer(cursor, variable);
  return variable;
}

std::uint64_t lay_out(std::vector<Variable>& parameters) {
  std::uint64_t size = 0;
  for (Variable& parameter : parameters) {
    size = (size + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    parameter.offset = size;
    size += parameter.bytes;
  }
  return size;
}

}  // namespace assay::ptx
