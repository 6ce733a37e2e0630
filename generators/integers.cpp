#include "generators/integers.hpp"

#include <algorithm>
#include <cmath>

namespace assay::generators {
namespace {

using ir::Op;

constexpr double kSmall = 10'000;

Interval limits(ir::Type integer) {
  const ir::ScalarTypeProperties& scalar = row(integer.scalar);
  const double most = std::min(kSmall, std::ldexp(1.0, scalar.significant_bits) - 1);
  return {scalar.is_signed ? -most : 0, most};
}

RangedExpression constant(KernelSketch& sketch, ir::Type integer, std::int64_t low, std::int64_t high) {
  const std::int64_t value = sketch.rng().uniform_int(low, high);
  const auto real = static_cast<double>(value);
  return {sketch.b().literal(integer, value), {real, real}};
}

/// An input or variable; a constant if there is none.
RangedExpression known(KernelSketch& sketch, ir::Type integer) {
  const auto term = sketch.leaf(integer);
  return term ? *term : constant(sketch, integer, 1, 9);
}

RangedExpression leaf(KernelSketch& sketch, ir::Type integer) {
  return sketch.rng().bernoulli(0.2) ? constant(sketch, integer, 1, 9) : known(sketch, integer);
}

Interval range(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kAdd: return {a.low + b.low, a.high + b.high};
    case Op::kSub: return {a.low - b.high, a.high - b.low};
    case Op::kMul: {
      const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return {low, high};
    }
    case Op::kMod: return {a.low < 0 ? 1 - b.high : 0, std::max(0.0, b.high - 1)};
    default: return {std::min(a.low, 0.0), std::max(a.high, 0.0)};
  }
}

}  // namespace

ir::Type choose_integer_type(Rng& rng) {
  if (rng.bernoulli(0.45)) return ir::kI32;
  return scalar_type(rng.choose({ir::Scalar::kI8, ir::Scalar::kI16, ir::Scalar::kI64, ir::Scalar::kU8, ir::Scalar::kU16,
                                 ir::Scalar::kU32, ir::Scalar::kU64}));
}

Interval small_domain(ir::Type integer) { return {row(integer.scalar).is_signed ? -10.0 : 0.0, 10}; }

RangedExpression grow_integer(KernelSketch& sketch, ir::Type integer, int depth) {
  Rng& rng = sketch.rng();
  if (depth <= 0) return known(sketch, integer);
  const Op op = rng.choose({Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMod, Op::kFloorDiv, Op::kNeg});
  const RangedExpression a = grow_integer(sketch, integer, depth - 1);
  if (op == Op::kNeg) {
    if (!row(integer.scalar).is_signed) return a;
    return {sketch.b().op(op, {a.expr}), {-a.range.high, -a.range.low}};
  }
  const bool divides = op == Op::kDiv || op == Op::kMod || op == Op::kFloorDiv;
  const RangedExpression b = divides ? constant(sketch, integer, 2, 7) : leaf(sketch, integer);
  const Interval result = range(op, a.range, b.range);
  if (contains(limits(integer), result)) return {sketch.b().op(op, {a.expr, b.expr}), result};
  const RangedExpression modulus = constant(sketch, integer, 3, 9);
  return {sketch.b().op(Op::kMod, {a.expr, modulus.expr}), range(Op::kMod, a.range, modulus.range)};
}

RangedExpression integer_condition(KernelSketch& sketch, ir::Type integer) {
  Rng& rng = sketch.rng();
  const RangedExpression value = known(sketch, integer);
  if (rng.bernoulli(0.5)) {
    const std::int64_t modulus = rng.uniform_int(2, 4);
    const std::int64_t remainder = rng.uniform_int(std::int64_t{0}, modulus - 1);
    ir::Builder& b = sketch.b();
    const ir::ExprId rest = b.op(Op::kMod, {value.expr, b.literal(integer, modulus)});
    const Op op = rng.bernoulli(0.6) ? Op::kEq : Op::kNe;
    return {b.op(op, {rest, b.literal(integer, remainder)}), {0, 1}};
  }
  const RangedExpression other = constant(sketch, integer, 0, 6);
  const Op op = rng.choose({Op::kLt, Op::kLe, Op::kGt, Op::kGe});
  return {sketch.b().op(op, {value.expr, other.expr}), {0, 1}};
}

}  // namespace assay::generators
