// JSON text, fast: rows are mostly source code, and each is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::dataset {

/// How many bytes at the beginning are ASCII that stands for itself in a JSON string.
std::size_t plain_prefix(std::string_view text);

/// Appends the text between quotes, escaped as RFC 8259 asks and no more. The text must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

/// Appends an object's members one after another, from the brace that begins it on. Their names are identifiers, in
/// which nothing is to be escaped.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void add(std::string_view name, std::string_view text);
  void add(std::string_view name, const std::string& text) { add(name, std::string_view(text)); }
  void add(std::string_view name, const char* text) { add(name, std::string_view(text)); }
  void add(std::string_view name, bool value);
  void add(std::string_view name, std::int64_t value);
  void add(std::string_view name, int value) { add(name, std::int64_t{value}); }
  void add(std::string_view name, const std::optional<double>& value);  ///< none is null
  void add(std::string_view name, const std::vector<std::string>& texts);
  void add(std::string_view name, const std::vector<std::int64_t>& values);
  void add_null(std::string_view name);
  /// Where the member's value is to be appended.
  std::string& begin(std::string_view name);
  /// Call once, at the end.
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool empty_ = true;
};

/// Appends an array; `each` appends one item.
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
