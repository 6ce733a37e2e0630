// The parser's view of the tokens. Private to the parser.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/ptx/parse/lexer.hpp"

namespace assay::ptx {

/// Thrown inside the parser at any depth and caught in parse().
struct SyntaxError {
  std::string message;
  Position position;  ///< position of the error in the PTX
};

class TokenCursor {
 public:
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_token_index_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& token = peek();
    if (next_token_index_ + 1 < tokens_.size()) ++next_token_index_;
    return token;
  }
  [[nodiscard]] bool at(std::string_view text) const { return peek().is(text); }
  [[nodiscard]] bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("'{}'", text));
  }
  std::string take_word(std::string_view expected) {
    if (peek().kind != Token::Kind::kWord) fail(expected);
    return std::string(take().text);
  }
  std::uint64_t take_integer(std::string_view expected) {
    const bool negative = accept("-");
    if (peek().kind != Token::Kind::kInteger) fail(expected);
    const std::uint64_t value = take().value;
    return negative ? 0 - value : value;
  }
  /// Rejects the next token.
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found = at_end() ? "the end of the text" : fmt::format("'{}'", peek().text);
    throw SyntaxError{fmt::format("found {}, expected {}", found, expected), peek().position};
  }
  [[noreturn]] static void fail_at(std::string message, Position position) {
    throw SyntaxError{std::move(message), position};
  }

 private:
  std::vector<Token> tokens_;         ///< all tokens; the last is of kind kEnd
  std::size_t next_token_index_ = 0;  ///< index of the next token
};

}  // namespace assay::ptx
