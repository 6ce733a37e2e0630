// A fast JSON writer for rows, which are mostly source code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::dataset {

/// Length of the longest prefix of ASCII characters that need no escape in a JSON string.
std::size_t plain_prefix(std::string_view text);

/// Appends the text in quotes with the escapes that RFC 8259 requires. The text must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

/// Appends an object, member by member, starting with the opening brace. Member names must need no escapes.
class JsonObjectWriter {
 public:
  explicit JsonObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  JsonObjectWriter(const JsonObjectWriter&) = delete;
  JsonObjectWriter& operator=(const JsonObjectWriter&) = delete;

  void add(std::string_view name, std::string_view text);
  void add(std::string_view name, const std::string& text) { add(name, std::string_view(text)); }
  void add(std::string_view name, const char* text) { add(name, std::string_view(text)); }
  void add(std::string_view name, bool value);
  void add(std::string_view name, std::int64_t value);
  void add(std::string_view name, int value) { add(name, std::int64_t{value}); }
  void add(std::string_view name, const std::optional<double>& value);  ///< nullopt is written as null
  void add(std::string_view name, const std::vector<std::string>& texts);
  void add(std::string_view name, const std::vector<std::int64_t>& values);
  void add_null(std::string_view name);
  /// Starts a member. Append its value to the returned string.
  std::string& begin(std::string_view name);
  /// Ends the object. Call once.
  void close() { out_ += '}'; }

 private:
  std::string& out_;      ///< the text to which the object is appended
  bool is_empty_ = true;  ///< whether no member was added yet
};

/// Appends an array; `each` must append one item.
template <class Items, class Each>
void append_json_array(std::string& out, const Items& items, const Each& each) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    each(item);
  }
  out += ']';
}

}  // namespace assay::dataset
