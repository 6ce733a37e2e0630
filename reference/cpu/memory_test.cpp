// Gradients through memory, atomics, structs, local arrays and value parameters.
#include <cmath>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "reference/cpu/bound.hpp"
#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::AtomicOp;
using ir::ExprId;
using ir::Op;
using testing::OracleFixture;

double value(const ReferenceResult& r, ir::VarId p, std::size_t k) {
  return static_cast<double>(r.outputs[static_cast<std::size_t>(p)]->elements[k].value);
}
double slope(const ReferenceResult& r, ir::VarId p, std::size_t k) {
  return static_cast<double>(r.gradients[static_cast<std::size_t>(p)]->elements[k].value);
}
const GradientElement& element(const ReferenceResult& r, ir::VarId p, std::size_t k) {
  return r.gradients[static_cast<std::size_t>(p)]->elements[k];
}

TEST(OracleMemory, DifferentiatesInPlaceUpdatesAndOverwrittenElements) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {3, 5});
  const ir::VarId i = w.thread_index(1);
  const auto zero = w.b().i32(0);
  // x[0] = x[0]^2; x[0] = x[0] * x[1]; x[1] = 7
  w.b().store(x, {zero}, w.op(Op::kMul, {w.b().load(x, {zero}), w.b().load(x, {zero})}));
  w.b().store(x, {zero}, w.op(Op::kMul, {w.b().load(x, {zero}), w.b().load(x, {w.b().i32(1)})}));
  w.b().store(x, {w.b().i32(1)}, w.f64(7));
  static_cast<void>(i);
  const ReferenceResult r = w.gradient(x, {1, 100});
  EXPECT_EQ(value(r, x, 0), 45);
  EXPECT_EQ(slope(r, x, 0), 30);
  EXPECT_EQ(slope(r, x, 1), 9) << "the cotangent of the overwritten element is cleared";
}

TEST(OracleMemory, CotangentOfUnwrittenElementIsAddedToItsGradient) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {3, 5});
  const ir::VarId i = w.thread_index(1);
  w.b().store(x, {w.var(i)}, w.op(Op::kMul, {w.b().load(x, {w.b().i32(1)}), w.f64(4)}));
  const ReferenceResult r = w.gradient(x, {1, 100});
  EXPECT_EQ(slope(r, x, 0), 0);
  EXPECT_EQ(slope(r, x, 1), 104);
  EXPECT_FALSE(r.outputs[0]->elements[1].is_written);
}

/// A function of an array whose custom gradient adds 3 w to the adjoint of one element and subtracts w a[k] from that
/// of the next: the loads of the function itself contribute nothing.
ir::Module function_with_gradient_of_array() {
  auto module = ir::parse_text(
      "func f(a: array<f64,1>, k: i32, s: f64) -> f64 {\n  return mul(a[k], s)\n}\n"
      "func g(a: array<f64,1>, k: i32, s: f64, w: f64, nullable adj_a: array<f64,1>) -> f64 {\n"
      "  atomic_add(adj_a[k], mul(3.0:f64, w))\n  atomic_sub(adj_a[add(k, 1)], mul(w, a[k]))\n"
      "  return mul(w, a[k])\n}\n"
      "gradient f = g\n");
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module.take();
}

TEST(OracleMemory, CustomGradientDefinesDerivativesByElementsOfArray) {
  OracleFixture w(function_with_gradient_of_array());
  const ir::VarId x = w.floats("x", {2, 3, 5});
  const ir::VarId index = w.integers("index", {1, 0, 1});
  const ir::VarId out = w.zeros("out", ir::kF64, {3});
  const ir::VarId i = w.thread_index(3);
  w.b().store(out, {w.var(i)}, w.b().call(0, {w.var(x), w.at(index, i), w.f64(4)}));
  const ReferenceResult r = w.gradient(out, {1, 10, 100});
  EXPECT_EQ(value(r, out, 0), 12);
  EXPECT_EQ(slope(r, x, 0), 30);
  EXPECT_EQ(slope(r, x, 1), 3 * 101 - 10 * 2);
  EXPECT_EQ(slope(r, x, 2), -101 * 3);
  EXPECT_EQ(element(r, x, 1).contribution_count, 3);
}

