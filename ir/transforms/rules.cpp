#include "ir/transforms/rules.hpp"

#include "ir/algebra.hpp"

namespace assay::transforms {
namespace {

using namespace ir;
using namespace ir::algebra;
using C = AdjointRuleContext&;

E w(C c) { return {&c.builder, c.w}; }
E x(C c, int k = 0) { return {&c.builder, c.args[static_cast<std::size_t>(k)]}; }
E y(C c) { return {&c.builder, c.result}; }
Type type(C c, int k) { return c.operand_types[static_cast<std::size_t>(k)]; }
E zero_of(C c, int k) { return {&c.builder, c.builder.zero(type(c, k))}; }

E transposed(E a) { return call(Op::kTranspose, a); }
E outer(E a, E b) { return call(Op::kOuter, a, b); }
E conjugate(E q) { return call(Op::kQuatInverse, q); }

ExprId product(C c, int k) {
  const Type given = type(c, k).tile_element_type();
  const Type other = type(c, 1 - k).tile_element_type();
  const bool matrices = !given.is_scalar() && !other.is_scalar();
  if (matrices && given.is_vector()) return (k == 0 ? x(c, 1) * w(c) : w(c) * x(c)).id;
  if (matrices && other.is_vector()) return (k == 0 ? outer(w(c), x(c, 1)) : outer(x(c), w(c))).id;
  if (given.is_quaternion() && other.is_quaternion())
    return (k == 0 ? w(c) * conjugate(x(c, 1)) : conjugate(x(c)) * w(c)).id;
  if (matrices) return (k == 0 ? w(c) * transposed(x(c, 1)) : transposed(x(c)) * w(c)).id;
  if (given.is_scalar() && !other.is_scalar()) return inner(w(c), x(c, 1 - k)).id;
  return (w(c) * x(c, 1 - k)).id;
}
ExprId quotient(C c, int k) {
  if (k == 0) return (w(c) / x(c, 1)).id;
  const E numerator = type(c, 0).tile_element_type().is_scalar() ? w(c) * y(c) : inner(w(c), y(c));
  return (-numerator / x(c, 1)).id;
}

/// Whether max(low, x) returned low; a tie selects x, a NaN operand the other operand.
E low_taken(C c) { return either(x(c, 1) > x(c), is_nan(x(c))); }
/// Whether min(max(low, x), high) did not return high.
E inner_taken(C c) { return either(call(Op::kMax, x(c, 1), x(c)) < x(c, 2), is_nan(x(c, 2))); }
ExprId clamp(C c, int k) {
  const E none = zero_like(w(c));
  if (k == 2) return where(inner_taken(c), none, w(c)).id;
  const E inner = k == 1 ? where(low_taken(c), w(c), none) : where(low_taken(c), none, w(c));
  return where(inner_taken(c), inner, none).id;
}

/// d smoothstep(a, b, x) = 6 t (1 - t) dt with t = clamp((x - a) / (b - a), 0, 1); zero where t is clamped.
ExprId smoothstep(C c, int k) {
  const E range = x(c, 1) - x(c);
  const E raw = (x(c, 2) - x(c)) / range;
  const E t{&c.builder, c.builder.op(Op::kClamp, {raw.id, like(raw, 0).id, like(raw, 1).id})};
  const E slope = 6.0 * (t * (1.0 - t)) * w(c) / range;
  if (k == 2) return slope.id;
  if (k == 1) return (-(slope * raw)).id;
  return (slope * (raw - 1.0)).id;
}

/// The part of w that belongs to operand k of kMake.
ExprId made_from(C c, int k) {
  int first = 0;
  for (int i = 0; i < k; ++i)
    first += type(c, i).components();
  const Type part = type(c, k);
  const Type whole = w(c).type();
  if (part.is_scalar()) return component(w(c), first).id;
  if (whole.is_transform() && part.is_quaternion() && first == 3) return call(Op::kRotation, w(c)).id;
  if (whole.is_transform() && part == vector_type(whole.scalar, 3) && first == 0)
    return call(Op::kTranslation, w(c)).id;
  if (part == whole.indexed_part_type() && first % whole.cols == 0) return w(c)[first / whole.cols].id;
  return make(part, components(w(c), first, part.components())).id;
}
ExprId extract(C c, int) { return c.builder.op(Op::kInsert, {zero_of(c, 0).id, c.args[1], c.w}); }
ExprId insert(C c, int k) {
  if (k == 2) return c.builder.op(Op::kExtract, {c.w, c.args[1]});
  return c.builder.op(Op::kInsert, {c.w, c.args[1], c.builder.zero(type(c, 2))});
}
ExprId sum_of_components(C c, int) { return sum(components(w(c))).id; }
/// The adjoint of a value made of two parts, given the adjoint of one part; the adjoint of the other part is zero.
ExprId first_part(C c, Type rest) { return make(type(c, 0), {w(c), zero(w(c), rest)}).id; }
ExprId last_part(C c, Type rest) { return make(type(c, 0), {zero(w(c), rest), w(c)}).id; }
Type vector3(C c) { return vector_type(w(c).type().scalar, 3); }
ExprId cross(C c, int k) { return (k == 0 ? call(Op::kCross, x(c, 1), w(c)) : call(Op::kCross, w(c), x(c))).id; }
ExprId normalize(C c, int) {
  const E length = call(Op::kLength, x(c));
  const E tangent = (w(c) - y(c) * call(Op::kDot, y(c), w(c))) / length;
  return where(length > like(length, 0), tangent, zero_like(w(c))).id;
}
/// x / |x| first: w / |x| overflows for short vectors, and infinity times a zero component is NaN.
ExprId length(C c, int) { return where(y(c) > like(y(c), 0), x(c) / y(c) * w(c), zero_of(c, 0)).id; }
ExprId with_field(C c, int k) {
  const ExprId field = c.builder.field(c.w, c.index);
  if (k == 1) return field;
  const Type type = c.builder.type_of(field);
  const ExprId none = type.is_struct() ? c.builder.var(c.builder.let_zero("zero", type)) : c.builder.zero(type);
  return c.builder.op(Op::kWithField, {c.w, none}, kVoid, c.index);
}
ExprId arm(C c, int k) {
  const E condition = x(c);
  const E none = zero_like(w(c));
  return (k == 1 ? where(condition, w(c), none) : where(condition, none, w(c))).id;
}
ExprId power(C c, int k) {
  if (k == 0) return (w(c) * x(c, 1) * call(Op::kPow, x(c), x(c, 1) - 1.0)).id;
  const E slope = w(c) * y(c) * call(Op::kLog, x(c));
  return where(call(Op::kEq, x(c), like(x(c), 0)), zero_like(w(c)), slope).id;
}

// Constants that no float type represents exactly are computed in the kernel, so that the f64 promotion gets them in
// full precision.
E log_of(E a, double value) { return call(Op::kLog, like(a, value)); }
E sqrt_of_pi(E a) { return call(Op::kSqrt, call(Op::kRadians, like(a, 180))); }
/// 2 / sqrt(pi) exp(-x^2)
E gauss(C c) { return 2.0 * call(Op::kExp, -(x(c) * x(c))) / sqrt_of_pi(x(c)); }

/// sqrt(pi) / 2 exp(y^2), the derivative of the inverse of erf
E inverse_gauss(C c) { return 0.5 * sqrt_of_pi(y(c)) * call(Op::kExp, y(c) * y(c)); }

ExprId sum_of_tile(C c, ExprId tile) {
  const ExprId sum = c.builder.op(Op::kTileSum, {tile}, tile_type(w(c).type().scalar, 1));
  return c.builder.op(Op::kTileExtract, {sum, c.builder.i32(0)});
}
ExprId splat(C c, int k) { return w(c).type().is_tile() ? sum_of_tile(c, c.w) : sum_of_components(c, k); }

// Tiles: w reshaped to the shape of the operand.
ExprId shaped(C c, Op op) { return c.builder.op(op, {c.w}, type(c, 0)); }
E tile_product(E a, E b) { return call(Op::kTileProduct, a, b); }
E tile_transposed(E a) { return call(Op::kTileTranspose, a); }
/// Adds all of w to the selected element; of equal elements the first in row-major order is selected.
ExprId to_extreme(C c, Op which) {
  const Type tile = type(c, 0);
  const ExprId number = c.builder.op(Op::kTileExtract, {call(which, x(c)).id, c.builder.i32(0)});
  const ExprId none = c.builder.zero(tile_type(tile.scalar, tile.tile_size()));
  const ExprId taken = c.builder.op(Op::kTileExtract, {c.w, c.builder.i32(0)});
  return c.builder.op(Op::kTileReshape, {c.builder.op(Op::kTileInsert, {none, number, taken})}, tile);
}
/// Sums the adjoints of all scan results to which an element contributes: those at and after it.
ExprId scan_back(C c, Op scan) { return call(Op::kTileReverse, call(scan, call(Op::kTileReverse, w(c)))).id; }
/// The indices of kTileExtract and kTileInsert.
std::vector<ExprId> with_indices(C c, ExprId tile) {
  std::vector<ExprId> args{tile};
  for (int d = 1; d <= type(c, 0).tile_rank(); ++d)
    args.push_back(c.args[static_cast<std::size_t>(d)]);
  return args;
}
ExprId tile_extract(C c, int) {
  std::vector<ExprId> args = with_indices(c, c.builder.zero(type(c, 0)));
  args.push_back(c.w);
  return c.builder.op(Op::kTileInsert, args);
}
ExprId tile_insert(C c, int k) {
  std::vector<ExprId> args = with_indices(c, c.w);
  if (k > 0) return c.builder.op(Op::kTileExtract, args);
  args.push_back(c.builder.zero(type(c, 0).component()));
  return c.builder.op(Op::kTileInsert, args);
}

/// start + k step: the sum of w for the start, the sum of k w for the step.
ExprId tile_arange(C c, int k) {
  if (k == 0) return sum_of_tile(c, c.w);
  const Type real = w(c).type().component();
  const ExprId numbers =
      c.builder.op(Op::kTileArange, {c.builder.literal(real, 0.0), c.builder.literal(real, 1.0)}, w(c).type());
  return sum_of_tile(c, c.builder.op(Op::kMul, {c.w, numbers}));
}
ExprId tile_view(C c, int) {
  std::vector<ExprId> args = with_indices(c, c.builder.zero(type(c, 0)));
  args.push_back(c.w);
  return c.builder.op(Op::kTileAssign, args);
}
ExprId tile_assign(C c, int k) {
  const Type part = c.operand_types.back();
  std::vector<ExprId> args = with_indices(c, c.w);
  if (k > 0) return c.builder.op(Op::kTileView, args, part);
  args.push_back(c.builder.zero(part));
  return c.builder.op(Op::kTileAssign, args);
}
/// The elements of w outside the diagonal are replaced by zeros, so that infinities there do not matter.
ExprId tile_diag_add(C c, int k) {
  if (k == 0) return c.w;
  ir::Builder& b = c.builder;
  const int size = type(c, 1).tile_size();
  const Type square = tile_type(Scalar::kI32, size, size);
  const auto numbers = [&](Type shape) {
    const ExprId row = b.op(Op::kTileArange, {b.i32(0), b.i32(1)}, tile_type(Scalar::kI32, size));
    return b.op(Op::kTileBroadcast, {b.op(Op::kTileReshape, {row}, shape)}, square);
  };
  const ExprId on_diagonal =
      b.op(Op::kEq, {numbers(tile_type(Scalar::kI32, size, 1)), numbers(tile_type(Scalar::kI32, 1, size))});
  const ExprId kept = b.op(Op::kWhere, {on_diagonal, c.w, b.zero(type(c, 0).component())});
  return b.op(Op::kTileSum, {kept}, type(c, 1));
}
/// The elements that follow a new extreme have its value, so their adjoints belong to it.
ExprId tile_scan_extreme(C c, int) { return call(Op::kTileRunSums, y(c), w(c)).id; }
/// The values only separate the runs, so their derivative is zero.
ExprId tile_run(C c, int k, Op transposed) {
  return k == 0 ? c.builder.zero(type(c, 0)) : call(transposed, x(c), w(c)).id;
}

constexpr std::uint8_t kX = kReadsFirstOperand, kZ = kReadsSecondOperand, kT = kReadsThirdOperand, kY = kReadsResult;

struct Table {
  std::array<AdjointRule, kOpCount> rules{};

