// Gradients through loops, branches, early returns and functions, compared with closed forms, dual numbers and finite
// differences.
#include <cmath>

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::ExprId;
using ir::Op;
using ir::VarId;
using testing::OracleFixture;

/// A kernel of one thread with inputs x[] and n and output out[0].
struct ControlFlowTest : ::testing::Test {
  OracleFixture w;
  VarId x = ir::kNone, out = ir::kNone, i = ir::kNone;

  void declare(const std::vector<double>& values) {
    x = w.floats("x", values);
    out = w.zeros("out", ir::kF64, {1});
    i = w.thread_index(1);
  }
  ExprId element(ExprId k) { return w.b().load(x, {k}); }
  ExprId i32(int k) { return w.b().i32(k); }
  void finish(VarId variable) { w.b().store(out, {w.var(i)}, w.var(variable)); }

  void expect(double value, const std::vector<double>& gradient) {
    const Oracle oracle = w.oracle();
    const auto run = w.gradient_run(w.cotangents_for(out));
    const ReferenceResult r = oracle.evaluate(run);
    ASSERT_TRUE(r.findings.empty()) << describe(r.findings[0], w.module(), w.kernel());
    EXPECT_NEAR(static_cast<double>(r.outputs[1]->elements[0].value), value, 1e-12 * std::max(1.0, std::abs(value)));
    ComponentValues direction{std::vector<double>(gradient.size()), {}};
    long double slope = 0;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      EXPECT_NEAR(static_cast<double>(r.gradients[0]->elements[k].value), gradient[k],
                  1e-12 * std::max(1.0, std::abs(gradient[k])))
          << k;
      direction[0][k] = k % 2 == 0 ? 1.0 : -0.5;
      slope += static_cast<long double>(direction[0][k]) * r.gradients[0]->elements[k].value;
    }
    const Tangents tangents = oracle.tangents(run, {direction});
    EXPECT_LE(gradient_disagreement(r, tangents, 0, run, direction), 0x1p-45L);
    const DirectionalDifferences differences = oracle.directional_differences(run, direction);
    if (!differences.is_same_path) return;
    const DirectionalDifferences::Estimate& estimate = differences.outputs[1][0];
    EXPECT_LE(std::abs(estimate.value - slope), 1e-8L * std::abs(slope) + estimate.error);
  }
};

TEST_F(ControlFlowTest, DifferentiatesProductInDynamicLoop) {
  declare({2, 3, 0.5, 4});
  const VarId p = w.b().let("p", w.f64(1));
  w.b().for_("j", i32(0), w.b().shape_of(x, 0), i32(1), [&](VarId j) {
    w.b().assign(p, w.op(Op::kMul, {w.var(p), element(w.var(j))}));
  });
  finish(p);
  expect(12, {6, 4, 24, 3});
}

TEST_F(ControlFlowTest, DifferentiatesLoopOfThousandIterations) {
  declare({0.999, 0.25});
  const VarId s = w.b().let("s", w.f64(0));
  w.b().for_("j", i32(0), i32(1000), i32(1), [&](VarId) {
    w.b().assign(s, w.op(Op::kAdd, {w.op(Op::kMul, {w.var(s), element(i32(0))}), element(i32(1))}));
  });
  finish(s);
  const double a = 0.999;
  const double power = std::pow(a, 1000);
  const double sum = (1 - power) / (1 - a);
  expect(0.25 * sum, {0.25 * (-1000 * power / a * (1 - a) + (1 - power)) / ((1 - a) * (1 - a)), sum});
}

TEST_F(ControlFlowTest, LoopWithoutIterationsLeavesVariablesUnchanged) {
  declare({2});
  const VarId s = w.b().let("s", element(i32(0)));
  w.b().for_("j", i32(3), i32(0), i32(1), [&](VarId) { w.b().assign(s, w.f64(0)); });
  finish(s);
  expect(2, {1});
}

TEST_F(ControlFlowTest, DifferentiatesDescendingRangeWithStep) {
  declare({1, 2, 3, 4, 5});
  const VarId s = w.b().let("s", w.f64(0));
  // s = 10 s + x[j] for j = 4, 2, 0
  w.b().for_("j", i32(4), i32(-1), i32(-2), [&](VarId j) {
    w.b().assign(s, w.op(Op::kAdd, {w.op(Op::kMul, {w.f64(10), w.var(s)}), element(w.var(j))}));
  });
  finish(s);
  expect(531, {1, 0, 10, 0, 100});
}

