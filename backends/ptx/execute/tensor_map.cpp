#include "backends/ptx/execute/tensor_map.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace assay::ptx {

namespace {

constexpr std::uint32_t kMark = 0x50414d54;  ///< distinguishes a tensor map from other memory
constexpr std::size_t kMarkOffset = kTensorMapBytes - sizeof(kMark);
constexpr unsigned kStrideAlignment = 16;
constexpr std::uint64_t kMaxTensorStride = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMaxTensorExtent = std::uint64_t{1} << 32U;
constexpr unsigned kMaxBoxExtent = 256;
constexpr unsigned kMaxSwizzleCode = 3;
constexpr unsigned kElementCodeCount = 16;
static_assert(sizeof(TensorMap) <= kMarkOffset);

constexpr std::array<unsigned, kElementCodeCount> kElementBytes{1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 0, 0, 0};

}  // namespace

Type TensorMap::element_type() const {
  constexpr std::array kElementTypes{Type::kU8,  Type::kU16, Type::kU32,  Type::kS32, Type::kU64, Type::kS64,
                                     Type::kF16, Type::kF32, Type::kNone, Type::kF64, Type::kBf16};
  return element_code < kElementTypes.size() ? kElementTypes[element_code] : Type::kNone;
}

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t bytes = element_code < kElementCodeCount ? kElementBytes[element_code] : 0;
  for (unsigned d = 0; d < std::min(rank(), kMaxTensorRank); ++d)
    bytes *= box[d];
  return bytes;
}

std::string TensorMap::defect() const {
  if (rank() > kMaxTensorRank)
    return fmt::format("it has {} dimensions, but at most {} are possible", rank(), kMaxTensorRank);
  if (element_code >= kElementCodeCount) return fmt::format("it has an unknown type of elements, {}", element_code);
  if (address % kStrideAlignment != 0)
    return fmt::format("the address of the tensor must be a multiple of 16, got {:#x}", address);
  for (unsigned d = 0; d < rank(); ++d) {
    if (extents[d] == 0 || extents[d] > kMaxTensorExtent)
      return fmt::format("the extent of dimension {} must be from 1 to 2^32, got {}", d, extents[d]);
    if (box[d] == 0 || box[d] > kMaxBoxExtent)
      return fmt::format("the extent of a box in dimension {} must be from 1 to 256, got {}", d, box[d]);
    if (element_strides[d] == 0 || element_strides[d] > 8)
      return fmt::format("the element stride of dimension {} must be from 1 to 8, got {}", d, element_strides[d]);
    if (d + 1 < rank() && (strides[d] % kStrideAlignment != 0 || strides[d] >= kMaxTensorStride))
      return fmt::format("the stride of dimension {} must be a multiple of 16 bytes below 2^40, got {}", d + 1,
                         strides[d]);
  }
  const std::uint64_t row_bytes = std::uint64_t{box[0]} * kElementBytes[element_code];
  if (interleave_code == 0 && row_bytes % kStrideAlignment != 0)
    return fmt::format("a row of a box must have a multiple of 16 bytes, got {}", row_bytes);
  if (swizzle_code > kMaxSwizzleCode) return fmt::format("it has an unknown swizzle mode, {}", swizzle_code);
  if (swizzle_code != 0 && row_bytes > swizzle_bytes())
    return fmt::format("a row of a box must have at most {} bytes with this swizzle mode, got {}", swizzle_bytes(),
                       row_bytes);
  return {};
}

std::string TensorMap::limit() const {
  if (element_type() == Type::kNone)
    return "tensor maps whose elements are converted or have less than 8 bits are not supported";
  if (interleave_code != 0) return "tensor maps with an interleaved layout are not supported";
  if (atomicity_code != 0) return "tensor maps that permute chunks of more than 16 bytes are not supported";
  if (fill_code != 0) return "tensor maps that fill with NaN are not supported";
  for (unsigned d = 0; d < rank(); ++d)
    if (element_strides[d] != 1) return "tensor maps with element strides are not supported";
  if (swizzle_code != 0 && std::uint64_t{box[0]} * bytes_of(element_type()) != swizzle_bytes())
    return "boxes whose rows are shorter than those that the swizzle mode permutes are not supported";
  return {};
}

TensorMapBytes encode(const TensorMap& map) {
  TensorMapBytes bytes{};
  std::memcpy(bytes.data(), &map, sizeof(map));
  std::memcpy(bytes.data() + kMarkOffset, &kMark, sizeof(kMark));
  return bytes;
}

TensorMap decode(std::span<const std::byte, kTensorMapBytes> bytes) {
  TensorMap map;
  std::memcpy(&map, bytes.data(), sizeof(map));
  return map;
}

bool is_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes) {
  return std::memcmp(bytes.data() + kMarkOffset, &kMark, sizeof(kMark)) == 0;
}

}  // namespace assay::ptx
