#include "frontend/warp/syntax/line_structure.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "frontend/warp/syntax/source_text.hpp"

namespace assay::frontend {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

/// Nested f-strings, far beyond those that people write. Bounds the recursion.
constexpr int kMaxNestedStrings = 50;

bool is_line_end(char c) { return c == '\n' || c == '\r'; }
bool belongs_to_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

/// The bracket that closes an opening bracket.
char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// An indentation, measured as Python does: tabs go to the next multiple of eight in one measure and count as one space
/// in the other. Two indentations compare alike in both, or their order depends on the width of a tab.
struct Indentation {
  std::size_t column = 0;
  std::size_t column_with_short_tabs = 0;
};

class LineScanner {
 public:
  /// Since Python 3.12, the expressions in an f-string may contain its quotes, line ends and comments.
  LineScanner(std::string_view text, bool nests_strings) : text_(text), nests_strings_(nests_strings) {}

  Result<void> scan() {
    while (at_ < text_.size() && !error_)
      scan_logical_line();
    if (!error_ && header_) fail("expected an indented block after this line", *header_);
    if (!error_) return {};
    const ir::Loc loc = SourceText(std::string(text_)).loc(error_->second);
    return Error{error_->first, fmt::format("{}:{}", loc.line, loc.column)};
  }
  bool has_f_strings() const { return has_f_strings_; }

 private:
  void fail(std::string message, std::size_t offset) {
    if (!error_) error_.emplace(std::move(message), offset);
  }
  char peek(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  /// After the line end at an offset: "\r\n" is one.
  std::size_t after_line_end(std::size_t offset) const { return offset + (text_.substr(offset, 2) == "\r\n" ? 2 : 1); }

  /// Moves past the indentation of a line. Backslashes join the next line, whose indentation then does not count.
  Indentation take_indentation() {
    Indentation found;
    std::optional<Indentation> joined;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ') {
        ++found.column;
        ++found.column_with_short_tabs;
      } else if (c == '\t') {
        found.column = (found.column / 8 + 1) * 8;
        ++found.column_with_short_tabs;
      } else if (c == '\f') {
        found = {};
      } else if (c == '\\' && is_line_end(peek(at_ + 1))) {
        if (!joined && found.column > 0) joined = found;
        at_ = after_line_end(at_ + 1) - 1;
      } else {
        break;
      }
    }
    return joined.value_or(found);
  }

  void scan_logical_line() {
    const Indentation indentation = take_indentation();
    const std::size_t start = at_;
    if (at_ == text_.size() || text_[at_] == '#' || is_line_end(text_[at_])) {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      if (at_ < text_.size()) at_ = after_line_end(at_);
      return;
    }
    check_indentation(indentation, start);
    while (at_ < text_.size() && !error_) {
      if (is_line_end(text_[at_]) && brackets_.empty()) {
        at_ = after_line_end(at_);
        break;
      }
      scan_token();
    }
    if (!brackets_.empty()) fail(fmt::format("'{}' is never closed", text_[brackets_.back()]), brackets_.back());
    header_.reset();
    if (text_[last_token_] == ':') header_ = last_token_;
  }

  void check_indentation(Indentation found, std::size_t start) {
    const Indentation outer = outer_blocks_.back();
    const bool is_deeper = found.column > outer.column;
    if (header_ && !is_deeper) {
      const ir::Loc header = SourceText(std::string(text_)).loc(*header_);
      fail(fmt::format("expected an indented block after line {}", header.line), start);
    } else if (is_deeper) {
      if (found.column_with_short_tabs <= outer.column_with_short_tabs) return reject_mixed_tabs(start);
      if (!header_) fail("unexpected indentation", start);
      outer_blocks_.push_back(found);
      return;
    }
    while (outer_blocks_.back().column > found.column)
      outer_blocks_.pop_back();
    if (outer_blocks_.back().column != found.column) {
      fail("the indentation does not match any enclosing block", start);
    } else if (outer_blocks_.back().column_with_short_tabs != found.column_with_short_tabs) {
      reject_mixed_tabs(start);
    }
  }

  void reject_mixed_tabs(std::size_t start) { fail("inconsistent use of tabs and spaces in the indentation", start); }

