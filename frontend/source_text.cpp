#include "frontend/source_text.hpp"

#include <algorithm>
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

}  // namespace

Result<std::string_view> check_source(std::string_view bytes) {
  if (bytes.size() > kLargestSource) {
    return Error{fmt::format("has {} bytes; the reader takes at most {}", bytes.size(), kLargestSource)};
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (bytes.find_first_not_of(" \t\r\n\f") == std::string_view::npos) return Error{"is empty"};
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at] == '\0') return Error{"holds a zero byte: it is binary, not Python", place(bytes, at)};
    const std::size_t length = sequence_length(bytes.substr(at));
    if (length == 0) return Error{"is not UTF-8", place(bytes, at)};
    at += length;
  }
  return bytes;
}

std::string join_bracketed_lines(std::string_view text) {
  std::string joined(text);
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    std::size_t end = at + 1;
    if (c == '#') end = std::min(text.find('\n', at), text.size());
    const bool is_blank = c == '#' || c == '\n' || c == '\r';
    if (is_blank && depth > 0) joined.replace(at, end - at, end - at, ' ');
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    at = end;
  }
  return joined;
}

SourceText::SourceText(std::string text) : text_(std::move(text)) {
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') line_starts_.push_back(at + 1);
  }
}

ir::Loc SourceText::loc(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = after - line_starts_.begin();
  return {static_cast<std::int32_t>(line), static_cast<std::int32_t>(offset - *(after - 1)) + 1};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace assay::frontend
