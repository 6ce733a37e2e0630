// Evaluators of arithmetic, functions of two and three operands, and sums over vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "reference/cpu/evaluator_tables.hpp"

namespace assay::reference {
namespace {

using ir::Op;

double as_double(long double x) { return static_cast<double>(x); }

}  // namespace

namespace {
/// The conventional value for a vector of length zero, in the precisions where the length is certain; unbounded in
/// others.
BoundedValue at_zero_length(const PrecisionBounds& e) {
  return {0, {e[kNative] == 0 ? 0 : kUnbounded, e[kPromoted] == 0 ? 0 : kUnbounded}};
}
}  // namespace

BoundedValue unit_component(const BoundedArithmetic& a, Operands x) {
  const BoundedValue& length = *x[1];
  if (std::isnan(length.v) && both_zero(length.e)) return kBoundedZero;  // a NaN is not greater than zero
  return length.v == 0 ? at_zero_length(length.e) : a.div(*x[0], length);
}
void unit_component_partials(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t,
                             BoundedValue* p) {
  const BoundedValue& length = *x[1];
  if (length.v == 0) {
    p[0] = p[1] = at_zero_length(length.e);
    return;
  }
  p[0] = a.div(kBoundedOne, length);
  p[1] = a.neg(a.with_widest_bound(a.div(r, length), a.mul(r, p[0]), a.div(*x[0], a.mul(length, length))));
}

namespace evaluators {
namespace {

BoundedValue add(const BoundedArithmetic& a, Operands x) { return a.add(*x[0], *x[1]); }
void d_add(const BoundedArithmetic&, Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = p[1] = kBoundedOne;
}

BoundedValue sub(const BoundedArithmetic& a, Operands x) { return a.sub(*x[0], *x[1]); }
void d_sub(const BoundedArithmetic&, Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = kBoundedOne;
  p[1] = number(-1);
}

BoundedValue mul(const BoundedArithmetic& a, Operands x) { return a.mul(*x[0], *x[1]); }
void d_mul(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = *x[1];
  p[1] = *x[0];
}

BoundedValue neg(const BoundedArithmetic& a, Operands x) { return a.neg(*x[0]); }
void d_neg(const BoundedArithmetic&, Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = number(-1);
}

BoundedValue div(const BoundedArithmetic& a, Operands x) { return a.div(*x[0], *x[1]); }
void d_div(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t wanted, BoundedValue* p) {
  const BoundedValue& b = *x[1];
  p[0] = a.div(kBoundedOne, b);
  if ((wanted & 2U) == 0) return;
  p[1] = a.neg(a.with_widest_bound(a.div(r, b), a.mul(r, p[0]), a.div(*x[0], a.mul(b, b))));
}

BoundedValue fma(const BoundedArithmetic& a, Operands x) {
  const BoundedValue& m = *x[0];
  const BoundedValue& n = *x[1];
  const BoundedValue& c = *x[2];
  const long double product = m.v * n.v;
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    // The last term is the rounding error of the oracle's product, which cancellation in the sum may expose.
    p[precision] = scaled(magnitude(m.v), n.e[precision]) + scaled(magnitude(n.v), m.e[precision]) +
                   scaled(m.e[precision], n.e[precision]) + c.e[precision] + kOracleUnitRoundoff * magnitude(product);
  }
  return a.with_rounding_error(Op::kFma, product + c.v, p);
}
void d_fma(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = *x[1];
  p[1] = *x[0];
  p[2] = kBoundedOne;
}

bool is_exact_integer(const BoundedValue& b) { return both_zero(b.e) && std::trunc(b.v) == b.v; }

/// Error of log(a) for a > 0.
double log_error(double a, double e) { return e == 0 ? 0 : (a > e ? e / (a - e) : kUnbounded); }

/// Propagated error of a^b. Over the box |log(a'^b') - log(a^b)| <= |b| dlog + |log a| Eb + Eb dlog.
double power_error(const BoundedValue& a, const BoundedValue& b, double v, std::size_t precision) {
  const double ea = a.e[precision];
  const double eb = b.e[precision];
  if (ea == 0 && eb == 0) return 0;
  const double base = magnitude(a.v);
  const double exponent = as_double(b.v);
  if (is_exact_integer(b) && !(base > ea)) {
    // The box contains 0: the function is monotone on each side.
    return exponent < 0 ? kUnbounded : (exponent == 0 ? 0 : std::pow(base + ea, exponent) + v);
  }
  if (base == 0 && ea == 0 && exponent > eb) return 0;  // a zero to any positive power is zero
  if (!(base > ea) || (a.v < 0 && !is_exact_integer(b))) return kUnbounded;
  const double dlog = log_error(base, ea);
  const double spread = scaled(std::abs(exponent), dlog) +
                        (eb == 0 ? 0 : scaled(std::abs(std::log(base)) * (1 + 1e-15), eb) + scaled(eb, dlog));
  return spread < 1e-3 ? v * spread * (1 + spread) : v * std::expm1(spread) * (1 + 1e-12);
}

BoundedValue pow(const BoundedArithmetic& a, Operands x) {
  const long double v = std::pow(x[0]->v, x[1]->v);
  const double m = magnitude(v);
  return a.with_rounding_error(Op::kPow, v,
                               {power_error(*x[0], *x[1], m, kNative), power_error(*x[0], *x[1], m, kPromoted)});
}
void d_pow(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t wanted, BoundedValue* p) {
  const BoundedValue& base = *x[0];
  const BoundedValue& exponent = *x[1];
  if (wanted & 1U) {
    const BoundedValue lowered = a.sub(exponent, kBoundedOne);
    const std::array<const BoundedValue*, 2> inner{&base, &lowered};
    const bool constant = exponent.v == 0 && both_zero(exponent.e);
    p[0] = constant ? kBoundedZero : a.mul(exponent, pow(a, inner));
    if (!constant && base.v != 0) p[0] = a.with_widest_bound(p[0], a.div(a.mul(exponent, r), base));
  }
  if (wanted & 2U) {
    if (base.v > 0) {
      const BoundedValue* const operand = &base;
      p[1] = a.mul(r, log(a, Operands(&operand, 1)));
    } else if (base.v == 0 && exponent.v > 0 && both_zero(base.e)) {
      p[1] = kBoundedZero;
    } else {
      p[1] = {std::numeric_limits<long double>::quiet_NaN(), {kUnbounded, kUnbounded}};
    }
  }
}

BoundedValue atan2(const BoundedArithmetic& a, Operands operands) {
  const BoundedValue& y = *operands[0];
  const BoundedValue& x = *operands[1];
  const double my = magnitude(y.v);
  const double mx = magnitude(x.v);
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double ey = y.e[precision];
    const double ex = x.e[precision];
    const double room = std::hypot(mx, my) * (1 - 1e-15) - std::hypot(ex, ey) * (1 + 1e-15);
    const bool touches_cut = as_double(x.v) - ex < 0 && my <= ey;
    if (ey == 0 && ex == 0) p[precision] = 0;
    else p[precision] = room > 0 && !touches_cut ? (mx * ey + my * ex + 2 * ex * ey) / (room * room) : kUnbounded;
    if (ey == 0 && my == 0 && ex > 0 && mx > ex) p[precision] = 0;
  }
  return a.with_rounding_error(Op::kAtan2, std::atan2(y.v, x.v), p);
}
void d_atan2(const BoundedArithmetic& a, Operands operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const BoundedValue& y = *operands[0];
  const BoundedValue& x = *operands[1];
  const BoundedValue square = a.add(a.mul(x, x), a.mul(y, y));
  p[0] = a.with_widest_bound(a.div(x, square), a.mul(x, a.div(kBoundedOne, square)));
  p[1] = a.neg(a.with_widest_bound(a.div(y, square), a.mul(y, a.div(kBoundedOne, square))));
}

BoundedValue hypot(const BoundedArithmetic& a, Operands x) {
  PrecisionBounds p;
  // The gradient of the length has length 1.
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
    p[precision] = std::hypot(x[0]->e[precision], x[1]->e[precision]) * (1 + 1e-15);
  return a.with_rounding_error(Op::kHypot, std::hypot(x[0]->v, x[1]->v), p);
}
void d_hypot(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  for (std::size_t i = 0; i < 2; ++i)
    p[i] = r.v == 0 && both_zero(r.e) ? kBoundedZero : a.div(*x[i], r);
}

// lerp(a, b, t) = a (1 - t) + b t
BoundedValue lerp(const BoundedArithmetic& a, Operands x) {
  return a.add(a.mul(*x[0], a.sub(kBoundedOne, *x[2])), a.mul(*x[1], *x[2]));
}
void d_lerp(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = a.sub(kBoundedOne, *x[2]);
  p[1] = *x[2];
  p[2] = a.sub(*x[1], *x[0]);
  // Code may add w * b and -w * a separately: both products and the sum are rounded.
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
    p[2].e[precision] += 2 * a.format(static_cast<int>(precision)).unit_roundoff *
                         (magnitude(x[0]->v) + x[0]->e[precision] + magnitude(x[1]->v) + x[1]->e[precision]);
}

/// t = clamp((x - low) / (high - low), 0, 1). Its kinks have no effect: the derivative of t^2 (3 - 2t) is 0 there.
BoundedValue smoothstep_parameter(const BoundedArithmetic& a, Operands x) {
  BoundedValue t = a.div(a.sub(*x[2], *x[0]), a.sub(*x[1], *x[0]));
  if (std::isnan(t.v)) t.v = 0;  // max ignores a NaN
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double e = t.e[precision];
    if (magnitude(t.v - 0.5L) - 0.5 > e && (t.v < 0 || t.v > 1)) t.e[precision] = 0;
  }
  t.v = t.v < 0 ? 0 : (t.v > 1 ? 1 : t.v);
  return t;
}
BoundedValue smoothstep(const BoundedArithmetic& a, Operands x) {
  const BoundedValue t = smoothstep_parameter(a, x);
  const long double at = (x[2]->v - x[0]->v) / (x[1]->v - x[0]->v);
  a.decisions().record_outcome(at < 0 ? 0 : (at > 1 ? 2 : 1));
  return a.mul(a.mul(t, t), a.sub(number(3), a.mul(number(2), t)));
}
void d_smoothstep(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const BoundedValue t = smoothstep_parameter(a, x);
  const BoundedValue width = a.sub(*x[1], *x[0]);
  const BoundedValue slope = a.with_widest_bound(a.mul(a.mul(number(6), t), a.sub(kBoundedOne, t)),
                                                 a.sub(a.mul(number(6), t), a.mul(a.mul(number(6), t), t)));
  const BoundedValue rest = a.sub(t, kBoundedOne);
  p[0] = a.div(a.mul(slope, rest), width);
  p[1] = a.neg(a.div(a.mul(slope, t), width));
  p[2] = a.div(slope, width);
  const bool inside = t.v > 0 && t.v < 1;
  if (!inside) return;
  const BoundedValue square = a.mul(width, width);
  p[0] = a.with_widest_bound(p[0], a.div(a.mul(slope, a.sub(*x[2], *x[1])), square));
  p[1] = a.with_widest_bound(p[1], a.div(a.mul(slope, a.sub(*x[0], *x[2])), square));
}

