// Helpers for tests of wgmma and tcgen05: how the PTX manual places matrices in shared memory, and small integers as
// elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

namespace assay::ptx::testing {

/// How a matrix is stored in shared memory.
struct Storage {
  unsigned swizzle_bytes;  ///< 128, 64, 32; 16: no swizzle
  bool is_transposed;      ///< whether the elements along m or n, not those along k, are contiguous
};

inline unsigned bytes_of_type(std::string_view type) {
  if (type.ends_with("32")) return 4;
  return type.ends_with("16") ? 2 : 1;
}

/// The bits of a small integer.
inline std::uint32_t encoded(std::string_view type, int number) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (type == "f32" || type == "tf32") return bits;
  if (type == "bf16") return bits >> 16U;
  if (type == "s32") return static_cast<std::uint32_t>(number);
  if (type == "s8" || type == "u8") return static_cast<std::uint8_t>(number);
  if (number == 0) return 0;
  const std::uint32_t sign = bits >> 31U;
  const std::uint32_t exponent = (bits >> 23U & 255U) - 127;
  const std::uint32_t fraction = bits & 0x7fffffU;
  if (type == "f16") return sign << 15U | (exponent + 15) << 10U | fraction >> 13U;
  if (type == "e5m2") return sign << 7U | (exponent + 15) << 2U | fraction >> 21U;
  return sign << 7U | (exponent + 7) << 3U | fraction >> 20U;  // e4m3
}

/// The fields of a matrix descriptor, and the size of the matrix.
struct Layout {
  unsigned leading_bytes = 0;
  unsigned stride_bytes = 0;
  unsigned total_bytes = 0;
};
inline Layout layout_of(const Storage& storage, unsigned lines, unsigned element_bytes) {
  const unsigned atom = 8 * storage.swizzle_bytes;
  if (!storage.is_transposed) {
    // Without a swizzle, the two chunks of a line are in different atoms.
    if (storage.swizzle_bytes == 16)
      return {.leading_bytes = atom, .stride_bytes = 2 * atom, .total_bytes = lines / 8 * 2 * atom};
    return {.leading_bytes = 16, .stride_bytes = atom, .total_bytes = lines / 8 * atom};
  }
  const unsigned atoms = std::max(1U, lines * element_bytes / storage.swizzle_bytes);
  // The elements along k are in groups of 8.
  const unsigned groups = 32 / element_bytes / 8;
  if (storage.swizzle_bytes == 16)
    return {.leading_bytes = atoms * atom, .stride_bytes = atom, .total_bytes = groups * atoms * atom};
  return {.leading_bytes = groups * atom, .stride_bytes = atom, .total_bytes = groups * atoms * atom};
}
/// The position of an element in bytes, where line is an index along m or n.
inline unsigned position_of_element(const Storage& storage, const Layout& layout, unsigned line, unsigned inner,
                                    unsigned element_bytes) {
  const unsigned contiguous = (storage.is_transposed ? line : inner) * element_bytes;
  const unsigned other = storage.is_transposed ? inner : line;
  const unsigned chunk_in_row = contiguous % storage.swizzle_bytes / 16;
  // The manual's figures permute the chunks of row r of 8: by r for 128 bytes, r / 2 for 64 and r / 4 for 32.
  const unsigned row = other % 8;
  const unsigned permuted = chunk_in_row ^ (row * storage.swizzle_bytes / 128 * (storage.swizzle_bytes > 16 ? 1 : 0));
  unsigned start = 0;
  if (storage.swizzle_bytes == 16) {
    start = storage.is_transposed ? other / 8 * layout.leading_bytes + contiguous / 16 * layout.stride_bytes
                                  : other / 8 * layout.stride_bytes + contiguous / 16 * layout.leading_bytes;
  } else {
    start = other / 8 * layout.stride_bytes + contiguous / storage.swizzle_bytes * layout.leading_bytes;
  }
  return start + row * storage.swizzle_bytes + permuted * 16 + contiguous % 16;
}

}  // namespace assay::ptx::testing
