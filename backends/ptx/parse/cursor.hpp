// The parser's view of the tokens. Private to the parser.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/ptx/parse/lexer.hpp"

namespace assay::ptx {

/// A syntax error. It is thrown at any depth of the parser and caught in parse().
struct SyntaxError {
  std::string message;  ///< what is wrong
  Position position;    ///< position of the error in the PTX
};

/// The tokens of a PTX text, and the position of the parser.
class TokenCursor {
 public:
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  /// Returns the next token, or a later one, without consuming it.
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_token_index_ + ahead, tokens_.size() - 1)];
  }
  /// Consumes and returns the next token.
  const Token& take() {
    const Token& token = peek();
    if (next_token_index_ + 1 < tokens_.size()) ++next_token_index_;
    return token;
  }
  [[nodiscard]] bool at(std::string_view text) const { return peek().is(text); }
  [[nodiscard]] bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  /// Consumes the next token if it is this text; returns whether it is.
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    take();
    return true;
  }
  /// Consumes the next token, which must be this text.
  void expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("'{}'", text));
  }
  /// Consumes and returns the next token, which must be a word. `expected` describes it in the error.
  std::string take_word(std::string_view expected) {
    if (peek().kind != Token::Kind::kWord) fail(expected);
    return std::string(take().text);
  }
  /// Consumes an integer, which may have a minus sign, and returns its bits. `expected` describes it in the error.
  std::uint64_t take_integer(std::string_view expected) {
    const bool negative = accept("-");
    if (peek().kind != Token::Kind::kInteger) fail(expected);
    const std::uint64_t value = take().value;
    return negative ? 0 - value : value;
  }
  /// Rejects the next token. `expected` describes what should be there.
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found = at_end() ? "the end of the text" : fmt::format("'{}'", peek().text);
    throw SyntaxError{fmt::format("found {}, expected {}", found, expected), peek().position};
  }
  /// Rejects the text with this message.
  [[noreturn]] static void fail_at(std::string message, Position position) {
    throw SyntaxError{std::move(message), position};
  }

 private:
  std::vector<Token> tokens_;         ///< all tokens; the last is of kind kEnd
  std::size_t next_token_index_ = 0;  ///< index of the next token
};

}  // namespace assay::ptx
