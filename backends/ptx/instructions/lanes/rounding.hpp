// Rounding to any binary format in any mode with integer arithmetic, for half precision and directed conversions.
// Private to the files of this folder.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/ptx/instructions/lanes/lane_loop.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

enum class Round : std::uint8_t { kNearest, kZero, kDown, kUp };

/// The widths of the fields of a binary floating-point format.
struct FieldWidths {
  int mantissa_bits;  ///< number of bits after the binary point
  int exponent_bits;  ///< number of bits of the exponent
};
inline constexpr FieldWidths kF16Format{10, 5};
inline constexpr FieldWidths kBf16Format{7, 8};
inline constexpr FieldWidths kF32Format{23, 8};
inline constexpr FieldWidths kF64Format{52, 11};

/// The bits of (-1)^negative * significand * 2^exponent in the format; overflow gives infinity or the largest number,
/// depending on the mode.
inline std::uint64_t encode_float(bool negative, std::uint64_t significand, int exponent, FieldWidths format,
                                  Round round) {
  const std::uint64_t sign = std::uint64_t{negative} << (format.mantissa_bits + format.exponent_bits);
  if (significand == 0) return sign;
  const int shift = std::countl_zero(significand);
  significand <<= shift;
  exponent += 63 - shift;  // of the leading bit
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int max_biased_exponent = (1 << format.exponent_bits) - 1;
  int biased_exponent = exponent + bias;
  int dropped_bits = 63 - format.mantissa_bits;
  if (biased_exponent <= 0) {
    dropped_bits += 1 - biased_exponent;
    biased_exponent = 0;
  }
  std::uint64_t kept_significand = dropped_bits < 64 ? significand >> dropped_bits : 0;
  const std::uint64_t remainder =
      dropped_bits < 64 ? significand & ((std::uint64_t{1} << dropped_bits) - 1) : significand;
  const bool above_half = dropped_bits < 64 ? remainder > std::uint64_t{1} << (dropped_bits - 1)
                                            : dropped_bits == 64 && remainder > std::uint64_t{1} << 63U;
  const bool at_half = dropped_bits < 64 ? remainder == std::uint64_t{1} << (dropped_bits - 1)
                                         : dropped_bits == 64 && remainder == std::uint64_t{1} << 63U;
  const bool up = round == Round::kNearest ? above_half || (at_half && (kept_significand & 1U) != 0)
                                           : remainder != 0 && round == (negative ? Round::kDown : Round::kUp);
  // The leading bit of a normal number increments the exponent, and so does a carry out of the mantissa.
  std::uint64_t bits =
      (static_cast<std::uint64_t>(biased_exponent > 0 ? biased_exponent - 1 : 0) << format.mantissa_bits) +
      kept_significand + (up ? 1 : 0);
  const std::uint64_t infinity = static_cast<std::uint64_t>(max_biased_exponent) << format.mantissa_bits;
  if (bits >= infinity || biased_exponent >= max_biased_exponent) {
    const bool overflows_to_infinity = round == Round::kNearest || round == (negative ? Round::kDown : Round::kUp);
    bits = overflows_to_infinity ? infinity : infinity - 1;
  }
  return sign | bits;
}

/// Encodes a finite double in the format.
inline std::uint64_t encode_float(double value, FieldWidths format, Round round) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63U != 0;
  const int biased_exponent = static_cast<int>(bits >> 52U & 2047U);
  const std::uint64_t mantissa = bits & 0xfffffffffffff;
  const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  if (biased_exponent == 2047) {
    const std::uint64_t sign = std::uint64_t{negative} << (format.mantissa_bits + format.exponent_bits);
    return mantissa == 0 ? sign | infinity : (std::uint64_t{1} << (format.mantissa_bits + format.exponent_bits)) - 1;
  }
  if (biased_exponent == 0) return encode_float(negative, mantissa, -1074, format, round);
  return encode_float(negative, mantissa | std::uint64_t{1} << 52U, biased_exponent - 1075, format, round);
}