TEST_F(ControlFlowTest, DifferentiatesWhileLoopWithBreakAndContinue) {
  declare({1.5, 2, -1, 3, 100, 7});
  const VarId s = w.b().let("s", w.f64(1));
  const VarId k = w.b().let("k", i32(-1));
  w.b().while_(w.op(Op::kLt, {w.var(k), i32(5)}), [&] {
    w.b().assign(k, w.op(Op::kAdd, {w.var(k), i32(1)}));
    w.b().if_(w.op(Op::kLt, {element(w.var(k)), w.f64(0)}), [&] { w.b().continue_(); });
    w.b().if_(w.op(Op::kGt, {element(w.var(k)), w.f64(50)}), [&] { w.b().break_(); });
    w.b().assign(s, w.op(Op::kMul, {w.var(s), element(w.var(k))}));
  });
  finish(s);
  expect(9, {6, 4.5, 0, 3, 0, 0});
}

TEST_F(ControlFlowTest, ContinueProceedsToNextIteration) {
  declare({1, 2, 3});
  const VarId s = w.b().let("s", w.f64(0));
  w.b().for_("j", i32(0), i32(3), i32(1), [&](VarId j) {
    w.b().if_(w.op(Op::kEq, {w.var(j), i32(1)}), [&] { w.b().continue_(); });
    w.b().assign(s, w.op(Op::kAdd, {w.var(s), w.op(Op::kMul, {element(w.var(j)), element(w.var(j))})}));
  });
  finish(s);
  expect(10, {2, 0, 6});
}

TEST_F(ControlFlowTest, DifferentiatesEarlyReturn) {
  declare({3, 4});
  w.b().store(out, {w.var(i)}, element(i32(0)));
  w.b().if_(w.op(Op::kGt, {element(i32(0)), w.f64(2)}), [&] { w.b().return_(); });
  w.b().store(out, {w.var(i)}, element(i32(1)));
  expect(3, {1, 0});
}

TEST_F(ControlFlowTest, DifferentiatesAccumulatorInNestedLoop) {
  declare({2, 3});
  const VarId s = w.b().let("s", w.f64(0));
  w.b().for_("a", i32(0), i32(2), i32(1), [&](VarId a) {
    const VarId inner = w.b().let("inner", w.f64(1));
    w.b().for_("c", i32(0), w.op(Op::kAdd, {w.var(a), i32(2)}), i32(1), [&](VarId) {
      w.b().assign(inner, w.op(Op::kMul, {w.var(inner), element(w.var(a))}));
    });
    w.b().assign(s, w.op(Op::kAdd, {w.var(s), w.var(inner)}));
  });
  finish(s);
  expect(31, {4, 27});
}

TEST_F(ControlFlowTest, LoopBoundsAreEvaluatedOnce) {
  declare({1});
  const VarId n = w.b().let("n", i32(3));
  const VarId s = w.b().let("s", w.f64(0));
  w.b().for_("j", i32(0), w.var(n), i32(1), [&](VarId) {
    w.b().assign(n, i32(100));
    w.b().assign(s, w.op(Op::kAdd, {w.var(s), element(i32(0))}));
  });
  finish(s);
  expect(3, {3});
}

TEST_F(ControlFlowTest, ShortCircuitedOperandsAreNotEvaluated) {
  declare({5});
  const ExprId outside = w.op(Op::kGt, {element(i32(7)), w.f64(0)});
  const VarId first = w.b().let("first", w.op(Op::kAnd, {w.b().boolean(false), outside}));
  const VarId second = w.b().let("second", w.op(Op::kOr, {w.b().boolean(true), outside}));
  const ExprId chosen = w.op(Op::kConditional, {w.op(Op::kOr, {w.var(first), w.op(Op::kNot, {w.var(second)})}),
                                                element(i32(9)), element(i32(0))});
  const VarId s = w.b().let("s", chosen);
  finish(s);
  expect(5, {1});
}

