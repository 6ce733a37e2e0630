// Arithmetic on bounded values: the rows of the bound table for + - * / sqrt, and what evaluators share.
//
// One Arithmetic per float type. Lane kNative rounds as that type with the profile's library, lane kLift as
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

  const Format& format(int lane) const { return formats_[static_cast<std::size_t>(lane)]; }
  DecisionRecorder& decisions() const { return *decisions_; }

  /// v, within propagated[lane] + the table's figure for `op`. For results of one operation of the library.
  Bounded rounded(ir::Op op, long double v, const LaneBounds& propagated) const;
  /// v, correctly rounded by one basic operation.
  Bounded rounded(long double v, const LaneBounds& propagated) const {
    const double m = magnitude(v);
    // Most results are of this kind and in the range of double.
    if (!bounds_ || !(m < kUnbounded)) return correctly_rounded(v, propagated);
    return {v, settle_rounded(pair_, m, pair_of(propagated))};
  }
  /// v of an operation that rounds not at all; the type's range still limits it.
  Bounded exact(long double v, const LaneBounds& propagated) const;

  /// A constant of the implementation, rounded to the type where it has to be.
  Bounded constant(long double v) const;

  Bounded add(const Bounded& a, const Bounded& b) const {
    const long double v = a.v + b.v;
    if (!bounds_) return {v, {}};
    const Pair p = pair_of(a.e) + pair_of(b.e);
    const Bounded result = rounded(v, std::bit_cast<LaneBounds>(p));
    return p[kNative] == 0 || p[kLift] == 0 ? exact_sum(result, a, b) : result;
  }
  Bounded sub(const Bounded& a, const Bounded& b) const { return add(a, neg(b)); }
  Bounded mul(const Bounded& a, const Bounded& b) const {
    const long double v = a.v * b.v;
    if (!bounds_) return {v, {}};
    const LaneBounds p = product_error(magnitude(a.v), a.e, magnitude(b.v), b.e);
    const Bounded result = rounded(v, p);
    return p[kNative] == 0 || p[kLift] == 0 ? exact_product(result, a, b) : result;
  }
  Bounded div(const Bounded& a, const Bounded& b) const;
  Bounded sqrt(const Bounded& a) const;
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
  Bounded correctly_rounded(long double v, const LaneBounds& propagated) const;
  /// A sum or a product, whose bound is 0 in the lanes in which it is a number of the format.
  Bounded exact_sum(Bounded sum, const Bounded& a, const Bounded& b) const;
  Bounded exact_product(Bounded product, const Bounded& a, const Bounded& b) const;
  Bounded finish(long double v, const LaneBounds& propagated,
                 const std::array<const ir::UlpBound*, kLanes>& figures) const;

  /// By op.
  using Figures = std::array<ir::UlpBound, ir::kOpCount>;
  static const Figures& figures_of(ir::Scalar scalar, MathLibrary library);

  std::array<Format, kLanes> formats_;
  FormatPair pair_;
  std::array<const Figures*, kLanes> figures_;
  DecisionRecorder* decisions_;
  bool bounds_;
};

inline constexpr Bounded kZeroBounded{};
inline constexpr Bounded kOneBounded{1, {}};

/// An exact number without rounding: for small integers and powers of two.
constexpr Bounded number(long double v) { return {v, {}}; }

inline bool both_zero(const LaneBounds& e) { return e[kNative] == 0 && e[kLift] == 0; }

}  // namespace assay::reference
