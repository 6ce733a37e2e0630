// Floating-point formats and the rounding terms of the error bounds (numeric policy, section 2).
//
// Bounds are doubles. Each formula is evaluated in double; `bound_with_oracle_error` accounts for the rounding of
// double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/operations/operations.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// Bound of an error about which nothing is known.
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// A value that the oracle computed, with an error bound for each precision: |result of the judged code - v| <=
/// e[precision].
struct BoundedValue {
  long double v = 0;       ///< computed value
  PrecisionBounds e = {};  ///< bound of the error, by precision
};

/// The parameters of a binary floating-point format.
struct FloatFormat {
  int significant_bits;   ///< number of bits of the significand, with the hidden bit
  int min_exponent;       ///< exponent of the smallest normal number
  double unit_roundoff;   ///< 2^-significant_bits, the maximum relative error of rounding to nearest
  double largest_finite;  ///< greatest finite number
  double flush_error;     ///< absolute error of an operation if subnormals are flushed to zero; 0 if they are not
};

/// Returns the parameters of a float type.
constexpr FloatFormat format_of(ir::Scalar scalar, bool flushes_subnormals = false) {
  switch (scalar) {
    case ir::Scalar::kF16: return {11, -14, 0x1p-11, 65504.0, 0};
    case ir::Scalar::kBF16: return {8, -126, 0x1p-8, 0x1.FEp127, 0};
    case ir::Scalar::kF32:
      return {24, -126, 0x1p-24, std::numeric_limits<float>::max(), flushes_subnormals ? 0x1p-126 : 0};
    default: return {53, -1022, 0x1p-53, std::numeric_limits<double>::max(), 0};
  }
}

/// Returns the spacing of the numbers of the format at magnitude t >= 0: 2^(max(floor(log2 t), emin) - p + 1).
inline double ulp(const FloatFormat& format, double t) {
  const auto bits = std::bit_cast<std::uint64_t>(t);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent == 1024) return kUnbounded;
  if (exponent < format.min_exponent) exponent = format.min_exponent;
  const int unit = exponent - format.significant_bits + 1;
  if (unit < -1022) return std::ldexp(1.0, unit);
  return std::bit_cast<double>(static_cast<std::uint64_t>(unit + 1023) << 52);
}

/// Returns the rounding error of a result of magnitude at most m that is within k ulp of the correctly rounded result.
/// For k > 0, the spacing is that at k + 1 ulp above m, because the result may be in the next binade.
inline double error_from_rounded_result(const FloatFormat& format, double m, double k) {
  // Half of the smallest double is not representable; use the smallest double instead.
  if (k == 0) return std::max(0.5 * ulp(format, m), std::numeric_limits<double>::denorm_min());
  return (k + 0.5) * ulp(format, m + (k + 1) * ulp(format, m));
}

/// Returns the rounding error of a result of magnitude at most m whose total error is at most `figure` ulp.
inline double error_from_exact_result(const FloatFormat& format, double m, double figure) {
  return figure * ulp(format, m + std::ceil(figure) * ulp(format, m));
}

/// Returns the rounding error of a result of magnitude at most m for an error bound of the operation table.
inline double rounding_error(const FloatFormat& format, double m, const ir::UlpBound& bound) {
  switch (bound.kind) {
    case ir::UlpBound::Kind::kExact: return 0;
    case ir::UlpBound::Kind::kUlpsFromExactResult: return error_from_exact_result(format, m, bound.ulps);
    default: return error_from_rounded_result(format, m, bound.ulps);
  }
}

/// Absolute value as a double, without a branch, because signs are unpredictable.
inline double magnitude(long double v) { return static_cast<double>(std::fabs(v)); }

/// The bounds of both precisions, as a vector of two doubles.
using Pair = double __attribute__((vector_size(2 * sizeof(double))));
static_assert(kPrecisionCount == 2);
inline Pair pair_of(const PrecisionBounds& bounds) { return std::bit_cast<Pair>(bounds); }

/// |v| * e; an unbounded e stays unbounded even for v = 0, because 0 * inf may be NaN on the device.
inline double scaled(double v, double e) { return e == 0 ? 0 : (e == kUnbounded ? kUnbounded : v * e); }

