// Evaluators of the smooth functions of one operand.
//
// Each has its value, its derivative by each usual formula, and the propagation of an input error E in closed form
// (evaluating the function at x - E and x + E would cost more and cancel).
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "reference/cpu/evaluator_tables.hpp"

namespace assay::reference::evaluators {
namespace {

using ir::Op;

constexpr long double kLn2 = std::numbers::ln2_v<long double>;
constexpr long double kLn10 = std::numbers::ln10_v<long double>;
constexpr long double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi_v<long double>;

/// The value v of `op` at x; `propagate` returns the propagated error of an input error E > 0.
template <class Propagate>
BoundedValue smooth(const BoundedArithmetic& a, Op op, const BoundedValue& x, long double v, Propagate propagate) {
  // Values that are exact in C's Annex F and CUDA: sin 0 = 0, exp 0 = 1, log 1 = 0, acos 1 = 0 and similar.
  const bool exact = x.e[kNative] == 0 && x.e[kPromoted] == 0 && (x.v == 0 || x.v == 1) && (v == 0 || v == 1);
  if (exact) return {v, {}};
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double e = x.e[precision];
    p[precision] = e == 0 ? 0 : (e < kUnbounded ? propagate(e) : kUnbounded);
  }
  return a.with_rounding_error(op, v, p);
}

/// Upper bound of exp(e) - 1.
double grown(double e) { return e < 1e-3 ? e * (1 + e) : std::expm1(e) * (1 + 1e-12); }

double as_double(long double x) { return static_cast<double>(x); }

/// The smallest magnitude in the box.
double least(double x, double e) { return std::max(0.0, std::abs(x) - e); }

BoundedValue half_of(const BoundedArithmetic& a, const BoundedValue& x) { return a.mul(number(0.5L), x); }
BoundedValue square(const BoundedArithmetic& a, const BoundedValue& x) { return a.mul(x, x); }
BoundedValue reciprocal(const BoundedArithmetic& a, const BoundedValue& x) { return a.div(kBoundedOne, x); }
/// Another function used in a derivative.
BoundedValue apply(const BoundedArithmetic& a, Evaluate function, const BoundedValue& x) {
  const BoundedValue* const operand = &x;
  return function(a, Operands(&operand, 1));
}

/// sqrt(1 - x^2), as written and factored.
BoundedValue cosine_of_sine(const BoundedArithmetic& a, const BoundedValue& x) {
  const BoundedValue factored = a.sqrt(a.mul(a.sub(kBoundedOne, x), a.add(kBoundedOne, x)));
  return a.with_widest_bound(factored, a.sqrt(a.sub(kBoundedOne, square(a, x))));
}

double log_error(double x, double e) { return x > e ? (e / x) / (1 - e / x) : kUnbounded; }

double sine_error(double slope, double e) { return std::min(2.0, std::abs(slope) * e + 0.5 * e * e); }

double hyperbolic_error(double slope, double value, double e) {
  // |f(x + e) - f(x)| <= |f'| sinh e + |f| (cosh e - 1)
  return e < 1 ? std::abs(slope) * e * (1 + e * e / 5) + std::abs(value) * e * e * 0.55
               : std::abs(slope) * std::sinh(e) + std::abs(value) * (std::cosh(e) - 1);
}

double gaussian(double x) { return as_double(kTwoOverSqrtPi) * std::exp(-x * x); }

// Forward declarations for derivatives.
BoundedValue rsqrt(const BoundedArithmetic& a, Operands x);
BoundedValue cos(const BoundedArithmetic& a, Operands x);
BoundedValue cosh(const BoundedArithmetic& a, Operands x);

BoundedValue sqrt(const BoundedArithmetic& a, Operands x) { return a.sqrt(*x[0]); }
void d_sqrt(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = a.with_widest_bound(a.div(number(0.5L), r), half_of(a, apply(a, rsqrt, *x[0])),
                             reciprocal(a, a.mul(number(2), r)));
}

BoundedValue rsqrt(const BoundedArithmetic& a, Operands x) {
  const long double v = 1 / std::sqrt(x[0]->v);
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kRsqrt, *x[0], v, [&](double e) {
    const double q = e / at;
    return q < 1 && at > 0 ? magnitude(v) * q / 2 / ((1 - q) * (1 - q)) : kUnbounded;
  });
}
void d_rsqrt(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  const BoundedValue cubed = a.mul(a.mul(r, r), r);
  p[0] = a.neg(a.with_widest_bound(a.div(half_of(a, r), *x[0]), half_of(a, cubed)));
}

