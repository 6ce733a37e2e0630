#include "reference/cpu/evaluators.hpp"

#include <array>

#include "reference/cpu/faulty_rules.hpp"
#include "support/fault_injection.hpp"

namespace assay::reference {
namespace {

using ir::Op;
namespace e = evaluators;

constexpr Evaluator elementwise(Op op, Evaluate evaluate) {
  return {.op = op, .role = Role::kElementwise, .evaluate = evaluate};
}
constexpr Evaluator differentiable(Role role, Op op, Evaluate evaluate, Differentiate differentiate) {
  return {.op = op, .role = role, .evaluate = evaluate, .differentiate = differentiate, .is_differentiable = true};
}
constexpr Evaluator elementwise(Op op, Evaluate evaluate, Differentiate differentiate) {
  return differentiable(Role::kElementwise, op, evaluate, differentiate);
}
constexpr Evaluator reduction(Op op, Evaluate evaluate, Differentiate differentiate) {
  return differentiable(Role::kReduction, op, evaluate, differentiate);
}
constexpr Evaluator test(Op op, Test function) { return {.op = op, .role = Role::kTest, .test = function}; }
constexpr Evaluator integer(Op op) { return {.op = op, .role = Role::kInteger}; }
constexpr Evaluator composed(Op op) { return {.op = op, .role = Role::kComposed}; }

constexpr std::array<Evaluator, ir::kOpCount> kEvaluators = {{
    elementwise(Op::kAdd, e::add, e::d_add),
    elementwise(Op::kSub, e::sub, e::d_sub),
    elementwise(Op::kMul, e::mul, e::d_mul),
    elementwise(Op::kDiv, e::div, e::d_div),
    elementwise(Op::kMod, e::mod, e::d_mod),
    elementwise(Op::kFloorDiv, e::floor_div),
    elementwise(Op::kNeg, e::neg, e::d_neg),
    test(Op::kEq, e::eq),
    test(Op::kNe, e::ne),
    test(Op::kLt, e::lt),
    test(Op::kLe, e::le),
    test(Op::kGt, e::gt),
    test(Op::kGe, e::ge),
    composed(Op::kAnd),
    composed(Op::kOr),
    composed(Op::kNot),
    composed(Op::kConditional),
    composed(Op::kWhere),
    integer(Op::kBitAnd),
    integer(Op::kBitOr),
    integer(Op::kBitXor),
    integer(Op::kBitNot),
    integer(Op::kShiftLeft),
    integer(Op::kShiftRight),
    composed(Op::kCast),
    elementwise(Op::kAbs, e::abs, e::d_abs),
    elementwise(Op::kSign, e::sign),
    elementwise(Op::kStep, e::step),
    elementwise(Op::kNonzero, e::nonzero),
    elementwise(Op::kMin, e::min, e::d_min),
    elementwise(Op::kMax, e::max, e::d_max),
    elementwise(Op::kClamp, e::clamp, e::d_clamp),
    elementwise(Op::kFloor, e::floor),
    elementwise(Op::kCeil, e::ceil),
    elementwise(Op::kRound, e::round),
    elementwise(Op::kRint, e::rint),
    elementwise(Op::kTrunc, e::trunc),
    elementwise(Op::kFrac, e::frac, e::d_frac),
    elementwise(Op::kCopysign, e::copysign, e::d_copysign),
    test(Op::kIsNan, e::is_nan),
    test(Op::kIsInf, e::is_inf),
    test(Op::kIsFinite, e::is_finite),
    elementwise(Op::kSqrt, e::sqrt, e::d_sqrt),
    elementwise(Op::kRsqrt, e::rsqrt, e::d_rsqrt),
    elementwise(Op::kCbrt, e::cbrt, e::d_cbrt),
    elementwise(Op::kExp, e::exp, e::d_exp),
    elementwise(Op::kExp2, e::exp2, e::d_exp2),
    elementwise(Op::kExpm1, e::expm1, e::d_expm1),
    elementwise(Op::kLog, e::log, e::d_log),
    elementwise(Op::kLog2, e::log2, e::d_log2),
    elementwise(Op::kLog10, e::log10, e::d_log10),
    elementwise(Op::kLog1p, e::log1p, e::d_log1p),
    elementwise(Op::kSin, e::sin, e::d_sin),
    elementwise(Op::kCos, e::cos, e::d_cos),
    elementwise(Op::kTan, e::tan, e::d_tan),
    elementwise(Op::kAsin, e::asin, e::d_asin),
    elementwise(Op::kAcos, e::acos, e::d_acos),
    elementwise(Op::kAtan, e::atan, e::d_atan),
    elementwise(Op::kAtan2, e::atan2, e::d_atan2),
    elementwise(Op::kSinh, e::sinh, e::d_sinh),
    elementwise(Op::kCosh, e::cosh, e::d_cosh),
    elementwise(Op::kTanh, e::tanh, e::d_tanh),
    elementwise(Op::kAsinh, e::asinh, e::d_asinh),
    elementwise(Op::kAcosh, e::acosh, e::d_acosh),
    elementwise(Op::kAtanh, e::atanh, e::d_atanh),
    elementwise(Op::kPow, e::pow, e::d_pow),
    elementwise(Op::kHypot, e::hypot, e::d_hypot),
    elementwise(Op::kErf, e::erf, e::d_erf),
    elementwise(Op::kErfc, e::erfc, e::d_erfc),
    elementwise(Op::kFma, e::fma, e::d_fma),
    elementwise(Op::kLerp, e::lerp, e::d_lerp),
    elementwise(Op::kSmoothstep, e::smoothstep, e::d_smoothstep),
    elementwise(Op::kDegrees, e::degrees, e::d_degrees),
    elementwise(Op::kRadians, e::radians, e::d_radians),
    composed(Op::kMake),
    composed(Op::kSplat),
    composed(Op::kExtract),
    composed(Op::kInsert),
    reduction(Op::kDot, e::dot, e::d_dot),
    composed(Op::kCross),
    reduction(Op::kLength, e::length, e::d_length),
    composed(Op::kLengthSq),
    composed(Op::kNormalize),
    composed(Op::kCwMul),
    composed(Op::kCwDiv),
    composed(Op::kDoubleDot),
    composed(Op::kTranspose),
    composed(Op::kOuter),
    reduction(Op::kInverse, e::inverse, e::d_inverse),
    composed(Op::kQuatInverse),
    composed(Op::kTranslation),
    composed(Op::kRotation),
    composed(Op::kSpatialTop),
    composed(Op::kSpatialBottom),
    composed(Op::kWithField),
    composed(Op::kTileProduct),
    composed(Op::kTileSum),
    composed(Op::kTileBroadcast),
    composed(Op::kTileReshape),
    composed(Op::kTileTranspose),
    composed(Op::kTileMin),
    composed(Op::kTileMax),
    composed(Op::kTileArgmin),
    composed(Op::kTileArgmax),
    composed(Op::kTileScan),
    composed(Op::kTileScanExclusive),
    composed(Op::kTileReverse),
    composed(Op::kTileExtract),
    composed(Op::kTileInsert),
}};

/// Whether a row is in its place and has a derivative exactly where the table of operations says that there is
/// one. (That each has its functions is in the signatures above: GCC with sanitizers cannot compare their
/// addresses at compile time.)
constexpr bool complete(const Evaluator& row, int index) {
  if (static_cast<int>(row.op) != index) return false;
  const bool has_derivative = ir::row(row.op).adjoint == ir::Adjoint::kRule;
  return row.role == Role::kComposed || row.is_differentiable == has_derivative;
}
constexpr bool all_complete() {
  for (int i = 0; i < ir::kOpCount; ++i) {
    if (!complete(kEvaluators[static_cast<std::size_t>(i)], i)) return false;
  }
  return true;
}
static_assert(all_complete(), "an operation has no evaluator, out of order or incomplete");

}  // namespace

const Evaluator& original_evaluator(Op op) { return kEvaluators[static_cast<std::size_t>(op)]; }

const Evaluator& evaluator(Op op) {
  if constexpr (kInjectedFaults) return with_faulty_rule(original_evaluator(op));
  return original_evaluator(op);
}

}  // namespace assay::reference
