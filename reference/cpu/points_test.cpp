// Tests that evaluating several points in one run gives the same results as one run per point.
#include "reference/cpu/points.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "reference/cpu/machine.hpp"
#include "reference/cpu/program.hpp"
#include "reference/cpu/testing/operation_samples.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using testing::OracleFixture;

constexpr std::array<long double, 4> kSomeSteps{0x1p-8L, -0x1p-8L, 0.003L, -0.7L};

/// Equal numbers, or both NaN.
bool same(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Compares each point with a separate run: the values are equal, or the points are reported to have diverged. Returns
/// whether they stayed on the path.
bool compare_with_separate_runs(OracleFixture& fixture, const ComponentValues& direction) {
  const auto program = lower(fixture.module(), fixture.kernel());
  const OracleRun run = fixture.run();
  PointTracer points(direction, kSomeSteps, run);
  Interpreter<PointTracer> together(program.value(), run, points);
  together.run();
  bool stayed = true;
  for (std::size_t k = 0; k < kSomeSteps.size(); ++k) {
    NoDerivatives none;
    const Perturbation perturbation{direction, kSomeSteps[k]};
    Interpreter<NoDerivatives> alone(program.value(), run, none, &perturbation, false);
    alone.run();
    if (alone.decisions().path_hash != together.decisions().path_hash) {
      stayed = false;
      continue;
    }
    for (std::size_t p = 0; p < program.value().parameters.size() && !points.has_diverged(); ++p) {
      if (!program.value().parameters[p].is_written) continue;
      alone.array(p).for_each_cell([&](std::size_t cell, const auto& expected) {
        together.handle_of(p, cell);
        const std::size_t components = together.array(p).components();
        const PointTracer::Value& got = together.array(p).cell(cell / components, cell % components).content;
        EXPECT_TRUE(same(PointTracer::at(got, k), expected.content.f.v))
            << "step " << kSomeSteps[k] << ", cell " << cell << ": " << PointTracer::at(got, k) << " for "
            << expected.content.f.v;
        EXPECT_EQ(got.i, expected.content.i);
      });
    }
  }
  EXPECT_EQ(points.has_diverged(), !stayed);
  return stayed;
}

TEST(BatchedEvaluation, MatchesSeparateRunsForEachOperation) {
  Rng rng(11);
  int stayed = 0;
  int diverged = 0;
  for (const ir::Scalar scalar : {ir::Scalar::kF32, ir::Scalar::kF64}) {
    for (const testing::Usage& usage : testing::all_usages(scalar)) {
      SCOPED_TRACE(usage.name());
      for (int n = 0; n < 4; ++n) {
        const auto point = testing::sample(usage, rng);
        ComponentValues direction = point;
        for (auto& components : direction) {
          for (double& component : components)
            component = rng.uniform_real(-1, 1);
        }
        direction.emplace_back();
        testing::SampleKernel sample = testing::kernel_at(usage, point);
        ++(compare_with_separate_runs(sample.fixture, direction) ? stayed : diverged);
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(stayed, 400);
  EXPECT_GT(diverged, 10);
}

/// Three threads update one cell by x[i] - 0.125.
struct BatchedAtomicUpdate : ::testing::TestWithParam<ir::AtomicOp> {};

TEST_P(BatchedAtomicUpdate, MatchesSeparateRuns) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.25, 0.5, 0.375});
  const ir::VarId out = w.floats("out", {0.25});
  const ir::VarId i = w.thread_index(3);
  w.b().atomic(GetParam(), out, {w.b().i32(0)}, w.op(Op::kSub, {w.at(x, i), w.f64(0.125)}));
  EXPECT_TRUE(compare_with_separate_runs(w, {{0.03125, -0.0625, 0.015625}, {0.015625}}));
  // So far that other elements become the greatest and the smallest.
  const bool picks = GetParam() == ir::AtomicOp::kMin || GetParam() == ir::AtomicOp::kMax;
  EXPECT_EQ(compare_with_separate_runs(w, {{-1, 1, -1}, {-0.5}}), !picks);
}

INSTANTIATE_TEST_SUITE_P(PointTracer, BatchedAtomicUpdate,
                         ::testing::Values(ir::AtomicOp::kAdd, ir::AtomicOp::kSub, ir::AtomicOp::kMin,
                                           ir::AtomicOp::kMax));

TEST(BatchedEvaluation, RejectsBatchIfFloatToIntegerConversionsDiffer) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {2.5});
  const ir::VarId out = w.zeros("out", ir::kI32, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.b().cast(ir::kI32, w.at(x, i)));
  EXPECT_TRUE(compare_with_separate_runs(w, {{0.5}, {}}));
  EXPECT_FALSE(compare_with_separate_runs(w, {{1}, {}}));
}

TEST(BatchedEvaluation, UnwrittenAndUnchangedElementsMatchSeparateRuns) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {2.5, 3.5});
  const ir::VarId out = w.floats("out", {7, 8, 9});
  const ir::VarId i = w.thread_index(2);
  w.b().store(out, {w.var(i)}, w.op(Op::kSin, {w.at(x, i)}));
  EXPECT_TRUE(compare_with_separate_runs(w, {{0, 0.25}, {0, 0, 1}}));
}

TEST(Oracle, EvaluatesPointsAlongDirectionOnlyIfAllTakeSameBranches) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.5});
  const ir::VarId out = w.zeros("out", ir::kF64, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(Op::kAbs, {w.at(x, i)}));
  const Oracle oracle = w.oracle();
  constexpr std::array<long double, 2> kNear{0.25L, -0.25L};
  constexpr std::array<long double, 2> kAcross{0.25L, -0.75L};
  const auto reference = oracle.evaluate_if_same_path(w.run(), {{1}, {}}, kNear);
  ASSERT_TRUE(reference.has_value());
  EXPECT_EQ(reference->outputs[1]->elements[0].value, 0.5L);
  EXPECT_FALSE(oracle.evaluate_if_same_path(w.run(), {{1}, {}}, kAcross).has_value());
}

}  // namespace
}  // namespace assay::reference
