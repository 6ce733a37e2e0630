// Evaluators of operations that compare, select or round: their results jump or bend, and each says how far
// away the next jump or bend is.
#include <array>
#include <cmath>

#include "reference/cpu/evaluator_tables.hpp"

namespace assay::reference {
namespace {

PrecisionBounds sum(const PrecisionBounds& a, const PrecisionBounds& b) {
  return {a[kNative] + b[kNative], a[kPromoted] + b[kPromoted]};
}

/// A question whose answer changes `distance` away.
bool decide(const Arithmetic& a, bool ideal, double distance, const PrecisionBounds& slack) {
  const bool answer = ideal != a.decisions().overturned(distance, slack);
  a.decisions().outcome(answer);
  return answer;
}

bool compare(const Arithmetic& a, Operands x, bool ideal) {
  // A value compared with itself: both sides are the same number whatever its error.
  if (x[0] == x[1]) {
    a.decisions().outcome(ideal);
    return ideal;
  }
  return decide(a, ideal, magnitude(x[0]->v - x[1]->v), sum(x[0]->e, x[1]->e));
}

bool is_negative(const Arithmetic& a, const Bounded& x) { return decide(a, x.v < 0, magnitude(x.v), x.e); }

/// An integer that x was rounded to; `other` is the one beyond the jump that is `distance` away.
Bounded rounded_to_integer(const Arithmetic& a, long double ideal, long double other, double distance,
                           const PrecisionBounds& slack) {
  Bounded result{a.decisions().overturned(distance, slack) ? other : ideal, {}};
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (!(slack[precision] < 0.5)) {
      a.decisions().not_enumerable(precision);
      result.e[precision] = slack[precision] + 1;
    }
  }
  const bool fits = magnitude(result.v) < 0x1p62;
  a.decisions().outcome(fits ? static_cast<std::uint64_t>(static_cast<std::int64_t>(result.v)) : 0x7ff);
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

Bounded truncate(const Arithmetic& a, long double q, const PrecisionBounds& slack) {
  const TruncJump jump = trunc_jump(q);
  return rounded_to_integer(a, std::trunc(q), jump.other, jump.distance, slack);
}

/// Error of the quotient of exact division, without rounding.
PrecisionBounds quotient_slack(const Bounded& n, const Bounded& d, long double q) {
  PrecisionBounds slack;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    const double e = n.e[precision] + scaled(magnitude(q), d.e[precision]);
    const double room = magnitude(d.v) - d.e[precision];
    slack[precision] = e == 0 ? 0 : (room > 0 ? e / room : kUnbounded);
  }
  return slack;
}

/// Which operand fmin or fmax returns: the lesser or greater one; a tie goes to the second, a NaN loses.
bool first_wins(bool wants_less, const Bounded& a, const Bounded& b) {
  if (std::isnan(b.v)) return !std::isnan(a.v);
  return wants_less ? a.v < b.v : a.v > b.v;
}

Bounded choose(const Arithmetic& a, bool wants_less, const Bounded& x, const Bounded& y) {
  const bool first = first_wins(wants_less, x, y);
  const double distance = magnitude(x.v - y.v);
  const PrecisionBounds slack = sum(x.e, y.e);
  a.decisions().kink(distance, slack);
  a.decisions().outcome(first);
  Bounded result = first ? x : y;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    if (!(distance > slack[precision])) result.e[precision] = std::max(x.e[precision], y.e[precision]);
  }
  return result;
}

void route(bool first, Bounded* p) {
  p[0] = number(first ? 1 : 0);
  p[1] = number(first ? 0 : 1);
}

}  // namespace

long double truncated(const Arithmetic& a, const Bounded& x) { return truncate(a, x.v, x.e).v; }

Bounded convert(const Arithmetic& target, ir::Scalar from, ir::Scalar to, const Bounded& x) {
  Bounded result = target.exact(x.v, x.e);
  const bool narrows =
      ir::row(to).digits < ir::row(from).digits || (from == ir::Scalar::kBF16 && to == ir::Scalar::kF16);
  if (narrows && !(x.e[kNative] == 0 && representable(target.format(kNative), x.v)))
    result.e[kNative] = target.rounded(x.v, x.e).e[kNative];
  return result;
}