TEST(OracleMemory, CustomGradientOfStoredElementPropagatesToStoredValue) {
  OracleFixture w(function_with_gradient_of_array());
  const ir::VarId x = w.floats("x", {2, 3, 5});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  const auto zero = w.b().i32(0);
  w.b().store(x, {zero}, w.op(Op::kMul, {w.b().load(x, {w.b().i32(2)}), w.f64(7)}));
  w.b().store(out, {w.var(i)}, w.b().call(0, {w.var(x), zero, w.b().load(x, {w.b().i32(1)})}));
  const ReferenceResult r = w.gradient(out, {1});
  EXPECT_EQ(slope(r, x, 0), 0);
  EXPECT_EQ(slope(r, x, 1), 35 - 35);
  EXPECT_EQ(slope(r, x, 2), 3 * 7);
}

TEST(OracleMemory, ContributionOfCustomGradientIsAnAccessToTheElement) {
  OracleFixture w(function_with_gradient_of_array());
  const ir::VarId x = w.floats("x", {2, 3, 5});
  const ir::VarId out = w.zeros("out", ir::kF64, {3});
  const ir::VarId i = w.thread_index(3);
  w.b().store(out, {w.var(i)}, w.b().call(0, {w.var(x), w.var(i), w.f64(4)}));
  const ReferenceResult outside = w.evaluate();
  ASSERT_EQ(outside.findings.size(), 1U);
  EXPECT_EQ(outside.findings[0].kind, Finding::Kind::kOutOfBounds);
  EXPECT_EQ(outside.findings[0].parameter, x);
  EXPECT_EQ(outside.findings[0].thread, 2);
}

TEST(OracleMemory, ContributionOfCustomGradientRacesWithStoreOfAnotherThread) {
  OracleFixture w(function_with_gradient_of_array());
  const ir::VarId x = w.floats("x", {2, 3, 5, 7});
  const ir::VarId out = w.zeros("out", ir::kF64, {3});
  const ir::VarId i = w.thread_index(3);
  w.b().store(x, {w.var(i)}, w.f64(1));
  w.b().store(out, {w.var(i)}, w.b().call(0, {w.var(x), w.var(i), w.f64(4)}));
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Finding::Kind::kRace);
  EXPECT_EQ(r.findings[0].parameter, x);
}

TEST(OracleMemory, GatherAccumulatesGradientAtSource) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {2, 3});
  const ir::VarId index = w.integers("index", {1, 1, 0, 1});
  const ir::VarId out = w.zeros("out", ir::kF64, {4});
  const ir::VarId i = w.thread_index(4);
  const ExprId gathered = w.b().load(x, {w.at(index, i)});
  w.b().store(out, {w.var(i)}, w.op(Op::kMul, {gathered, gathered}));
  const ReferenceResult r = w.gradient(out, {1, 2, 4, 8});
  EXPECT_EQ(slope(r, x, 0), 16);
  EXPECT_EQ(slope(r, x, 1), 66);
  EXPECT_EQ(element(r, x, 1).contribution_count, 6);
  EXPECT_EQ(element(r, x, 1).magnitude_sum, 66);
}

TEST(OracleMemory, BoundOfAtomicSumHoldsForAnyOrder) {
  OracleFixture w;
  std::vector<double> x;
  for (int k = 0; k < 50; ++k)
    x.push_back(std::sin(k));
  const ir::VarId in = w.floats("x", x, ir::Scalar::kF32);
  const ir::VarId out = w.array("out", ir::kF32, {1}, {0.1});
  const ir::VarId i = w.thread_index(50);
  w.b().atomic(AtomicOp::kAdd, out, {w.b().i32(0)}, w.op(Op::kMul, {w.at(in, i), w.at(in, i)}));
  const ReferenceResult r = w.gradient(out, {3});
  // The bound holds for any order of additions: ascending, descending, and alternating from both ends.
  const auto total = [&](auto index) {
    float sum = 0.1F;
    for (int k = 0; k < 50; ++k) {
      const auto term = static_cast<float>(x[static_cast<std::size_t>(index(k))]);
      sum += term * term;
    }
    return static_cast<long double>(sum);
  };
  const OutputElement& sum = r.outputs[1]->elements[0];
  for (const long double got : {total([](int k) { return k; }), total([](int k) { return 49 - k; }),
                                total([](int k) { return k % 2 ? k / 2 : 49 - k / 2; })})
    EXPECT_LE(std::abs(got - sum.value), static_cast<long double>(sum.bound[kNative]));
  EXPECT_LT(sum.bound[kNative], 1e-3);
  EXPECT_NEAR(slope(r, in, 7), 6 * static_cast<double>(static_cast<float>(x[7])), 1e-12);
  EXPECT_EQ(slope(r, out, 0), 3) << "the initial content is a term of the sum";
}

