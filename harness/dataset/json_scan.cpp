#include "harness/dataset/json_scan.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "harness/dataset/json_text.hpp"

namespace assay::dataset {
namespace {

/// Longer keys are cut in messages; longer numbers are none.
constexpr std::size_t kMostToken = 256;

/// The letters of escapes, and what they mean.
constexpr std::string_view kLetters = "\"\\/bfnrt";
constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";

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
    const bool free = in_string && escape_ == 0 && more_ == 0 && high_half_ == 0;
    const std::size_t plain = free ? take_plain(piece) : 0;
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
  *this = JsonScanner(limits_, value_);
  return fault;
}

/// Takes the characters of a string that stand for themselves, and escapes of one letter, which source code is full of;
/// says how many bytes that were.
std::size_t JsonScanner::take_plain(std::string_view rest) {
  std::size_t count = 0;
  for (;;) {
    const std::string_view plain = rest.substr(count, plain_prefix(rest.substr(count)));
    if (at_ == At::kKey && token_.size() < kMostToken) token_ += plain.substr(0, kMostToken);
    if (value_ != nullptr) text_ += plain;
    count += plain.size();
    if (rest.size() - count < 2 || rest[count] != '\\') break;
    const std::size_t letter = kLetters.find(rest[count + 1]);
    if (letter == std::string_view::npos) break;
    keep(static_cast<unsigned char>(kMeant[letter]));
    count += 2;
  }
  string_ += count;
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
      text_.clear();
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
    text_.clear();
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
  if (value_ != nullptr) {
    nlohmann::json& value = place();
    value = object ? nlohmann::json::object() : nlohmann::json::array();
    open_.push_back(&value);
  }
  frames_.push_back({.object = object});
  at_ = object ? At::kFirstMember : At::kFirstItem;
}

void JsonScanner::close() {
  frames_.pop_back();
  if (value_ != nullptr) open_.pop_back();
  value_done();
}

nlohmann::json& JsonScanner::place() {
  if (frames_.empty()) return *value_;
  nlohmann::json& around = *open_.back();
  return frames_.back().object ? around[frames_.back().key] : around.emplace_back();
}

void JsonScanner::take_in_string(char c) {
  const auto byte = static_cast<unsigned char>(c);
  ++string_;
  if (more_ > 0) return utf8(byte);
  if (escape_ > 1) {
    if (std::isxdigit(byte) == 0) return fail(shown(c), "four hexadecimal digits after \\u");
    unit_ = 16 * unit_ + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    escape_ = escape_ == 2 ? 0 : escape_ - 1;
    return escape_ == 0 ? code_unit_done() : void();
  }
  if (escape_ == 1) return escaped(c);
  if (high_half_ != 0 && c != '\\') return fail("half of a surrogate pair", "its other half behind it");
  if (c == '"') return string_done();
  if (c == '\\') escape_ = 1;
  else if (byte < 0x20) fail(shown(c), "control characters to be escaped");
  else utf8(byte);
}

void JsonScanner::escaped(char c) {
  const std::size_t letter = kLetters.find(c);
  if (letter == std::string_view::npos && c != 'u') return fail(shown(c), "an escape of JSON");
  escape_ = c == 'u' ? 5 : 0;
  unit_ = 0;
  if (c == 'u') return;
  if (high_half_ != 0) return fail("half of a surrogate pair", "its other half behind it");
  keep_code_point(static_cast<unsigned char>(kMeant[letter]));
}

void JsonScanner::code_unit_done() {
  const bool is_high = unit_ >= 0xd800 && unit_ < 0xdc00;
  const bool is_low = unit_ >= 0xdc00 && unit_ < 0xe000;
  if (is_low != (high_half_ != 0)) return fail("half of a surrogate pair", "its other half behind it");
  if (is_high) {
    high_half_ = unit_;
    return;
  }
  keep_code_point(is_low ? 0x10000 + ((high_half_ - 0xd800) << 10U) + (unit_ - 0xdc00) : unit_);
  high_half_ = 0;
}

void JsonScanner::keep_code_point(unsigned code) {
  const auto more = [&](unsigned shift) { keep(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) return keep(code);
  if (code < 0x800) {
    keep(0xc0U | (code >> 6U));
  } else if (code < 0x10000) {
    keep(0xe0U | (code >> 12U)), more(6);
  } else {
    keep(0xf0U | (code >> 18U)), more(12), more(6);
  }
  more(0);
}

/// A byte that the string says.
void JsonScanner::keep(unsigned byte) {
  if (at_ == At::kKey && token_.size() < kMostToken) token_ += static_cast<char>(byte);
  if (value_ != nullptr) text_ += static_cast<char>(byte);
}

/// Well-formed sequences as table 3-7 of the Unicode standard has them.
void JsonScanner::utf8(unsigned char byte) {
  keep(byte);
  const auto reject = [&] { fail(fmt::format("the byte 0x{:02x}, which is no UTF-8", byte), "text in UTF-8"); };
  if (more_ > 0) {
    if (byte < low_ || byte > high_) return reject();
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
  else return reject();
  if (byte == 0xe0) low_ = 0xa0;
  if (byte == 0xed) high_ = 0x9f;
  if (byte == 0xf0) low_ = 0x90;
  if (byte == 0xf4) high_ = 0x8f;
}

void JsonScanner::string_done() {
  if (at_ == At::kString) {
    if (value_ != nullptr) place() = text_;
    return value_done();
  }
  Frame& frame = frames_.back();
  frame.key = value_ == nullptr ? token_ : text_;
  if (std::ranges::find(frame.keys, token_) != frame.keys.end()) return fail("a member that comes twice", "it once");
  constexpr std::size_t kMostKeys = 256;  // more are not remembered: no row has so many
  if (frame.keys.size() < kMostKeys) frame.keys.push_back(token_);
  at_ = At::kColon;
}

void JsonScanner::word_done() {
  if (token_ != "true" && token_ != "false" && token_ != "null" && !is_number(token_)) {
    return fail(fmt::format("'{}'", token_), "a JSON value");
  }
  if (value_ != nullptr) {
    nlohmann::json word = nlohmann::json::parse(token_, nullptr, false);
    if (word.is_discarded()) return fail(fmt::format("'{}'", token_), "a number that a double can hold");
    place() = std::move(word);
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

std::optional<nlohmann::json> read_json(std::string_view text, ScanLimits limits) {
  nlohmann::json value;
  JsonScanner scanner(limits, &value);
  scanner.feed(text);
  if (scanner.end()) return std::nullopt;
  return value;
}

}  // namespace assay::dataset
