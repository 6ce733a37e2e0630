#include "support/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace assay {

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t at = 0; at < text.size();) {
    const std::uint8_t lead = byte(at);
    if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return false;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0x80 ? 2 : 1;
    if (text.size() - at < length) return false;
    for (std::size_t i = at + 1; i < at + length; ++i)
      if ((byte(i) & 0xC0U) != 0x80U) return false;
    // The second byte excludes overlong forms, surrogates and code points above U+10FFFF.
    if (lead == 0xE0 && byte(at + 1) < 0xA0) return false;
    if (lead == 0xED && byte(at + 1) >= 0xA0) return false;
    if (lead == 0xF0 && byte(at + 1) < 0x90) return false;
    if (lead == 0xF4 && byte(at + 1) >= 0x90) return false;
    at += length;
  }
  return true;
}

}  // namespace assay
