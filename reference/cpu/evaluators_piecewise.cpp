// Evaluators of operations that compare, select or round. Their results have jumps or kinks, and each evaluator records
// the distance to the next one.
#include <array>
#include <bit>
#include <cmath>

#include "reference/cpu/evaluator_tables.hpp"

namespace assay::reference {
namespace {

PrecisionBounds sum(const PrecisionBounds& a, const PrecisionBounds& b) {
  return {a[kNative] + b[kNative], a[kPromoted] + b[kPromoted]};
}

/// A predicate whose result changes at this distance.
bool decide(const BoundedArithmetic& a, bool ideal, double distance, const PrecisionBounds& slack) {
  const bool answer = ideal != a.decisions().record_decision(distance, slack);
  a.decisions().record_outcome(answer);
  return answer;
}

bool compare(const BoundedArithmetic& a, Operands x, bool ideal) {
  // A value compared with itself, or equal inputs, on which another algorithm computes equal values: both sides are
  // equal for any error.
  if (x[0] == x[1] || (x[0]->v == x[1]->v && a.is_input(*x[0]) && a.is_input(*x[1]))) {
    a.decisions().record_outcome(ideal);
    return ideal;
  }
  return decide(a, ideal, magnitude(x[0]->v - x[1]->v), sum(x[0]->e, x[1]->e));
}

bool is_negative(const BoundedArithmetic& a, const BoundedValue& x) { return decide(a, x.v < 0, magnitude(x.v), x.e); }

/// An integer to which x was rounded; `other` is the integer beyond the next jump, which is `distance` away.
BoundedValue rounded_to_integer(const BoundedArithmetic& a, long double ideal, long double other, double distance,
                                const PrecisionBounds& slack) {
  BoundedValue result{a.decisions().record_decision(distance, slack) ? other : ideal, {}};
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (!(slack[precision] < 0.5)) {
      a.decisions().mark_not_enumerable(precision);
      result.e[precision] = slack[precision] + 1;
    }
  }
  const bool fits = magnitude(result.v) < 0x1p62;
  a.decisions().record_outcome(fits ? static_cast<std::uint64_t>(static_cast<std::int64_t>(result.v)) : 0x7ff);
  return result;
}

/// The jumps of trunc: all integers but 0.
struct TruncJump {
  double distance;
  long double other;
};
TruncJump trunc_jump(long double q) {
  const long double t = std::trunc(q);
  const long double toward = q < 0 || (q == 0 && std::signbit(q)) ? -1 : 1;
  const long double past = std::abs(q - t);
  if (t != 0 && past < 0.5L) return {magnitude(past), t - toward};
  return {magnitude(1 - past), t + toward};
}

BoundedValue truncate(const BoundedArithmetic& a, long double q, const PrecisionBounds& slack) {
  const TruncJump jump = trunc_jump(q);
  return rounded_to_integer(a, std::trunc(q), jump.other, jump.distance, slack);
}

/// Error of the exact quotient, without rounding.
PrecisionBounds quotient_slack(const BoundedValue& n, const BoundedValue& d, long double q) {
  PrecisionBounds slack;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    const double e = n.e[precision] + scaled(magnitude(q), d.e[precision]);
    const double room = magnitude(d.v) - d.e[precision];
    slack[precision] = e == 0 ? 0 : (room > 0 ? e / room : kUnbounded);
  }
  return slack;
}

/// The operand that gets the gradient of fmin or fmax: the smaller or greater one; the second in a tie; NaN operands
/// are ignored.
bool first_wins(bool wants_less, const BoundedValue& a, const BoundedValue& b) {
  if (std::isnan(b.v)) return !std::isnan(a.v);
  return wants_less ? a.v < b.v : a.v > b.v;
}