// The sum is 1e37, but two of its terms exceed the greatest f32 together.
TEST(OracleMemory, BoundIsInfiniteIfPartialSumMayOverflow) {
  const std::vector<double> terms{3e38, 3e38, -3e38, -2.9e38};
  OracleFixture w;
  const ir::VarId factor = w.floats("factor", terms, ir::Scalar::kF32);
  const ir::VarId x = w.floats("x", {1}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(4);
  w.b().atomic(AtomicOp::kAdd, out, {w.b().i32(0)}, w.op(Op::kMul, {w.at(factor, i), w.b().load(x, {w.b().i32(0)})}));
  const ReferenceResult r = w.gradient(out);
  const OutputElement& sum = r.outputs[static_cast<std::size_t>(out)]->elements[0];
  EXPECT_EQ(sum.bound[kNative], kUnbounded);
  EXPECT_LT(sum.bound[kPromoted], 1e24);
  EXPECT_EQ(element(r, x, 0).bound[kNative], kUnbounded);
  EXPECT_LT(element(r, x, 0).bound[kPromoted], 1e24);
}

TEST(OracleMemory, AtomicSumWithoutRoundingHasZeroBound) {
  OracleFixture w;
  const ir::VarId in = w.floats("x", {0.5, 0.25, 3, -1.75}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(4);
  w.b().atomic(AtomicOp::kAdd, out, {w.b().i32(0)}, w.at(in, i));
  const ReferenceResult r = w.evaluate();
  EXPECT_EQ(value(r, out, 0), 2);
  EXPECT_EQ(r.outputs[1]->elements[0].bound[kNative], 0);
}

TEST(OracleMemory, AtomicSubtractionNegatesTheCotangent) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {2, 3});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(2);
  w.b().atomic(AtomicOp::kSub, out, {w.b().i32(0)}, w.at(x, i));
  const ReferenceResult r = w.gradient(out, {5});
  EXPECT_EQ(value(r, out, 0), -5);
  EXPECT_EQ(slope(r, x, 1), -5);
}

TEST(OracleMemory, AtomicMaximumPassesCotangentToLargestValue) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {2, 9, 3});
  const ir::VarId out = w.array("out", ir::kF64, {1}, {-1});
  const ir::VarId i = w.thread_index(3);
  w.b().atomic(AtomicOp::kMax, out, {w.b().i32(0)}, w.at(x, i));
  const ReferenceResult r = w.gradient(out, {5});
  EXPECT_EQ(value(r, out, 0), 9);
  EXPECT_EQ(slope(r, x, 0) + slope(r, x, 2) + slope(r, out, 0), 0);
  EXPECT_EQ(slope(r, x, 1), 5);
  EXPECT_EQ(r.decisions.uncertain_kinks[kNative], 0);
}

TEST(OracleMemory, GradientOfTiedAtomicMaximumIsUncertain) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {9, 9});
  const ir::VarId out = w.array("out", ir::kF64, {1}, {-1});
  const ir::VarId i = w.thread_index(2);
  w.b().atomic(AtomicOp::kMax, out, {w.b().i32(0)}, w.at(x, i));
  const ReferenceResult r = w.gradient(out, {5});
  EXPECT_EQ(slope(r, x, 0) + slope(r, x, 1), 5);
  EXPECT_EQ(r.decisions.uncertain_kinks[kNative], 1);
}

TEST(OracleMemory, GradientOfAtomicMinimumTiedWithConstantIsUncertain) {
  OracleFixture w;
  const ir::VarId x = w.array("x", ir::kF64, {2}, {0, 1});
  const ir::VarId i = w.thread_index(2);
  w.b().atomic(AtomicOp::kMin, x, {w.var(i)}, w.b().literal(ir::kF64, 0.0));
  EXPECT_EQ(w.gradient(x, {5, 5}).decisions.uncertain_kinks[kNative], 1);
}

// 3 + 0.91 is rounded in f32 but not in the f64 promotion, so 0 times it is an exact zero in only one precision.
TEST(OracleMemory, TieOfAtomicMaximumWithZeroIsUncertainInBothPrecisions) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0}, ir::Scalar::kF32);
  const ir::VarId y = w.floats("y", {3}, ir::Scalar::kF32);
  const ir::VarId out = w.array("out", ir::kF32, {1}, {0});
  const ir::VarId i = w.thread_index(1);
  const ExprId sum = w.op(ir::Op::kAdd, {w.at(y, i), w.b().literal(ir::kF32, 0.91)});
  w.b().atomic(AtomicOp::kMax, out, {w.b().i32(0)}, w.op(ir::Op::kMul, {w.at(x, i), sum}));
  const ReferenceResult r = w.gradient(out, {5});
  EXPECT_EQ(r.decisions.uncertain_kinks[kNative], 1);
  EXPECT_EQ(r.decisions.uncertain_kinks[kPromoted], 1);
}

