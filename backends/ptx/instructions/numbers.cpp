#include "backends/ptx/instructions/numbers.hpp"

#include <bit>
#include <limits>

namespace assay::ptx {

namespace {

/// The number of a half: shifted to the exponent range of a float, which subnormals fit too.
double number_of_half(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffU;
  const float shifted = std::bit_cast<float>(magnitude << 13U) * 0x1p112F;
  const double number = magnitude < 0x7c00U    ? double{shifted}
                        : magnitude == 0x7c00U ? std::numeric_limits<double>::infinity()
                                               : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000U) != 0 ? -number : number;
}

/// The number of an e4m3. A half with the same bits has an exponent that is smaller by 8, the difference of the biases.
double number_of_e4m3(std::uint32_t byte) {
  const std::uint32_t magnitude = byte & 0x7fU;
  const double number =
      magnitude == 0x7fU ? std::numeric_limits<double>::quiet_NaN() : number_of_half(magnitude << 7U) * 0x1p8;
  return (byte & 0x80U) != 0 ? -number : number;
}

}  // namespace

double number_of(Type type, std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  switch (type) {
    case Type::kF16: return number_of_half(word);
    case Type::kBf16: return double{std::bit_cast<float>(word << 16U)};
    case Type::kTf32: return double{std::bit_cast<float>(word & 0xffffe000U)};
    case Type::kE4m3: return number_of_e4m3(word);
    case Type::kE5m2: return number_of_half((word & 0xffU) << 8U);
    case Type::kF64: return std::bit_cast<double>(bits);
    default: return double{std::bit_cast<float>(word)};
  }
}

}  // namespace assay::ptx
