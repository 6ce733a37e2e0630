// The arrays in the arguments of a launch, for sessions that pass them in another layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "backends/device/backend.hpp"

namespace assay::ptx {

/// An array that a launch passes as an argument (see KernelArgument::array).
struct ArrayView {
  backends::BufferAddress address;         ///< address of the first element
  backends::MemoryRegion region;           ///< memory that the kernel may access
  std::vector<std::int32_t> shape;         ///< number of elements in each dimension
  std::vector<std::int64_t> byte_strides;  ///< distance in bytes between neighboring indices, by dimension

  /// Returns the number of bytes from the first element to the end of the last one. `element` is the size of an element
  /// in bytes.
  [[nodiscard]] std::size_t byte_extent(std::size_t element) const {
    std::size_t last_element_offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 0) return 0;
      last_element_offset += static_cast<std::size_t>(shape[d] - 1) * static_cast<std::size_t>(byte_strides[d]);
    }
    return last_element_offset + element;
  }
};

template <typename T>
std::vector<T> read_values(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data() + at, count * sizeof(T));
  return values;
}

/// Returns the array in an argument, whose bytes are the data pointer, then the extents, then, aligned to eight bytes,
/// the strides.
inline ArrayView array_view_of(const backends::KernelArgument& argument, std::size_t rank) {
  const std::size_t strides_offset = (sizeof(void*) + rank * sizeof(std::int32_t) + 7) / 8 * 8;
  return {.address = argument.pointers.front().address,
          .region = argument.pointers.front().region,
          .shape = read_values<std::int32_t>(argument.bytes, sizeof(void*), rank),
          .byte_strides = read_values<std::int64_t>(argument.bytes, strides_offset, rank)};
}

/// Returns the strides in bytes of an array of this shape without gaps between its elements. `element` is the size of
/// an element in bytes.
inline std::vector<std::int64_t> dense_byte_strides(const std::vector<std::int32_t>& shape, std::size_t element) {
  std::vector<std::int64_t> strides(shape.size(), static_cast<std::int64_t>(element));
  for (std::size_t d = shape.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// Calls visit(offset in `a`, offset in `b`) for each element of two arrays of the same shape.
template <typename Visit>
void for_each_offset_pair(const std::vector<std::int32_t>& shape, const std::vector<std::int64_t>& a,
                          const std::vector<std::int64_t>& b, const Visit& visit) {
  std::vector<std::int32_t> index(shape.size());
  if (std::ranges::count(shape, 0) > 0) return;
  for (;;) {
    std::size_t offset_a = 0, offset_b = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      offset_a += static_cast<std::size_t>(index[d] * a[d]);
      offset_b += static_cast<std::size_t>(index[d] * b[d]);
    }
    visit(offset_a, offset_b);
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace assay::ptx