namespace evaluators {
namespace {

using ir::Op;

bool eq(const Arithmetic& a, Operands x) { return compare(a, x, x[0]->v == x[1]->v); }
bool ne(const Arithmetic& a, Operands x) { return compare(a, x, x[0]->v != x[1]->v); }
bool lt(const Arithmetic& a, Operands x) { return compare(a, x, x[0]->v < x[1]->v); }
bool le(const Arithmetic& a, Operands x) { return compare(a, x, x[0]->v <= x[1]->v); }
bool gt(const Arithmetic& a, Operands x) { return compare(a, x, x[0]->v > x[1]->v); }
bool ge(const Arithmetic& a, Operands x) { return compare(a, x, x[0]->v >= x[1]->v); }

/// The class of a value is certain unless its bound is infinite.
bool classify(const Arithmetic& a, const Bounded& x, bool ideal) {
  PrecisionBounds slack{};
  for (std::size_t precision = 0; precision < kPrecisions; ++precision)
    slack[precision] = x.e[precision] == kUnbounded ? kUnbounded : 0;
  return decide(a, ideal, 0, slack);
}
bool is_nan(const Arithmetic& a, Operands x) { return classify(a, *x[0], std::isnan(x[0]->v)); }
bool is_inf(const Arithmetic& a, Operands x) { return classify(a, *x[0], std::isinf(x[0]->v)); }
bool is_finite(const Arithmetic& a, Operands x) { return classify(a, *x[0], std::isfinite(x[0]->v)); }

Bounded sign(const Arithmetic& a, Operands x) { return number(is_negative(a, *x[0]) ? -1 : 1); }
Bounded step(const Arithmetic& a, Operands x) { return number(is_negative(a, *x[0]) ? 1 : 0); }
Bounded nonzero(const Arithmetic& a, Operands x) {
  return number(decide(a, x[0]->v != 0, magnitude(x[0]->v), x[0]->e) ? 1 : 0);
}

Bounded floor(const Arithmetic& a, Operands x) {
  const long double down = std::floor(x[0]->v);
  const long double past = x[0]->v - down;
  const bool lower = past < 0.5L;
  return rounded_to_integer(a, down, lower ? down - 1 : down + 1, magnitude(lower ? past : 1 - past), x[0]->e);
}
Bounded ceil(const Arithmetic& a, Operands x) {
  const long double up = std::ceil(x[0]->v);
  const long double short_of = up - x[0]->v;
  const bool upper = short_of < 0.5L;
  return rounded_to_integer(a, up, upper ? up + 1 : up - 1, magnitude(upper ? short_of : 1 - short_of), x[0]->e);
}
Bounded to_nearest(const Arithmetic& a, const Bounded& x, long double nearest) {
  const long double past = x.v - nearest;
  return rounded_to_integer(a, nearest, past < 0 ? nearest - 1 : nearest + 1, magnitude(0.5L - std::abs(past)), x.e);
}
Bounded round(const Arithmetic& a, Operands x) { return to_nearest(a, *x[0], std::round(x[0]->v)); }
Bounded rint(const Arithmetic& a, Operands x) { return to_nearest(a, *x[0], std::rint(x[0]->v)); }
Bounded trunc(const Arithmetic& a, Operands x) { return truncate(a, x[0]->v, x[0]->e); }

Bounded frac(const Arithmetic& a, Operands x) {
  const Bounded whole = truncate(a, x[0]->v, x[0]->e);
  return a.exact(x[0]->v - whole.v, sum(x[0]->e, whole.e));
}
void d_frac(const Arithmetic&, Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0] = kOneBounded; }

Bounded mod(const Arithmetic& a, Operands x) {
  const Bounded& n = *x[0];
  const Bounded& d = *x[1];
  const long double q = n.v / d.v;
  long double remainder = std::fmod(n.v, d.v);
  // The exact quotient's integer part: n - remainder is a multiple of d, so its quotient rounds to an integer.
  const long double whole = std::rint((n.v - remainder) / d.v);
  const TruncJump jump = trunc_jump(q);
  const PrecisionBounds slack = quotient_slack(n, d, q);
  const Bounded cell = rounded_to_integer(a, whole, jump.other, jump.distance, slack);
  if (cell.v != whole) remainder -= (cell.v - whole) * d.v;
  PrecisionBounds p;
  for (std::size_t precision = 0; precision < kPrecisions; ++precision)
    p[precision] = cell.e[precision] > 0 ? kUnbounded : n.e[precision] + scaled(magnitude(cell.v), d.e[precision]);
  return a.exact(remainder, p);
}
void d_mod(const Arithmetic& a, Operands x, const Bounded& r, std::uint32_t wanted, Bounded* p) {
  p[0] = kOneBounded;
  if ((wanted & 2U) == 0) return;
  const Bounded q = a.div(*x[0], *x[1]);
  const double distance = trunc_jump(q.v).distance;
  // From the remainder, so that it is the integer of the path taken.
  p[1] = a.constant(-std::rint((x[0]->v - r.v) / x[1]->v));
  for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
    // Code that rounds the quotient before it truncates may be off by one.
    if (q.e[precision] > 0 && !(distance > q.e[precision])) p[1].e[precision] += 1;
  }
}

