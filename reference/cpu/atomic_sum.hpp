// Error bound of a value to which atomics add in an unknown order.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/cpu/bound.hpp"

namespace assay::reference {

/// The error bound of a sum of n terms in any order: sum of Ei + (n - 1) u sum(|xi| + Ei). The initial content is one
/// of the terms. Terms that are exactly zero are not counted, because adding them is exact.
class AtomicSumBound {
 public:
  bool is_started() const { return has_initial_content_; }
  /// Adds the content before the first addition as a term.
  void set_initial_content(const BoundedValue& prior) {
    has_initial_content_ = true;
    add(prior);
  }
  /// Adds a term.
  void add(const BoundedValue& x) {
    if (x.v == 0 && x.e[kNative] == 0 && x.e[kPromoted] == 0) return;
    ++term_count_;
    min_bit_exponent_ = std::min(min_bit_exponent_, lowest_bit_exponent(x.v));
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
      error_sum_[precision] += x.e[precision];
      magnitude_sum_[precision] += magnitude(x.v) + x.e[precision];
    }
  }

  /// Returns the bound of the sum v. `flush` is the error that one addition has on a device that flushes subnormals.
  double bound(const FloatFormat& format, std::size_t precision, long double v, double flush) const {
    if (!(magnitude_sum_[precision] < kUnbounded)) return v - v == 0 || error_sum_[precision] > 0 ? kUnbounded : 0;
    // A partial sum may overflow even if the whole sum does not.
    if (term_count_ > 1 && magnitude_sum_[precision] > format.largest_finite) return kUnbounded;
    const bool stays_exact = error_sum_[precision] == 0 &&
                             magnitude_sum_[precision] <= std::ldexp(1.0, format.significant_bits + min_bit_exponent_);
    if (stays_exact && (flush == 0 || min_bit_exponent_ >= format.min_exponent)) return 0;
    const double n = term_count_;
    const double rounding = std::max(0.0, n - 1) * format.unit_roundoff * magnitude_sum_[precision];
    return bound_with_oracle_error(
        format, term_count_ > 1 ? magnitude_sum_[precision] : magnitude(v),
        error_sum_[precision] + rounding + n * flush + n * kOracleUnitRoundoff * magnitude_sum_[precision]);
  }

 private:
  /// Returns the exponent of the greatest power of two that divides v.
  static int lowest_bit_exponent(long double v) {
    if (v == 0 || v - v != 0) return kNoBitExponent;
    int exponent = 0;
    const long double fraction = std::frexp(v < 0 ? -v : v, &exponent);
    const auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    return exponent - 64 + std::countr_zero(bits);
  }
  static constexpr int kNoBitExponent = 16384;  ///< value of min_bit_exponent_ before the first term

  bool has_initial_content_ = false;       ///< whether the content before the first addition has been added as a term
  std::int32_t term_count_ = 0;            ///< number of terms that are not exactly zero
  int min_bit_exponent_ = kNoBitExponent;  ///< exponent of the greatest power of two that divides all terms
  PrecisionBounds error_sum_ = {};         ///< sum of the bounds of the terms, by precision
  PrecisionBounds magnitude_sum_ = {};     ///< sum of the magnitudes of the terms and of their bounds, by precision
};

}  // namespace assay::reference