  void set(Op op, std::array<std::uint8_t, 3> reads, ZeroAdjointTest guard, ExprId (*term)(AdjointRuleContext&, int)) {
    rules[static_cast<std::size_t>(op)] = {.term = term, .primal_masks_by_operand = reads, .zero_adjoint_test = guard};
  }

  Table() {
    linear();
    piecewise();
    roots_and_powers();
    exponentials();
    trigonometric();
    vectors();
    tiles();
  }

  void linear() {
    set(Op::kAdd, {}, ZeroAdjointTest::kNever, [](C c, int) { return c.w; });
    set(Op::kSub, {}, ZeroAdjointTest::kNever, [](C c, int k) { return k == 0 ? c.w : (-w(c)).id; });
    set(Op::kNeg, {}, ZeroAdjointTest::kNever, [](C c, int) { return (-w(c)).id; });
    set(Op::kMul, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues, product);
    set(Op::kDiv, {kZ, kZ | kY}, ZeroAdjointTest::kAlways, quotient);
    set(Op::kFma, {kZ, kX, 0}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int k) { return k == 2 ? c.w : (w(c) * x(c, 1 - k)).id; });
    set(Op::kLerp, {kT, kT, kX | kZ}, ZeroAdjointTest::kForUnselectedValues, [](C c, int k) {
      if (k == 2) return (w(c) * (x(c, 1) - x(c))).id;
      return (w(c) * (k == 0 ? 1.0 - x(c, 2) : x(c, 2))).id;
    });
    set(Op::kDegrees, {}, ZeroAdjointTest::kNever, [](C c, int) { return call(Op::kDegrees, w(c)).id; });
    set(Op::kRadians, {}, ZeroAdjointTest::kNever, [](C c, int) { return call(Op::kRadians, w(c)).id; });
    set(Op::kCast, {}, ZeroAdjointTest::kNever, [](C c, int) { return c.builder.cast(c.operand_types[0], c.w); });
  }