Bounded floor_div(const Arithmetic& a, Operands x) {
  const Bounded q = a.div(*x[0], *x[1]);
  const Bounded* const operand = &q;
  return floor(a, Operands(&operand, 1));
}

Bounded abs(const Arithmetic& a, Operands x) {
  a.decisions().kink(magnitude(x[0]->v), x[0]->e);
  a.decisions().outcome(x[0]->v < 0);
  return {std::abs(x[0]->v), x[0]->e};
}
void d_abs(const Arithmetic&, Operands x, const Bounded&, std::uint32_t, Bounded* p) {
  p[0] = number(x[0]->v > 0 ? 1 : (x[0]->v < 0 ? -1 : 0));
}

Bounded copysign(const Arithmetic& a, Operands x) {
  const bool negative = decide(a, std::signbit(x[1]->v), magnitude(x[1]->v), x[1]->e);
  a.decisions().kink(magnitude(x[0]->v), x[0]->e);
  a.decisions().outcome(x[0]->v < 0);
  const long double m = std::abs(x[0]->v);
  return {negative ? -m : m, x[0]->e};
}
void d_copysign(const Arithmetic&, Operands x, const Bounded& r, std::uint32_t, Bounded* p) {
  const int own = x[0]->v > 0 ? 1 : (x[0]->v < 0 ? -1 : 0);
  p[0] = number(std::signbit(r.v) ? -own : own);
  p[1] = kZeroBounded;
}

Bounded min(const Arithmetic& a, Operands x) { return choose(a, true, *x[0], *x[1]); }
Bounded max(const Arithmetic& a, Operands x) { return choose(a, false, *x[0], *x[1]); }
void d_min(const Arithmetic&, Operands x, const Bounded&, std::uint32_t, Bounded* p) {
  route(first_wins(true, *x[0], *x[1]), p);
}
void d_max(const Arithmetic&, Operands x, const Bounded&, std::uint32_t, Bounded* p) {
  route(first_wins(false, *x[0], *x[1]), p);
}

// clamp(x, low, high) = min(max(low, x), high)
Bounded clamp(const Arithmetic& a, Operands x) {
  const Bounded raised = choose(a, false, *x[1], *x[0]);
  return choose(a, true, raised, *x[2]);
}
void d_clamp(const Arithmetic&, Operands x, const Bounded&, std::uint32_t, Bounded* p) {
  const bool low_wins = first_wins(false, *x[1], *x[0]);
  const bool high_loses = first_wins(true, low_wins ? *x[1] : *x[0], *x[2]);
  p[0] = number(high_loses && !low_wins ? 1 : 0);
  p[1] = number(high_loses && low_wins ? 1 : 0);
  p[2] = number(high_loses ? 0 : 1);
}

constexpr std::array kRows{
    elementwise(Op::kMod, mod, d_mod),
    elementwise(Op::kFloorDiv, floor_div),
    test(Op::kEq, eq),
    test(Op::kNe, ne),
    test(Op::kLt, lt),
    test(Op::kLe, le),
    test(Op::kGt, gt),
    test(Op::kGe, ge),
    elementwise(Op::kAbs, abs, d_abs),
    elementwise(Op::kSign, sign),
    elementwise(Op::kStep, step),
    elementwise(Op::kNonzero, nonzero),
    elementwise(Op::kMin, min, d_min),
    elementwise(Op::kMax, max, d_max),
    elementwise(Op::kClamp, clamp, d_clamp),
    elementwise(Op::kFloor, floor),
    elementwise(Op::kCeil, ceil),
    elementwise(Op::kRound, round),
    elementwise(Op::kRint, rint),
    elementwise(Op::kTrunc, trunc),
    elementwise(Op::kFrac, frac, d_frac),
    elementwise(Op::kCopysign, copysign, d_copysign),
    test(Op::kIsNan, is_nan),
    test(Op::kIsInf, is_inf),
    test(Op::kIsFinite, is_finite),
};

}  // namespace

std::span<const Evaluator> piecewise() { return kRows; }

}  // namespace evaluators
}  // namespace assay::reference
