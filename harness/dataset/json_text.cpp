#include "harness/dataset/json_text.hpp"

#include <array>

namespace assay::dataset {
namespace {

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

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;  // where the part that stands for itself begins
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = kEscapes[byte];
    if (escape == 0) continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    out += '\\';
    out += escape;
    if (escape != 'u') continue;
    out += "00";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xfU];
  }
  out.append(text, plain);
  out += '"';
}

}  // namespace assay::dataset