TEST(OracleMemory, IntegerAtomicsStoreExpectedValues) {
  OracleFixture w;
  const ir::VarId n = w.integers("n", {6, 6, 6, 6, 6, 6});
  const ir::VarId i = w.thread_index(1);
  const auto cell = [&](int k) { return std::vector<ExprId>{w.b().i32(k)}; };
  w.b().atomic(AtomicOp::kAnd, n, cell(0), w.b().i32(3));
  w.b().atomic(AtomicOp::kOr, n, cell(1), w.b().i32(3));
  w.b().atomic(AtomicOp::kXor, n, cell(2), w.b().i32(3));
  w.b().atomic(AtomicOp::kMin, n, cell(3), w.b().i32(3));
  const ir::VarId old = w.b().atomic_result("old", AtomicOp::kExchange, n, cell(4), w.b().i32(3));
  static_cast<void>(w.b().atomic_result("seen", AtomicOp::kCompareAndSwap, n, cell(5), w.var(old), w.b().i32(6)));
  w.b().atomic(AtomicOp::kAdd, n, cell(5), w.var(old));
  static_cast<void>(i);
  const ReferenceResult r = w.evaluate();
  const std::vector<std::int64_t> expected = {2, 7, 5, 3, 3, 12};
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(r.outputs[0]->elements[k].integer, expected[k]) << k;
}

TEST(OracleMemory, GradientOfValueParameterIsSummedOverThreads) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {1, 2, 3});
  const ir::VarId scale = w.value("scale", ir::kF64, {4});
  const ir::VarId shift = w.value("shift", ir::vector_type(ir::Scalar::kF64, 2), {10, 20});
  const ir::VarId out = w.zeros("out", ir::kF64, {3});
  const ir::VarId i = w.thread_index(3);
  const ExprId y = w.op(Op::kExtract, {w.var(shift), w.b().i32(1)});
  w.b().store(out, {w.var(i)}, w.op(Op::kAdd, {w.op(Op::kMul, {w.at(x, i), w.var(scale)}), y}));
  const ReferenceResult r = w.gradient(out, {1, 10, 100});
  EXPECT_EQ(value(r, out, 2), 32);
  EXPECT_EQ(slope(r, scale, 0), 321);
  EXPECT_EQ(slope(r, shift, 0), 0);
  EXPECT_EQ(slope(r, shift, 1), 111);
  EXPECT_EQ(slope(r, x, 0), 4);
}

TEST(OracleMemory, DifferentiatesFieldsOfStructsPassedByValue) {
  ir::Module module;
  module.structs.push_back(
      {.name = "Body",
       .fields = {{"mass", ir::kF64}, {"count", ir::kI32}, {"at", ir::vector_type(ir::Scalar::kF64, 2)}}});
  OracleFixture w(std::move(module));
  const ir::VarId body = w.value("body", ir::struct_type(0), {2, 3, 5, 7});
  const ir::VarId x = w.floats("x", {11});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  // changed = body with mass = x * mass; out = changed.mass * changed.at.y * count
  const ExprId mass = w.op(Op::kMul, {w.at(x, i), w.b().field(w.var(body), 0)});
  const ir::VarId changed = w.b().let("changed", w.b().op(Op::kWithField, {w.var(body), mass}, ir::kVoid, 0));
  const ExprId y = w.op(Op::kExtract, {w.b().field(w.var(changed), 2), w.b().i32(1)});
  const ExprId count = w.b().cast(ir::kF64, w.b().field(w.var(changed), 1));
  w.b().store(out, {w.var(i)}, w.op(Op::kMul, {w.op(Op::kMul, {w.b().field(w.var(changed), 0), y}), count}));
  const ReferenceResult r = w.gradient(out);
  EXPECT_EQ(value(r, out, 0), 462);
  EXPECT_EQ(slope(r, body, 0), 231);
  EXPECT_EQ(slope(r, body, 1), 0) << "an integer";
  EXPECT_EQ(slope(r, body, 2), 0);
  EXPECT_EQ(slope(r, body, 3), 66);
  EXPECT_EQ(slope(r, x, 0), 42);
}

