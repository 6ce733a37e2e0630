// The tokens of PTX.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// One token of PTX.
struct Token {
  /// What a token is.
  enum class Kind : std::uint8_t {
    kWord,     ///< name, opcode or directive: "add.rn.f32", ".reg", "%f12", "$L__BB0_1", "%tid.x"
    kInteger,  ///< integer, in `value`
    kFloat,    ///< floating-point number, as bits in `value`: "0f3F800000", "0d...", "1.5"
    kString,   ///< string, in `text` without the quotes
    kSymbol,   ///< any other single character
    kEnd,      ///< end of the text
  };
  Kind kind = Kind::kEnd;   ///< what the token is
  bool is_double = false;   ///< for kFloat: whether `value` has the bits of a double, not of a float
  std::string_view text;    ///< characters of the token
  std::uint64_t value = 0;  ///< value of a kInteger, or bits of a kFloat
  Position position;        ///< position of the token in the PTX

  /// Returns whether the token is this symbol or word.
  [[nodiscard]] bool is(std::string_view symbol_or_word) const {
    return (kind == Kind::kWord || kind == Kind::kSymbol) && text == symbol_or_word;
  }
};

/// All tokens, the last of kind kEnd. They refer to `text`. Fails at an invalid character or number.
Result<std::vector<Token>> tokenize(std::string_view text, std::string_view name);

/// "name:line:column".
std::string location_text(std::string_view name, Position position);

}  // namespace assay::ptx
