#include "reference/cpu/integers.hpp"

#include <cmath>

#include "ir/builder.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using ir::Scalar;

bool is_signed(Scalar scalar) { return ir::row(scalar).is_signed; }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::int64_t number(std::uint64_t x) { return static_cast<std::int64_t>(x); }

bool less(Scalar scalar, std::int64_t a, std::int64_t b) { return is_signed(scalar) ? a < b : bits(a) < bits(b); }

std::int64_t least(Scalar scalar) {
  return is_signed(scalar) ? number(~std::uint64_t{0} << ir::row(scalar).significant_bits) : 0;
}

int width(Scalar scalar) { return 8 * ir::row(scalar).bytes; }

IntegerResult divide(Op op, Scalar scalar, std::int64_t a, std::int64_t b) {
  if (b == 0 || (is_signed(scalar) && b == -1 && a == least(scalar)))
    return {0, Finding::Kind::kInvalidIntegerDivision};
  if (!is_signed(scalar)) return {number(op == Op::kMod ? bits(a) % bits(b) : bits(a) / bits(b))};
  if (op == Op::kMod) return {a % b};
  const std::int64_t quotient = a / b;
  // Warp's integer // rounds toward minus infinity, its integer / toward zero.
  const bool rounds_down = op == Op::kFloorDiv && a % b != 0 && (a < 0) != (b < 0);
  return {rounds_down ? quotient - 1 : quotient};
}

IntegerResult shift(Op op, Scalar scalar, std::int64_t a, std::int64_t by) {
  if (by < 0 || by >= width(scalar)) return {0, Finding::Kind::kShiftOutOfRange};
  if (op == Op::kShiftLeft) return {ir::wrap_to(scalar, number(bits(a) << by))};
  return {is_signed(scalar) ? a >> by : number(bits(a) >> by)};
}

std::int64_t greater_of(Scalar scalar, std::int64_t a, std::int64_t b) { return less(scalar, a, b) ? b : a; }
std::int64_t lesser_of(Scalar scalar, std::int64_t a, std::int64_t b) { return less(scalar, b, a) ? b : a; }

/// Operations that cannot fail, before wrapping.
std::int64_t unwrapped(Op op, Scalar scalar, std::span<const std::int64_t> x) {
  switch (op) {
    case Op::kAdd: return number(bits(x[0]) + bits(x[1]));
    case Op::kSub: return number(bits(x[0]) - bits(x[1]));
    case Op::kMul: return number(bits(x[0]) * bits(x[1]));
    case Op::kNeg: return number(0 - bits(x[0]));
    case Op::kEq: return x[0] == x[1];
    case Op::kNe: return x[0] != x[1];
    case Op::kLt: return less(scalar, x[0], x[1]);
    case Op::kLe: return !less(scalar, x[1], x[0]);
    case Op::kGt: return less(scalar, x[1], x[0]);
    case Op::kGe: return !less(scalar, x[0], x[1]);
    case Op::kNot: return x[0] == 0;
    case Op::kBitAnd: return x[0] & x[1];
    case Op::kBitOr: return x[0] | x[1];
    case Op::kBitXor: return x[0] ^ x[1];
    case Op::kBitNot: return ~x[0];
    case Op::kWrapIndex: return less(scalar, x[0], 0) ? number(bits(x[0]) + bits(x[1])) : x[0];
    case Op::kAbs: return less(scalar, x[0], 0) ? number(0 - bits(x[0])) : x[0];
    case Op::kSign: return less(scalar, x[0], 0) ? -1 : 1;
    case Op::kStep: return less(scalar, x[0], 0);
    case Op::kNonzero: return x[0] != 0;
    case Op::kMin: return lesser_of(scalar, x[0], x[1]);
    case Op::kMax: return greater_of(scalar, x[0], x[1]);
    case Op::kClamp: return lesser_of(scalar, greater_of(scalar, x[1], x[0]), x[2]);
    default: return 0;
  }
}

/// Whether exact arithmetic on 32 or 64 signed bits leaves the type, which C and so Warp leave undefined. Narrower
/// types are computed as int in C, and converted back.
bool overflows(Op op, Scalar scalar, std::span<const std::int64_t> x) {
  if (!is_signed(scalar) || width(scalar) < 32) return false;
  __extension__ using Exact = __int128;
  Exact exact = 0;
  switch (op) {
    case Op::kAdd: exact = Exact{x[0]} + x[1]; break;
    case Op::kSub: exact = Exact{x[0]} - x[1]; break;
    case Op::kMul: exact = Exact{x[0]} * x[1]; break;
    case Op::kNeg: exact = -Exact{x[0]}; break;
    case Op::kAbs: exact = x[0] < 0 ? -Exact{x[0]} : Exact{x[0]}; break;
    default: return false;
  }
  return exact != ir::wrap_to(scalar, number(static_cast<std::uint64_t>(exact)));
}

}  // namespace

IntegerResult evaluate_integer(Op op, Scalar scalar, std::span<const std::int64_t> x) {
  switch (op) {
    case Op::kDiv:
    case Op::kMod:
    case Op::kFloorDiv: return divide(op, scalar, x[0], x[1]);
    case Op::kShiftLeft:
    case Op::kShiftRight: return shift(op, scalar, x[0], x[1]);
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
    case Op::kNot: return {unwrapped(op, scalar, x)};
    default: break;
  }
  IntegerResult result{ir::wrap_to(scalar, unwrapped(op, scalar, x))};
  if (overflows(op, scalar, x)) result.defect = Finding::Kind::kIntegerOverflow;
  return result;
}

std::int64_t update_integer(ir::AtomicOp op, Scalar scalar, std::int64_t old, std::int64_t value) {
  switch (op) {
    case ir::AtomicOp::kAdd: return ir::wrap_to(scalar, number(bits(old) + bits(value)));
    case ir::AtomicOp::kSub: return ir::wrap_to(scalar, number(bits(old) - bits(value)));
    case ir::AtomicOp::kMin: return lesser_of(scalar, old, value);
    case ir::AtomicOp::kMax: return greater_of(scalar, old, value);
    case ir::AtomicOp::kAnd: return old & value;
    case ir::AtomicOp::kOr: return old | value;
    case ir::AtomicOp::kXor: return old ^ value;
    case ir::AtomicOp::kExchange:
    case ir::AtomicOp::kCompareAndSwap: return value;
  }
  return value;
}

bool fits(Scalar scalar, long double truncated) {
  const int digits = ir::row(scalar).significant_bits;
  const long double end = std::ldexp(1.0L, digits);
  return truncated < end && truncated >= (is_signed(scalar) ? -end : 0.0L);
}

std::int64_t to_integer(Scalar scalar, long double truncated) {
  if (is_signed(scalar)) return static_cast<std::int64_t>(truncated);
  return number(static_cast<std::uint64_t>(truncated));
}

long double to_real(Scalar scalar, std::int64_t x) {
  return is_signed(scalar) ? static_cast<long double>(x) : static_cast<long double>(bits(x));
}

}  // namespace assay::reference
