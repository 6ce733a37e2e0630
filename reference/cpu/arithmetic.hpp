// Arithmetic on bounded values: the rows of the bound table for + - * / sqrt, and what evaluators share.
//
// One Arithmetic per float type. Precision kNative rounds as that type with the profile's library, lane kPromoted as
// f64. Every result includes the implementation's rounding and the oracle's own (bound.hpp, settle).
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "reference/cpu/bound.hpp"
#include "reference/cpu/decisions.hpp"

namespace assay::reference {

class Arithmetic {
 public:
  /// Keeps a reference to the recorder. Without `bounds` results are values with bounds of 0, which say nothing.
  Arithmetic(ir::Scalar scalar, const Profile& profile, DecisionRecorder& decisions, bool bounds = true);

  const Format& format(int precision) const { return formats_[static_cast<std::size_t>(precision)]; }
  /// Whether results have bounds, or are values alone.
  bool has_bounds() const { return bounds_; }
  DecisionRecorder& decisions() const { return *decisions_; }

  /// v, within propagated[lane] + the table's figure for `op`. For results of one operation of the library.
  Bounded rounded(ir::Op op, long double v, const PrecisionBounds& propagated) const;
  /// v, correctly rounded by one basic operation.
  Bounded rounded(long double v, const PrecisionBounds& propagated) const { return {v, rounding_bound(v, propagated)}; }
  /// v of an operation that rounds not at all; the type's range still limits it.
  Bounded exact(long double v, const PrecisionBounds& propagated) const;

  /// A constant of the implementation, rounded to the type where it has to be.
  Bounded constant(long double v) const;

  Bounded add(const Bounded& a, const Bounded& b) const {
    const long double v = a.v + b.v;
    return {v, sum_bound(v, a.e, b.e)};
  }
  Bounded sub(const Bounded& a, const Bounded& b) const {
    const long double v = a.v - b.v;
    return {v, sum_bound(v, a.e, b.e)};
  }
  Bounded mul(const Bounded& a, const Bounded& b) const {
    const long double v = a.v * b.v;
    return {v, product_bound(v, a, b)};
  }
  /// The bounds of a sum or difference v of numbers with these bounds, and of a product v.
  PrecisionBounds sum_bound(long double v, const PrecisionBounds& a, const PrecisionBounds& b) const {
    if (!bounds_) return {};
    const Pair p = pair_of(a) + pair_of(b);
    const PrecisionBounds bound = rounding_bound(v, std::bit_cast<PrecisionBounds>(p));
    return p[kNative] == 0 || p[kPromoted] == 0 ? exact_sum(v, p, bound) : bound;
  }
  PrecisionBounds product_bound(long double v, const Bounded& a, const Bounded& b) const {
    if (!bounds_) return {};
    const PrecisionBounds p = product_error(magnitude(a.v), a.e, magnitude(b.v), b.e);
    const PrecisionBounds bound = rounding_bound(v, p);
    return p[kNative] == 0 || p[kPromoted] == 0 ? exact_product(v, a, b, bound) : bound;
  }
  Bounded div(const Bounded& a, const Bounded& b) const;
  Bounded sqrt(const Bounded& a) const { return root(a, false); }
  /// The square root of a sum of squares, which no rounding makes negative, however near to zero it is.
  Bounded sqrt_of_squares(const Bounded& sum) const { return root(sum, true); }
  /// a[0] b[0] + a[1] b[1] + ..., summed in any order, fused or not. Operands as pointers, all of a then of b.
  Bounded dot(std::span<const Bounded* const> operands) const;

  /// a[0] + a[1] + ..., in any order. Operands as pointers, at least one.
  Bounded sum(std::span<const Bounded* const> operands) const;

  static Bounded neg(const Bounded& a) { return {-a.v, a.e}; }
  /// The formulas compute the same thing in different ways: the first's value with a bound that holds for each that is
  /// bounded at all.
  static Bounded widest(const Bounded& first, const Bounded& second);
  template <class... Rest>
  static Bounded widest(const Bounded& first, const Bounded& second, const Rest&... rest) {
    return widest(widest(first, second), rest...);
  }

 private:
  PrecisionBounds rounding_bound(long double v, const PrecisionBounds& propagated) const {
    const double m = magnitude(v);
    // Most results are of this kind and in the range of double.
    if (!bounds_ || !(m < kUnbounded)) return correct_rounding_bound(v, propagated);
    return settle_rounded(pair_, m, pair_of(propagated));
  }
  Bounded root(const Bounded& a, bool never_negative) const;
  PrecisionBounds correct_rounding_bound(long double v, const PrecisionBounds& propagated) const;
  /// `bound`, but 0 in the lanes in which the operands are exact and the sum or product v is a number of the format.
  PrecisionBounds exact_sum(long double v, Pair propagated, PrecisionBounds bound) const;
  PrecisionBounds exact_product(long double v, const Bounded& a, const Bounded& b, PrecisionBounds bound) const;
  Bounded finish(long double v, const PrecisionBounds& propagated,
                 const std::array<const ir::UlpBound*, kPrecisions>& figures) const;

  /// By op.
  using Figures = std::array<ir::UlpBound, ir::kOpCount>;
  static const Figures& figures_of(ir::Scalar scalar, MathLibrary library);

  std::array<Format, kPrecisions> formats_;
  FormatPair pair_;
  std::array<const Figures*, kPrecisions> figures_;
  DecisionRecorder* decisions_;
  bool bounds_;
};

inline constexpr Bounded kZeroBounded{};
inline constexpr Bounded kOneBounded{1, {}};

/// An exact number without rounding: for small integers and powers of two.
constexpr Bounded number(long double v) { return {v, {}}; }

inline bool both_zero(const PrecisionBounds& e) { return e[kNative] == 0 && e[kPromoted] == 0; }

}  // namespace assay::reference