/// Returns the error of a product that its factors' errors cause. a and b are the magnitudes of the factors.
inline PrecisionBounds propagated_product_error(double a, const PrecisionBounds& a_error, double b,
                                                const PrecisionBounds& b_error) {
  const Pair x = pair_of(a_error), y = pair_of(b_error);
  // scaled(v, e) differs from v * e only if a factor is infinite.
  const Pair p = a * y + b * x + x * y;
  if (p[0] < kUnbounded && p[1] < kUnbounded) return std::bit_cast<PrecisionBounds>(p);
  PrecisionBounds result;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
    result[precision] =
        scaled(a, b_error[precision]) + scaled(b, a_error[precision]) + scaled(a_error[precision], b_error[precision]);
  return result;
}

/// The unit roundoff of long double, in which the oracle computes.
inline constexpr double kOracleUnitRoundoff = 0x1p-64;

/// Returns the final bound of a result v whose error in the judged code is at most `error` (E). The bound E(1 + 2^-40)
/// + 8 u_o |v| also covers the error of the oracle itself; it is infinite if the result may overflow.
inline double bound_with_oracle_error(const FloatFormat& format, double v, double error) {
  const double e = error * (1 + 0x1p-40) + 8 * kOracleUnitRoundoff * v + format.flush_error;
  return v + e <= format.largest_finite ? e : kUnbounded;
}

/// The float formats of both precisions.
struct FloatFormatPair {
  explicit FloatFormatPair(const FloatFormat& native, const FloatFormat& promote)
      : unit_roundoff{native.unit_roundoff, promote.unit_roundoff},
        least_normal{std::ldexp(1.0, native.min_exponent), std::ldexp(1.0, promote.min_exponent)},
        largest_finite{native.largest_finite, promote.largest_finite},
        flush_error{native.flush_error, promote.flush_error} {}

  Pair unit_roundoff, least_normal, largest_finite, flush_error;  ///< as in FloatFormat, by precision
};

inline constexpr Pair kUnboundedPair = {kUnbounded, kUnbounded};  ///< infinite bounds for both precisions

/// bound_with_oracle_error(format, m, error) for both precisions.
inline Pair bound_with_oracle_error(const FloatFormatPair& format, double m, Pair error) {
  const Pair e = error * (1 + 0x1p-40) + 8 * kOracleUnitRoundoff * m + format.flush_error;
  return m + e <= format.largest_finite ? e : kUnboundedPair;
}

/// Returns the final bounds of a correctly rounded result: bound_with_oracle_error(format, m, p +
/// error_from_rounded_result(format, m + p, 0)) for each precision, infinite unless p is finite and >= 0. Most
/// operations use it.
inline PrecisionBounds rounded_result_bound(const FloatFormatPair& format, double m, Pair p) {
  using Bits = std::int64_t __attribute__((vector_size(2 * sizeof(std::int64_t))));
  constexpr Bits kExponentMask = {0x7ff0'0000'0000'0000, 0x7ff0'0000'0000'0000};
  constexpr Pair kLeastPositive = {std::numeric_limits<double>::denorm_min(),
                                   std::numeric_limits<double>::denorm_min()};
  // Half the spacing at m + p is the power of two at or below it times the unit roundoff.
  const Pair power = std::bit_cast<Pair>(std::bit_cast<Bits>(m + p) & kExponentMask);
  const Pair spacing = (power > format.least_normal ? power : format.least_normal) * format.unit_roundoff;
  const Pair bound = bound_with_oracle_error(format, m, p + (spacing > kLeastPositive ? spacing : kLeastPositive));
  const Pair valid = p >= 0.0 ? bound : kUnboundedPair;
  return std::bit_cast<PrecisionBounds>(p < kUnboundedPair ? valid : kUnboundedPair);
}

/// Returns whether v is a number of the format, so that correct rounding does not change it.
inline bool is_representable(const FloatFormat& format, long double v) {
  if (format.significant_bits == 24) {
    return static_cast<long double>(static_cast<float>(v)) == v &&
           (format.flush_error == 0 || v == 0 || magnitude(v) >= 0x1p-126);
  }
  if (format.significant_bits == 53) return static_cast<long double>(static_cast<double>(v)) == v;
  const double m = magnitude(v);
  return static_cast<long double>(m) * (v < 0 ? -1 : 1) == v && m <= format.largest_finite &&
         std::fmod(m, ulp(format, m)) == 0;
}

}  // namespace assay::reference
