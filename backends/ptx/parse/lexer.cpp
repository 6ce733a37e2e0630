#include "backends/ptx/parse/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace assay::ptx {

namespace {

constexpr std::uint8_t kLetter = 1;      ///< a letter of ASCII
constexpr std::uint8_t kDigit = 2;       ///< a decimal digit
constexpr std::uint8_t kStartsWord = 4;  ///< may start a word
constexpr std::uint8_t kInWord = 8;      ///< may be in a word, after its first character
constexpr std::uint8_t kBlank = 16;      ///< space, tab or end of line

/// The classes of each character. Those of the C library depend on the locale, and each test is a call.
constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&](std::string_view characters, int class_bits) {
    for (const char c : characters) {
      std::uint8_t& bits = classes[static_cast<unsigned char>(c)];
      bits = static_cast<std::uint8_t>(bits | class_bits);
    }
  };
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", kLetter | kStartsWord | kInWord);
  add("0123456789", kDigit | kInWord);
  add("_$.", kStartsWord | kInWord);
  add("%", kStartsWord);
  add(" \t\n\v\f\r", kBlank);
  return classes;
}();

/// Whether the character is of one of the classes.
bool is_of_class(char c, int classes) { return (kClasses[static_cast<unsigned char>(c)] & classes) != 0; }

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<std::vector<Token>> run() {
    constexpr std::size_t kCharactersPerToken = 5;  // in PTX that NVRTC generates: about 6
    tokens_.reserve(text_.size() / kCharactersPerToken);
    for (;;) {
      if (const auto failed = skip_blanks(); !failed) return failed.error();
      Token token{.text = {}, .position = here()};
      if (at_ == text_.size()) {
        tokens_.push_back(token);
        return std::move(tokens_);
      }
      if (const auto failed = scan(token); !failed) return failed.error();
      tokens_.push_back(token);
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] Position here() const { return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }
  [[nodiscard]] Error error(std::string message, Position position) const {
    return Error{std::move(message), location_text(name_, position)};
  }

  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }

  Result<void> skip_blanks() {
    while (at_ < text_.size()) {
      if (is_of_class(text_[at_], kBlank)) {
        advance();
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        const Position start = here();
        while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/'))
          advance();
        if (at_ == text_.size()) return error("unterminated comment", start);
        at_ += 2;
      } else {
        break;
      }
    }
    return {};
  }

  Result<void> scan(Token& token) {
    const std::size_t start = at_;
    const char c = text_[at_];
    if (is_of_class(c, kDigit)) return scan_number(token);
    if (c == '"') return scan_string(token);
    if (is_of_class(c, kStartsWord)) {
      token.kind = Token::Kind::kWord;
      ++at_;
      // A directive ends at a dot: ".reg.b32" is two directives.
      while (at_ < text_.size() && (is_of_class(text_[at_], kInWord) || is_scope_mark()) &&
             (c != '.' || text_[at_] != '.'))
        at_ += is_scope_mark() ? 2 : 1;
    } else if (std::string_view(",;{}()[]<>+-!|=:@*").find(c) != std::string_view::npos) {
      token.kind = Token::Kind::kSymbol;
      ++at_;
    } else {
      return error(fmt::format("found the byte 0x{:02x}, expected an instruction or a directive",
                               static_cast<unsigned>(static_cast<unsigned char>(c))),
                   token.position);
    }
    token.text = text_.substr(start, at_ - start);
    return {};
  }

  /// Whether this is "::" inside a modifier, as in ".L1::no_allocate".
  [[nodiscard]] bool is_scope_mark() const { return peek() == ':' && peek(1) == ':' && is_of_class(peek(2), kInWord); }

  Result<void> scan_string(Token& token) {
    ++at_;
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
      ++at_;
    if (peek() != '"') return error("unterminated string", token.position);
    token.kind = Token::Kind::kString;
    token.text = text_.substr(start, at_ - start);
    ++at_;
    return {};
  }

  Result<void> scan_number(Token& token) {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_of_class(text_[at_], kLetter | kDigit))
      ++at_;
    if (peek() == '.' && is_of_class(peek(1), kDigit)) {
      ++at_;
      while (at_ < text_.size() && is_of_class(text_[at_], kLetter | kDigit))
        ++at_;
    }
    token.text = text_.substr(start, at_ - start);
    if (!read_number(token)) {
      return error(fmt::format("found '{}', expected a number of at most 64 bits", token.text), token.position);
    }
    return {};
  }

  static bool read_number(Token& token) {
    std::string_view digits = token.text;
    const char form = digits.size() > 1 && digits[0] == '0' ? digits[1] : '\0';
    token.kind = Token::Kind::kInteger;
    if (form == 'f' || form == 'F' || form == 'd' || form == 'D') {
      token.kind = Token::Kind::kFloat;
      token.is_double = form == 'd' || form == 'D';
      digits.remove_prefix(2);
      return digits.size() == (token.is_double ? 16U : 8U) && read_integer(digits, 16, token.value);
    }
    if (digits.find('.') != std::string_view::npos) {
      token.kind = Token::Kind::kFloat;
      token.is_double = true;
      double value = 0;
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      token.value = std::bit_cast<std::uint64_t>(value);
      return status == std::errc{} && end == digits.data() + digits.size();
    }
    if (digits.ends_with('U')) digits.remove_suffix(1);
    if (form == 'x' || form == 'X') return read_integer(digits.substr(2), 16, token.value);
    if (form == 'b' || form == 'B') return read_integer(digits.substr(2), 2, token.value);
    return read_integer(digits, digits.size() > 1 && digits[0] == '0' ? 8 : 10, token.value);
  }

  static bool read_integer(std::string_view digits, int base, std::uint64_t& value) {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return status == std::errc{} && end == digits.data() + digits.size();
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text, std::string_view name) { return Lexer(text, name).run(); }

std::string location_text(std::string_view name, Position position) {
  return fmt::format("{}:{}:{}", name, position.line, position.column);
}

}  // namespace assay::ptx
