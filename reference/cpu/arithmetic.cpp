#include "reference/cpu/arithmetic.hpp"

#include <cmath>

namespace assay::reference {
namespace {

constexpr ir::UlpBound kCorrect{ir::UlpBound::Kind::kWithin, 0};

/// The table's figure; the half-precision types compute in f32 and round once more, which stays within 1 ulp
/// of the correctly rounded result.
ir::UlpBound figure(ir::Op op, ir::Scalar scalar, MathLibrary library) {
  const ir::Accuracy& accuracy = ir::row(op).accuracy;
  const bool cuda = library == MathLibrary::kCuda;
  if (scalar == ir::Scalar::kF64) return cuda ? accuracy.cuda_f64 : accuracy.libm_f64;
  const ir::UlpBound single = cuda ? accuracy.cuda_f32 : accuracy.libm_f32;
  const bool rounds = single.kind != ir::UlpBound::Kind::kExact && !(single.kind == kCorrect.kind && single.ulps == 0);
  return scalar != ir::Scalar::kF32 && rounds ? ir::UlpBound{ir::UlpBound::Kind::kWithin, 1} : single;
}

/// Whether the product has at most 64 significant bits, so that the oracle's value is exact too.
bool short_factors(long double a, long double b) {
  return static_cast<long double>(static_cast<float>(a)) == a && static_cast<long double>(static_cast<float>(b)) == b;
}

bool is_finite(long double v) { return v - v == 0; }

}  // namespace

Arithmetic::Arithmetic(ir::Scalar scalar, const Profile& profile, DecisionRecorder& decisions, bool bounds)
    : formats_{format_of(scalar, profile.flush_to_zero), format_of(ir::Scalar::kF64)},
      pair_(formats_[kNative], formats_[kPromoted]),
      figures_{&figures_of(scalar, profile.native_library), &figures_of(ir::Scalar::kF64, profile.promoted_library)},
      decisions_(&decisions),
      bounds_(bounds) {}

const Arithmetic::Figures& Arithmetic::figures_of(ir::Scalar scalar, MathLibrary library) {
  static const auto kAll = [] {
    std::array<std::array<Figures, 2>, ir::kScalarCount> all;
    for (std::size_t s = 0; s < all.size(); ++s) {
      for (const MathLibrary of : {MathLibrary::kLibm, MathLibrary::kCuda}) {
        for (std::size_t op = 0; op < ir::kOpCount; ++op)
          all[s][static_cast<std::size_t>(of)][op] = figure(static_cast<ir::Op>(op), static_cast<ir::Scalar>(s), of);
      }
    }
    return all;
  }();
  return kAll[static_cast<std::size_t>(scalar)][static_cast<std::size_t>(library)];
}

Bounded Arithmetic::finish(long double v, const PrecisionBounds& propagated,
                           const std::array<const ir::UlpBound*, kPrecisions>& figures) const {
  Bounded result{v, {}};
  if (!bounds_) return result;
  const double m = magnitude(v);
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    const double p = propagated[precision];
    if (!is_finite(v)) {
      result.e[precision] = p == 0 ? 0 : kUnbounded;
    } else if (p >= 0 && p < kUnbounded) {
      result.e[precision] =
          settle(formats_[precision], m, p + rounding(formats_[precision], m + p, *figures[precision]));
    } else {
      result.e[precision] = kUnbounded;
    }
  }
  return result;
}

Bounded Arithmetic::rounded(ir::Op op, long double v, const PrecisionBounds& propagated) const {
  const auto at = static_cast<std::size_t>(op);
  return finish(v, propagated, {&(*figures_[kNative])[at], &(*figures_[kPromoted])[at]});
}

PrecisionBounds Arithmetic::correct_rounding_bound(long double v, const PrecisionBounds& propagated) const {
  return finish(v, propagated, {&kCorrect, &kCorrect}).e;
}

Bounded Arithmetic::exact(long double v, const PrecisionBounds& propagated) const {
  if (!bounds_) return {v, {}};
  Bounded result{v, propagated};
  const double m = magnitude(v);
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    const double p = propagated[precision];
    if (p == 0) continue;
    result.e[precision] = is_finite(v) && p < kUnbounded ? settle(formats_[precision], m, p) : kUnbounded;
  }
  return result;
}

Bounded Arithmetic::constant(long double v) const {
  Bounded result{v, {}};
  if (!bounds_) return result;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (!representable(formats_[precision], v))
      result.e[precision] = settle(formats_[precision], magnitude(v), half(formats_[precision], magnitude(v), 0));
  }
  return result;
}

PrecisionBounds Arithmetic::exact_sum(long double v, Pair propagated, PrecisionBounds bound) const {
  // Correct rounding leaves alone what is representable. The oracle's own rounding cannot hide a difference:
  // rounding is monotonic, and v is the sum rounded to more bits.
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (propagated[precision] == 0 && representable(formats_[precision], v)) bound[precision] = 0;
  }
  return bound;
}

PrecisionBounds Arithmetic::exact_product(long double v, const Bounded& a, const Bounded& b,
                                          PrecisionBounds bound) const {
  // As of a sum; but a contracted product keeps all its bits, so those must be in v too.
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (a.e[precision] == 0 && b.e[precision] == 0 && representable(formats_[precision], v) &&
        (v == 0 ? a.v == 0 || b.v == 0 : short_factors(a.v, b.v))) {
      bound[precision] = 0;
    }
  }
  return bound;
}

