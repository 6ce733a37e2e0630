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
      pair_(formats_[kNative], formats_[kLift]),
      figures_{&figures_of(scalar, profile.native_library), &figures_of(ir::Scalar::kF64, profile.lift_library)},
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

Bounded Arithmetic::finish(long double v, const LaneBounds& propagated,
                           const std::array<const ir::UlpBound*, kLanes>& figures) const {
  Bounded result{v, {}};
  if (!bounds_) return result;
  const double m = magnitude(v);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const double p = propagated[lane];
    if (!is_finite(v)) {
      result.e[lane] = p == 0 ? 0 : kUnbounded;
    } else if (p >= 0 && p < kUnbounded) {
      result.e[lane] = settle(formats_[lane], m, p + rounding(formats_[lane], m + p, *figures[lane]));
    } else {
      result.e[lane] = kUnbounded;
    }
  }
  return result;
}

Bounded Arithmetic::rounded(ir::Op op, long double v, const LaneBounds& propagated) const {
  const auto at = static_cast<std::size_t>(op);
  return finish(v, propagated, {&(*figures_[kNative])[at], &(*figures_[kLift])[at]});
}

LaneBounds Arithmetic::correct_rounding_bound(long double v, const LaneBounds& propagated) const {
  return finish(v, propagated, {&kCorrect, &kCorrect}).e;
}

Bounded Arithmetic::exact(long double v, const LaneBounds& propagated) const {
  if (!bounds_) return {v, {}};
  Bounded result{v, propagated};
  const double m = magnitude(v);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const double p = propagated[lane];
    if (p == 0) continue;
    result.e[lane] = is_finite(v) && p < kUnbounded ? settle(formats_[lane], m, p) : kUnbounded;
  }
  return result;
}

Bounded Arithmetic::constant(long double v) const {
  Bounded result{v, {}};
  if (!bounds_) return result;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (!representable(formats_[lane], v))
      result.e[lane] = settle(formats_[lane], magnitude(v), half(formats_[lane], magnitude(v), 0));
  }
  return result;
}

LaneBounds Arithmetic::exact_sum(long double v, Pair propagated, LaneBounds bound) const {
  // Correct rounding leaves alone what is representable. The oracle's own rounding cannot hide a difference:
  // rounding is monotonic, and v is the sum rounded to more bits.
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (propagated[lane] == 0 && representable(formats_[lane], v)) bound[lane] = 0;
  }
  return bound;
}

LaneBounds Arithmetic::exact_product(long double v, const Bounded& a, const Bounded& b, LaneBounds bound) const {
  // As of a sum; but a contracted product keeps all its bits, so those must be in v too.
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (a.e[lane] == 0 && b.e[lane] == 0 && representable(formats_[lane], v) &&
        (v == 0 ? a.v == 0 || b.v == 0 : short_factors(a.v, b.v))) {
      bound[lane] = 0;
    }
  }
  return bound;
}

Bounded Arithmetic::div(const Bounded& a, const Bounded& b) const {
  const long double v = a.v / b.v;
  if (!bounds_) return {v, {}};
  const double z = magnitude(v);
  const double mb = magnitude(b.v);
  LaneBounds p;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const double numerator = a.e[lane] + scaled(z, b.e[lane]);
    p[lane] = numerator == 0 ? 0 : (mb > b.e[lane] ? numerator / (mb - b.e[lane]) : kUnbounded);
    if (b.e[lane] > 0 && !(mb > b.e[lane])) p[lane] = kUnbounded;
  }
  Bounded result = rounded(ir::Op::kDiv, v, p);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (a.e[lane] == 0 && b.e[lane] == 0 && representable(formats_[lane], v)) result.e[lane] = 0;
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
  LaneBounds p;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const double e = a.e[lane];
    p[lane] = e == 0 ? 0 : (ma > e && a.v > 0 ? e / (std::sqrt(ma) + std::sqrt(ma - e)) : near_zero(e));
  }
  Bounded result = rounded(ir::Op::kSqrt, v, p);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (a.e[lane] == 0 && representable(formats_[lane], v)) result.e[lane] = 0;
  }
  return result;
}

Bounded Arithmetic::dot(std::span<const Bounded* const> operands) const {
  const std::size_t k = operands.size() / 2;
  long double v = 0;
  double mass = 0;
  LaneBounds p{};
  bool exact_terms = true;
  for (std::size_t i = 0; i < k; ++i) {
    const Bounded& a = *operands[i];
    const Bounded& b = *operands[k + i];
    const long double term = a.v * b.v;
    v += term;
    mass += magnitude(term);
    exact_terms = exact_terms && term == 0 && both_zero(a.e) && both_zero(b.e);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      p[lane] += scaled(magnitude(a.v), b.e[lane]) + scaled(magnitude(b.v), a.e[lane]) + scaled(a.e[lane], b.e[lane]);
  }
  if (exact_terms || !bounds_) return {v, {}};
  Bounded result{v, {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    // Products below the normal range lose up to half the least spacing each. The policy's k u sum|a b| takes
    // the terms as exact; what their errors add is of second order and kept here.
    const double r = static_cast<double>(k) *
                     (formats_[lane].unit * (mass + p[lane]) + 0.5 * ulp(formats_[lane], 0) + formats_[lane].flush);
    // The oracle's terms round as well: its own error is relative to their mass, not to the sum.
    const double e = p[lane] + r + static_cast<double>(2 * k) * kOracleUnit * mass;
    if (!is_finite(v)) result.e[lane] = p[lane] == 0 ? 0 : kUnbounded;
    else result.e[lane] = e < kUnbounded ? settle(formats_[lane], magnitude(v), e) : kUnbounded;
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
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      result.e[lane] += operand->e[lane];
  }
  if (terms < 2 || !bounds_) return result;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const Format& own = formats_[lane];
    const double p = result.e[lane];
    const auto n = static_cast<double>(terms);
    const double e = p + (n - 1) * (own.unit * (mass + p) + own.flush) + n * kOracleUnit * mass;
    if (!is_finite(result.v)) result.e[lane] = p == 0 ? 0 : kUnbounded;
    else result.e[lane] = e < kUnbounded ? settle(own, mass, e) : kUnbounded;
  }
  return result;
}

Bounded Arithmetic::widest(const Bounded& first, const Bounded& second) {
  const double apart = magnitude(first.v - second.v);
  Bounded result = first;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    // A formula that may overflow where another does not is no way to compute this.
    const double other = second.e[lane] + apart;
    if (first.e[lane] < kUnbounded && other < kUnbounded) result.e[lane] = std::max(first.e[lane], other);
    else result.e[lane] = std::min(first.e[lane], other);
  }
  if (!is_finite(first.v) && is_finite(second.v)) result.v = second.v;
  return result;
}

}  // namespace assay::reference
