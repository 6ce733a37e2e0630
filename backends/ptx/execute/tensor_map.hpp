// Tensor maps: 128 bytes that describe a tensor in global memory and the boxes that bulk copies access.
//
// PTX leaves the format open. This is the interpreter's own: tensormap.replace and the stand-in of the driver's
// function cuTensorMapEncodeTiled write it, and copies decode it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "backends/ptx/parse/type.hpp"

namespace assay::ptx {

inline constexpr unsigned kTensorMapBytes = 128;     ///< size of a tensor map
inline constexpr unsigned kTensorMapAlignment = 64;  ///< required alignment of a tensor map in memory
inline constexpr unsigned kMaxTensorRank = 5;        ///< maximum number of dimensions

/// What a tensor map describes. The first dimension is the contiguous one. Codes are those of tensormap.replace.
struct TensorMap {
  std::uint64_t address = 0;                                   ///< address of the first element
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};     ///< strides of the other dimensions in bytes
  std::array<std::uint64_t, kMaxTensorRank> extents{};         ///< extents of the tensor
  std::array<std::uint32_t, kMaxTensorRank> box{};             ///< extents of a box
  std::array<std::uint8_t, kMaxTensorRank> element_strides{};  ///< distances of the elements that are copied
  std::uint8_t rank_code = 0;                                  ///< number of dimensions, minus 1
  std::uint8_t element_code = 0;                               ///< type of the elements
  std::uint8_t interleave_code = 0;                            ///< 0: the layout is not interleaved
  std::uint8_t swizzle_code = 0;    ///< 0: the chunks of a box are not permuted; 1, 2, 3: in rows of 32, 64, 128 bytes
  std::uint8_t fill_code = 0;       ///< 0: elements outside of the tensor are zero
  std::uint8_t atomicity_code = 0;  ///< 0: chunks of 16 bytes are permuted

  [[nodiscard]] unsigned rank() const { return rank_code + 1U; }
  /// The type of the elements; kNone if it is not supported.
  [[nodiscard]] Type element_type() const;
  /// The size in bytes of the rows whose chunks are permuted; 0: they are not.
  [[nodiscard]] unsigned swizzle_bytes() const { return swizzle_code == 0 ? 0 : 16U << swizzle_code; }
  /// The size of a box in bytes.
  [[nodiscard]] std::uint64_t box_bytes() const;
  /// Why no GPU accepts the tensor map; empty if it is valid.
  [[nodiscard]] std::string defect() const;
  /// Why the interpreter does not support it; empty if it does.
  [[nodiscard]] std::string limit() const;
};

using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;

TensorMapBytes encode(const TensorMap& map);
/// Decodes a tensor map that is being written: fields that nothing has written are zero if the memory is.
TensorMap decode(std::span<const std::byte, kTensorMapBytes> bytes);
/// Whether encode() has written the bytes.
bool is_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes);

}  // namespace assay::ptx
