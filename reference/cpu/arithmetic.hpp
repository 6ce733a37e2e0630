// Arithmetic on bounded values: the rows of the bound table for + - * / sqrt, and what evaluators share.
//
// There is one Arithmetic per float type. Precision kNative rounds to that type with the library of the profile,
// kPromoted rounds to f64. The bound of every result includes the rounding of the implementation and of the oracle
// (bound.hpp, bound_with_oracle_error).
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "reference/cpu/bound.hpp"
#include "reference/cpu/decisions.hpp"

namespace assay::reference {

/// Arithmetic on bounded values for one float type.
class BoundedArithmetic {
 public:
  /// Keeps a reference to the recorder. Without `bounds`, the bounds of results are 0 and have no meaning.
  BoundedArithmetic(ir::Scalar scalar, const ArithmeticProfile& profile, DecisionRecorder& decisions,
                    bool bounds = true);

  const FloatFormat& format(int precision) const { return formats_[static_cast<std::size_t>(precision)]; }
  /// Whether results have meaningful bounds.
  bool has_bounds() const { return computes_bounds_; }
  DecisionRecorder& decisions() const { return *decisions_; }
  /// Returns whether the value is an input that no operation has changed, judged by its error.
  bool is_input(const BoundedValue& x) const {
    return relative_input_error_ > 0 && x.e[kPromoted] == relative_input_error_ * magnitude(x.v);
  }

  /// v with a bound of the propagated error plus the error of `op` in the operation table. For results of one library
  /// operation.
  BoundedValue with_rounding_error(ir::Op op, long double v, const PrecisionBounds& propagated) const;
  /// Returns v as the result of one correctly rounded operation; `propagated` is the error from its operands.
  BoundedValue with_rounding_error(long double v, const PrecisionBounds& propagated) const {
    return {v, rounding_bound(v, propagated)};
  }
  /// v of an operation without rounding; the range of the type still limits it.
  BoundedValue exact(long double v, const PrecisionBounds& propagated) const;

  /// A constant of the implementation, rounded to the type if it is not representable.
  BoundedValue constant(long double v) const;

  /// Returns a + b.
  BoundedValue add(const BoundedValue& a, const BoundedValue& b) const {
    const long double v = a.v + b.v;
    return {v, sum_bound(v, a.e, b.e)};
  }
  /// Returns a - b.
  BoundedValue sub(const BoundedValue& a, const BoundedValue& b) const {
    const long double v = a.v - b.v;
    return {v, sum_bound(v, a.e, b.e)};
  }
  /// Returns a * b.
  BoundedValue mul(const BoundedValue& a, const BoundedValue& b) const {
    const long double v = a.v * b.v;
    return {v, product_bound(v, a, b)};
  }
  /// Returns the bounds of v, a sum or difference of numbers with the bounds a and b.
  PrecisionBounds sum_bound(long double v, const PrecisionBounds& a, const PrecisionBounds& b) const {
    if (!computes_bounds_) return {};
    const Pair p = pair_of(a) + pair_of(b);
    const PrecisionBounds bound = rounding_bound(v, std::bit_cast<PrecisionBounds>(p));
    return p[kNative] == 0 || p[kPromoted] == 0 ? exact_sum_bound(v, p, bound) : bound;
  }
  /// Returns the bounds of v, the product of a and b.
  PrecisionBounds product_bound(long double v, const BoundedValue& a, const BoundedValue& b) const {
    if (!computes_bounds_) return {};
    const PrecisionBounds p = propagated_product_error(magnitude(a.v), a.e, magnitude(b.v), b.e);
    const PrecisionBounds bound = rounding_bound(v, p);
    return p[kNative] == 0 || p[kPromoted] == 0 ? exact_product_bound(v, a, b, bound) : bound;
  }
  BoundedValue div(const BoundedValue& a, const BoundedValue& b) const;
  BoundedValue sqrt(const BoundedValue& a) const { return root(a, false); }
  /// The square root of a sum of squares, which never becomes negative by rounding.
  BoundedValue sqrt_of_squares(const BoundedValue& sum) const { return root(sum, true); }
  /// a[0] b[0] + a[1] b[1] + ..., summed in any order, fused or not. Operands are pointers: all of a, then all of b.
  BoundedValue dot(std::span<const BoundedValue* const> operands) const;

