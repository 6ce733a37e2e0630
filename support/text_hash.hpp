// Hash tables keyed by strings that support lookup by string_view without a copy.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {

/// A hash function for std::string that also accepts std::string_view.
struct TransparentStringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

template <class Value>
using TextMap = std::unordered_map<std::string, Value, TransparentStringHash, std::equal_to<>>;

}  // namespace assay