  void scan_token() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      return;
    }
    if (c == ' ' || c == '\t' || c == '\f' || is_line_end(c)) {
      ++at_;
      return;
    }
    if (c == '\\') {
      if (!is_line_end(peek(at_ + 1))) return fail("a backslash must be the last character of its line", at_);
      at_ = after_line_end(at_ + 1);
      return;
    }
    last_token_ = at_;
    if (belongs_to_word(c) || c == '"' || c == '\'') {
      const std::size_t end = end_of_word_or_string(at_, 0);
      if (end == kNowhere) return fail("the string is never closed", at_);
      at_ = end;
      return;
    }
    if (c == '(' || c == '[' || c == '{') {
      brackets_.push_back(at_);
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets_.empty()) return fail(fmt::format("'{}' closes no bracket", c), at_);
      const char open = text_[brackets_.back()];
      if (c != closing(open)) {
        const ir::Loc opened = SourceText(std::string(text_)).loc(brackets_.back());
        return fail(fmt::format("'{}' does not close the '{}' in line {}", c, open, opened.line), at_);
      }
      brackets_.pop_back();
    }
    ++at_;
  }

  /// The end of the word, or of the string with its prefix, that starts at an offset; kNowhere if the string has none.
  std::size_t end_of_word_or_string(std::size_t begin, int depth) {
    std::size_t at = begin;
    while (belongs_to_word(peek(at)))
      ++at;
    if (peek(at) != '"' && peek(at) != '\'') return at;
    std::string prefix(text_.substr(begin, at - begin));
    std::ranges::transform(prefix, prefix.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool is_f_string =
        prefix == "f" || prefix == "t" ||
        (prefix.size() == 2 && prefix.find('r') != kNowhere && prefix.find_first_of("ft") != kNowhere);
    has_f_strings_ |= is_f_string;
    if (is_f_string && nests_strings_) return end_of_f_string(at, prefix.find('r') != kNowhere, depth);
    const std::string_view quote = quote_at(at);
    for (at += quote.size(); at < text_.size(); ++at) {
      if (text_[at] == '\\') {
        at = after_line_end(at + 1) - 1;
      } else if (text_.substr(at, quote.size()) == quote) {
        return at + quote.size();
      } else if (is_line_end(text_[at]) && quote.size() == 1) {
        return kNowhere;
      }
    }
    return kNowhere;
  }

  std::string_view quote_at(std::size_t at) const {
    const bool is_triple = text_.substr(at, 3) == std::string(3, text_[at]);
    return text_.substr(at, is_triple ? 3 : 1);
  }

  std::size_t end_of_f_string(std::size_t at, bool is_raw, int depth) {
    if (depth == kMaxNestedStrings) return kNowhere;
    const std::string_view quote = quote_at(at);
    at += quote.size();
    while (at < text_.size()) {
      if (text_.substr(at, quote.size()) == quote) return at + quote.size();
      if (text_[at] == '\\' && !is_raw && text_.substr(at, 3) == "\\N{") {
        at = text_.find('}', at);
        if (at == kNowhere) return kNowhere;
        ++at;
      } else if (text_[at] == '\\') {
        const char next = peek(at + 1);
        at = next == '{' || next == '}' ? at + 1 : after_line_end(at + 1);
      } else if (text_.substr(at, 2) == "{{") {
        at += 2;
      } else if (text_[at] == '{') {
        at = end_of_field(at, quote, depth + 1);
        if (at == kNowhere) return kNowhere;
      } else if (is_line_end(text_[at]) && quote.size() == 1) {
        return kNowhere;
      } else {
        ++at;
      }
    }
    return kNowhere;
  }

  /// The end of the expression in braces, with its format, that begins at an offset in an f-string.
  std::size_t end_of_field(std::size_t at, std::string_view quote, int depth) {
    if (depth == kMaxNestedStrings) return kNowhere;
    std::vector<char> open;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == ':' && open.size() == 1) return end_of_format(at + 1, quote, depth + 1);
      if (belongs_to_word(c) || c == '"' || c == '\'') {
        at = end_of_word_or_string(at, depth + 1);
        if (at == kNowhere) return kNowhere;
        continue;
      }
      if (c == '#') {
        at = std::min(text_.find_first_of("\r\n", at), text_.size());
        continue;
      }
      ++at;
      if (c == '(' || c == '[' || c == '{') open.push_back(c);
      if (c != ')' && c != ']' && c != '}') continue;
      if (closing(open.back()) != c) return kNowhere;
      open.pop_back();
      if (open.empty()) return at;
    }
    return kNowhere;
  }

  std::size_t end_of_format(std::size_t at, std::string_view quote, int depth) {
    while (at < text_.size() && text_[at] != '}') {
      if (text_.substr(at, quote.size()) == quote) return kNowhere;
      at = text_[at] == '{' ? end_of_field(at, quote, depth) : at + 1;
      if (at == kNowhere) return kNowhere;
    }
    return at < text_.size() ? at + 1 : kNowhere;
  }

  std::string_view text_;
  bool nests_strings_;
  bool has_f_strings_ = false;
  std::size_t at_ = 0;
  std::size_t last_token_ = 0;                 ///< offset of the last token that is neither a comment nor a backslash
  std::optional<std::size_t> header_;          ///< the colon that ends the last logical line, which opens a block
  std::vector<std::size_t> brackets_;          ///< offsets of the open brackets
  std::vector<Indentation> outer_blocks_{{}};  ///< indentations of the open blocks
  std::optional<std::pair<std::string, std::size_t>> error_;  ///< the first error and its offset
};

}  // namespace

Result<void> check_line_structure(std::string_view text) {
  LineScanner scanner(text, false);
  const Result<void> checked = scanner.scan();
  // The rules before Python 3.12 reject some f-strings that it accepts, and accept others that it rejects.
  const bool is_accepted = checked.ok() || (scanner.has_f_strings() && LineScanner(text, true).scan().ok());
  return is_accepted ? Result<void>() : checked;
}

}  // namespace assay::frontend
