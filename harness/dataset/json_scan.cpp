#include "harness/dataset/json_scan.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace assay::dataset {
namespace {

/// Longer keys are cut in messages; longer numbers are none.
constexpr std::size_t kMostToken = 256;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.'; }

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isprint(byte) != 0 ? fmt::format("'{}'", c) : fmt::format("the byte 0x{:02x}", byte);
}

bool is_number(const std::string& word) {
  static const std::regex kNumber(R"(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)");
  return std::regex_match(word, kNumber);
}

}  // namespace

void JsonScanner::feed(std::string_view piece) {
  while (!piece.empty() && !fault_) {
    const bool in_string = at_ == At::kString || at_ == At::kKey;
    const std::size_t plain = in_string && escape_ == 0 && more_ == 0 ? take_plain(piece) : 0;
    line_ += plain;
    piece.remove_prefix(plain);
    if (piece.empty() || fault_) break;
    if (++line_ > limits_.line) fail("a longer line", fmt::format("at most {} bytes in a line", limits_.line));
    else take(piece.front());
    piece.remove_prefix(1);
  }
}

std::optional<ScanFault> JsonScanner::end() {
  if (!fault_) {
    if (at_ == At::kWord) word_done();
    if (!fault_ && at_ != At::kDone) fail(line_ == 0 ? "an empty line" : "the end of the line", "a whole JSON value");
  }
  std::optional<ScanFault> fault = std::exchange(fault_, std::nullopt);
  *this = JsonScanner(limits_);
  return fault;
}

/// How many characters of a string stand for themselves and need no look.
std::size_t JsonScanner::take_plain(std::string_view rest) {
  std::size_t count = 0;
  while (count < rest.size()) {
    const auto byte = static_cast<unsigned char>(rest[count]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    ++count;
  }
  string_ += count;
  if (token_.size() < kMostToken && at_ == At::kKey) token_ += rest.substr(0, std::min(count, kMostToken));
  if (string_ > limits_.string) fail("a longer text", fmt::format("at most {} bytes in a text", limits_.string));
  return count;
}

void JsonScanner::take(char c) {
  switch (at_) {
    case At::kString:
    case At::kKey: return take_in_string(c);
    case At::kWord:
      if (is_word(c)) {
        if (token_.size() >= kMostToken) return fail("a longer word", "a number or a word of JSON");
        token_ += c;
        return;
      }
      word_done();
      return fault_ ? void() : take(c);
    default: break;
  }
  if (is_blank(c)) return;
  switch (at_) {
    case At::kValue: return take_value(c);
    case At::kFirstItem: return c == ']' ? close() : take_value(c);
    case At::kFirstMember:
    case At::kMember:
      if (c == '}' && at_ == At::kFirstMember) return close();
      if (c != '"') return fail(shown(c), "the name of a member");
      at_ = At::kKey;
      string_ = 0;
      token_.clear();
      return;
    case At::kColon:
      if (c != ':') return fail(shown(c), "':'");
      at_ = At::kValue;
      return;
    case At::kAfter: return take_after(c);
    default: return fail(shown(c), "the end of the line");
  }
}

void JsonScanner::take_value(char c) {
  if (c == '{' || c == '[') return open(c == '{');
  if (c == '"') {
    at_ = At::kString;
    string_ = 0;
    return;
  }
  if (!is_word(c)) return fail(shown(c), "a JSON value");
  at_ = At::kWord;
  token_ = c;
}

void JsonScanner::take_after(char c) {
  Frame& frame = frames_.back();
  if (c == (frame.object ? '}' : ']')) return close();
  if (c != ',') return fail(shown(c), frame.object ? "',' or '}'" : "',' or ']'");
  ++frame.index;
  at_ = frame.object ? At::kMember : At::kValue;
}

void JsonScanner::open(bool object) {
  if (frames_.size() == limits_.depth) return fail("deeper nesting", fmt::format("at most {} levels", limits_.depth));
  frames_.push_back({.object = object});
  at_ = object ? At::kFirstMember : At::kFirstItem;
}

void JsonScanner::close() {
  frames_.pop_back();
  value_done();
}

void JsonScanner::take_in_string(char c) {
  const auto byte = static_cast<unsigned char>(c);
  ++string_;
  if (more_ > 0) return utf8(byte);
  if (escape_ > 1) {
    if (std::isxdigit(byte) == 0) return fail(shown(c), "four hexadecimal digits after \\u");
    escape_ = escape_ == 2 ? 0 : escape_ - 1;
    return;
  }
  if (escape_ == 1) {
    if (std::string_view("\"\\/bfnrtu").find(c) == std::string_view::npos) return fail(shown(c), "an escape of JSON");
    escape_ = c == 'u' ? 5 : 0;
    return;
  }
  if (c == '"') return string_done();
  if (c == '\\') escape_ = 1;
  else if (byte < 0x20) fail(shown(c), "control characters to be escaped");
  else utf8(byte);
}

/// Well-formed sequences as table 3-7 of the Unicode standard has them.
void JsonScanner::utf8(unsigned char byte) {
  const auto refuse = [&] { fail(fmt::format("the byte 0x{:02x}, which is no UTF-8", byte), "text in UTF-8"); };
  if (more_ > 0) {
    if (byte < low_ || byte > high_) return refuse();
    --more_;
    low_ = 0x80;
    high_ = 0xbf;
    return;
  }
  low_ = 0x80;
  high_ = 0xbf;
  if (byte >= 0xc2 && byte <= 0xdf) more_ = 1;
  else if (byte >= 0xe0 && byte <= 0xef) more_ = 2;
  else if (byte >= 0xf0 && byte <= 0xf4) more_ = 3;
  else return refuse();
  if (byte == 0xe0) low_ = 0xa0;
  if (byte == 0xed) high_ = 0x9f;
  if (byte == 0xf0) low_ = 0x90;
  if (byte == 0xf4) high_ = 0x8f;
}

void JsonScanner::string_done() {
  if (at_ == At::kString) return value_done();
  Frame& frame = frames_.back();
  frame.key = token_;
  if (std::ranges::find(frame.keys, token_) != frame.keys.end()) return fail("a member that comes twice", "it once");
  constexpr std::size_t kMostKeys = 256;  // more are not remembered: no row has so many
  if (frame.keys.size() < kMostKeys) frame.keys.push_back(token_);
  at_ = At::kColon;
}

void JsonScanner::word_done() {
  if (token_ != "true" && token_ != "false" && token_ != "null" && !is_number(token_)) {
    return fail(fmt::format("'{}'", token_), "a JSON value");
  }
  value_done();
}

void JsonScanner::fail(std::string found, std::string expected) {
  if (!fault_) fault_ = {.pointer = pointer(), .found = std::move(found), .expected = std::move(expected)};
}

std::string JsonScanner::pointer() const {
  std::string text;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    const bool last = i + 1 == frames_.size();
    if (last && (at_ == At::kFirstMember || at_ == At::kFirstItem || at_ == At::kMember)) break;
    text += '/';
    if (!frame.object) {
      text += fmt::format("{}", frame.index);
      continue;
    }
    for (const char c : last&& at_ == At::kKey ? token_ : frame.key)
      text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return text;
}

}  // namespace assay::dataset
