// Conventions exactly at kinks and at the ends of domains, and special values (numeric policy, section 4).
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::ExprId;
using ir::Op;
using testing::OracleFixture;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Outcome {
  double value = 0;
  std::vector<double> partials;
  ReferenceResult reference;
};

/// op at one point of f64 scalars, with the derivative by each operand.
Outcome at(Op op, const std::vector<double>& operands) {
  OracleFixture w;
  std::vector<ir::VarId> inputs;
  for (std::size_t k = 0; k < operands.size(); ++k)
    inputs.push_back(w.floats("x" + std::to_string(k), {operands[k]}));
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  std::vector<ExprId> args;
  for (const ir::VarId input : inputs)
    args.push_back(w.at(input, i));
  w.b().store(out, {w.var(i)}, w.b().op(op, std::span<const ExprId>(args)));
  Outcome outcome{.reference = w.gradient(out)};
  outcome.value = static_cast<double>(outcome.reference.outputs.back()->elements[0].value);
  for (std::size_t k = 0; k < operands.size(); ++k)
    outcome.partials.push_back(static_cast<double>(outcome.reference.gradients[k]->elements[0].value));
  return outcome;
}

using Partials = std::vector<double>;

TEST(NonDifferentiablePoint, GradientOfTiedMinOrMaxGoesToSecondOperand) {
  EXPECT_EQ(at(Op::kMin, {2, 2}).partials, (Partials{0, 1}));
  EXPECT_EQ(at(Op::kMax, {2, 2}).partials, (Partials{0, 1}));
  EXPECT_EQ(at(Op::kMin, {1, 2}).partials, (Partials{1, 0}));
  EXPECT_EQ(at(Op::kMax, {1, 2}).partials, (Partials{0, 1}));
}

TEST(NonDifferentiablePoint, AbsoluteValueHasZeroDerivativeAtZero) {
  EXPECT_EQ(at(Op::kAbs, {0}).partials, (Partials{0}));
  EXPECT_EQ(at(Op::kAbs, {-3}).partials, (Partials{-1}));
  EXPECT_EQ(at(Op::kCopysign, {0, -1}).partials, (Partials{0, 0}));
  EXPECT_EQ(at(Op::kCopysign, {-3, -1}).partials, (Partials{1, 0}));
}

TEST(NonDifferentiablePoint, DerivativeOfClampAtLimitsEqualsThatOfNestedMinAndMax) {
  EXPECT_EQ(at(Op::kClamp, {0.5, 0, 1}).partials, (Partials{1, 0, 0}));
  EXPECT_EQ(at(Op::kClamp, {0, 0, 1}).partials, (Partials{1, 0, 0})) << "max(low, x) gives a tie to x";
  EXPECT_EQ(at(Op::kClamp, {1, 0, 1}).partials, (Partials{0, 0, 1})) << "min(x, high) gives a tie to high";
  EXPECT_EQ(at(Op::kClamp, {-1, 0, 1}).partials, (Partials{0, 1, 0}));
  EXPECT_EQ(at(Op::kClamp, {5, 3, 1}).value, 1);
}

TEST(NonDifferentiablePoint, PiecewiseConstantFunctionsHaveZeroDerivative) {
  for (const Op op : {Op::kSign, Op::kStep, Op::kNonzero, Op::kFloor, Op::kCeil, Op::kRound, Op::kRint, Op::kTrunc})
    EXPECT_EQ(at(op, {1}).partials, (Partials{0})) << ir::row(op).mnemonic;
  EXPECT_EQ(at(Op::kFrac, {1}).partials, (Partials{1}));
  EXPECT_EQ(at(Op::kFloorDiv, {3, 2}).partials, (Partials{0, 0}));
}

