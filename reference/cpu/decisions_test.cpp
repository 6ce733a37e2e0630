// Decisions: uncertainty, the path of a run, and forced paths.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::ExprId;
using ir::Op;
using testing::OracleFixture;

/// out[i] = (x[i] * 0.1 > limit) ? 1 : 2, in f32; x * 0.1 is inexact.
struct Comparison {
  OracleFixture w;
  ir::VarId out;

  Comparison(double x, double limit) {
    const ir::VarId in = w.floats("x", {x}, ir::Scalar::kF32);
    out = w.zeros("out", ir::kF32, {1});
    const ir::VarId i = w.thread_index(1);
    w.b().at({.line = 4, .column = 9});
    const ExprId product = w.op(Op::kMul, {w.at(in, i), w.b().f32(0.1)});
    const ExprId test = w.op(Op::kGt, {product, w.b().f32(limit)});
    w.b().store(out, {w.var(i)}, w.op(Op::kConditional, {test, w.b().f32(1), w.b().f32(2)}));
  }
  double value(const ReferenceResult& r) const { return static_cast<double>(r.outputs.back()->elements[0].value); }
};

TEST(BranchDecisions, AreCertainFarFromThreshold) {
  const Comparison c(1, 0.25);
  const ReferenceResult r = c.w.evaluate();
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kNative], 0);
  EXPECT_EQ(c.value(r), 2);
}

/// out[i] = op(x[i])
bool decides(Op op) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.75}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(op, {w.at(x, i)}));
  return w.evaluate().decisions.any();
}

TEST(BranchDecisions, AreRecordedForComparisonsAndPiecewiseOperations) {
  EXPECT_TRUE(Comparison(1, 0.25).w.evaluate().decisions.any());
  for (const Op op : {Op::kAbs, Op::kFloor, Op::kSign})
    EXPECT_TRUE(decides(op)) << static_cast<int>(op);
  for (const Op op : {Op::kSin, Op::kExp, Op::kNeg, Op::kSqrt})
    EXPECT_FALSE(decides(op)) << static_cast<int>(op);
}

constexpr double kThreeTenths = static_cast<double>(3 * 0.1F);  // rounded to float

/// normalize(cross(x, x)) of floats whose products round: zero in double, a vector of any direction in float.
struct Canceled {
  OracleFixture w;
  ir::VarId out;

  Canceled() {
    const ir::Type type = ir::vector_type(ir::Scalar::kF32, 3);
    const ir::VarId x = w.array("x", type, {1}, {1.1F, 1.3F, 1.7F});
    out = w.zeros("out", ir::kF32, {1});
    const ir::VarId i = w.thread_index(1);
    const ExprId unit = w.op(Op::kNormalize, {w.op(Op::kCross, {w.at(x, i), w.at(x, i)})});
    const ExprId test = w.op(Op::kLe, {w.op(Op::kDot, {unit, w.at(x, i)}), w.b().f32(0.5)});
    w.b().store(out, {w.var(i)}, w.op(Op::kConditional, {test, w.b().f32(1), w.b().f32(2)}));
  }
};

TEST(BranchDecisions, AreUncertainIfOperandHasInfiniteErrorBound) {
  const Canceled c;
  const ReferenceResult r = c.w.evaluate();
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kNative], 1);
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kPromoted], 0)
      << "the products are exact in double, and the length of zero is zero";
  EXPECT_EQ(r.outputs.back()->elements[0].value, 1) << "the zero vector is unchanged";
}

/// A comparison with a certain NaN is certain, even if the other operand is inexact.
TEST(BranchDecisions, AreCertainIfOperandIsNan) {
  const Comparison c(std::numeric_limits<double>::quiet_NaN(), 0.25);
  EXPECT_EQ(c.w.evaluate().decisions.uncertain_decision_counts[kNative], 0);
}

TEST(BranchDecisions, AreUncertainIfThresholdIsWithinErrorBound) {
  const Comparison c(3, kThreeTenths);
  const ReferenceResult r = c.w.evaluate();
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kNative], 1);
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kPromoted], 0) << "3 * 0.1F is exact in double";
  ASSERT_EQ(r.decisions.uncertain_locations.size(), 1U);
  EXPECT_EQ(r.decisions.uncertain_locations[0].line, 4);
}

