// Removal of white space.
#pragma once

#include <cctype>
#include <string_view>

namespace assay {

/// Returns the text without the white space at both ends, as a view of the same memory.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return text;
}

}  // namespace assay