BoundedValue choose(const BoundedArithmetic& a, bool wants_less, const BoundedValue& x, const BoundedValue& y) {
  const bool first = first_wins(wants_less, x, y);
  const double distance = magnitude(x.v - y.v);
  const PrecisionBounds slack = sum(x.e, y.e);
  a.decisions().record_kink(distance, slack);
  a.decisions().record_outcome(first);
  // Zeros of different sign are equal; the first one is returned.
  BoundedValue result = first || x.v == y.v ? x : y;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (!(distance > slack[precision])) result.e[precision] = std::max(x.e[precision], y.e[precision]);
  }
  return result;
}

void route(bool first, BoundedValue* p) {
  p[0] = number(first ? 1 : 0);
  p[1] = number(first ? 0 : 1);
}

}  // namespace

long double truncated(const BoundedArithmetic& a, const BoundedValue& x) { return truncate(a, x.v, x.e).v; }

std::int64_t bits_of(const BoundedArithmetic& a, const BoundedValue& x, int bytes) {
  const bool is_float = bytes == 4;
  const auto wide = static_cast<double>(x.v);
  const auto narrow = static_cast<float>(x.v);
  const bool is_exact = is_float ? static_cast<long double>(narrow) == x.v : static_cast<long double>(wide) == x.v;
  PrecisionBounds slack{};
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (is_exact && x.e[precision] == 0) continue;
    slack[precision] = kUnbounded;
    a.decisions().mark_not_enumerable(precision);
  }
  a.decisions().record_decision(0, slack);
  std::int64_t bits = is_float ? std::bit_cast<std::int32_t>(narrow) : std::bit_cast<std::int64_t>(wide);
  if (std::isnan(x.v)) bits = 0;
  a.decisions().record_outcome(static_cast<std::uint64_t>(bits));
  return bits;
}

BoundedValue convert(const BoundedArithmetic& target, ir::Scalar from, ir::Scalar to, const BoundedValue& x) {
  BoundedValue result = target.exact(x.v, x.e);
  const bool narrows = ir::row(to).significant_bits < ir::row(from).significant_bits ||
                       (from == ir::Scalar::kBF16 && to == ir::Scalar::kF16);
  if (narrows && !(x.e[kNative] == 0 && is_representable(target.format(kNative), x.v)))
    result.e[kNative] = target.with_rounding_error(x.v, x.e).e[kNative];
  return result;
}

