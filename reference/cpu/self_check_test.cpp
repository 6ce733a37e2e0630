#include "reference/cpu/self_check.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using testing::OracleFixture;

struct SelfCheckTest : ::testing::Test {
  OracleFixture w;
  ir::VarId x = w.floats("x", {0.25, 0.5, 2});
  ir::VarId scale = w.value("scale", ir::kF64, {1.5});
  ir::VarId out = w.zeros("out", ir::kF64, {3});
  ir::VarId i = w.thread_index(3);

  void build() { w.b().store(out, {w.var(i)}, w.op(Op::kSin, {w.op(Op::kMul, {w.at(x, i), w.var(scale)})})); }
};

TEST_F(SelfCheckTest, PassesForSmoothKernel) {
  build();
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.cotangents_for(out, {1, -2, 0.5}));
  const OracleSelfCheckResult check = self_check(oracle, run, oracle.evaluate(run), 1);
  EXPECT_TRUE(check.agrees) << check.message;
  EXPECT_TRUE(check.is_conclusive);
}

TEST_F(SelfCheckTest, DetectsSlightlyIncorrectGradient) {
  build();
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.cotangents_for(out, {1, -2, 0.5}));
  ReferenceResult from_reverse_sweep = oracle.evaluate(run);
  from_reverse_sweep.gradients[0]->elements[1].value *= 1 + 1e-12L;
  const OracleSelfCheckResult check = self_check(oracle, run, from_reverse_sweep, 1);
  EXPECT_FALSE(check.agrees);
  EXPECT_NE(check.message.find("sweep"), std::string::npos);
}

TEST_F(SelfCheckTest, IsInconclusiveAtNonDifferentiablePoint) {
  w.b().store(out, {w.var(i)}, w.op(Op::kAbs, {w.op(Op::kSub, {w.at(x, i), w.f64(0.5)})}));
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.cotangents_for(out));
  EXPECT_FALSE(self_check(oracle, run, oracle.evaluate(run), 1).is_conclusive);
}

/// sin((2 x)^22) oscillates many thousand times within the stencil.
TEST(OracleSelfCheck, ToleratesOscillationBetweenSamplePoints) {
  constexpr int kPower = 22;
  int conclusive = 0;
  for (int k = 0; k < 200; ++k) {
    const double x = 0.5 + 1.5 * k / 200;
    OracleFixture w;
    const ir::VarId in = w.floats("x", {x});
    const ir::VarId out = w.zeros("out", ir::kF64, {1});
    const ir::VarId i = w.thread_index(1);
    const ir::ExprId twice = w.op(Op::kMul, {w.at(in, i), w.f64(2)});
    ir::ExprId p = twice;
    for (int n = 1; n < kPower; ++n)
      p = w.op(Op::kMul, {p, twice});
    w.b().store(out, {w.var(i)}, w.op(Op::kSin, {p}));
    const Oracle oracle = w.oracle();
    const DirectionalDifferences differences = oracle.directional_differences(w.run(), {{0.7}, {}});
    if (!differences.is_same_path) continue;
    ++conclusive;
    const long double wave = std::pow(2 * static_cast<long double>(x), kPower);
    const long double slope = 0.7L * std::cos(wave) * kPower * wave / static_cast<long double>(x);
    const DirectionalDifferences::Estimate& estimate = differences.outputs[1][0];
    EXPECT_LE(std::abs(estimate.value - slope), 1e-8L * std::abs(slope) + estimate.error) << x;
  }
  EXPECT_GT(conclusive, 30);
}

/// x + 1e-9 sin(1e12 x): within the stencil, the oscillation changes the derivative by 1000 but the differences by less
/// than their tolerance.
TEST(OracleSelfCheck, ToleratesFastOscillationOfSmallAmplitude) {
  int conclusive = 0;
  for (int k = 1; k <= 20; ++k) {
    OracleFixture w;
    const ir::VarId in = w.floats("x", {0.25 + k / 64.0});
    const ir::VarId out = w.zeros("out", ir::kF64, {1});
    const ir::VarId i = w.thread_index(1);
    const ir::ExprId wave = w.op(Op::kSin, {w.op(Op::kMul, {w.at(in, i), w.f64(1e12)})});
    w.b().store(out, {w.var(i)}, w.op(Op::kAdd, {w.at(in, i), w.op(Op::kMul, {wave, w.f64(1e-9)})}));
    const Oracle oracle = w.oracle();
    const auto run = w.gradient_run(w.cotangents_for(out, {1}));
    const OracleSelfCheckResult check = self_check(oracle, run, oracle.evaluate(run), static_cast<std::uint64_t>(k));
    EXPECT_TRUE(check.agrees) << k << ": " << check.message;
    conclusive += check.is_conclusive;
  }
  EXPECT_LT(conclusive, 5) << "the derivative may be close to 1 by accident";
}