BoundedValue cbrt(const BoundedArithmetic& a, Operands x) {
  const long double v = std::cbrt(x[0]->v);
  const double at = magnitude(x[0]->v);
  return smooth(a, Op::kCbrt, *x[0], v, [&](double e) {
    const double q = e / at;
    return q < 0.5 ? magnitude(v) * q / 3 / (1 - q) : 2 * std::cbrt(e);
  });
}
void d_cbrt(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = reciprocal(a, a.mul(number(3), a.mul(r, r)));
  if (x[0]->v != 0) p[0] = a.with_widest_bound(p[0], a.div(r, a.mul(number(3), *x[0])));
}

/// Upper bound of |exp(x + d) - exp(x)| for |d| <= e. `value` is the magnitude of exp(x).
double exponential_error(long double x, double value, double e) {
  const double at_center = value * grown(e);
  if (e < 1) return at_center;
  // Far below zero, exp(e) may overflow although exp(x + e) is small. The sum is rounded up.
  const long double end = x + static_cast<long double>(e) + 0x1p-60L * (std::abs(x) + static_cast<long double>(e));
  const double at_end = as_double(std::exp(end)) * (1 + 1e-14) + std::numeric_limits<double>::denorm_min();
  return at_center < at_end ? at_center : at_end;
}

BoundedValue exp(const BoundedArithmetic& a, Operands x) {
  const long double v = std::exp(x[0]->v);
  return smooth(a, Op::kExp, *x[0], v, [&](double e) { return exponential_error(x[0]->v, magnitude(v), e); });
}
void d_exp(const BoundedArithmetic&, Operands, const BoundedValue& r, std::uint32_t, BoundedValue* p) { p[0] = r; }

BoundedValue exp2(const BoundedArithmetic& a, Operands x) {
  const long double v = std::exp2(x[0]->v);
  return smooth(a, Op::kExp2, *x[0], v, [&](double e) {
    return exponential_error(kLn2 * x[0]->v, magnitude(v), as_double(kLn2) * e * (1 + 1e-15));
  });
}
void d_exp2(const BoundedArithmetic& a, Operands, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = a.mul(r, a.constant(kLn2));
}

BoundedValue expm1(const BoundedArithmetic& a, Operands x) {
  const long double v = std::expm1(x[0]->v);
  return smooth(a, Op::kExpm1, *x[0], v, [&](double e) { return magnitude(v + 1) * grown(e); });
}
void d_expm1(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = a.with_widest_bound(apply(a, exp, *x[0]), a.add(r, kBoundedOne));
}

void d_log(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = reciprocal(a, *x[0]);
}

BoundedValue log2(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kLog2, *x[0], std::log2(x[0]->v),
                [&](double e) { return log_error(at, e) / as_double(kLn2) * (1 + 1e-15); });
}
void d_log2(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = a.with_widest_bound(reciprocal(a, a.mul(*x[0], a.constant(kLn2))), a.div(a.constant(1 / kLn2), *x[0]));
}

BoundedValue log10(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kLog10, *x[0], std::log10(x[0]->v),
                [&](double e) { return log_error(at, e) / as_double(kLn10) * (1 + 1e-15); });
}
void d_log10(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = a.with_widest_bound(reciprocal(a, a.mul(*x[0], a.constant(kLn10))), a.div(a.constant(1 / kLn10), *x[0]));
}

BoundedValue log1p(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(1 + x[0]->v);
  return smooth(a, Op::kLog1p, *x[0], std::log1p(x[0]->v), [&](double e) { return log_error(at, e); });
}
void d_log1p(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = reciprocal(a, a.add(kBoundedOne, *x[0]));
}