/// twice(a, b): if a > b return a * b; return a - b. And sum_and_product(a, b) with two results.
ir::Module functions() {
  ir::Module module;
  ir::Function mix{.name = "mix", .results = {ir::kF64}};
  {
    ir::Builder b(module, mix);
    const VarId p = b.parameter("p", ir::kF64);
    const VarId q = b.parameter("q", ir::kF64);
    b.if_(b.op(Op::kGt, {b.var(p), b.var(q)}), [&] { b.return_({b.op(Op::kMul, {b.var(p), b.var(q)})}); });
    b.return_({b.op(Op::kSub, {b.var(p), b.var(q)})});
  }
  module.functions.push_back(std::move(mix));
  ir::Function both{.name = "both", .results = {ir::kF64, ir::kF64}};
  {
    ir::Builder b(module, both);
    const VarId p = b.parameter("p", ir::kF64);
    const VarId a = b.parameter("a", ir::kF64.array_of(1));
    const VarId mixed = b.let("mixed", b.call(0, {b.var(p), b.load(a, {b.i32(1)})}));
    b.return_({b.op(Op::kAdd, {b.var(mixed), b.var(p)}), b.op(Op::kMul, {b.var(mixed), b.var(p)})});
  }
  module.functions.push_back(std::move(both));
  return module;
}

TEST(OracleFunctions, PassArgumentsByValueAndReturnSeveralResults) {
  OracleFixture w(functions());
  const VarId x = w.floats("x", {3, 2});
  const VarId out = w.zeros("out", ir::kF64, {2});
  const VarId i = w.thread_index(1);
  const auto results = w.b().call_statement(1, {w.b().load(x, {w.b().i32(0)}), w.var(x)}, {"s", "p"});
  w.b().store(out, {w.var(i)}, w.var(results[0]));
  w.b().store(out, {w.b().i32(1)},
              w.op(Op::kAdd, {w.var(results[1]), w.b().call(0, {w.f64(1), w.b().load(x, {w.b().i32(0)})})}));
  const ReferenceResult r = w.gradient(out, {1, 10});
  ASSERT_TRUE(r.findings.empty());
  // mixed = x0 x1 = 6: out = {9, 18 + (1 - x0)}
  EXPECT_EQ(static_cast<double>(r.outputs[1]->elements[0].value), 9);
  EXPECT_EQ(static_cast<double>(r.outputs[1]->elements[1].value), 16);
  EXPECT_EQ(static_cast<double>(r.gradients[0]->elements[0].value), (2 + 1) + 10 * (2 * 3 * 2 - 1));
  EXPECT_EQ(static_cast<double>(r.gradients[0]->elements[1].value), 3 + 10 * 9);
}

TEST(OracleFunctions, AreRejectedIfCodeGrowsExponentially) {
  ir::Module module;
  for (int level = 0; level < 40; ++level) {
    ir::Function f{.name = "f" + std::to_string(level), .results = {ir::kF64}};
    ir::Builder b(module, f);
    const VarId p = b.parameter("p", ir::kF64);
    const auto below = [&](ExprId arg) { return level == 0 ? b.op(Op::kExp, {arg}) : b.call(level - 1, {arg}); };
    b.return_({b.op(Op::kAdd, {below(b.var(p)), below(b.var(p))})});
    module.functions.push_back(std::move(f));
  }
  OracleFixture w(std::move(module));
  const VarId x = w.floats("x", {3});
  const VarId i = w.thread_index(1);
  w.b().store(x, {w.var(i)}, w.b().call(39, {w.at(x, i)}));
  const auto oracle = Oracle::make(w.module(), w.kernel());
  ASSERT_FALSE(oracle.ok());
  EXPECT_EQ(oracle.error().message, "kernel is too large after function inlining");
}

TEST(OracleLaunch, ThreadsCoverAllIndexCombinationsInAnyOrder) {
  OracleFixture w;
  const VarId out = w.array("out", ir::kI32, {2, 3});
  const VarId row = w.thread_index(2, "row");
  const VarId column = w.thread_index(3, "column");
  w.b().store(out, {w.var(row), w.var(column)},
              w.op(Op::kAdd, {w.op(Op::kMul, {w.b().i32(10), w.var(row)}), w.var(column)}));
  auto run = w.run();
  run.thread_order = {5, 3, 1, 0, 2, 4};
  const ReferenceResult r = w.oracle().evaluate(run);
  const std::vector<std::int64_t> expected = {0, 1, 2, 10, 11, 12};
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_EQ(r.outputs[0]->elements[k].integer, expected[k]);
}

}  // namespace
}  // namespace assay::reference
