// String concatenation: several times as fast as fmt::format for pieces that need no formatting.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Appends the pieces, each a std::string, a std::string_view or a literal.
template <class... Pieces>
void append(std::string& out, const Pieces&... pieces) {
  (out.append(std::string_view(pieces)), ...);
}

/// The pieces as one text, in one allocation.
template <class... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string text;
  text.reserve((std::size_t{0} + ... + std::string_view(pieces).size()));
  append(text, pieces...);
  return text;
}

}  // namespace assay