TEST(BranchDecisions, AreCertainIfExactOperandsAreEqual) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {1.5}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  const ExprId same = w.op(Op::kEq, {w.op(Op::kMul, {w.at(x, i), w.b().f32(2)}), w.b().f32(3)});
  w.b().store(out, {w.var(i)}, w.b().cast(ir::kF32, same));
  const ReferenceResult r = w.evaluate();
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kNative], 0);
  EXPECT_EQ(static_cast<double>(r.outputs[1]->elements[0].value), 1);
}

/// Whether x > y is certain if these inputs have errors; `is_product`: 0.1 * x > 0.1 * y.
bool is_certain_with_input_errors(double x, double y, bool is_product) {
  OracleFixture w;
  const ir::VarId in = w.floats("x", {x, y}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  const auto operand = [&](int index) {
    const ExprId input = w.b().load(in, {w.b().i32(index)});
    return is_product ? w.op(Op::kMul, {input, w.b().f32(0.1)}) : input;
  };
  w.b().store(out, {w.var(i)}, w.b().cast(ir::kF32, w.op(Op::kGt, {operand(0), operand(1)})));
  auto run = w.run();
  run.profile.input_error.unit_roundoffs = 4;
  return w.oracle().evaluate(run).decisions.uncertain_decision_counts[kNative] == 0;
}

TEST(BranchDecisions, AreCertainIfInputsAreEqual) {
  EXPECT_TRUE(is_certain_with_input_errors(0.75, 0.75, false));
  EXPECT_FALSE(is_certain_with_input_errors(0.75, std::nextafter(0.75F, 1.0F), false)) << "within the errors";
  EXPECT_FALSE(is_certain_with_input_errors(0.75, 0.75, true)) << "another algorithm may compute the products";
}

/// Whether x * (y * 0.1 - 0.1) >= 0, or x / (y * 0.1 - 0.1) >= 0, is certain if these inputs have errors.
bool has_certain_sign_with_input_errors(Op op, double x, double y) {
  OracleFixture w;
  const ir::VarId in = w.floats("x", {x, y}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  const ExprId product = w.op(Op::kMul, {w.b().load(in, {w.b().i32(1)}), w.b().f32(0.1)});
  const ExprId rounded = w.op(Op::kSub, {product, w.b().f32(0.1)});
  const ExprId value = w.op(op, {w.b().load(in, {w.b().i32(0)}), rounded});
  w.b().store(out, {w.var(i)}, w.b().cast(ir::kF32, w.op(Op::kGe, {value, w.b().f32(0)})));
  auto run = w.run();
  run.profile.input_error.unit_roundoffs = 4;
  const ReferenceResult result = w.oracle().evaluate(run);
  return result.decisions.uncertain_decision_counts == std::array<std::int64_t, kPrecisionCount>{};
}

TEST(BranchDecisions, AreCertainForProductsAndQuotientsOfZero) {
  for (const Op op : {Op::kMul, Op::kDiv}) {
    EXPECT_TRUE(has_certain_sign_with_input_errors(op, 0, 3));
    EXPECT_TRUE(has_certain_sign_with_input_errors(op, -0.0, 3));
    EXPECT_FALSE(has_certain_sign_with_input_errors(op, 0, 1)) << "the sign of the rounded number is unknown";
  }
}

/// The bits of x, or of x * 0.1, as an i32.
ReferenceResult with_bits(float x, bool is_product) {
  OracleFixture w;
  const ir::VarId in = w.floats("x", {x}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kI32, {1});
  const ir::VarId i = w.thread_index(1);
  const ExprId value = is_product ? w.op(Op::kMul, {w.at(in, i), w.b().f32(0.1)}) : w.at(in, i);
  w.b().store(out, {w.var(i)}, w.b().op(Op::kReinterpret, {value}, ir::kI32));
  return w.evaluate();
}

TEST(BranchDecisions, BitsAreCertainOnlyForExactFloats) {
  const ReferenceResult exact = with_bits(-1.5F, false);
  EXPECT_EQ(exact.decisions.uncertain_decision_counts[kNative], 0);
  EXPECT_EQ(exact.outputs[1]->elements[0].integer, -0x40400000);
  const ReferenceResult rounded = with_bits(3, true);
  EXPECT_EQ(rounded.decisions.uncertain_decision_counts[kNative], 1);
  EXPECT_EQ(rounded.decisions.uncertain_decision_counts[kPromoted], 1) << "no float32 has the value 3 * 0.1F";
  EXPECT_FALSE(rounded.decisions.is_enumerable[kNative]);
}

TEST(BranchDecisions, BitsOfNanAreOutsideDomain) {
  const ReferenceResult r = with_bits(std::numeric_limits<float>::quiet_NaN(), false);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].kind, Finding::Kind::kConversionOutOfRange);
}

