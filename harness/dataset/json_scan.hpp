// Scans untrusted JSON. It must be well-formed UTF-8 without duplicate members, and strings, nesting and lines must not
// exceed the limits. Takes a line in pieces and, unless the value is requested, stores only the path to the current
// position, so that hostile input cannot exhaust memory. A fault has the JSON pointer of its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::dataset {

/// Limits that protect against hostile lines.
struct JsonScanLimits {
  std::size_t max_line_bytes = std::size_t{16} << 20;   ///< maximum length of a line
  std::size_t max_string_bytes = std::size_t{4} << 20;  ///< maximum length of one string
  std::size_t max_depth = 32;                           ///< maximum depth of nested arrays and objects
};

/// The first fault of a line.
struct JsonScanError {
  std::string json_pointer;  ///< JSON pointer to the faulty value
  std::string found_text;    ///< the offending text, as messages show it
  std::string expected;      ///< what is valid there
};

/// Checks the JSON syntax of a line that arrives in pieces, and builds its value on request.
class JsonScanner {
 public:
  /// `value`, if not null, receives the value of the line; after a fault it is incomplete.
  explicit JsonScanner(JsonScanLimits limits = {}, nlohmann::json* value = nullptr)
      : limits_(limits), output_value_(value) {}

  /// Scans the next piece of the line; ignores it after a fault.
  void feed(std::string_view piece);
  /// Ends the line. Returns the first fault, if any. The scanner is then ready for the next line.
  std::optional<JsonScanError> end();
  [[nodiscard]] bool has_error() const { return error_.has_value(); }

 private:
  /// What the scanner expects next.
  enum class State : std::uint8_t {
    kValue,                ///< a value must begin
    kFirstMember,          ///< after `{`: a key or `}`
    kFirstItem,            ///< after `[`: a value or `]`
    kMember,               ///< after a comma in an object: a key
    kColon,                ///< after a key
    kAfterValue,           ///< after a value in an array or object: a comma or the closing bracket
    kString,               ///< inside a string value
    kKey,                  ///< inside a key
    kNumberOrLiteralName,  ///< inside a number, `true`, `false` or `null`
    kDone                  ///< the line's value is complete
  };
  /// An array or object that is not closed yet.
  struct Frame {
    bool is_object = false;         ///< whether it is an object; else an array
    std::size_t index = 0;          ///< number of the current item, from 0
    std::string key;                ///< key of the current member of an object
    std::vector<std::string> keys;  ///< keys of the object so far, to find duplicates
  };

  void take(char c);        ///< scans one character
  void take_value(char c);  ///< scans the first character of a value
  void take_after(char c);  ///< scans the character after an item or member: a comma or the closing bracket
  void open(bool object);   ///< enters an object, or an array
  void close();             ///< leaves the innermost array or object
  void value_done() { state_ = frames_.empty() ? State::kDone : State::kAfterValue; }
  /// The destination of the value that begins here; only if a value is built.
  nlohmann::json& place();
  std::size_t take_plain(std::string_view rest);       ///< scans plain characters of a string; returns their number
  void take_in_string(char c);                         ///< scans one character of a string or key
  void string_done();                                  ///< ends a string or key
  void word_done();                                    ///< ends a number, `true`, `false` or `null`
  void escaped(char c);                                ///< scans the character after a backslash
  void code_unit_done();                               ///< ends a \u escape
  void keep_code_point(unsigned code);                 ///< appends the character to the decoded string, in UTF-8
  void keep(unsigned byte);                            ///< appends one byte to the decoded string
  void utf8(unsigned char byte);                       ///< scans one byte of a character outside ASCII
  void fail(std::string found, std::string expected);  ///< records a fault, unless there is one already
  [[nodiscard]] std::string pointer() const;           ///< JSON pointer to the current position

  JsonScanLimits limits_;
  State state_ = State::kValue;    ///< what the next character may be
  std::vector<Frame> frames_;      ///< the enclosing arrays and objects, the outermost first
  std::size_t line_length_ = 0;    ///< bytes of the line so far
  std::size_t string_length_ = 0;  ///< bytes of the current string so far
  std::string token_;              ///< the current key, number or literal name, truncated
  int escape_state_ =
      0;  ///< state of an escape: 1 after a backslash; 2 to 5: number of missing hex digits plus one; else 0
  unsigned code_unit_ = 0;                        ///< value of the hex digits of a \u escape so far
  unsigned high_surrogate_ = 0;                   ///< high surrogate whose low surrogate must follow; else 0
  int missing_continuation_bytes_ = 0;            ///< bytes that are missing from the current UTF-8 sequence
  unsigned char lowest_valid_next_byte_ = 0;      ///< least valid value of the sequence's next byte
  unsigned char highest_valid_next_byte_ = 0;     ///< greatest valid value
  std::optional<JsonScanError> error_;            ///< the first fault of the line
  nlohmann::json* output_value_;                  ///< receives the line's value; null: no value is built
  std::vector<nlohmann::json*> open_containers_;  ///< containers of the value under construction, parallel to frames_
  std::string decoded_string_;                    ///< text of the current string, if a value is built
};

/// Parses a text. Returns nothing if a scanner with these limits finds a fault.
std::optional<nlohmann::json> read_json(std::string_view text, JsonScanLimits limits = {});

}  // namespace assay::dataset
