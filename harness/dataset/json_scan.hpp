// Reads JSON that others may have written: well-formed, UTF-8, no string, nesting or line beyond the limits, no member
// twice. Takes a line in pieces and, unless it is asked for the value, keeps nothing of it but the way to where it is,
// so that hostile input costs no memory; a fault carries the JSON pointer of its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::dataset {

struct ScanLimits {
  std::size_t line = std::size_t{16} << 20;
  std::size_t string = std::size_t{4} << 20;
  std::size_t depth = 32;
};

struct ScanFault {
  std::string pointer;
  std::string found;
  std::string expected;
};

class JsonScanner {
 public:
  /// `value`, if any, becomes what the line says; it holds a part of it after a fault.
  explicit JsonScanner(ScanLimits limits = {}, nlohmann::json* value = nullptr) : limits_(limits), value_(value) {}

  /// The next piece of the line; nothing of it is looked at after a fault.
  void feed(std::string_view piece);
  /// The line is over: the first fault, if any. The scanner is ready for the next line.
  std::optional<ScanFault> end();
  [[nodiscard]] bool faulty() const { return fault_.has_value(); }

 private:
  enum class At : std::uint8_t {
    kValue,
    kFirstMember,
    kFirstItem,
    kMember,
    kColon,
    kAfter,
    kString,
    kKey,
    kWord,
    kDone
  };
  struct Frame {
    bool object = false;
    std::size_t index = 0;
    std::string key;
    std::vector<std::string> keys;
  };

  void take(char c);
  void take_value(char c);
  void take_after(char c);
  void open(bool object);
  void close();
  void value_done() { at_ = frames_.empty() ? At::kDone : At::kAfter; }
  /// Where the value that begins here belongs; only while one is built.
  nlohmann::json& place();
  std::size_t take_plain(std::string_view rest);
  void take_in_string(char c);
  void string_done();
  void word_done();
  void escaped(char c);
  void code_unit_done();
  void keep_code_point(unsigned code);
  void keep(unsigned byte);
  void utf8(unsigned char byte);
  void fail(std::string found, std::string expected);
  [[nodiscard]] std::string pointer() const;

  ScanLimits limits_;
  At at_ = At::kValue;
  std::vector<Frame> frames_;
  std::size_t line_ = 0;
  std::size_t string_ = 0;
  std::string token_;       ///< of a key or a word, the beginning of what it says
  int escape_ = 0;          ///< 1: behind a backslash; 2 to 5: hex digits left plus one
  unsigned unit_ = 0;       ///< of the hex digits so far
  unsigned high_half_ = 0;  ///< of a surrogate pair whose other half must follow; else 0
  int more_ = 0;            ///< bytes left of a UTF-8 sequence
  unsigned char low_ = 0;   ///< range of its next byte
  unsigned char high_ = 0;
  std::optional<ScanFault> fault_;
  nlohmann::json* value_;
  std::vector<nlohmann::json*> open_;  ///< the arrays and objects around, where a value is built
  std::string text_;                   ///< of the string so far, where a value is built
};

/// The value of a text that a scanner with these limits has found well-formed; of any other, nothing.
std::optional<nlohmann::json> read_json(std::string_view text, ScanLimits limits = {});

}  // namespace assay::dataset