TEST(BranchDecisions, CanBeForcedToOtherBranch) {
  const Comparison c(3, kThreeTenths);
  auto run = c.w.run();
  const ReferenceResult ideal = c.w.oracle().evaluate(run);
  run.forced_path = {.precision = kNative, .flipped_decisions = {true}};
  const ReferenceResult other = c.w.oracle().evaluate(run);
  EXPECT_EQ(c.value(ideal) + c.value(other), 3) << "one outcome each";
  EXPECT_NE(ideal.decisions.path_hash, other.decisions.path_hash);
  run.forced_path.precision = kPromoted;
  EXPECT_EQ(c.value(c.w.oracle().evaluate(run)), c.value(ideal)) << "certain in the f64 promotion";
}

TEST(BranchDecisions, RoundingIsUncertainIfErrorIntervalCrossesRoundingThreshold) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {30}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kFloor, {w.op(Op::kMul, {w.at(x, i), w.b().f32(0.1)})}));
  auto run = w.run();
  const ReferenceResult ideal = w.oracle().evaluate(run);
  EXPECT_EQ(ideal.decisions.uncertain_decision_counts[kNative], 1);
  run.forced_path = {.precision = kNative, .flipped_decisions = {true}};
  const ReferenceResult other = w.oracle().evaluate(run);
  const auto value = [](const ReferenceResult& r) { return static_cast<double>(r.outputs[1]->elements[0].value); };
  EXPECT_THAT((std::vector<double>{value(ideal), value(other)}), ::testing::UnorderedElementsAre(2, 3));
  EXPECT_EQ(ideal.outputs[1]->elements[0].bound[kNative], 0);
  EXPECT_TRUE(ideal.decisions.is_enumerable[kNative]);
}

TEST(BranchDecisions, UncertainNonDifferentiablePointAffectsOnlyDerivative) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {3}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  const ExprId product = w.op(Op::kMul, {w.at(x, i), w.b().f32(0.1)});
  w.b().store(out, {w.var(i)}, w.op(Op::kMin, {product, w.b().f32(kThreeTenths)}));
  const ReferenceResult r = w.evaluate();
  EXPECT_EQ(r.decisions.uncertain_decision_counts[kNative], 0);
  EXPECT_EQ(r.decisions.uncertain_kinks[kNative], 1);
  EXPECT_LT(r.outputs[1]->elements[0].bound[kNative], 1e-7);
}

TEST(BranchDecisions, PathHashDependsOnTakenBranches) {
  EXPECT_EQ(Comparison(1, 0.5).w.evaluate().decisions.path_hash, Comparison(2, 0.5).w.evaluate().decisions.path_hash);
  EXPECT_NE(Comparison(1, 0.5).w.evaluate().decisions.path_hash, Comparison(9, 0.5).w.evaluate().decisions.path_hash);
}

TEST(DirectionalDifferences, ReduceStepUntilAllPointsTakeSameBranches) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.505});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  const ExprId square = w.op(Op::kMul, {w.at(x, i), w.at(x, i)});
  w.b().store(out, {w.var(i)}, w.op(Op::kConditional, {w.op(Op::kGt, {w.at(x, i), w.f64(0.5)}), square, w.f64(0)}));
  const DirectionalDifferences differences = w.oracle().directional_differences(w.run(), {{1.0}, {}});
  ASSERT_TRUE(differences.is_same_path);
  EXPECT_NEAR(static_cast<double>(differences.outputs[1][0].value), 1.01, 1e-14);
}

TEST(DirectionalDifferences, AreRejectedAtNonDifferentiablePoint) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.0});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kAbs, {w.at(x, i)}));
  EXPECT_FALSE(w.oracle().directional_differences(w.run(), {{1.0}, {}}).is_same_path);
}

}  // namespace
}  // namespace assay::reference
