// Numbers without rounding, and their rounding by the book: what the models of instructions compute with. For tests.
//
// All is done on integers of 128 bits, and shares nothing with the executor, which uses the processor's arithmetic.
#pragma once

#include <cstdint>

namespace assay::ptx::models {

__extension__ using Bits128 = unsigned __int128;

enum class Rounding : std::uint8_t { kNearest, kTowardZero, kDown, kUp };

/// A binary format with one sign bit; the greatest exponent is that of infinities and NaNs.
struct FloatFormat {
  int bits;
  int digits;          ///< of the significand, the hidden one included
  int least_exponent;  ///< of the last bit of a subnormal number
};
inline constexpr FloatFormat kF16{16, 11, -24};
inline constexpr FloatFormat kBf16{16, 8, -133};
inline constexpr FloatFormat kF32{32, 24, -149};
inline constexpr FloatFormat kF64{64, 53, -1074};

/// (-1)^negative * (significand + r) * 2^exponent, where r is 0, or with `more` lies strictly between 0 and 1. With
/// `more` the significand has at least 60 bits.
struct Exact {
  enum class Kind : std::uint8_t { kFinite, kInfinite, kNan };
  Kind kind = Kind::kFinite;
  bool negative = false;
  Bits128 significand = 0;
  int exponent = 0;
  bool more = false;

  [[nodiscard]] bool is_nan() const { return kind == Kind::kNan; }
  [[nodiscard]] bool is_zero() const { return kind == Kind::kFinite && significand == 0 && !more; }
  [[nodiscard]] Exact negated() const;
};

Exact exact_float(const FloatFormat& format, std::uint64_t bits);
/// A two's complement integer of so many bits, or an unsigned one.
Exact exact_integer(std::uint64_t bits, unsigned width, bool is_signed);

// Operands have at most 64 bits of significand each, and no `more`; those of sum() at most 106. The mode of a sum gives
// the sign of a zero.
Exact sum(const Exact& a, const Exact& b, Rounding mode);
Exact product(const Exact& a, const Exact& b);
Exact quotient(const Exact& a, const Exact& b);
Exact square_root(const Exact& a);

/// -1, 0 or 1 as a < b, a == b, a > b; neither may be NaN. Zeros of either sign are equal.
int compare(const Exact& a, const Exact& b);

/// The integer that the mode gives; infinities and NaN stay.
Exact rounded_to_integer(const Exact& a, Rounding mode);

/// The bits in the format. PTX has one NaN: all bits set but the sign.
std::uint64_t float_bits(const FloatFormat& format, const Exact& a, Rounding mode);
/// The integer nearest to a, which is integral or infinite, that so many bits hold.
std::uint64_t clamped_integer_bits(const Exact& a, unsigned width, bool is_signed);

}  // namespace assay::ptx::models
