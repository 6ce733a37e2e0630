#include "reference/cpu/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::reference {
namespace {

constexpr ir::UlpBound kCorrectlyRounded{ir::UlpBound::Kind::kUlpsFromRoundedResult, 0};

/// Whether the result of an operation may differ from the correctly rounded one.
bool may_err(const ir::UlpBound& bound) {
  return bound.kind != ir::UlpBound::Kind::kExact && !(bound.kind == kCorrectlyRounded.kind && bound.ulps == 0);
}

/// The error of an approximate operation of CUDA, in ulp of float32 from the correctly rounded result.
struct ApproximateOperation {
  ir::Op op;
  double ulps;
};
/// div.full and __fdividef, sqrt.approx (2^-23 is at most 2 ulp), and __logf, __log2f and __log10f outside of [0.5, 2].
/// The other approximate functions are as accurate as the functions of the library, or much less.
constexpr std::array kApproximateOperations{
    ApproximateOperation{ir::Op::kDiv, 2}, ApproximateOperation{ir::Op::kSqrt, 2},
    ApproximateOperation{ir::Op::kLog, 3}, ApproximateOperation{ir::Op::kLog2, 2},
    ApproximateOperation{ir::Op::kLog10, 3}};

/// The error bound of the operation table. Half-precision types compute in f32 and round once more, which stays within
/// 1 ulp of the correctly rounded result.
ir::UlpBound figure(ir::Op op, ir::Scalar scalar, MathLibrary library, bool is_approximate) {
  const ir::Accuracy& accuracy = ir::row(op).accuracy;
  const bool cuda = library == MathLibrary::kCuda;
  if (scalar == ir::Scalar::kF64) return cuda ? accuracy.cuda_f64 : accuracy.libm_f64;
  ir::UlpBound single = cuda ? accuracy.cuda_f32 : accuracy.libm_f32;
  const auto* const approximate = std::ranges::find(kApproximateOperations, op, &ApproximateOperation::op);
  if (cuda && is_approximate && approximate != kApproximateOperations.end())
    single = {ir::UlpBound::Kind::kUlpsFromRoundedResult, approximate->ulps};
  return scalar != ir::Scalar::kF32 && may_err(single) ? ir::UlpBound{ir::UlpBound::Kind::kUlpsFromRoundedResult, 1}
                                                       : single;
}

/// Whether the product has at most 64 significant bits, so that the oracle's value is exact too.
bool short_factors(long double a, long double b) {
  return static_cast<long double>(static_cast<float>(a)) == a && static_cast<long double>(static_cast<float>(b)) == b;
}

bool is_finite(long double v) { return v - v == 0; }

/// Whether correct code computes exactly this zero.
bool is_exact_zero(const BoundedValue& x, std::size_t precision) { return x.v == 0 && x.e[precision] == 0; }

/// Whether all results of correct code are finite numbers of this sign and not zero, so that a zero times or divided by
/// such a number is an exact zero.
bool has_certain_sign(const BoundedValue& x, std::size_t precision) {
  return is_finite(x.v) && magnitude(x.v) > x.e[precision];
}

}  // namespace

BoundedArithmetic::BoundedArithmetic(ir::Scalar scalar, const ArithmeticProfile& profile, DecisionRecorder& decisions,
                                     bool bounds)
    : formats_{format_of(scalar, profile.flushes_subnormals), format_of(ir::Scalar::kF64)},
      format_pair_(formats_[kNative], formats_[kPromoted]),
      ulp_bounds_{&ulp_bounds_of(scalar, profile.native_library, profile.has_approximate_operations),
                  &ulp_bounds_of(ir::Scalar::kF64, profile.promoted_library)},
      added_ulp_bounds_(profile.promotion_has_library_errors && scalar != ir::Scalar::kF64
                            ? &ulp_bounds_of(ir::Scalar::kF32, profile.native_library)
                            : nullptr),
      decisions_(&decisions),
      relative_input_error_(profile.input_error.relative(ir::Scalar::kF64)),
      computes_bounds_(bounds) {}

const BoundedArithmetic::UlpBounds& BoundedArithmetic::ulp_bounds_of(ir::Scalar scalar, MathLibrary library,
                                                                     bool is_approximate) {
  using ByLibrary = std::array<UlpBounds, 2>;
  static const auto kAll = [] {
    std::array<std::array<ByLibrary, 2>, ir::kScalarCount> all;
    for (std::size_t s = 0; s < all.size(); ++s) {
      for (const bool approximates : {false, true}) {
        for (const MathLibrary of : {MathLibrary::kLibm, MathLibrary::kCuda}) {
          for (std::size_t op = 0; op < ir::kOpCount; ++op)
            all[s][approximates ? 1 : 0][static_cast<std::size_t>(of)][op] =
                figure(static_cast<ir::Op>(op), static_cast<ir::Scalar>(s), of, approximates);
        }
      }
    }
    return all;
  }();
  return kAll[static_cast<std::size_t>(scalar)][is_approximate ? 1 : 0][static_cast<std::size_t>(library)];
}

