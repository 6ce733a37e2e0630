// Looks a line of JSON over before anything is built of it: well-formed, UTF-8, no string, nesting or line beyond the
// limits, no member twice. Takes the line in pieces and keeps nothing of it but the way to where it is, so that hostile
// input costs no memory; a fault carries the JSON pointer of its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  explicit JsonScanner(ScanLimits limits = {}) : limits_(limits) {}

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
  std::size_t take_plain(std::string_view rest);
  void take_in_string(char c);
  void string_done();
  void word_done();
  void utf8(unsigned char byte);
  void fail(std::string found, std::string expected);
  [[nodiscard]] std::string pointer() const;

  ScanLimits limits_;
  At at_ = At::kValue;
  std::vector<Frame> frames_;
  std::size_t line_ = 0;
  std::size_t string_ = 0;
  std::string token_;      ///< of a key or a word, its beginning
  int escape_ = 0;         ///< 1: behind a backslash; 2 to 5: hex digits left plus one
  int more_ = 0;           ///< bytes left of a UTF-8 sequence
  unsigned char low_ = 0;  ///< range of its next byte
  unsigned char high_ = 0;
  std::optional<ScanFault> fault_;
};

}  // namespace assay::dataset
