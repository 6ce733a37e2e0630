#include "frontend/warp/syntax/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace assay::frontend {
namespace {

/// Length of the well-formed UTF-8 sequence at the front of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const std::uint8_t second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

std::string place(std::string_view text, std::size_t offset) {
  const ir::Loc loc = SourceText(std::string(text)).loc(offset);
  return fmt::format("{}:{}", loc.line, loc.column);
}

/// The end of the string literal whose opening quote stands at `at`; the end of the text if it is not closed.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool is_triple = text.substr(at, 3) == std::string(3, quote);
  const std::string_view closing = text.substr(at, is_triple ? 3 : 1);
  for (at += closing.size(); at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text.substr(at, closing.size()) == closing) {
      return at + closing.size();
    } else if (text[at] == '\n' && !is_triple) {
      return at;
    }
  }
  return text.size();
}

/// A token: a word, a string, punctuation, or the blank between them.
struct Piece {
  enum class Is : std::uint8_t { kBlank, kOpen, kClose, kOther };  ///< kBlank: space, the end of a line, a comment
  Is is = Is::kBlank;
  std::size_t begin = 0, end = 0;
};

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

/// The token that begins at an offset inside the text.
Piece next_piece(std::string_view text, std::size_t at) {
  using Is = Piece::Is;
  const auto run = [&](auto belongs) {
    std::size_t end = at + 1;
    while (end < text.size() && belongs(text[end]))
      ++end;
    return end;
  };
  switch (const char c = text[at]; c) {
    case '"':
    case '\'': return {Is::kOther, at, end_of_string(text, at)};
    case '#': return {Is::kBlank, at, std::min(text.find('\n', at), text.size())};
    case ' ': return {Is::kBlank, at, run([](char next) { return next == ' '; })};
    case '\n':
    case '\r':
    case '\t':
    case '\f': return {Is::kBlank, at, at + 1};
    case '(':
    case '[':
    case '{': return {Is::kOpen, at, at + 1};
    case ')':
    case ']':
    case '}': return {Is::kClose, at, at + 1};
    default: return {Is::kOther, at, is_of_word(c) ? run(is_of_word) : at + 1};
  }
}

}  // namespace

Result<std::string_view> check_source(std::string_view bytes) {
  if (bytes.size() > kMaxSourceBytes) {
    return Error{fmt::format("file has {} bytes, the limit is {}", bytes.size(), kMaxSourceBytes)};
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (bytes.find_first_not_of(" \t\r\n\f") == std::string_view::npos) return Error{"file is empty"};
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at] == '\0') return Error{"file contains a zero byte and is not Python source", place(bytes, at)};
    const std::size_t length = sequence_length(bytes.substr(at));
    if (length == 0) return Error{"file is not valid UTF-8", place(bytes, at)};
    at += length;
  }
  return bytes;
}

Result<void> check_statement_length(std::string_view text) {
  // For each bracket level: where it was opened, the number of tokens and comments since the last comma or statement
  // end, and whether there are tokens among them.
  struct Level {
    std::size_t start;
    std::size_t pending = 0;
    bool has_tokens = false;
  };
  std::vector<Level> levels{{0}};
  std::size_t pending = 0;
  std::size_t end_of_backslash = 0;
  std::size_t backslashes = 0;  ///< consecutive
  const auto settle = [&](std::size_t next) {
    pending -= levels.back().pending;
    levels.back() = {levels.size() == 1 ? next : levels.back().start};
  };
  for (Piece piece{}; piece.end < text.size();) {
    piece = next_piece(text, piece.end);
    const char c = text[piece.begin];
    const bool is_blank = piece.is == Piece::Is::kBlank;
    if (is_blank && c != '#') {
      const bool ends = c == '\n' && levels.size() == 1 && piece.begin != end_of_backslash;
      if (ends && levels.back().has_tokens) settle(piece.end);
      continue;
    }
    ++pending;
    ++levels.back().pending;
    if (is_blank) continue;
    levels.back().has_tokens = true;
    if (c == '\\') end_of_backslash = piece.end;
    backslashes = c == '\\' ? backslashes + 1 : 0;
    if (backslashes > kMaxEmptyContinuations) {
      return Error{
          fmt::format("more than {} consecutive lines contain only a backslash; remove them", kMaxEmptyContinuations),
          place(text, piece.begin)};
    }
    if (piece.is == Piece::Is::kOpen) {
      levels.push_back({piece.begin});
    } else if (piece.is == Piece::Is::kClose && levels.size() > 1) {
      settle(piece.end);
      levels.pop_back();
    } else if (c == ',' || (c == ';' && levels.size() == 1)) {
      settle(piece.end);
    }
    if (pending > kMaxPendingTokens) break;
  }
  if (pending <= kMaxPendingTokens) return {};
  return Error{fmt::format("expression has more than {} tokens and comments; close the bracket or split the expression",
                           kMaxPendingTokens),
               place(text, levels[levels.size() > 1 ? 1 : 0].start)};
}

std::string join_bracketed_lines(std::string_view text) {
  std::string joined(text);
  int depth = 0;
  for (Piece piece{}; piece.end < text.size();) {
    piece = next_piece(text, piece.end);
    const std::size_t length = piece.end - piece.begin;
    if (piece.is == Piece::Is::kBlank && depth > 0) joined.replace(piece.begin, length, length, ' ');
    if (piece.is == Piece::Is::kOpen) ++depth;
    if (piece.is == Piece::Is::kClose && depth > 0) --depth;
  }
  return joined;
}

Error in_file(const Error& error, const std::string& file) {
  return Error{error.message, error.where.empty() ? file : fmt::format("{}:{}", file, error.where)};
}

SourceText::SourceText(std::string text, std::int32_t lines_before)
    : text_(std::move(text)), preceding_line_count_(lines_before) {
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') line_starts_.push_back(at + 1);
  }
}

ir::Loc SourceText::loc(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::int32_t>(after - line_starts_.begin());
  return {preceding_line_count_ + line, static_cast<std::int32_t>(offset - *(after - 1)) + 1};
}

}  // namespace assay::frontend