/// The sum of r^2 log r over some points, one of which is close: its third derivative is unbounded there.
TEST(OracleSelfCheck, ToleratesUnboundedThirdDerivative) {
  int conclusive = 0;
  for (int k = 1; k <= 2000; ++k) {
    OracleFixture w;
    const ir::VarId in = w.floats("x", {std::ldexp(k, -18), -std::ldexp(k, -16)});
    const ir::VarId out = w.zeros("out", ir::kF64, {1});
    const ir::ExprId x = w.b().load(in, {w.b().i32(0)});
    const ir::ExprId y = w.b().load(in, {w.b().i32(1)});
    const ir::ExprId squared = w.op(Op::kAdd, {w.op(Op::kMul, {x, x}), w.op(Op::kMul, {y, y})});
    w.thread_index(1);
    w.b().store(out, {w.b().i32(0)}, w.op(Op::kMul, {squared, w.op(Op::kLog, {squared})}));
    const Oracle oracle = w.oracle();
    const auto run = w.gradient_run(w.cotangents_for(out, {1}));
    const OracleSelfCheckResult check = self_check(oracle, run, oracle.evaluate(run), static_cast<std::uint64_t>(k));
    conclusive += check.is_conclusive;
    EXPECT_TRUE(check.agrees) << k << ": " << check.message;
  }
  EXPECT_GT(conclusive, 1000);
}

/// Uninitialized memory contains such numbers. A step that suits the other inputs does not change it in long double.
TEST(OracleSelfCheck, ToleratesUnwrittenElementTooLargeForStepToChange) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.25});
  const ir::VarId out = w.floats("out", {1, -4.6362306e19});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kSin, {w.at(x, i)}));
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.cotangents_for(out, {1, 0.5}));
  const OracleSelfCheckResult check = self_check(oracle, run, oracle.evaluate(run), 1);
  EXPECT_TRUE(check.agrees) << check.message;
  EXPECT_TRUE(check.is_conclusive);
}

/// A custom gradient with a relative error of one millionth, which does not shrink with the step.
TEST(OracleSelfCheck, DetectsSlightlyIncorrectCustomGradient) {
  auto functions = ir::parse_text(
      "func f(x: f64) -> f64 {\n  return sin(x)\n}\n"
      "func g(x: f64, adj: f64) -> f64 {\n  return mul(mul(cos(x), adj), 1.000001:f64)\n}\n"
      "gradient f = g\n");
  ASSERT_TRUE(functions.ok()) << functions.error().text();
  OracleFixture w(functions.take());
  const ir::VarId x = w.floats("x", {0.25, 0.5, 2});
  const ir::VarId out = w.zeros("out", ir::kF64, {3});
  const ir::VarId i = w.thread_index(3);
  w.b().store(out, {w.var(i)}, w.b().call(0, {w.at(x, i)}));
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.cotangents_for(out, {1, -2, 0.5}));
  const OracleSelfCheckResult check = self_check(oracle, run, oracle.evaluate(run), 1);
  EXPECT_FALSE(check.agrees);
  EXPECT_EQ(check.message.rfind("dual numbers give", 0), 0U) << check.message;
}

/// (x + c) - c is exact for an x with a short mantissa, but rounds at neighboring points.
TEST(OracleSelfCheck, ToleratesRoundingThatOccursOnlyAtNeighboringPoints) {
  int converged = 0;
  for (int k = 0; k < 400; ++k) {
    const double c = std::ldexp(1.0, 28 + k % 16);
    OracleFixture w;
    const ir::VarId in = w.floats("x", {k / 256.0});
    const ir::VarId out = w.zeros("out", ir::kF64, {1});
    const ir::VarId i = w.thread_index(1);
    const ir::ExprId far = w.op(Op::kAdd, {w.at(in, i), w.f64(c)});
    w.b().store(out, {w.var(i)}, w.op(Op::kSub, {far, w.f64(c)}));
    const DirectionalDifferences differences = w.oracle().directional_differences(w.run(), {{0.7}, {}});
    if (!differences.is_same_path) continue;
    ++converged;
    const DirectionalDifferences::Estimate& estimate = differences.outputs[1][0];
    EXPECT_LE(std::abs(estimate.value - 0.7L), 1e-8L * 0.7L + estimate.error) << k << ' ' << c;
  }
  EXPECT_GT(converged, 100);
}

}  // namespace
}  // namespace assay::reference