inline double decode_float(std::uint64_t bits, FieldWidths format) {
  const int biased_exponent = static_cast<int>(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1U) != 0;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  double value = 0;
  if (biased_exponent == (1 << format.exponent_bits) - 1) {
    value = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (biased_exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - format.mantissa_bits);
  } else {
    value = std::ldexp(static_cast<double>(mantissa | std::uint64_t{1} << format.mantissa_bits),
                       biased_exponent - bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

/// A float of 8 bits or less. Its greatest number need not have the greatest exponent that is not reserved.
struct SmallFloatFormat {
  int mantissa_bits;        ///< number of bits after the binary point
  int exponent_bits;        ///< number of bits of the exponent
  std::uint32_t greatest;   ///< bits of the greatest number
  std::uint32_t nan;        ///< bits to which a NaN is converted
  std::uint32_t first_nan;  ///< bits without the sign from which on the bits are a NaN
  bool has_infinity;        ///< whether the bits after the greatest number are infinity
};
inline constexpr SmallFloatFormat kE4m3Format{3, 4, 0x7e, 0x7f, 0x7f, false};
inline constexpr SmallFloatFormat kE5m2Format{2, 5, 0x7b, 0x7f, 0x7d, true};
// These have neither infinities nor NaNs; a NaN is converted to the greatest number.
inline constexpr SmallFloatFormat kE2m3Format{3, 2, 0x1f, 0x1f, 0x20, false};
inline constexpr SmallFloatFormat kE3m2Format{2, 3, 0x1f, 0x1f, 0x20, false};

/// The nearest number of the format, with ties to even; numbers that are too large, and infinities, become the greatest
/// one.
inline std::uint32_t encode_small_float(double x, SmallFloatFormat format) {
  if (x != x) return format.nan;
  const std::uint32_t sign = std::uint32_t{std::signbit(x)} << (format.mantissa_bits + format.exponent_bits);
  const double magnitude = std::fabs(x);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  constexpr double kTooLarge = 0x1p17;
  if (magnitude >= kTooLarge) return sign | format.greatest;
  const int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // The hidden bit of a normal number increments the exponent, and so does a carry out of the mantissa.
  const std::uint32_t bits =
      (static_cast<std::uint32_t>(exponent + bias - 1) << format.mantissa_bits) + static_cast<std::uint32_t>(units);
  return sign | std::min(bits, format.greatest);
}

/// `bits`: at most 8 bits; the unused upper bits of a format are ignored.
inline double decode_small_float(std::uint32_t bits, SmallFloatFormat format) {
  const std::uint32_t sign_bit = 1U << (format.mantissa_bits + format.exponent_bits);
  const std::uint32_t magnitude = bits & (sign_bit - 1);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<double>(magnitude & ((1U << format.mantissa_bits) - 1));
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const double hidden = exponent == 0 ? 0 : static_cast<double>(1U << format.mantissa_bits);
  double value = std::ldexp(mantissa + hidden, std::max(exponent, 1) - bias - format.mantissa_bits);
  if (format.has_infinity && magnitude == format.greatest + 1) value = HUGE_VAL;
  if (magnitude >= format.first_nan) value = std::nan("");
  return (bits & sign_bit) != 0 ? -value : value;
}

template <int kMantissaBits>
constexpr FieldWidths format_of(HalfFloat<kMantissaBits>) {
  return kMantissaBits == 10 ? kF16Format : kBf16Format;
}
template <int kMantissaBits>
inline float to_float(HalfFloat<kMantissaBits> x) {
  if constexpr (kMantissaBits == 7) {
    return std::bit_cast<float>(std::uint32_t{x.bits} << 16U);
  } else {
    return static_cast<float>(decode_float(x.bits, kF16Format));
  }
}
inline float to_float(float x) { return x; }
template <class T>
inline T from_double(double x) {
  return T{static_cast<std::uint16_t>(encode_float(x, format_of(T{}), Round::kNearest))};
}
template <class T>
inline T from_float(float x) {
  return from_double<T>(double{x});
}

}  // namespace
}  // namespace assay::ptx::ASSAY_PTX_ISA
