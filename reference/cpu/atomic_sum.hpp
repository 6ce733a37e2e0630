// Bound of a cell that atomics add to in an unknown order.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/cpu/bound.hpp"

namespace assay::reference {

/// Sum of n terms in any order, the prior content counted: sum of Ei + (n - 1) u sum(|xi| + Ei). Terms that are
/// exactly zero do not count: adding them is exact at any place.
class AtomicSum {
 public:
  bool is_started() const { return is_started_; }
  /// The content before the first addition.
  void start(const Bounded& prior) {
    is_started_ = true;
    add(prior);
  }
  void add(const Bounded& x) {
    if (x.v == 0 && x.e[kNative] == 0 && x.e[kPromoted] == 0) return;
    ++terms_;
    grain_ = std::min(grain_, lowest_bit(x.v));
    for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
      errors_[precision] += x.e[precision];
      mass_[precision] += magnitude(x.v) + x.e[precision];
    }
  }

  /// `flush`: what one addition loses where the device flushes subnormals.
  double bound(const Format& format, std::size_t precision, long double v, double flush) const {
    if (!(mass_[precision] < kUnbounded)) return v - v == 0 || errors_[precision] > 0 ? kUnbounded : 0;
    const bool stays_exact = errors_[precision] == 0 && mass_[precision] <= std::ldexp(1.0, format.digits + grain_);
    if (stays_exact && (flush == 0 || grain_ >= format.emin)) return 0;
    const double n = terms_;
    const double rounding = std::max(0.0, n - 1) * format.unit * mass_[precision];
    return settle(format, magnitude(v), errors_[precision] + rounding + n * flush + n * kOracleUnit * mass_[precision]);
  }

 private:
  static int lowest_bit(long double v) {
    if (v == 0 || v - v != 0) return kNoGrain;
    int exponent = 0;
    const long double fraction = std::frexp(v < 0 ? -v : v, &exponent);
    const auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    return exponent - 64 + std::countr_zero(bits);
  }
  static constexpr int kNoGrain = 16384;

  bool is_started_ = false;
  std::int32_t terms_ = 0;
  int grain_ = kNoGrain;  ///< all terms are multiples of 2^grain
  PrecisionBounds errors_ = {};
  PrecisionBounds mass_ = {};
};

}  // namespace assay::reference