Bounded Arithmetic::div(const Bounded& a, const Bounded& b) const {
  const long double v = a.v / b.v;
  if (!bounds_) return {v, {}};
  const double z = magnitude(v);
  const double mb = magnitude(b.v);
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    const double numerator = a.e[precision] + scaled(z, b.e[precision]);
    p[precision] = numerator == 0 ? 0 : (mb > b.e[precision] ? numerator / (mb - b.e[precision]) : kUnbounded);
    if (b.e[precision] > 0 && !(mb > b.e[precision])) p[precision] = kUnbounded;
  }
  Bounded result = rounded(ir::Op::kDiv, v, p);
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (a.e[precision] == 0 && b.e[precision] == 0 && representable(formats_[precision], v)) result.e[precision] = 0;
  }
  return result;
}

Bounded Arithmetic::root(const Bounded& a, bool never_negative) const {
  const long double v = std::sqrt(a.v);
  if (!bounds_) return {v, {}};
  const double ma = magnitude(a.v);
  // What is computed of a number between zero and e lies between zero and ma + e.
  const auto near_zero = [&](double e) {
    const bool is_known = never_negative && ma < kUnbounded;
    return is_known ? std::max(std::sqrt(ma), std::sqrt(ma + e) - std::sqrt(ma)) : kUnbounded;
  };
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    const double e = a.e[precision];
    p[precision] = e == 0 ? 0 : (ma > e && a.v > 0 ? e / (std::sqrt(ma) + std::sqrt(ma - e)) : near_zero(e));
  }
  Bounded result = rounded(ir::Op::kSqrt, v, p);
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (a.e[precision] == 0 && representable(formats_[precision], v)) result.e[precision] = 0;
  }
  return result;
}

Bounded Arithmetic::dot(std::span<const Bounded* const> operands) const {
  const std::size_t k = operands.size() / 2;
  long double v = 0;
  double mass = 0;
  PrecisionBounds p{};
  bool exact_terms = true;
  for (std::size_t i = 0; i < k; ++i) {
    const Bounded& a = *operands[i];
    const Bounded& b = *operands[k + i];
    const long double term = a.v * b.v;
    v += term;
    mass += magnitude(term);
    exact_terms = exact_terms && term == 0 && both_zero(a.e) && both_zero(b.e);
    for (std::size_t precision = 0; precision < kPrecisions; ++precision)
      p[precision] += scaled(magnitude(a.v), b.e[precision]) + scaled(magnitude(b.v), a.e[precision]) +
                      scaled(a.e[precision], b.e[precision]);
  }
  if (exact_terms || !bounds_) return {v, {}};
  Bounded result{v, {}};
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    // Products below the normal range lose up to half the least spacing each. The policy's k u sum|a b| takes
    // the terms as exact; what their errors add is of second order and kept here.
    const double r = static_cast<double>(k) * (formats_[precision].unit * (mass + p[precision]) +
                                               0.5 * ulp(formats_[precision], 0) + formats_[precision].flush);
    // The oracle's terms round as well: its own error is relative to their mass, not to the sum.
    const double e = p[precision] + r + static_cast<double>(2 * k) * kOracleUnit * mass;
    if (!is_finite(v)) result.e[precision] = p[precision] == 0 ? 0 : kUnbounded;
    else result.e[precision] = e < kUnbounded ? settle(formats_[precision], magnitude(v), e) : kUnbounded;
  }
  return result;
}

Bounded Arithmetic::sum(std::span<const Bounded* const> operands) const {
  Bounded result;
  double mass = 0;
  std::size_t terms = 0;  // adding an exact zero rounds nothing
  for (const Bounded* operand : operands) {
    result.v += operand->v;
    mass += magnitude(operand->v);
    terms += operand->v != 0 || !both_zero(operand->e) ? 1 : 0;
    for (std::size_t precision = 0; precision < kPrecisions; ++precision)
      result.e[precision] += operand->e[precision];
  }
  if (terms < 2 || !bounds_) return result;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    const Format& own = formats_[precision];
    const double p = result.e[precision];
    const auto n = static_cast<double>(terms);
    const double e = p + (n - 1) * (own.unit * (mass + p) + own.flush) + n * kOracleUnit * mass;
    if (!is_finite(result.v)) result.e[precision] = p == 0 ? 0 : kUnbounded;
    else result.e[precision] = e < kUnbounded ? settle(own, mass, e) : kUnbounded;
  }
  return result;
}

Bounded Arithmetic::widest(const Bounded& first, const Bounded& second) {
  const double apart = magnitude(first.v - second.v);
  Bounded result = first;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    // A formula that may overflow where another does not is no way to compute this.
    const double other = second.e[precision] + apart;
    if (first.e[precision] < kUnbounded && other < kUnbounded)
      result.e[precision] = std::max(first.e[precision], other);
    else result.e[precision] = std::min(first.e[precision], other);
  }
  if (!is_finite(first.v) && is_finite(second.v)) result.v = second.v;
  return result;
}

}  // namespace assay::reference