BoundedValue BoundedArithmetic::with_ulp_bounds(long double v, const PrecisionBounds& propagated,
                                                const std::array<const ir::UlpBound*, kPrecisionCount>& figures) const {
  BoundedValue result{v, {}};
  if (!computes_bounds_) return result;
  const double m = magnitude(v);
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double p = propagated[precision];
    if (!is_finite(v)) {
      result.e[precision] = p == 0 ? 0 : kUnbounded;
    } else if (p >= 0 && p < kUnbounded) {
      result.e[precision] = bound_with_oracle_error(
          formats_[precision], m, p + rounding_error(formats_[precision], m + p, *figures[precision]));
    } else {
      result.e[precision] = kUnbounded;
    }
  }
  return result;
}

BoundedValue BoundedArithmetic::with_rounding_error(ir::Op op, long double v, const PrecisionBounds& propagated) const {
  const auto at = static_cast<std::size_t>(op);
  const std::array<const ir::UlpBound*, kPrecisionCount> ulps{&(*ulp_bounds_[kNative])[at],
                                                              &(*ulp_bounds_[kPromoted])[at]};
  if (added_ulp_bounds_ == nullptr || !computes_bounds_) return with_ulp_bounds(v, propagated, ulps);
  BoundedValue result = with_ulp_bounds(v, propagated, ulps);
  const ir::UlpBound& added = (*added_ulp_bounds_)[at];
  const double greatest = magnitude(v) + propagated[kPromoted];
  if (may_err(added) && greatest < kUnbounded)
    result.e[kPromoted] += rounding_error(format_of(ir::Scalar::kF32), greatest, added);
  return result;
}

PrecisionBounds BoundedArithmetic::correct_rounding_bound(long double v, const PrecisionBounds& propagated) const {
  return with_ulp_bounds(v, propagated, {&kCorrectlyRounded, &kCorrectlyRounded}).e;
}

BoundedValue BoundedArithmetic::exact(long double v, const PrecisionBounds& propagated) const {
  if (!computes_bounds_) return {v, {}};
  BoundedValue result{v, propagated};
  const double m = magnitude(v);
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double p = propagated[precision];
    if (p == 0) continue;
    result.e[precision] =
        is_finite(v) && p < kUnbounded ? bound_with_oracle_error(formats_[precision], m, p) : kUnbounded;
  }
  return result;
}

BoundedValue BoundedArithmetic::constant(long double v) const {
  BoundedValue result{v, {}};
  if (!computes_bounds_) return result;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (!is_representable(formats_[precision], v))
      result.e[precision] = bound_with_oracle_error(formats_[precision], magnitude(v),
                                                    error_from_rounded_result(formats_[precision], magnitude(v), 0));
  }
  return result;
}

PrecisionBounds BoundedArithmetic::exact_sum_bound(long double v, Pair propagated, PrecisionBounds bound) const {
  // Correct rounding does not change representable values. The rounding of the oracle cannot hide a difference:
  // rounding is monotonic, and v is the sum rounded to more bits.
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (propagated[precision] == 0 && is_representable(formats_[precision], v)) bound[precision] = 0;
  }
  return bound;
}

PrecisionBounds BoundedArithmetic::exact_product_bound(long double v, const BoundedValue& a, const BoundedValue& b,
                                                       PrecisionBounds bound) const {
  // As for a sum. But a contracted product keeps all its bits, so v must have them too.
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const bool is_zero = (is_exact_zero(a, precision) && has_certain_sign(b, precision)) ||
                         (is_exact_zero(b, precision) && has_certain_sign(a, precision));
    if (is_zero) {
      bound[precision] = 0;
    } else if (a.e[precision] == 0 && b.e[precision] == 0 && is_representable(formats_[precision], v) &&
               (v == 0 ? a.v == 0 || b.v == 0 : short_factors(a.v, b.v))) {
      bound[precision] = 0;
    }
  }
  return bound;
}

BoundedValue BoundedArithmetic::div(const BoundedValue& a, const BoundedValue& b) const {
  const long double v = a.v / b.v;
  if (!computes_bounds_) return {v, {}};
  const double z = magnitude(v);
  const double mb = magnitude(b.v);
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double numerator = a.e[precision] + scaled(z, b.e[precision]);
    p[precision] = numerator == 0 ? 0 : (mb > b.e[precision] ? numerator / (mb - b.e[precision]) : kUnbounded);
    if (b.e[precision] > 0 && !(mb > b.e[precision])) p[precision] = kUnbounded;
  }
  BoundedValue result = with_rounding_error(ir::Op::kDiv, v, p);
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const bool is_zero = is_exact_zero(a, precision) && has_certain_sign(b, precision);
    if (is_zero || (a.e[precision] == 0 && b.e[precision] == 0 && is_representable(formats_[precision], v)))
      result.e[precision] = 0;
  }
  return result;
}

