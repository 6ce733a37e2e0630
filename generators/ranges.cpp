#include "generators/ranges.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::generators {
namespace {

using ir::Op;

/// Hull of f over the corners of the operands' box: exact for functions monotone in each operand.
template <class Function>
Interval corners(std::span<const Interval> t, Function f) {
  Interval result{HUGE_VAL, -HUGE_VAL};
  const std::size_t count = std::size_t{1} << t.size();
  for (std::size_t corner = 0; corner < count; ++corner) {
    std::array<double, 3> x{};
    for (std::size_t i = 0; i < t.size(); ++i)
      x[i] = ((corner >> i) & 1U) != 0 ? t[i].high : t[i].low;
    const double value = f(x[0], x[1], x[2]);
    result = hull(result, {value, value});
  }
  return result;
}

Interval exact_range(Op op, std::span<const Interval> t) {
  if (const auto f = ir::row(op).monotone) return hull({f(t[0].low), f(t[0].low)}, {f(t[0].high), f(t[0].high)});
  const double greatest = std::max(std::abs(t[0].low), std::abs(t[0].high));
  switch (op) {
    case Op::kAdd: return corners(t, [](double a, double b, double) { return a + b; });
    case Op::kSub: return corners(t, [](double a, double b, double) { return a - b; });
    case Op::kMul:
    case Op::kCwMul: return corners(t, [](double a, double b, double) { return a * b; });
    case Op::kDiv:
    case Op::kCwDiv: return corners(t, [](double a, double b, double) { return a / b; });
    case Op::kFloorDiv: return corners(t, [](double a, double b, double) { return std::floor(a / b); });
    case Op::kMod: {
      const double bound = std::min(greatest, t[1].high);
      return {t[0].low < 0 ? -bound : 0, t[0].high > 0 ? bound : 0};
    }
    case Op::kNeg: return {-t[0].high, -t[0].low};
    case Op::kConditional:
    case Op::kWhere: return hull(t[1], t[2]);
    case Op::kAbs: return {contains(t[0], 0.0) ? 0 : std::min(std::abs(t[0].low), std::abs(t[0].high)), greatest};
    case Op::kSign: return {-1, 1};
    case Op::kStep:
    case Op::kNonzero:
    case Op::kSmoothstep: return {0, 1};
    case Op::kMin: return {std::min(t[0].low, t[1].low), std::min(t[0].high, t[1].high)};
    case Op::kMax: return {std::max(t[0].low, t[1].low), std::max(t[0].high, t[1].high)};
    case Op::kClamp:
      return corners(t, [](double x, double low, double high) { return std::min(std::max(low, x), high); });
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kRint:
    case Op::kTrunc: return {std::floor(t[0].low), std::ceil(t[0].high)};
    case Op::kFrac: return {t[0].low < 0 ? -1.0 : 0, 1};
    case Op::kCopysign: return {-greatest, greatest};
    case Op::kSin:
    case Op::kCos: return {-1, 1};
    case Op::kCosh:
      return {contains(t[0], 0.0) ? 1 : std::cosh(std::min(std::abs(t[0].low), std::abs(t[0].high))),
              std::cosh(greatest)};
    case Op::kAtan2: return corners(t, [](double y, double x, double) { return std::atan2(y, x); });
    case Op::kPow: return corners(t, [](double a, double b, double) { return std::pow(a, b); });
    case Op::kLerp: return hull(t[0], t[1]);
    case Op::kDegrees: return {57.3 * t[0].low, 57.3 * t[0].high};
    case Op::kRadians: return {0.0175 * t[0].low, 0.0175 * t[0].high};
    default: return kModerateRange;
  }
}

}  // namespace

Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Interval well_conditioned_range(Op op, int operand) {
  const Interval interval = ir::row(op).well_conditioned_range[static_cast<std::size_t>(operand)];
  if (interval.low != interval.high) return interval;
  return kModerateRange;
}

Interval range_of(Op op, std::span<const Interval> operands) {
  const Interval range = exact_range(op, operands);
  return {std::floor(range.low * 64) / 64, std::ceil(range.high * 64) / 64};
}

double truncate_to_two_digits(double value) {
  if (value == 0) return 0;
  double unit = 0.01;
  while (std::abs(value) >= 100 * unit)
    unit *= 10;
  while (std::abs(value) < 10 * unit)
    unit /= 10;
  // The quotient is a small integer, so dividing by the reciprocal power gives the decimal nearest to it.
  const double digits = std::trunc(value / unit * (1 + 0x1p-40));
  return unit < 1 ? digits / std::round(1 / unit) : digits * std::round(unit);
}

}  // namespace assay::generators
