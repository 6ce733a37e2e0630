// The text form as a sequence of tokens, with the one error that ends its reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::ir::text {

enum class TokenKind : std::uint8_t { kWord, kNumber, kPunctuation, kNewline, kEnd, kInvalid };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  ///< a part of the input
  Loc loc;
};

/// Stands on one token of the input. After the first failure it stands on the end for good, so that a parser
/// runs out without looking at every step, and keeps that failure.
class Cursor {
 public:
  /// Keeps a reference to the text.
  Cursor(std::string_view text, std::string_view name);

  const Token& token() const { return token_; }
  /// Whether the token after this one, on the same line, starts with `c`.
  bool followed_by(char c) const;
  bool at(std::string_view text) const;
  bool at(TokenKind kind) const { return token_.kind == kind; }

  /// Steps over the token and returns it.
  Token take();
  /// Steps over this very token, if it is here.
  bool accept(std::string_view text);
  /// Steps over this very token, or fails.
  void expect(std::string_view text);
  /// Steps over a token of this kind, or fails with "expected <what>".
  Token expect(TokenKind kind, std::string_view what);
  void skip_newlines();

  /// The comment lines right above this token, without '#' and the blank after it. Forgets them.
  std::vector<std::string> take_comments();

  bool failed() const { return error_.has_value(); }
  /// Fails at this token: "found <it>, expected <expected>".
  void fail_expecting(std::string_view expected);
  /// Fails at a place; only the first failure counts.
  void fail(Loc loc, std::string message);
  /// The failure; there must be one.
  const Error& error() const { return *error_; }

 private:
  Token lex();
  void skip_blanks_and_comment();
  std::size_t number_end() const;
  char here() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  std::string_view text_;
  std::string name_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::int32_t line_ = 1;
  bool line_is_blank_ = true;
  std::vector<std::string> comments_;
  Token token_;
  std::optional<Error> error_;
};

}  // namespace assay::ir::text
