#include "harness/dataset/json_text.hpp"

#include <array>
#include <bit>
#include <cstring>

#include <nlohmann/json.hpp>

namespace assay::dataset {
namespace {

static_assert(std::endian::native == std::endian::little);

/// For each byte: 0 if it stands for itself, 'u' if only \u00XX says it, else the letter of its short escape.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (std::size_t byte = 0; byte < 0x20; ++byte)
    table[byte] = 'u';
  table['"'] = '"';
  table['\\'] = '\\';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  return table;
}();

/// How many of the eight bytes, the first being the lowest, come before one that is below 0x20, above 0x7f, a quote or
/// a backslash; 8 if none is. A byte minus 0x20 sets its highest bit where it was smaller; one equal to c is 0 after
/// xor with c, and minus 1 sets the bit likewise. Borrows go upward only, behind the first.
std::size_t plain_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighest = 0x80 * kOnes;
  const std::uint64_t quotes = bytes ^ ('"' * kOnes);
  const std::uint64_t backslashes = bytes ^ ('\\' * kOnes);
  const std::uint64_t found = bytes | (bytes - 0x20 * kOnes) | (quotes - kOnes) | (backslashes - kOnes);
  return static_cast<std::size_t>(std::countr_zero(found & kHighest)) / 8;
}

}  // namespace

std::size_t plain_prefix(std::string_view text) {
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; count + sizeof(bytes) <= text.size();) {
    std::memcpy(&bytes, text.data() + count, sizeof(bytes));
    const std::size_t plain = plain_bytes(bytes);
    count += plain;
    if (plain < sizeof(bytes)) return count;
  }
  while (count < text.size() && static_cast<unsigned char>(text[count]) < 0x80 &&
         kEscapes[static_cast<unsigned char>(text[count])] == 0)
    ++count;
  return count;
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    std::size_t plain = plain_prefix(text);
    while (plain < text.size() && static_cast<unsigned char>(text[plain]) >= 0x80)
      ++plain;
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text.front());
    const char escape = kEscapes[byte];
    if (escape == 0) continue;
    out += '\\';
    out += escape;
    text.remove_prefix(1);
    if (escape != 'u') continue;
    out += "00";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xfU];
  }
  out += '"';
}

std::string& JsonObject::begin(std::string_view name) {
  if (!empty_) out_ += ',';
  empty_ = false;
  append_json_string(out_, name);
  return out_ += ':';
}

void JsonObject::add(std::string_view name, std::string_view text) { append_json_string(begin(name), text); }
void JsonObject::add(std::string_view name, bool value) { begin(name) += value ? "true" : "false"; }
void JsonObject::add(std::string_view name, std::int64_t value) { begin(name) += std::to_string(value); }
void JsonObject::add_null(std::string_view name) { begin(name) += "null"; }

void JsonObject::add(std::string_view name, const std::optional<double>& value) {
  if (value) begin(name) += nlohmann::json(*value).dump();
  else add_null(name);
}

void JsonObject::add(std::string_view name, const std::vector<std::string>& texts) {
  std::string& out = begin(name);
  append_json_array(out, texts, [&](const std::string& text) { append_json_string(out, text); });
}

void JsonObject::add(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string& out = begin(name);
  append_json_array(out, values, [&](std::int64_t value) { out += std::to_string(value); });
}

}  // namespace assay::dataset
