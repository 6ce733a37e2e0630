// The tokens of PTX.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    kWord,     ///< "add.rn.f32", ".reg", "%f12", "$L__BB0_1", "%tid.x"
    kInteger,  ///< value
    kFloat,    ///< value: bits of a float "0f3F800000", or a double "0d...", "1.5"; is_double tells
    kString,   ///< text without the quotes
    kSymbol,   ///< one character
    kEnd,
  };
  Kind kind = Kind::kEnd;
  bool is_double = false;
  std::string_view text;
  std::uint64_t value = 0;
  Position at;

  [[nodiscard]] bool is(std::string_view symbol_or_word) const {
    return (kind == Kind::kWord || kind == Kind::kSymbol) && text == symbol_or_word;
  }
};

/// All tokens, the last of kind kEnd. They refer to `text`. Fails at an invalid character or number.
Result<std::vector<Token>> tokenise(std::string_view text, std::string_view name);

/// "name:line:column".
std::string location_text(std::string_view name, Position at);

}  // namespace assay::ptx