TEST(NonDifferentiablePoint, PiecewiseFunctionsHaveSameValuesAsInWarp) {
  EXPECT_EQ(at(Op::kSign, {0}).value, 1);
  EXPECT_EQ(at(Op::kStep, {0}).value, 0);
  EXPECT_EQ(at(Op::kStep, {-0.5}).value, 1);
  EXPECT_EQ(at(Op::kNonzero, {0}).value, 0);
  EXPECT_EQ(at(Op::kRound, {2.5}).value, 3) << "half away from zero";
  EXPECT_EQ(at(Op::kRound, {-2.5}).value, -3);
  EXPECT_EQ(at(Op::kRint, {2.5}).value, 2) << "half to even";
  EXPECT_EQ(at(Op::kFrac, {-2.5}).value, -0.5);
  EXPECT_EQ(at(Op::kMod, {-7, 3}).value, -1);
  EXPECT_EQ(at(Op::kMod, {-7, 3}).partials, (Partials{1, 2}));
  EXPECT_EQ(at(Op::kFloorDiv, {-7, 2}).value, -4);
}

TEST(NonDifferentiablePoint, DerivativesAreInfiniteAtDomainBoundaries) {
  EXPECT_EQ(at(Op::kSqrt, {0}).partials, (Partials{kInf}));
  EXPECT_EQ(at(Op::kCbrt, {0}).partials, (Partials{kInf}));
  EXPECT_EQ(at(Op::kAsin, {1}).partials, (Partials{kInf}));
  EXPECT_EQ(at(Op::kAsin, {-1}).partials, (Partials{kInf}));
  EXPECT_EQ(at(Op::kAcos, {1}).partials, (Partials{-kInf}));
}

TEST(NonDifferentiablePoint, PowerHasExpectedDerivativesAtZero) {
  EXPECT_EQ(at(Op::kPow, {0, 2}).partials, (Partials{0, 0}));
  EXPECT_EQ(at(Op::kPow, {0, 1}).partials, (Partials{1, 0}));
  EXPECT_EQ(at(Op::kPow, {0, 0.5}).partials, (Partials{kInf, 0}));
  EXPECT_EQ(at(Op::kPow, {3, 0}).partials[0], 0);
}

TEST(NonDifferentiablePoint, ConstantExponentHasZeroDerivative) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {-1.5});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kPow, {w.at(x, i), w.f64(3)}));
  const ReferenceResult r = w.gradient(out);
  EXPECT_DOUBLE_EQ(static_cast<double>(r.gradients[0]->elements[0].value), 6.75);
  EXPECT_TRUE(std::isfinite(r.gradients[0]->elements[0].bound[kNative]));
}

TEST(NonDifferentiablePoint, ZeroVectorHasZeroDerivative) {
  for (const Op op : {Op::kNormalize, Op::kLength}) {
    OracleFixture w;
    const ir::VarId x = w.array("x", ir::vector_type(ir::Scalar::kF64, 3), {1}, {0, 0, 0});
    const ir::VarId out = w.zeros("out", op == Op::kLength ? ir::kF64 : ir::vector_type(ir::Scalar::kF64, 3), {1});
    const ir::VarId i = w.thread_index(1);
    w.b().store(out, {w.var(i)}, w.op(op, {w.at(x, i)}));
    const ReferenceResult r = w.gradient(out);
    for (const GradientElement& element : r.gradients[0]->elements)
      EXPECT_EQ(static_cast<double>(element.value), 0);
  }
}

TEST(SpecialValues, MinAndMaxIgnoreNan) {
  EXPECT_EQ(at(Op::kMin, {kNan, 2}).value, 2);
  EXPECT_EQ(at(Op::kMin, {kNan, 2}).partials, (Partials{0, 1}));
  EXPECT_EQ(at(Op::kMax, {2, kNan}).value, 2);
  EXPECT_EQ(at(Op::kMax, {2, kNan}).partials, (Partials{1, 0}));
}

TEST(SpecialValues, NonFiniteResultsHaveZeroBound) {
  for (const auto& [op, operands] : std::vector<std::pair<Op, std::vector<double>>>{
           {Op::kDiv, {1, 0}}, {Op::kLog, {0}}, {Op::kSqrt, {-1}}, {Op::kAdd, {kInf, -kInf}}, {Op::kMul, {kInf, 0}}}) {
    const Outcome outcome = at(op, operands);
    EXPECT_FALSE(std::isfinite(outcome.value)) << ir::row(op).mnemonic;
    EXPECT_EQ(outcome.reference.outputs.back()->elements[0].bound[kNative], 0) << ir::row(op).mnemonic;
  }
}