TEST(OracleMemory, DifferentiatesLocalArraysWithDynamicIndices) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {2, 3, 4});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  const ir::VarId local = w.b().let_zero("a", ir::kF64.local_array_of(4));
  w.b().for_("k", w.b().i32(0), w.b().i32(3), w.b().i32(1), [&](ir::VarId k) {
    w.b().store(local, {w.op(Op::kSub, {w.b().i32(3), w.var(k)})}, w.b().load(x, {w.var(k)}));
  });
  // a = {0, x2, x1, x0}
  const auto a = [&](int k) { return w.b().load(local, {w.b().i32(k)}); };
  w.b().store(out, {w.var(i)}, w.op(Op::kAdd, {a(0), w.op(Op::kMul, {a(1), w.op(Op::kMul, {a(3), a(3)})})}));
  const ReferenceResult r = w.gradient(out);
  EXPECT_EQ(value(r, out, 0), 16);
  EXPECT_EQ(slope(r, x, 0), 16);
  EXPECT_EQ(slope(r, x, 1), 0);
  EXPECT_EQ(slope(r, x, 2), 4);
}

TEST(OracleMemory, SwapsVectorComponentsInOneAssignment) {
  OracleFixture w;
  const ir::VarId x = w.array("x", ir::vector_type(ir::Scalar::kF64, 2), {1}, {1, 2});
  const ir::VarId i = w.thread_index(1);
  const ir::VarId v = w.b().let("v", w.at(x, i));
  const auto part = [&](int k) { return w.op(Op::kExtract, {w.var(v), w.b().i32(k)}); };
  w.b().assign(v, w.b().make(w.b().type_of(w.var(v)), {part(1), part(0)}));
  w.b().store(x, {w.var(i)}, w.var(v));
  const ReferenceResult r = w.gradient(x, {10, 100});
  EXPECT_EQ(value(r, x, 0), 2);
  EXPECT_EQ(value(r, x, 1), 1);
  EXPECT_EQ(slope(r, x, 0), 100);
}

TEST(OracleMemory, CastRoundsGradientToOperandPrecision) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.1}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kMul, {w.b().cast(ir::kF64, w.at(x, i)), w.f64(1.0 / 3)}));
  const ReferenceResult r = w.gradient(out);
  const double wide = 1.0 / 3;
  EXPECT_GE(element(r, x, 0).bound[kNative], std::abs(wide - static_cast<double>(static_cast<float>(wide))));
  EXPECT_LT(element(r, x, 0).bound[kPromoted], 1e-15);
}

TEST(OracleMemory, InitialGradientContributesToErrorBound) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {3}, ir::Scalar::kF32);
  const ir::VarId out = w.zeros("out", ir::kF32, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.at(x, i));
  auto run = w.gradient_run(w.cotangents_for(out));
  EXPECT_EQ(w.oracle().evaluate(run).gradients[0]->elements[0].bound[kNative], 0);
  run.initial_gradients = {{100.0}, {}};
  EXPECT_GE(w.oracle().evaluate(run).gradients[0]->elements[0].bound[kNative], 101 * 0x1p-24);
}

TEST(OracleMemory, ZeroCotangentGivesZeroGradientAndBound) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {3});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kExp, {w.at(x, i)}));
  const ReferenceResult r = w.gradient(out, {0});
  EXPECT_EQ(slope(r, x, 0), 0);
  EXPECT_EQ(element(r, x, 0).bound[kNative], 0);
}

TEST(OracleMemory, RejectsArraysInStructs) {
  ir::Module module;
  module.structs.push_back({.name = "Grid", .fields = {{"cells", ir::kF64.array_of(1)}}});
  OracleFixture w(std::move(module));
  const ir::VarId grid = w.b().parameter("grid", ir::struct_type(0));
  const ir::VarId out = w.b().parameter("out", ir::kI32.array_of(1));
  const ir::VarId i = w.b().thread_index("i");
  const ExprId cells = w.b().field(w.var(grid), 0);
  ir::Expr load{.kind = ir::ExprKind::kLoad, .type = ir::kF64, .args = {cells, w.var(i)}};
  w.kernel().expressions.push_back(load);
  w.b().store(out, {w.var(i)}, w.b().cast(ir::kI32, static_cast<ExprId>(w.kernel().expressions.size()) - 1));
  const auto oracle = Oracle::make(w.module(), w.kernel());
  ASSERT_FALSE(oracle.ok());
  EXPECT_EQ(oracle.error().message, "arrays inside structs are not supported by the oracle");
}

}  // namespace
}  // namespace assay::reference
