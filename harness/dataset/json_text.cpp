#include "harness/dataset/json_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/concat.hpp"

namespace assay::dataset {
namespace {

static_assert(std::endian::native == std::endian::little);

/// For each byte: 0 if it needs no escape, 'u' if it is written as \u00XX, else the letter of its short escape.
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

/// Bytes that are checked together, with vector instructions where available.
using Bytes [[gnu::vector_size(16)]] = signed char;

/// The number of bytes before the first that is below 0x20, above 0x7f, a quote or a backslash. As signed numbers both
/// control characters and non-ASCII bytes are below 0x20.
std::size_t plain_bytes(Bytes bytes) {
  const auto found = (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
  const auto [low, high] = std::bit_cast<std::array<std::uint64_t, 2>>(found);
  if ((low | high) == 0) return sizeof(Bytes);
  return static_cast<std::size_t>(low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high)) / 8;
}

/// Bytes of text that are escaped at once, and a buffer for their longest escaped form plus one vector.
constexpr std::size_t kChunkBytes = 1024;
constexpr std::size_t kLongestEscape = 6;
using Escaped = std::array<char, kChunkBytes * kLongestEscape + sizeof(Bytes)>;

/// Writes the escaped byte. Returns the position after it.
char* escape(char* to, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const char escape = kEscapes[byte];
  if (escape == 0) {
    *to++ = static_cast<char>(byte);
    return to;
  }
  *to++ = '\\';
  *to++ = escape;
  if (escape != 'u') return to;
  *to++ = '0';
  *to++ = '0';
  *to++ = kDigits[byte >> 4U];
  *to++ = kDigits[byte & 0xfU];
  return to;
}

/// Escapes the piece. Returns the number of bytes written.
std::size_t escape(std::string_view piece, Escaped& escaped) {
  char* to = escaped.data();
  for (std::size_t at = 0; at < piece.size();) {
    if (Bytes bytes; at + sizeof(bytes) <= piece.size()) {
      std::memcpy(&bytes, piece.data() + at, sizeof(bytes));
      std::memcpy(to, &bytes, sizeof(bytes));  // bytes that are not plain are overwritten below
      const std::size_t plain = plain_bytes(bytes);
      at += plain;
      to += plain;
      if (plain == sizeof(bytes)) continue;
    }
    to = escape(to, static_cast<unsigned char>(piece[at++]));
  }
  return static_cast<std::size_t>(to - escaped.data());
}

}  // namespace

std::size_t plain_prefix(std::string_view text) {
  std::size_t count = 0;
  for (Bytes bytes; count + sizeof(bytes) <= text.size();) {
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
  Escaped escaped;
  out += '"';
  for (; !text.empty(); text.remove_prefix(std::min(kChunkBytes, text.size())))
    out.append(escaped.data(), escape(text.substr(0, kChunkBytes), escaped));
  out += '"';
}

std::string& JsonObjectWriter::begin(std::string_view name) {
  append(out_, std::exchange(is_empty_, false) ? "\"" : ",\"", name, "\":");
  return out_;
}

void JsonObjectWriter::add(std::string_view name, std::string_view text) { append_json_string(begin(name), text); }
void JsonObjectWriter::add(std::string_view name, bool value) { begin(name) += value ? "true" : "false"; }
void JsonObjectWriter::add(std::string_view name, std::int64_t value) { begin(name) += std::to_string(value); }
void JsonObjectWriter::add_null(std::string_view name) { begin(name) += "null"; }

void JsonObjectWriter::add(std::string_view name, const std::optional<double>& value) {
  if (value) begin(name) += nlohmann::json(*value).dump();
  else add_null(name);
}

void JsonObjectWriter::add(std::string_view name, const std::vector<std::string>& texts) {
  std::string& out = begin(name);
  append_json_array(out, texts, [&](const std::string& text) { append_json_string(out, text); });
}

void JsonObjectWriter::add(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string& out = begin(name);
  append_json_array(out, values, [&](std::int64_t value) { out += std::to_string(value); });
}

}  // namespace assay::dataset