BoundedValue sin(const BoundedArithmetic& a, Operands x) {
  return smooth(a, Op::kSin, *x[0], std::sin(x[0]->v),
                [&](double e) { return sine_error(as_double(std::cos(x[0]->v)), e); });
}
void d_sin(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = apply(a, cos, *x[0]);
}

BoundedValue cos(const BoundedArithmetic& a, Operands x) {
  return smooth(a, Op::kCos, *x[0], std::cos(x[0]->v),
                [&](double e) { return sine_error(as_double(std::sin(x[0]->v)), e); });
}
void d_cos(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = a.neg(apply(a, sin, *x[0]));
}

BoundedValue tan(const BoundedArithmetic& a, Operands x) {
  const long double v = std::tan(x[0]->v);
  const double t = magnitude(v);
  return smooth(a, Op::kTan, *x[0], v, [&](double e) {
    // tan(x + e) - tan x = (1 + t^2) tan e / (1 - t tan e); the pole lies where the denominator vanishes.
    const double step = e < 1.5 ? std::tan(e) : kUnbounded;
    const double room = 1 - t * step;
    return room > 0 ? (1 + t * t) * step / room : kUnbounded;
  });
}
void d_tan(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = a.with_widest_bound(a.add(kBoundedOne, square(a, r)), reciprocal(a, square(a, apply(a, cos, *x[0]))));
}

/// The argument of asin and acos limited to [-1, 1], as in Warp; a NaN becomes -1.
BoundedValue limited_to_one(const BoundedValue& x) {
  BoundedValue limited = x;
  limited.v = x.v > 1 ? 1 : (x.v > -1 ? x.v : -1);
  for (double& e : limited.e)
    if (magnitude(x.v) - e >= 1 && std::abs(x.v) > 1) e = 0;  // limited for any error
  return limited;
}

/// Error of asin and acos for an argument in [-1, 1].
double inverse_sine_error(double at, double e) {
  const double end = at + e;
  return end < 1 ? e / std::sqrt((1 - end) * (1 + end)) : kUnbounded;
}

BoundedValue asin(const BoundedArithmetic& a, Operands x) {
  const BoundedValue at = limited_to_one(*x[0]);
  return smooth(a, Op::kAsin, at, std::asin(at.v), [&](double e) { return inverse_sine_error(magnitude(at.v), e); });
}
void d_asin(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = reciprocal(a, cosine_of_sine(a, *x[0]));
}

BoundedValue acos(const BoundedArithmetic& a, Operands x) {
  const BoundedValue at = limited_to_one(*x[0]);
  return smooth(a, Op::kAcos, at, std::acos(at.v), [&](double e) { return inverse_sine_error(magnitude(at.v), e); });
}
void d_acos(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = a.neg(reciprocal(a, cosine_of_sine(a, *x[0])));
}

BoundedValue atan(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kAtan, *x[0], std::atan(x[0]->v), [&](double e) {
    const double near = least(at, e);
    return std::min(4.0, e / (1 + near * near));
  });
}
void d_atan(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = reciprocal(a, a.add(kBoundedOne, square(a, *x[0])));
}

BoundedValue sinh(const BoundedArithmetic& a, Operands x) {
  const long double v = std::sinh(x[0]->v);
  const double value = magnitude(v);
  return smooth(a, Op::kSinh, *x[0], v,
                [&](double e) { return hyperbolic_error(std::hypot(1.0, value) * (1 + 1e-15), value, e); });
}
void d_sinh(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = apply(a, cosh, *x[0]);
}

BoundedValue cosh(const BoundedArithmetic& a, Operands x) {
  const long double v = std::cosh(x[0]->v);
  return smooth(a, Op::kCosh, *x[0], v,
                [&](double e) { return hyperbolic_error(as_double(std::sinh(x[0]->v)), magnitude(v), e); });
}
void d_cosh(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = apply(a, sinh, *x[0]);
}