TEST(SpecialValues, PossibleOverflowGivesInfiniteBound) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {100}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kExp, {w.at(x, i)}));
  const OutputElement element = w.evaluate().outputs.back()->elements[0];
  EXPECT_EQ(element.bound[kNative], kInf) << "exp(100) overflows float";
  EXPECT_LT(element.bound[kPromoted], 1e30) << "but a double";
}

TEST(SpecialValues, PoleWithinErrorIntervalGivesInfiniteBound) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {1.0 / 3}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  // x * 3 - 3 x is zero, but not for every rounding.
  const ExprId third = w.op(Op::kMul, {w.at(x, i), w.b().f32(0.1)});
  const ExprId zero =
      w.op(Op::kSub, {w.op(Op::kMul, {third, w.b().f32(3)}), w.op(Op::kAdd, {third, w.op(Op::kAdd, {third, third})})});
  w.b().store(out, {w.var(i)}, w.op(Op::kDiv, {w.b().f32(1), zero}));
  EXPECT_EQ(w.evaluate().outputs.back()->elements[0].bound[kNative], kInf);
}

// The adjoint of an unused root is zero. Zero times its derivative is zero, or NaN if the derivative is infinite.
TEST(SpecialValues, InfiniteDerivativeWithZeroAdjointGivesInfiniteBound) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0, 4});
  const ir::VarId out = w.zeros("out", ir::kF64, {2});
  const ir::VarId i = w.thread_index(2);
  w.b().let("root", w.op(Op::kSqrt, {w.at(x, i)}));
  w.b().store(out, {w.var(i)}, w.op(Op::kMul, {w.f64(3), w.at(x, i)}));
  const ReferenceResult r = w.gradient(out);
  const std::vector<GradientElement>& gradient = r.gradients[0]->elements;
  EXPECT_EQ(gradient[0].value, 3);
  EXPECT_EQ(gradient[0].bound[kPromoted], kInf);
  EXPECT_EQ(gradient[1].value, 3);
  EXPECT_LT(gradient[1].bound[kPromoted], 1e-12);
}

// At 0 the root of x * x has an infinite derivative and x * x a zero derivative: their product is NaN in code.
TEST(SpecialValues, ProductOfInfiniteAndZeroDerivativeGivesInfiniteBound) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0, 4});
  const ir::VarId out = w.zeros("out", ir::kF64, {2});
  const ir::VarId i = w.thread_index(2);
  const ExprId root = w.op(Op::kSqrt, {w.op(Op::kMul, {w.at(x, i), w.at(x, i)})});
  w.b().store(out, {w.var(i)}, w.op(Op::kAdd, {root, w.op(Op::kMul, {w.f64(3), w.at(x, i)})}));
  const ReferenceResult r = w.gradient(out);
  const std::vector<GradientElement>& gradient = r.gradients[0]->elements;
  EXPECT_EQ(gradient[0].bound[kPromoted], kInf);
  EXPECT_EQ(gradient[1].value, 4);
  EXPECT_LT(gradient[1].bound[kPromoted], 1e-12);
}

/// abs(x * x - y) close to zero. The result, or only a condition that selects the result, is that value.
DecisionSummary decisions_with_absolute_value(bool is_result) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.3});
  const ir::VarId y = w.floats("y", {0.3 * 0.3});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  const ExprId square = w.op(Op::kMul, {w.at(x, i), w.at(x, i)});
  const ExprId distance = w.op(Op::kAbs, {w.op(Op::kSub, {square, w.at(y, i)})});
  const ExprId is_close = w.op(Op::kLt, {distance, w.b().literal(ir::kF64, 0.5)});
  const ExprId selected = w.op(Op::kWhere, {is_close, w.at(x, i), w.at(y, i)});
  w.b().store(out, {w.var(i)}, is_result ? distance : selected);
  return w.gradient(out).decisions;
}

TEST(NonDifferentiablePoint, IsCountedOnlyIfResultDependsOnItsDerivative) {
  EXPECT_EQ(decisions_with_absolute_value(true).uncertain_kinks[kPromoted], 1);
  EXPECT_EQ(decisions_with_absolute_value(false).uncertain_kinks[kPromoted], 0);
  EXPECT_EQ(decisions_with_absolute_value(false).uncertain_decision_counts[kPromoted], 0);
}

}  // namespace
}  // namespace assay::reference