  void piecewise() {
    set(Op::kMod, {0, kX | kZ}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int k) { return k == 0 ? c.w : (-(w(c) * call(Op::kTrunc, x(c) / x(c, 1)))).id; });
    set(Op::kAbs, {kX}, ZeroAdjointTest::kNever, [](C c, int) {
      const E none = zero_like(w(c));
      return where(x(c) < none, -w(c), where(x(c) > none, w(c), none)).id;
    });
    set(Op::kMin, {kX | kZ, kX | kZ}, ZeroAdjointTest::kNever, [](C c, int k) {
      const E first = either(x(c) < x(c, 1), is_nan(x(c, 1)));
      const E none = zero_like(w(c));
      return (k == 0 ? where(first, w(c), none) : where(first, none, w(c))).id;
    });
    set(Op::kMax, {kX | kZ, kX | kZ}, ZeroAdjointTest::kNever, [](C c, int k) {
      const E first = either(x(c) > x(c, 1), is_nan(x(c, 1)));
      const E none = zero_like(w(c));
      return (k == 0 ? where(first, w(c), none) : where(first, none, w(c))).id;
    });
    set(Op::kClamp, {kX | kZ | kT, kX | kZ | kT, kX | kZ | kT}, ZeroAdjointTest::kNever, clamp);
    set(Op::kSmoothstep, {kX | kZ | kT, kX | kZ | kT, kX | kZ | kT}, ZeroAdjointTest::kForUnselectedValues, smoothstep);
    set(Op::kFrac, {}, ZeroAdjointTest::kNever, [](C c, int) { return c.w; });
    set(Op::kCopysign, {kX | kY, 0}, ZeroAdjointTest::kNever, [](C c, int k) {
      const E none = zero_like(w(c));
      if (k == 1) return none.id;
      // At zero the derivative is zero, as for abs; the first comparison cannot decide, since 0 == copysign(0, y).
      const E slope = where(call(Op::kEq, x(c), y(c)), w(c), -w(c));
      return where(call(Op::kEq, x(c), zero_like(x(c))), none, slope).id;
    });
    set(Op::kWhere, {0, kX, kX}, ZeroAdjointTest::kNever, arm);
  }

