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

/// Bytes that are looked at together, by the vector unit where there is one.
using Bytes [[gnu::vector_size(16)]] = signed char;

/// How many of the bytes come before one that is below 0x20, above 0x7f, a quote or a backslash; all if none is. As
/// signed numbers both the control characters and what is no ASCII are below 0x20.
std::size_t plain_bytes(Bytes bytes) {
  const auto found = (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
  const auto [low, high] = std::bit_cast<std::array<std::uint64_t, 2>>(found);
  if ((low | high) == 0) return sizeof(Bytes);
  return static_cast<std::size_t>(low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high)) / 8;
}

/// Bytes of text that are escaped at once, and as many as they may become; a vector is stored at a time.
constexpr std::size_t kPiece = 1024;
constexpr std::size_t kLongestEscape = 6;
using Escaped = std::array<char, kPiece * kLongestEscape + sizeof(Bytes)>;

/// Writes what stands for the byte; the place behind it.
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

/// How many bytes the piece has become.
std::size_t escape(std::string_view piece, Escaped& escaped) {
  char* to = escaped.data();
  for (std::size_t at = 0; at < piece.size();) {
    if (Bytes bytes; at + sizeof(bytes) <= piece.size()) {
      std::memcpy(&bytes, piece.data() + at, sizeof(bytes));
      std::memcpy(to, &bytes, sizeof(bytes));  // what is not plain is written over
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
  for (; !text.empty(); text.remove_prefix(std::min(kPiece, text.size())))
    out.append(escaped.data(), escape(text.substr(0, kPiece), escaped));
  out += '"';
}

std::string& JsonObject::begin(std::string_view name) {
  append(out_, std::exchange(empty_, false) ? "\"" : ",\"", name, "\":");
  return out_;
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
