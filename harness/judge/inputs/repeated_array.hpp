// Arrays with other extents and the same values.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "ir/launch.hpp"

namespace assay::harness {

/// The array with another shape; each element is that of `array` whose index is congruent modulo the extents of
/// `array`. With smaller extents, these are the first elements. `array` must have elements.
inline ir::Argument repeated(const ir::Module& module, const ir::Argument& array,
                             const std::vector<std::int32_t>& shape) {
  ir::Argument result = make_argument(module, array.type, shape);
  const auto element_bytes = static_cast<std::size_t>(result.strides.back());
  for (std::int64_t number = 0; number < element_count(result); ++number) {
    std::int64_t rest = number;
    std::int64_t number_in_array = 0;
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      number_in_array += rest % shape[d] % array.shape[d] * stride;
      stride *= array.shape[d];
    }
    std::memcpy(result.bytes.data() + element_offset(result, number),
                array.bytes.data() + element_offset(array, number_in_array), element_bytes);
  }
  return result;
}

}  // namespace assay::harness