  /// a[0] + a[1] + ..., in any order. Operands are at least one pointer.
  BoundedValue sum(std::span<const BoundedValue* const> operands) const;

  static BoundedValue neg(const BoundedValue& a) { return {-a.v, a.e}; }
  /// Combines results of alternative formulas for the same quantity: the value of the first, with a bound that holds
  /// for every formula with a finite bound.
  static BoundedValue with_widest_bound(const BoundedValue& first, const BoundedValue& second);
  template <class... Rest>
  static BoundedValue with_widest_bound(const BoundedValue& first, const BoundedValue& second, const Rest&... rest) {
    return with_widest_bound(with_widest_bound(first, second), rest...);
  }

 private:
  /// Returns the bounds of v after correct rounding; `propagated` is the error from the operands.
  PrecisionBounds rounding_bound(long double v, const PrecisionBounds& propagated) const {
    const double m = magnitude(v);
    // Fast path for most results: finite and in the range of double.
    if (!computes_bounds_ || !(m < kUnbounded)) return correct_rounding_bound(v, propagated);
    return rounded_result_bound(format_pair_, m, pair_of(propagated));
  }
  BoundedValue root(const BoundedValue& a, bool never_negative) const;  ///< square root
  PrecisionBounds correct_rounding_bound(long double v, const PrecisionBounds& propagated) const;
  /// `bound`, or 0 for a precision in which the operands are exact and the sum or product v is representable.
  PrecisionBounds exact_sum_bound(long double v, Pair propagated, PrecisionBounds bound) const;
  /// Returns `bound`, or 0 for a precision in which a, b and their product v are exact.
  PrecisionBounds exact_product_bound(long double v, const BoundedValue& a, const BoundedValue& b,
                                      PrecisionBounds bound) const;
  /// Returns v with the bounds for a result with these errors in ulp; `propagated` is the error from the operands.
  BoundedValue with_ulp_bounds(long double v, const PrecisionBounds& propagated,
                               const std::array<const ir::UlpBound*, kPrecisionCount>& figures) const;

  /// Indexed by Op.
  using UlpBounds = std::array<ir::UlpBound, ir::kOpCount>;
  static const UlpBounds& ulp_bounds_of(ir::Scalar scalar, MathLibrary library, bool is_approximate = false);

  std::array<FloatFormat, kPrecisionCount> formats_;  ///< float format of each precision
  FloatFormatPair format_pair_;  ///< the same formats, for calculations with both precisions at once
  std::array<const UlpBounds*, kPrecisionCount> ulp_bounds_;  ///< error bounds of each operation in ulp, by precision
  /// Error bounds of each operation for float32, added with f64 promotion; null: none
  /// (ArithmeticProfile::promotion_has_library_errors).
  const UlpBounds* added_ulp_bounds_;
  DecisionRecorder* decisions_;  ///< receives the decisions that operations make
  double relative_input_error_;  ///< relative error of the inputs if they are doubles (InputError)
  bool computes_bounds_;         ///< whether to compute bounds; otherwise all bounds are 0
};

inline constexpr BoundedValue kBoundedZero{};      ///< the number 0, exact
inline constexpr BoundedValue kBoundedOne{1, {}};  ///< the number 1, exact

/// An exact number, for small integers and powers of two.
constexpr BoundedValue number(long double v) { return {v, {}}; }

inline bool both_zero(const PrecisionBounds& e) { return e[kNative] == 0 && e[kPromoted] == 0; }

}  // namespace assay::reference
