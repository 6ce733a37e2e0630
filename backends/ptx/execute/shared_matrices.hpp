// Matrices in shared memory, as the descriptors of wgmma and tcgen05 specify them. Private to the machine.
#pragma once

#include <cstdint>

namespace assay::ptx {

inline constexpr unsigned kChunkBytes = 16;  ///< size of the smallest contiguous part of a matrix in shared memory

/// Where a matrix is in shared memory.
struct MatrixDescriptor {
  std::uint32_t start = 0;                    ///< lower 18 bits of the address
  std::uint32_t leading_offset = 0;           ///< distance in bytes in the leading dimension
  std::uint32_t stride_offset = 0;            ///< distance in bytes in the other dimension
  std::uint32_t base_offset = 0;              ///< position of the start in the pattern of the swizzle
  std::uint32_t swizzle_bytes = kChunkBytes;  ///< size of the rows whose chunks are permuted; 16: not permuted
  /// Whether the swizzle permutes pairs of chunks, and its pattern has 4 rows instead of 8.
  bool permutes_pairs = false;

  /// Decodes the fields that the descriptors of wgmma and tcgen05 have in common: all except the swizzle.
  static MatrixDescriptor decode_offsets(std::uint64_t bits) {
    const auto field = [&](unsigned first) { return static_cast<std::uint32_t>(bits >> first & 0x3fffU) << 4U; };
    return {.start = field(0),
            .leading_offset = field(16),
            .stride_offset = field(32),
            .base_offset = static_cast<std::uint32_t>(bits >> 49U & 7U)};
  }
};

/// The lower 18 bits of the address of a chunk. `line` counts the rows or columns of k elements, and `index` the
/// elements in such a line.
std::uint32_t chunk_address(const MatrixDescriptor& matrix, bool is_transposed, unsigned line, unsigned index,
                            unsigned element_bytes);

}  // namespace assay::ptx