BoundedValue tanh(const BoundedArithmetic& a, Operands x) {
  const long double v = std::tanh(x[0]->v);
  const double t = magnitude(v);
  return smooth(a, Op::kTanh, *x[0], v, [&](double e) {
    // tanh(x + e) - tanh x = (1 - t^2) s / (1 + t s) with s = tanh e <= e
    const double slope = as_double((1 - v) * (1 + v)) + 0x1p-60;
    return t * e < 0.5 ? std::min(2.0, slope * e / (1 - t * e)) : 2.0;
  });
}
void d_tanh(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = a.with_widest_bound(reciprocal(a, square(a, apply(a, cosh, *x[0]))), a.sub(kBoundedOne, square(a, r)));
}

BoundedValue asinh(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kAsinh, *x[0], std::asinh(x[0]->v), [&](double e) { return e / std::hypot(1.0, least(at, e)); });
}
void d_asinh(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = reciprocal(a, a.sqrt(a.add(kBoundedOne, square(a, *x[0]))));
}

BoundedValue acosh(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kAcosh, *x[0], std::acosh(x[0]->v), [&](double e) {
    const double near = at - e;
    return near > 1 ? e / std::sqrt((near - 1) * (near + 1)) : kUnbounded;
  });
}
void d_acosh(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const BoundedValue& v = *x[0];
  p[0] = reciprocal(a, a.with_widest_bound(a.sqrt(a.mul(a.sub(v, kBoundedOne), a.add(v, kBoundedOne))),
                                           a.sqrt(a.sub(square(a, v), kBoundedOne))));
}

BoundedValue atanh(const BoundedArithmetic& a, Operands x) {
  const double at = magnitude(x[0]->v);
  return smooth(a, Op::kAtanh, *x[0], std::atanh(x[0]->v), [&](double e) {
    const double end = at + e;
    return end < 1 ? e / ((1 - end) * (1 + end)) : kUnbounded;
  });
}
void d_atanh(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const BoundedValue& v = *x[0];
  p[0] = reciprocal(
      a, a.with_widest_bound(a.mul(a.sub(kBoundedOne, v), a.add(kBoundedOne, v)), a.sub(kBoundedOne, square(a, v))));
}

BoundedValue erf(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kErf, *x[0], std::erf(x[0]->v),
                [&](double e) { return std::min(2.0, gaussian(least(at, e)) * e * (1 + 1e-14)); });
}
BoundedValue gaussian_slope(const BoundedArithmetic& a, const BoundedValue& x) {
  return a.mul(a.constant(kTwoOverSqrtPi), apply(a, exp, a.neg(square(a, x))));
}
void d_erf(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = gaussian_slope(a, *x[0]);
}

BoundedValue erfc(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kErfc, *x[0], std::erfc(x[0]->v),
                [&](double e) { return std::min(2.0, gaussian(least(at, e)) * e * (1 + 1e-14)); });
}
void d_erfc(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = a.neg(gaussian_slope(a, *x[0]));
}

/// x >= 0 with erfc(x) = c for 0 < c <= 1/2. Newton's method for log(erfc(x)) = log(c), which descends to the solution
/// from sqrt(-log(c)), because the function is concave and erfc(x) <= exp(-x^2).
long double solve_erfc(long double c) {
  long double x = std::sqrt(-std::log(c));
  for (int step = 0; step < 60; ++step) {
    const long double value = std::erfc(x);
    const long double slope = kTwoOverSqrtPi * std::exp(-x * x) / value;
    const long double next = x + std::log(value / c) / slope;
    if (!(std::abs(next - x) > 0x1p-62L * x)) return next;
    x = next;
  }
  return x;
}

/// The inverse of erf; infinite at 1 and -1, NaN outside.
long double inverse_erf(long double y) {
  const long double size = std::abs(y);
  if (!(size < 1)) return size == 1 ? std::copysign(std::numeric_limits<long double>::infinity(), y) : std::nanl("");
  if (size > 0.5L) return std::copysign(solve_erfc(1 - size), y);
  long double x = y / kTwoOverSqrtPi;
  for (int step = 0; step < 8; ++step)
    x -= (std::erf(x) - y) / (kTwoOverSqrtPi * std::exp(-x * x));
  return x;
}