namespace evaluators {
namespace {

using ir::Op;

bool eq(const BoundedArithmetic& a, Operands x) { return compare(a, x, x[0]->v == x[1]->v); }
bool ne(const BoundedArithmetic& a, Operands x) { return compare(a, x, x[0]->v != x[1]->v); }
bool lt(const BoundedArithmetic& a, Operands x) { return compare(a, x, x[0]->v < x[1]->v); }
bool le(const BoundedArithmetic& a, Operands x) { return compare(a, x, x[0]->v <= x[1]->v); }
bool gt(const BoundedArithmetic& a, Operands x) { return compare(a, x, x[0]->v > x[1]->v); }
bool ge(const BoundedArithmetic& a, Operands x) { return compare(a, x, x[0]->v >= x[1]->v); }

/// The class of a value is certain unless its bound is infinite.
bool classify(const BoundedArithmetic& a, const BoundedValue& x, bool ideal) {
  PrecisionBounds slack{};
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
    slack[precision] = x.e[precision] == kUnbounded ? kUnbounded : 0;
  return decide(a, ideal, 0, slack);
}
bool is_nan(const BoundedArithmetic& a, Operands x) { return classify(a, *x[0], std::isnan(x[0]->v)); }
bool is_inf(const BoundedArithmetic& a, Operands x) { return classify(a, *x[0], std::isinf(x[0]->v)); }
bool is_finite(const BoundedArithmetic& a, Operands x) { return classify(a, *x[0], std::isfinite(x[0]->v)); }

BoundedValue sign(const BoundedArithmetic& a, Operands x) { return number(is_negative(a, *x[0]) ? -1 : 1); }
BoundedValue step(const BoundedArithmetic& a, Operands x) { return number(is_negative(a, *x[0]) ? 1 : 0); }
BoundedValue nonzero(const BoundedArithmetic& a, Operands x) {
  return number(decide(a, x[0]->v != 0, magnitude(x[0]->v), x[0]->e) ? 1 : 0);
}

BoundedValue floor(const BoundedArithmetic& a, Operands x) {
  const long double down = std::floor(x[0]->v);
  const long double past = x[0]->v - down;
  const bool lower = past < 0.5L;
  return rounded_to_integer(a, down, lower ? down - 1 : down + 1, magnitude(lower ? past : 1 - past), x[0]->e);
}
BoundedValue ceil(const BoundedArithmetic& a, Operands x) {
  const long double up = std::ceil(x[0]->v);
  const long double short_of = up - x[0]->v;
  const bool upper = short_of < 0.5L;
  return rounded_to_integer(a, up, upper ? up + 1 : up - 1, magnitude(upper ? short_of : 1 - short_of), x[0]->e);
}
BoundedValue to_nearest(const BoundedArithmetic& a, const BoundedValue& x, long double nearest) {
  const long double past = x.v - nearest;
  return rounded_to_integer(a, nearest, past < 0 ? nearest - 1 : nearest + 1, magnitude(0.5L - std::abs(past)), x.e);
}
BoundedValue round(const BoundedArithmetic& a, Operands x) { return to_nearest(a, *x[0], std::round(x[0]->v)); }
BoundedValue rint(const BoundedArithmetic& a, Operands x) { return to_nearest(a, *x[0], std::rint(x[0]->v)); }
BoundedValue trunc(const BoundedArithmetic& a, Operands x) { return truncate(a, x[0]->v, x[0]->e); }

BoundedValue frac(const BoundedArithmetic& a, Operands x) {
  const BoundedValue whole = truncate(a, x[0]->v, x[0]->e);
  return a.exact(x[0]->v - whole.v, sum(x[0]->e, whole.e));
}
void d_frac(const BoundedArithmetic&, Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = kBoundedOne;
}

BoundedValue mod(const BoundedArithmetic& a, Operands x) {
  const BoundedValue& n = *x[0];
  const BoundedValue& d = *x[1];
  const long double q = n.v / d.v;
  long double remainder = std::fmod(n.v, d.v);
  // The exact quotient's integer part: n - remainder is a multiple of d, so its quotient rounds to an integer.
  const long double whole = std::rint((n.v - remainder) / d.v);
  const TruncJump jump = trunc_jump(q);
  const PrecisionBounds slack = quotient_slack(n, d, q);
  const BoundedValue cell = rounded_to_integer(a, whole, jump.other, jump.distance, slack);
  if (cell.v != whole) remainder -= (cell.v - whole) * d.v;
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
    p[precision] = cell.e[precision] > 0 ? kUnbounded : n.e[precision] + scaled(magnitude(cell.v), d.e[precision]);
  return a.exact(remainder, p);
}
void d_mod(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t wanted, BoundedValue* p) {
  p[0] = kBoundedOne;
  if ((wanted & 2U) == 0) return;
  const BoundedValue q = a.div(*x[0], *x[1]);
  const double distance = trunc_jump(q.v).distance;
  // Computed from the remainder, so that it is the integer of the path taken.
  p[1] = a.constant(-std::rint((x[0]->v - r.v) / x[1]->v));
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    // Code that rounds the quotient before truncation may be off by one.
    if (q.e[precision] > 0 && !(distance > q.e[precision])) p[1].e[precision] += 1;
  }
}

BoundedValue floor_div(const BoundedArithmetic& a, Operands x) {
  const BoundedValue q = a.div(*x[0], *x[1]);
  const BoundedValue* const operand = &q;
  return floor(a, Operands(&operand, 1));
}

BoundedValue abs(const BoundedArithmetic& a, Operands x) {
  a.decisions().record_kink(magnitude(x[0]->v), x[0]->e);
  a.decisions().record_outcome(x[0]->v < 0);
  return {std::abs(x[0]->v), x[0]->e};
}
void d_abs(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  p[0] = number(x[0]->v > 0 ? 1 : (x[0]->v < 0 ? -1 : 0));
}

BoundedValue copysign(const BoundedArithmetic& a, Operands x) {
  const bool negative = decide(a, std::signbit(x[1]->v), magnitude(x[1]->v), x[1]->e);
  a.decisions().record_kink(magnitude(x[0]->v), x[0]->e);
  a.decisions().record_outcome(x[0]->v < 0);
  const long double m = std::abs(x[0]->v);
  return {negative ? -m : m, x[0]->e};
}
void d_copysign(const BoundedArithmetic&, Operands x, const BoundedValue& r, std::uint32_t, BoundedValue* p) {
  const int own = x[0]->v > 0 ? 1 : (x[0]->v < 0 ? -1 : 0);
  p[0] = number(std::signbit(r.v) ? -own : own);
  p[1] = kBoundedZero;
}

BoundedValue min(const BoundedArithmetic& a, Operands x) { return choose(a, true, *x[0], *x[1]); }
BoundedValue max(const BoundedArithmetic& a, Operands x) { return choose(a, false, *x[0], *x[1]); }
void d_min(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  route(first_wins(true, *x[0], *x[1]), p);
}
void d_max(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  route(first_wins(false, *x[0], *x[1]), p);
}

// clamp(x, low, high) = min(max(low, x), high)
BoundedValue clamp(const BoundedArithmetic& a, Operands x) {
  const BoundedValue raised = choose(a, false, *x[1], *x[0]);
  return choose(a, true, raised, *x[2]);
}
void d_clamp(const BoundedArithmetic&, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const bool low_wins = first_wins(false, *x[1], *x[0]);
  const bool high_loses = first_wins(true, low_wins ? *x[1] : *x[0], *x[2]);
  p[0] = number(high_loses && !low_wins ? 1 : 0);
  p[1] = number(high_loses && low_wins ? 1 : 0);
  p[2] = number(high_loses ? 0 : 1);
}

constexpr std::array kRows{
    elementwise_evaluator(Op::kMod, mod, d_mod),
    elementwise_evaluator(Op::kFloorDiv, floor_div),
    predicate_evaluator(Op::kEq, eq),
    predicate_evaluator(Op::kNe, ne),
    predicate_evaluator(Op::kLt, lt),
    predicate_evaluator(Op::kLe, le),
    predicate_evaluator(Op::kGt, gt),
    predicate_evaluator(Op::kGe, ge),
    elementwise_evaluator(Op::kAbs, abs, d_abs),
    elementwise_evaluator(Op::kSign, sign),
    elementwise_evaluator(Op::kStep, step),
    elementwise_evaluator(Op::kNonzero, nonzero),
    elementwise_evaluator(Op::kMin, min, d_min),
    elementwise_evaluator(Op::kMax, max, d_max),
    elementwise_evaluator(Op::kClamp, clamp, d_clamp),
    elementwise_evaluator(Op::kFloor, floor),
    elementwise_evaluator(Op::kCeil, ceil),
    elementwise_evaluator(Op::kRound, round),
    elementwise_evaluator(Op::kRint, rint),
    elementwise_evaluator(Op::kTrunc, trunc),
    elementwise_evaluator(Op::kFrac, frac, d_frac),
    elementwise_evaluator(Op::kCopysign, copysign, d_copysign),
    predicate_evaluator(Op::kIsNan, is_nan),
    predicate_evaluator(Op::kIsInf, is_inf),
    predicate_evaluator(Op::kIsFinite, is_finite),
};

}  // namespace

std::span<const Evaluator> piecewise() { return kRows; }

}  // namespace evaluators
}  // namespace assay::reference