  void roots_and_powers() {
    set(Op::kSqrt, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (0.5 * w(c) / y(c)).id; });
    set(Op::kRsqrt, {kX | kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (-0.5 * w(c) * y(c) / x(c)).id; });
    set(Op::kCbrt, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) / (3.0 * (y(c) * y(c)))).id; });
    set(Op::kPow, {kX | kZ, kX | kY}, ZeroAdjointTest::kAlways, power);
    set(Op::kHypot, {kX | kY, kZ | kY}, ZeroAdjointTest::kAlways,
        [](C c, int k) { return (w(c) * (x(c, k) / y(c))).id; });
  }

  void exponentials() {
    set(Op::kExp, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * y(c)).id; });
    set(Op::kExp2, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * y(c) * log_of(y(c), 2)).id; });
    set(Op::kExpm1, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * (1.0 + y(c))).id; });
    set(Op::kLog, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) / x(c)).id; });
    set(Op::kLog2, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) / (x(c) * log_of(x(c), 2))).id; });
    set(Op::kLog10, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) / (x(c) * log_of(x(c), 10))).id; });
    set(Op::kLog1p, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) / (1.0 + x(c))).id; });
    set(Op::kSinh, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * call(Op::kCosh, x(c))).id; });
    set(Op::kCosh, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * call(Op::kSinh, x(c))).id; });
    set(Op::kTanh, {kY}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (w(c) * (1.0 - y(c) * y(c))).id; });
    set(Op::kAsinh, {kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (w(c) / call(Op::kSqrt, 1.0 + x(c) * x(c))).id; });
    set(Op::kAcosh, {kX}, ZeroAdjointTest::kAlways,
        [](C c, int) { return (w(c) / call(Op::kSqrt, (x(c) - 1.0) * (1.0 + x(c)))).id; });
    set(Op::kAtanh, {kX}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) / ((1.0 - x(c)) * (1.0 + x(c)))).id; });
    set(Op::kErf, {kX}, ZeroAdjointTest::kForUnselectedValues, [](C c, int) { return (w(c) * gauss(c)).id; });
    set(Op::kErfc, {kX}, ZeroAdjointTest::kForUnselectedValues, [](C c, int) { return (-w(c) * gauss(c)).id; });
    set(Op::kErfinv, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * inverse_gauss(c)).id; });
    set(Op::kErfcinv, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (-w(c) * inverse_gauss(c)).id; });
  }

  void trigonometric() {
    set(Op::kSin, {kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (w(c) * call(Op::kCos, x(c))).id; });
    set(Op::kCos, {kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (-w(c) * call(Op::kSin, x(c))).id; });
    set(Op::kTan, {kY}, ZeroAdjointTest::kAlways, [](C c, int) { return (w(c) * (1.0 + y(c) * y(c))).id; });
    set(Op::kAsin, {kX}, ZeroAdjointTest::kAlways,
        [](C c, int) { return (w(c) / call(Op::kSqrt, (1.0 - x(c)) * (1.0 + x(c)))).id; });
    set(Op::kAcos, {kX}, ZeroAdjointTest::kAlways,
        [](C c, int) { return (-w(c) / call(Op::kSqrt, (1.0 - x(c)) * (1.0 + x(c)))).id; });
    set(Op::kAtan, {kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (w(c) / (1.0 + x(c) * x(c))).id; });
    set(Op::kAtan2, {kX | kZ, kX | kZ}, ZeroAdjointTest::kAlways, [](C c, int k) {
      const E square = x(c) * x(c) + x(c, 1) * x(c, 1);
      return (k == 0 ? w(c) * (x(c, 1) / square) : -w(c) * (x(c) / square)).id;
    });
  }

  void vectors() {
    set(Op::kMake, {}, ZeroAdjointTest::kNever, made_from);
    set(Op::kSplat, {}, ZeroAdjointTest::kNever, splat);
    set(Op::kExtract, {kZ}, ZeroAdjointTest::kNever, extract);
    set(Op::kInsert, {kZ, 0, kZ}, ZeroAdjointTest::kNever, insert);
    set(Op::kDot, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues, [](C c, int k) { return (x(c, 1 - k) * w(c)).id; });
    set(Op::kCross, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues, cross);
    set(Op::kLength, {kX | kY}, ZeroAdjointTest::kForUnselectedValues, length);
    set(Op::kLengthSquared, {kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (x(c) * (2.0 * w(c))).id; });
    set(Op::kNormalize, {kX | kY}, ZeroAdjointTest::kForUnselectedValues, normalize);
    set(Op::kCwMul, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int k) { return call(Op::kCwMul, w(c), x(c, 1 - k)).id; });
    set(Op::kCwDiv, {kZ, kZ | kY}, ZeroAdjointTest::kForUnselectedValues, [](C c, int k) {
      if (k == 0) return call(Op::kCwDiv, w(c), x(c, 1)).id;
      return (-call(Op::kCwDiv, call(Op::kCwMul, w(c), y(c)), x(c, 1))).id;
    });
    set(Op::kDoubleDot, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int k) { return (x(c, 1 - k) * w(c)).id; });
    set(Op::kTranspose, {}, ZeroAdjointTest::kNever, [](C c, int) { return transposed(w(c)).id; });
    set(Op::kOuter, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int k) { return (k == 0 ? w(c) * x(c, 1) : x(c) * w(c)).id; });
    set(Op::kInverse, {kY}, ZeroAdjointTest::kForUnselectedValues,
        [](C c, int) { return (-(transposed(y(c)) * w(c) * transposed(y(c)))).id; });
    set(Op::kQuatInverse, {}, ZeroAdjointTest::kNever, [](C c, int) { return conjugate(w(c)).id; });
    set(Op::kTranslation, {}, ZeroAdjointTest::kNever,
        [](C c, int) { return first_part(c, quaternion_type(w(c).type().scalar)); });
    set(Op::kRotation, {}, ZeroAdjointTest::kNever, [](C c, int) { return last_part(c, vector3(c)); });
    set(Op::kSpatialTop, {}, ZeroAdjointTest::kNever, [](C c, int) { return first_part(c, vector3(c)); });
    set(Op::kSpatialBottom, {}, ZeroAdjointTest::kNever, [](C c, int) { return last_part(c, vector3(c)); });
    set(Op::kWithField, {}, ZeroAdjointTest::kNever, with_field);
  }

  void tiles() {
    set(Op::kTileProduct, {kZ, kX}, ZeroAdjointTest::kForUnselectedValues, [](C c, int k) {
      return (k == 0 ? tile_product(w(c), tile_transposed(x(c, 1))) : tile_product(tile_transposed(x(c)), w(c))).id;
    });
    set(Op::kTileSum, {}, ZeroAdjointTest::kNever, [](C c, int) { return shaped(c, Op::kTileBroadcast); });
    set(Op::kTileBroadcast, {}, ZeroAdjointTest::kNever, [](C c, int) { return shaped(c, Op::kTileSum); });
    set(Op::kTileReshape, {}, ZeroAdjointTest::kNever, [](C c, int) { return shaped(c, Op::kTileReshape); });
    set(Op::kTileTranspose, {}, ZeroAdjointTest::kNever, [](C c, int) { return tile_transposed(w(c)).id; });
    set(Op::kTileMin, {kX}, ZeroAdjointTest::kNever, [](C c, int) { return to_extreme(c, Op::kTileArgmin); });
    set(Op::kTileMax, {kX}, ZeroAdjointTest::kNever, [](C c, int) { return to_extreme(c, Op::kTileArgmax); });
    set(Op::kTileScan, {}, ZeroAdjointTest::kNever, [](C c, int) { return scan_back(c, Op::kTileScan); });
    set(Op::kTileScanExclusive, {}, ZeroAdjointTest::kNever,
        [](C c, int) { return scan_back(c, Op::kTileScanExclusive); });
    set(Op::kTileReverse, {}, ZeroAdjointTest::kNever, [](C c, int) { return call(Op::kTileReverse, w(c)).id; });
    set(Op::kTileExtract, {kZ | kT}, ZeroAdjointTest::kNever, tile_extract);
    set(Op::kTileInsert, {kZ | kT, 0, kZ | kT}, ZeroAdjointTest::kNever, tile_insert);
    set(Op::kTileArange, {}, ZeroAdjointTest::kNever, tile_arange);
    set(Op::kTileView, {kZ | kT}, ZeroAdjointTest::kNever, tile_view);
    set(Op::kTileAssign, {kZ | kT, 0, kZ | kT}, ZeroAdjointTest::kNever, tile_assign);
    set(Op::kTileDiagAdd, {}, ZeroAdjointTest::kNever, tile_diag_add);
    set(Op::kTileScanMax, {kY}, ZeroAdjointTest::kNever, tile_scan_extreme);
    set(Op::kTileScanMin, {kY}, ZeroAdjointTest::kNever, tile_scan_extreme);
    set(Op::kTileRunSums, {0, kX}, ZeroAdjointTest::kNever,
        [](C c, int k) { return tile_run(c, k, Op::kTileRunSpread); });
    set(Op::kTileRunSpread, {0, kX}, ZeroAdjointTest::kNever,
        [](C c, int k) { return tile_run(c, k, Op::kTileRunSums); });
  }
};

}  // namespace

const AdjointRule& rule_of(Op op) {
  static const Table table;
  return table.rules[static_cast<std::size_t>(op)];
}

}  // namespace assay::transforms
