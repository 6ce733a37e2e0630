// Exact arithmetic and IEEE rounding for the models of instructions. For tests.
//
// Everything uses 128-bit integers and shares no code with the interpreter, which uses the CPU's arithmetic.
#pragma once

#include <cstdint>

namespace assay::ptx::models {

__extension__ using Bits128 = unsigned __int128;

enum class Rounding : std::uint8_t { kNearest, kTowardZero, kDown, kUp };

/// A binary floating-point format with one sign bit. The greatest exponent marks infinities and NaNs.
struct FloatFormat {
  int total_bits;          ///< number of bits, including sign and exponent
  int significand_digits;  ///< number of bits of the significand, including the hidden bit
  int least_exponent;      ///< binary exponent of the last bit of a subnormal number
};
inline constexpr FloatFormat kF16{16, 11, -24};    ///< IEEE half precision
inline constexpr FloatFormat kBf16{16, 8, -133};   ///< bfloat16
inline constexpr FloatFormat kF32{32, 24, -149};   ///< IEEE single precision
inline constexpr FloatFormat kF64{64, 53, -1074};  ///< IEEE double precision

/// The value (-1)^is_negative * (significand + r) * 2^exponent. r is 0 or, if `has_remainder` is true, lies strictly
/// between 0 and 1. In that case the significand has at least 60 bits.
struct ExactValue {
  enum class Kind : std::uint8_t { kFinite, kInfinite, kNan };
  Kind kind = Kind::kFinite;   ///< finite, infinite or NaN
  bool is_negative = false;    ///< whether the sign bit is set
  Bits128 significand = 0;     ///< integer part of the significand
  int exponent = 0;            ///< binary exponent
  bool has_remainder = false;  ///< whether r, the fractional part of the significand, is not zero

  [[nodiscard]] bool is_nan() const { return kind == Kind::kNan; }
  [[nodiscard]] bool is_zero() const { return kind == Kind::kFinite && significand == 0 && !has_remainder; }
  [[nodiscard]] ExactValue negated() const;
};

ExactValue exact_float(const FloatFormat& format, std::uint64_t bits);
/// A signed (two's complement) or unsigned integer of `width` bits.
ExactValue exact_integer(std::uint64_t bits, unsigned width, bool is_signed);

// Operands must have significands of at most 64 bits, those of sum() at most 106, and no `has_remainder`. The mode of a
// sum determines the sign of a zero.
ExactValue sum(const ExactValue& a, const ExactValue& b, Rounding mode);
ExactValue product(const ExactValue& a, const ExactValue& b);
ExactValue quotient(const ExactValue& a, const ExactValue& b);
ExactValue square_root(const ExactValue& a);

/// -1, 0 or 1 as a < b, a == b, a > b; neither may be NaN. Zeros of either sign are equal.
int compare(const ExactValue& a, const ExactValue& b);

/// Rounds to an integer by the mode; keeps infinities and NaN.
ExactValue rounded_to_integer(const ExactValue& a, Rounding mode);

/// The bits in the format. PTX has one NaN: all bits except the sign are set.
std::uint64_t float_bits(const FloatFormat& format, const ExactValue& a, Rounding mode);
/// Clamps a, which must be integral or infinite, to an integer of `width` bits.
std::uint64_t clamped_integer_bits(const ExactValue& a, unsigned width, bool is_signed);

}  // namespace assay::ptx::models