constexpr long double kPi = std::numbers::pi_v<long double>;

/// x * factor, computed with one constant or as x * numerator / denominator.
BoundedValue scaled_by(const BoundedArithmetic& a, const BoundedValue& x, long double numerator,
                       long double denominator) {
  return a.with_widest_bound(a.mul(x, a.constant(numerator / denominator)),
                             a.div(a.mul(x, a.constant(numerator)), a.constant(denominator)));
}
BoundedValue degrees(const BoundedArithmetic& a, Operands x) { return scaled_by(a, *x[0], 180, kPi); }
void d_degrees(const BoundedArithmetic& a, Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = scaled_by(a, kBoundedOne, 180, kPi);
}
BoundedValue radians(const BoundedArithmetic& a, Operands x) { return scaled_by(a, *x[0], kPi, 180); }
void d_radians(const BoundedArithmetic& a, Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = scaled_by(a, kBoundedOne, kPi, 180);
}

BoundedValue dot(const BoundedArithmetic& a, Operands x) { return a.dot(x); }
void d_dot(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const std::size_t k = x.size() / 2;
  for (std::size_t i = 0; i < k; ++i) {
    p[i] = *x[k + i];
    p[k + i] = *x[i];
  }
}

BoundedValue length(const BoundedArithmetic& a, Operands x) {
  std::array<const BoundedValue*, 32> twice;
  std::copy(x.begin(), x.end(), twice.begin());
  std::copy(x.begin(), x.end(), twice.begin() + static_cast<std::ptrdiff_t>(x.size()));
  return a.sqrt_of_squares(a.dot(std::span(twice).first(2 * x.size())));
}
void d_length(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  const bool zero = r.v == 0 && both_zero(r.e);
  const BoundedValue inverse = zero ? kBoundedZero : a.div(kBoundedOne, r);
  for (std::size_t i = 0; i < x.size(); ++i)
    p[i] = zero ? kBoundedZero : a.with_widest_bound(a.div(*x[i], r), a.mul(*x[i], inverse));
}

constexpr std::array kRows{
    elementwise_evaluator(Op::kAdd, add, d_add),
    elementwise_evaluator(Op::kSub, sub, d_sub),
    elementwise_evaluator(Op::kMul, mul, d_mul),
    elementwise_evaluator(Op::kDiv, div, d_div),
    elementwise_evaluator(Op::kNeg, neg, d_neg),
    elementwise_evaluator(Op::kAtan2, atan2, d_atan2),
    elementwise_evaluator(Op::kPow, pow, d_pow),
    elementwise_evaluator(Op::kHypot, hypot, d_hypot),
    elementwise_evaluator(Op::kFma, fma, d_fma),
    elementwise_evaluator(Op::kLerp, lerp, d_lerp),
    elementwise_evaluator(Op::kSmoothstep, smoothstep, d_smoothstep),
    elementwise_evaluator(Op::kDegrees, degrees, d_degrees),
    elementwise_evaluator(Op::kRadians, radians, d_radians),
    reduction_evaluator(Op::kDot, dot, d_dot),
    reduction_evaluator(Op::kLength, length, d_length),
};

}  // namespace

std::span<const Evaluator> compound() { return kRows; }

}  // namespace evaluators
}  // namespace assay::reference
