#include "harness/dataset/json_scan.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "harness/dataset/json_text.hpp"

namespace assay::dataset {
namespace {

/// Longer keys are truncated in messages; longer numbers are rejected.
constexpr std::size_t kMostToken = 256;

/// The letters of escapes, and the characters that they denote.
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
  while (!piece.empty() && !error_) {
    const bool in_string = state_ == State::kString || state_ == State::kKey;
    const bool free = in_string && escape_state_ == 0 && missing_continuation_bytes_ == 0 && high_surrogate_ == 0;
    const std::size_t plain = free ? take_plain(piece) : 0;
    line_length_ += plain;
    piece.remove_prefix(plain);
    if (piece.empty() || error_) break;
    if (++line_length_ > limits_.max_line_bytes)
      fail("a line that is too long", fmt::format("at most {} bytes in a line", limits_.max_line_bytes));
    else take(piece.front());
    piece.remove_prefix(1);
  }
}

std::optional<JsonScanError> JsonScanner::end() {
  if (!error_) {
    if (state_ == State::kNumberOrLiteralName) word_done();
    if (!error_ && state_ != State::kDone)
      fail(line_length_ == 0 ? "an empty line" : "the end of the line", "a complete JSON value");
  }
  std::optional<JsonScanError> fault = std::exchange(error_, std::nullopt);
  *this = JsonScanner(limits_, output_value_);
  return fault;
}

/// Consumes plain characters of a string and one-letter escapes, which are frequent in source code. Returns the number
/// of bytes consumed.
std::size_t JsonScanner::take_plain(std::string_view rest) {
  std::size_t count = 0;
  for (;;) {
    const std::string_view plain = rest.substr(count, plain_prefix(rest.substr(count)));
    if (state_ == State::kKey && token_.size() < kMostToken) token_ += plain.substr(0, kMostToken);
    if (output_value_ != nullptr) decoded_string_ += plain;
    count += plain.size();
    if (rest.size() - count < 2 || rest[count] != '\\') break;
    const std::size_t letter = kLetters.find(rest[count + 1]);
    if (letter == std::string_view::npos) break;
    keep(static_cast<unsigned char>(kMeant[letter]));
    count += 2;
  }
  string_length_ += count;
  if (string_length_ > limits_.max_string_bytes)
    fail("a string that is too long", fmt::format("at most {} bytes in a string", limits_.max_string_bytes));
  return count;
}

void JsonScanner::take(char c) {
  switch (state_) {
    case State::kString:
    case State::kKey: return take_in_string(c);
    case State::kNumberOrLiteralName:
      if (is_word(c)) {
        if (token_.size() >= kMostToken) return fail("a token that is too long", "a number, true, false or null");
        token_ += c;
        return;
      }
      word_done();
      return error_ ? void() : take(c);
    default: break;
  }
  if (is_blank(c)) return;
  switch (state_) {
    case State::kValue: return take_value(c);
    case State::kFirstItem: return c == ']' ? close() : take_value(c);
    case State::kFirstMember:
    case State::kMember:
      if (c == '}' && state_ == State::kFirstMember) return close();
      if (c != '"') return fail(shown(c), "a member name in quotes");
      state_ = State::kKey;
      string_length_ = 0;
      token_.clear();
      decoded_string_.clear();
      return;
    case State::kColon:
      if (c != ':') return fail(shown(c), "':'");
      state_ = State::kValue;
      return;
    case State::kAfterValue: return take_after(c);
    default: return fail(shown(c), "the end of the line");
  }
}

void JsonScanner::take_value(char c) {
  if (c == '{' || c == '[') return open(c == '{');
  if (c == '"') {
    state_ = State::kString;
    string_length_ = 0;
    decoded_string_.clear();
    return;
  }
  if (!is_word(c)) return fail(shown(c), "a JSON value");
  state_ = State::kNumberOrLiteralName;
  token_ = c;
}

void JsonScanner::take_after(char c) {
  Frame& frame = frames_.back();
  if (c == (frame.is_object ? '}' : ']')) return close();
  if (c != ',') return fail(shown(c), frame.is_object ? "',' or '}'" : "',' or ']'");
  ++frame.index;
  state_ = frame.is_object ? State::kMember : State::kValue;
}

void JsonScanner::open(bool object) {
  if (frames_.size() == limits_.max_depth)
    return fail("nesting that is too deep", fmt::format("at most {} levels", limits_.max_depth));
  if (output_value_ != nullptr) {
    nlohmann::json& value = place();
    value = object ? nlohmann::json::object() : nlohmann::json::array();
    open_containers_.push_back(&value);
  }
  frames_.push_back({.is_object = object});
  state_ = object ? State::kFirstMember : State::kFirstItem;
}

void JsonScanner::close() {
  frames_.pop_back();
  if (output_value_ != nullptr) open_containers_.pop_back();
  value_done();
}

nlohmann::json& JsonScanner::place() {
  if (frames_.empty()) return *output_value_;
  nlohmann::json& around = *open_containers_.back();
  return frames_.back().is_object ? around[frames_.back().key] : around.emplace_back();
}

void JsonScanner::take_in_string(char c) {
  const auto byte = static_cast<unsigned char>(c);
  ++string_length_;
  if (missing_continuation_bytes_ > 0) return utf8(byte);
  if (escape_state_ > 1) {
    if (std::isxdigit(byte) == 0) return fail(shown(c), "four hexadecimal digits after \\u");
    code_unit_ = 16 * code_unit_ + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    escape_state_ = escape_state_ == 2 ? 0 : escape_state_ - 1;
    return escape_state_ == 0 ? code_unit_done() : void();
  }
  if (escape_state_ == 1) return escaped(c);
  if (high_surrogate_ != 0 && c != '\\') return fail("an unpaired surrogate", "a surrogate pair");
  if (c == '"') return string_done();
  if (c == '\\') escape_state_ = 1;
  else if (byte < 0x20) fail(shown(c), "an escaped control character");
  else utf8(byte);
}

void JsonScanner::escaped(char c) {
  const std::size_t letter = kLetters.find(c);
  if (letter == std::string_view::npos && c != 'u') return fail(shown(c), "a JSON escape");
  escape_state_ = c == 'u' ? 5 : 0;
  code_unit_ = 0;
  if (c == 'u') return;
  if (high_surrogate_ != 0) return fail("an unpaired surrogate", "a surrogate pair");
  keep_code_point(static_cast<unsigned char>(kMeant[letter]));
}

void JsonScanner::code_unit_done() {
  const bool is_high = code_unit_ >= 0xd800 && code_unit_ < 0xdc00;
  const bool is_low = code_unit_ >= 0xdc00 && code_unit_ < 0xe000;
  if (is_low != (high_surrogate_ != 0)) return fail("an unpaired surrogate", "a surrogate pair");
  if (is_high) {
    high_surrogate_ = code_unit_;
    return;
  }
  keep_code_point(is_low ? 0x10000 + ((high_surrogate_ - 0xd800) << 10U) + (code_unit_ - 0xdc00) : code_unit_);
  high_surrogate_ = 0;
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

/// Appends a byte of the decoded string.
void JsonScanner::keep(unsigned byte) {
  if (state_ == State::kKey && token_.size() < kMostToken) token_ += static_cast<char>(byte);
  if (output_value_ != nullptr) decoded_string_ += static_cast<char>(byte);
}

/// Accepts the well-formed sequences of table 3-7 of the Unicode standard.
void JsonScanner::utf8(unsigned char byte) {
  keep(byte);
  const auto reject = [&] { fail(fmt::format("the byte 0x{:02x}, which is not valid UTF-8", byte), "UTF-8 text"); };
  if (missing_continuation_bytes_ > 0) {
    if (byte < lowest_valid_next_byte_ || byte > highest_valid_next_byte_) return reject();
    --missing_continuation_bytes_;
    lowest_valid_next_byte_ = 0x80;
    highest_valid_next_byte_ = 0xbf;
    return;
  }
  lowest_valid_next_byte_ = 0x80;
  highest_valid_next_byte_ = 0xbf;
  if (byte >= 0xc2 && byte <= 0xdf) missing_continuation_bytes_ = 1;
  else if (byte >= 0xe0 && byte <= 0xef) missing_continuation_bytes_ = 2;
  else if (byte >= 0xf0 && byte <= 0xf4) missing_continuation_bytes_ = 3;
  else return reject();
  if (byte == 0xe0) lowest_valid_next_byte_ = 0xa0;
  if (byte == 0xed) highest_valid_next_byte_ = 0x9f;
  if (byte == 0xf0) lowest_valid_next_byte_ = 0x90;
  if (byte == 0xf4) highest_valid_next_byte_ = 0x8f;
}

void JsonScanner::string_done() {
  if (state_ == State::kString) {
    if (output_value_ != nullptr) place() = decoded_string_;
    return value_done();
  }
  Frame& frame = frames_.back();
  frame.key = output_value_ == nullptr ? token_ : decoded_string_;
  if (std::ranges::find(frame.keys, token_) != frame.keys.end())
    return fail("a duplicate member", "unique member names");
  constexpr std::size_t kMostKeys = 256;  // further names are not checked: no row has so many
  if (frame.keys.size() < kMostKeys) frame.keys.push_back(token_);
  state_ = State::kColon;
}

void JsonScanner::word_done() {
  if (token_ != "true" && token_ != "false" && token_ != "null" && !is_number(token_)) {
    return fail(fmt::format("'{}'", token_), "a JSON value");
  }
  if (output_value_ != nullptr) {
    nlohmann::json word = nlohmann::json::parse(token_, nullptr, false);
    if (word.is_discarded()) return fail(fmt::format("'{}'", token_), "a number in the range of double");
    place() = std::move(word);
  }
  value_done();
}

void JsonScanner::fail(std::string found, std::string expected) {
  if (!error_) error_ = {.json_pointer = pointer(), .found_text = std::move(found), .expected = std::move(expected)};
}

std::string JsonScanner::pointer() const {
  std::string text;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    const bool last = i + 1 == frames_.size();
    if (last && (state_ == State::kFirstMember || state_ == State::kFirstItem || state_ == State::kMember)) break;
    text += '/';
    if (!frame.is_object) {
      text += fmt::format("{}", frame.index);
      continue;
    }
    for (const char c : last&& state_ == State::kKey ? token_ : frame.key)
      text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return text;
}

std::optional<nlohmann::json> read_json(std::string_view text, JsonScanLimits limits) {
  nlohmann::json value;
  JsonScanner scanner(limits, &value);
  scanner.feed(text);
  if (scanner.end()) return std::nullopt;
  return value;
}

}  // namespace assay::dataset