/// The inverse of erfc; infinite at 0 and 2, NaN outside.
long double inverse_erfc(long double c) {
  if (c < 0 || c > 2) return std::numeric_limits<long double>::quiet_NaN();  // 1 - c may round to 1 or -1
  if (c > 0 && c < 0.5L) return solve_erfc(c);
  if (c > 1.5L && c < 2) return -solve_erfc(2 - c);
  return inverse_erf(1 - c);
}

/// sqrt(pi) / 2 exp(y^2) at the result of the operand that is nearest to a pole in the box.
double inverse_error(long double nearest, double e) {
  const double growth = as_double(std::exp(nearest * nearest) / kTwoOverSqrtPi) * (1 + 1e-14);
  return std::isfinite(growth) ? growth * e : kUnbounded;
}
BoundedValue inverse_slope(const BoundedArithmetic& a, const BoundedValue& r) {
  return a.mul(a.constant(1 / kTwoOverSqrtPi), apply(a, exp, square(a, r)));
}

BoundedValue erfinv(const BoundedArithmetic& a, Operands x) {
  return smooth(a, Op::kErfinv, *x[0], inverse_erf(x[0]->v),
                [&](double e) { return inverse_error(inverse_erf(std::abs(x[0]->v) + e), e); });
}
void d_erfinv(const BoundedArithmetic& a, Operands, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = inverse_slope(a, r);
}

BoundedValue erfcinv(const BoundedArithmetic& a, Operands x) {
  return smooth(a, Op::kErfcinv, *x[0], inverse_erfc(x[0]->v),
                [&](double e) { return inverse_error(inverse_erfc(std::min(x[0]->v, 2 - x[0]->v) - e), e); });
}
void d_erfcinv(const BoundedArithmetic& a, Operands, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  p[0] = a.neg(inverse_slope(a, r));
}

constexpr std::array kRows{
    elementwise_evaluator(Op::kSqrt, sqrt, d_sqrt),       elementwise_evaluator(Op::kRsqrt, rsqrt, d_rsqrt),
    elementwise_evaluator(Op::kCbrt, cbrt, d_cbrt),       elementwise_evaluator(Op::kExp, exp, d_exp),
    elementwise_evaluator(Op::kExp2, exp2, d_exp2),       elementwise_evaluator(Op::kExpm1, expm1, d_expm1),
    elementwise_evaluator(Op::kLog, log, d_log),          elementwise_evaluator(Op::kLog2, log2, d_log2),
    elementwise_evaluator(Op::kLog10, log10, d_log10),    elementwise_evaluator(Op::kLog1p, log1p, d_log1p),
    elementwise_evaluator(Op::kSin, sin, d_sin),          elementwise_evaluator(Op::kCos, cos, d_cos),
    elementwise_evaluator(Op::kTan, tan, d_tan),          elementwise_evaluator(Op::kAsin, asin, d_asin),
    elementwise_evaluator(Op::kAcos, acos, d_acos),       elementwise_evaluator(Op::kAtan, atan, d_atan),
    elementwise_evaluator(Op::kSinh, sinh, d_sinh),       elementwise_evaluator(Op::kCosh, cosh, d_cosh),
    elementwise_evaluator(Op::kTanh, tanh, d_tanh),       elementwise_evaluator(Op::kAsinh, asinh, d_asinh),
    elementwise_evaluator(Op::kAcosh, acosh, d_acosh),    elementwise_evaluator(Op::kAtanh, atanh, d_atanh),
    elementwise_evaluator(Op::kErf, erf, d_erf),          elementwise_evaluator(Op::kErfc, erfc, d_erfc),
    elementwise_evaluator(Op::kErfinv, erfinv, d_erfinv), elementwise_evaluator(Op::kErfcinv, erfcinv, d_erfcinv),
};

}  // namespace

BoundedValue log(const BoundedArithmetic& a, Operands x) {
  const double at = as_double(x[0]->v);
  return smooth(a, Op::kLog, *x[0], std::log(x[0]->v), [&](double e) { return log_error(at, e); });
}

std::span<const Evaluator> smooth() { return kRows; }

}  // namespace assay::reference::evaluators
