#include "ir/text_cursor.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "ir/text_names.hpp"

namespace assay::ir::text {
namespace {

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string describe(const Token& token) {
  constexpr std::size_t kShown = 40;
  switch (token.kind) {
    case TokenKind::kEnd: return "the end of the text";
    case TokenKind::kNewline: return "the end of the line";
    case TokenKind::kInvalid: return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(token.text[0]));
    default: return fmt::format("'{}'", token.text.substr(0, kShown));
  }
}

}  // namespace

Cursor::Cursor(std::string_view text, std::string_view name) : text_(text), input_name_(name) { token_ = lex(); }

bool Cursor::at(std::string_view text) const {
  return (token_.kind == TokenKind::kWord || token_.kind == TokenKind::kPunctuation) && token_.text == text;
}

bool Cursor::followed_by(char c) const {
  const std::size_t next = text_.find_first_not_of(" \t", byte_position_);
  return !failed() && next != std::string_view::npos && text_[next] == c;
}

Token Cursor::take() { return std::exchange(token_, failed() ? token_ : lex()); }

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void Cursor::expect(std::string_view text) {
  if (!accept(text)) fail_expecting(fmt::format("'{}'", text));
}

Token Cursor::expect(TokenKind kind, std::string_view what) {
  if (at(kind)) return take();
  fail_expecting(what);
  return token_;
}

void Cursor::skip_newlines() {
  while (at(TokenKind::kNewline))
    take();
}

std::vector<std::string> Cursor::take_comments() { return std::exchange(comments_, {}); }

void Cursor::fail_expecting(std::string_view expected) {
  fail(token_.loc, fmt::format("found {}, expected {}", describe(token_), expected));
}

void Cursor::fail(Loc loc, std::string message) {
  if (failed()) return;
  error_ = Error{std::move(message), fmt::format("{}:{}:{}", input_name_, loc.line, loc.column)};
  byte_position_ = text_.size();
  token_ = Token{TokenKind::kEnd, {}, loc};
}

void Cursor::skip_blanks_and_comment() {
  while (here() == ' ' || here() == '\t' || here() == '\r')
    ++byte_position_;
  if (here() != '#') return;
  const std::size_t end = std::min(text_.find('\n', byte_position_), text_.size());
  std::string_view comment = text_.substr(byte_position_ + 1, end - byte_position_ - 1);
  if (comment.starts_with(' ')) comment.remove_prefix(1);
  if (comment.ends_with('\r')) comment.remove_suffix(1);
  comments_.emplace_back(comment);
  line_is_blank_ = false;
  byte_position_ = end;
}

/// End of the number that starts here; a sign is part of it only after the e of a decimal exponent.
std::size_t Cursor::number_end() const {
  const bool hexadecimal = text_.substr(byte_position_).starts_with("0x");
  std::size_t end = byte_position_;
  while (end < text_.size()) {
    const char c = text_[end];
    const char before = end > byte_position_ ? text_[end - 1] : '\0';
    const bool sign = (c == '+' || c == '-') && !hexadecimal && (before == 'e' || before == 'E');
    if (!is_word(c) && c != '.' && !sign) break;
    ++end;
  }
  return end;
}

Token Cursor::lex() {
  skip_blanks_and_comment();
  const Loc loc{line_number_, static_cast<std::int32_t>(byte_position_ - line_start_position_ + 1)};
  if (byte_position_ >= text_.size()) return {TokenKind::kEnd, {}, loc};

  const char c = here();
  const auto make = [&](TokenKind kind, std::size_t length) {
    const Token token{kind, text_.substr(byte_position_, length), loc};
    byte_position_ += length;
    line_is_blank_ = false;
    return token;
  };
  if (c == '\n') {
    if (line_is_blank_) comments_.clear();
    const Token token = make(TokenKind::kNewline, 1);
    ++line_number_;
    line_start_position_ = byte_position_;
    line_is_blank_ = true;
    return token;
  }
  if (is_digit(c)) return make(TokenKind::kNumber, number_end() - byte_position_);
  if (is_word_start(c)) {
    std::size_t end = byte_position_;
    while (end < text_.size() && is_word(text_[end]))
      ++end;
    return make(TokenKind::kWord, end - byte_position_);
  }
  if (text_.substr(byte_position_).starts_with("->")) return make(TokenKind::kPunctuation, 2);
  if (std::string_view("(){}[]<>,;:.=-").find(c) != std::string_view::npos) {
    return make(TokenKind::kPunctuation, 1);
  }
  return make(TokenKind::kInvalid, 1);
}

}  // namespace assay::ir::text