BoundedValue BoundedArithmetic::root(const BoundedValue& a, bool never_negative) const {
  const long double v = std::sqrt(a.v);
  if (!computes_bounds_) return {v, {}};
  const double ma = magnitude(a.v);
  // The result for a number between zero and e is between zero and ma + e.
  const auto near_zero = [&](double e) {
    const bool is_known = never_negative && ma < kUnbounded;
    return is_known ? std::max(std::sqrt(ma), std::sqrt(ma + e) - std::sqrt(ma)) : kUnbounded;
  };
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double e = a.e[precision];
    p[precision] = e == 0 ? 0 : (ma > e && a.v > 0 ? e / (std::sqrt(ma) + std::sqrt(ma - e)) : near_zero(e));
  }
  BoundedValue result = with_rounding_error(ir::Op::kSqrt, v, p);
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (a.e[precision] == 0 && is_representable(formats_[precision], v)) result.e[precision] = 0;
  }
  return result;
}

BoundedValue BoundedArithmetic::dot(std::span<const BoundedValue* const> operands) const {
  const std::size_t k = operands.size() / 2;
  long double v = 0;
  double magnitude_sum = 0;  // of all terms
  double finite_mass = 0;    // of the finite terms, whose sum may overflow
  PrecisionBounds p{};
  bool exact_terms = true;
  bool has_product = false;  // that is not zero
  for (std::size_t i = 0; i < k; ++i) {
    const BoundedValue& a = *operands[i];
    const BoundedValue& b = *operands[k + i];
    const long double term = a.v * b.v;
    v = i == 0 ? term : v + term;  // a sum of negative zeros is a negative zero
    magnitude_sum += magnitude(term);
    if (is_finite(term)) finite_mass += magnitude(term);
    has_product = has_product || term != 0;
    exact_terms = exact_terms && term == 0 && both_zero(a.e) && both_zero(b.e);
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      p[precision] += scaled(magnitude(a.v), b.e[precision]) + scaled(magnitude(b.v), a.e[precision]) +
                      scaled(a.e[precision], b.e[precision]);
  }
  if (exact_terms || !computes_bounds_) return {v, {}};
  BoundedValue result{v, {}};
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    // Each product below the normal range loses up to half the smallest spacing, unless all products are exactly zero.
    // The policy's k u sum|a b| treats the terms as exact; the second-order contribution of their errors is included
    // here.
    const double least = has_product || p[precision] > 0 ? error_from_rounded_result(formats_[precision], 0, 0) : 0;
    const double r = static_cast<double>(k) * (formats_[precision].unit_roundoff * (magnitude_sum + p[precision]) +
                                               least + formats_[precision].flush_error);
    // The terms of the oracle are rounded as well: its error is relative to their magnitudes, not to the sum.
    const double e = p[precision] + r + static_cast<double>(2 * k) * kOracleUnitRoundoff * magnitude_sum;
    // A product or partial sum may overflow even if the whole sum does not.
    const double greatest =
        finite_mass * (1 + static_cast<double>(k) * formats_[precision].unit_roundoff) + p[precision];
    const bool may_overflow = !(greatest <= formats_[precision].largest_finite);
    if (!is_finite(v)) result.e[precision] = p[precision] == 0 && !may_overflow ? 0 : kUnbounded;
    else
      result.e[precision] =
          e < kUnbounded && !may_overflow ? bound_with_oracle_error(formats_[precision], magnitude(v), e) : kUnbounded;
  }
  return result;
}

BoundedValue BoundedArithmetic::sum(std::span<const BoundedValue* const> operands) const {
  BoundedValue result;
  double magnitude_sum = 0;
  std::size_t terms = 0;  // adding an exact zero does not round
  for (const BoundedValue* operand : operands) {
    result.v += operand->v;
    magnitude_sum += magnitude(operand->v);
    terms += operand->v != 0 || !both_zero(operand->e) ? 1 : 0;
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      result.e[precision] += operand->e[precision];
  }
  if (terms < 2 || !computes_bounds_) return result;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const FloatFormat& own = formats_[precision];
    const double p = result.e[precision];
    const auto n = static_cast<double>(terms);
    const double e = p + (n - 1) * (own.unit_roundoff * (magnitude_sum + p) + own.flush_error) +
                     n * kOracleUnitRoundoff * magnitude_sum;
    if (!is_finite(result.v)) result.e[precision] = p == 0 ? 0 : kUnbounded;
    else result.e[precision] = e < kUnbounded ? bound_with_oracle_error(own, magnitude_sum, e) : kUnbounded;
  }
  return result;
}

BoundedValue BoundedArithmetic::with_widest_bound(const BoundedValue& first, const BoundedValue& second) {
  const double apart = magnitude(first.v - second.v);
  BoundedValue result = first;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    // A formula that may overflow where another does not is ignored.
    const double other = second.e[precision] + apart;
    if (first.e[precision] < kUnbounded && other < kUnbounded)
      result.e[precision] = std::max(first.e[precision], other);
    else result.e[precision] = std::min(first.e[precision], other);
  }
  if (!is_finite(first.v) && is_finite(second.v)) result.v = second.v;
  return result;
}

}  // namespace assay::reference
