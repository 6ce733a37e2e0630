// The text form as a sequence of tokens, with the first error, which ends parsing.
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

/// One token of the text form.
struct Token {
  TokenKind kind = TokenKind::kEnd;  ///< what the token is
  std::string_view text;             ///< characters of the token; a view of the input
  Loc loc;                           ///< location of the token in the input
};

/// Points at one token of the input. After the first error it stays at the end of the input and keeps the error, so
/// that a parser need not check for errors at every step.
class Cursor {
 public:
  /// Keeps a reference to the text.
  Cursor(std::string_view text, std::string_view name);

  const Token& token() const { return token_; }
  /// Whether the next token on the same line starts with `c`.
  bool followed_by(char c) const;
  bool at(std::string_view text) const;
  bool at(TokenKind kind) const { return token_.kind == kind; }

  /// Consumes the token and returns it.
  Token take();
  /// Consumes the token if it is `text`.
  bool accept(std::string_view text);
  /// Consumes the token if it is `text`, otherwise fails.
  void expect(std::string_view text);
  /// Consumes a token of this kind, or fails with "expected <what>".
  Token expect(TokenKind kind, std::string_view what);
  void skip_newlines();

  /// Returns and clears the comment lines directly above this token, without '#' and the space after it.
  std::vector<std::string> take_comments();

  bool failed() const { return error_.has_value(); }
  /// Fails at this token: "found <token>, expected <expected>".
  void fail_expecting(std::string_view expected);
  /// Fails at a location; only the first failure is kept.
  void fail(Loc loc, std::string message);
  /// The failure; there must be one.
  const Error& error() const { return *error_; }

 private:
  Token lex();
  void skip_blanks_and_comment();
  std::size_t number_end() const;
  char here() const { return byte_position_ < text_.size() ? text_[byte_position_] : '\0'; }

  std::string_view text_;                ///< whole input
  std::string input_name_;               ///< name of the input, for messages
  std::size_t byte_position_ = 0;        ///< offset of the byte after the current token
  std::size_t line_start_position_ = 0;  ///< offset of the first byte of the current line
  std::int32_t line_number_ = 1;         ///< number of the current line, from 1
  bool line_is_blank_ = true;            ///< whether the current line has had no token so far
  std::vector<std::string> comments_;    ///< comment lines directly above the current token
  Token token_;                          ///< current token
  std::optional<Error> error_;           ///< the first error; nullopt: none
};

}  // namespace assay::ir::text
