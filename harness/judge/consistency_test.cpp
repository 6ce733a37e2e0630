// T2 alone: the generated backward against differences of the generated forward, whatever the oracle says.
#include <cmath>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/draw_sets.hpp"
#include "harness/judge/trial.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using testing::Edit;
using testing::Specimen;

constexpr const char* kSmooth = R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), s: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = s * wp.sin(x[i]) + 0.75 * x[i] * y[i]
)";
constexpr const char* kBranch = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 0.0:
        out[i] = x[i] * x[i]
    else:
        out[i] = 3.0 * x[i]
)";

// Its derivative is exactly zero, its differences are rounding, the more of it the further x is from zero.
constexpr const char* kCancelling = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    # domain: -0.00001 <= x <= 0.00001
    i = wp.tid()
    out[i] = 1000.0 * (3.0 * x[i] - x[i] - x[i] - x[i])
)";

constexpr const char* kSwinging = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    # domain: 1.0 <= x <= 2.0
    i = wp.tid()
    out[i] = wp.sin(1000000.0 * x[i])
)";

/// Runs T2, and nothing else, on a kernel with edits.
PassVerdict consistency_of(const char* python, std::vector<Edit> edits = {}, std::uint64_t seed = 0) {
  const Specimen specimen{.name = "kernel", .python = python, .edits = std::move(edits)};
  const KernelSource source = testing::source_of(specimen);
  const auto device = testing::cpu_device();
  RunOptions options = testing::CpuRun::quick();
  options.seed += seed;
  const Prepared prepared = prepare(source, testing::planting_printer({specimen}), device->target(), options);
  if (prepared.stopped) throw std::runtime_error(prepared.stopped->message);
  const auto built = device->build({&*prepared.emitted, 1}, options.mode.flags);
  auto session = device->open({}).take();

  const Subject subject{.module = *source.module,
                        .kernel = prepared.kernel(),
                        .lifted = *prepared.lifted,
                        .adjoint = &*prepared.adjoint,
                        .oracle = *prepared.oracle,
                        .lifted_oracle = *prepared.lifted_oracle};
  InputSpace space = InputSpace::make(subject.module, subject.kernel, subject.oracle).take();
  const auto sets = std::get<std::vector<InputSet>>(draw_sets(subject, space, options.policy, {}, options.seed));
  const Bench bench{.session = *session, .policy = options.policy, .profile = {}, .seed = options.seed};
  Judgement judgement;
  judge_consistency({.subject = subject,
                     .kernel = std::get<backends::BuiltKernel>(built.front()),
                     .bench = bench,
                     .sets = sets,
                     .poisoned = space.uninitialised(),
                     .uses = space.uses(),
                     .judgement = judgement});
  return judgement.backward;
}

TEST(Consistency, HoldsForARightKernel) {
  const PassVerdict verdict = consistency_of(kSmooth);
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
  ASSERT_TRUE(verdict.tiers.t2.has_value());
  EXPECT_EQ(verdict.tiers.t2->checks, 1);
  EXPECT_EQ(verdict.tiers.t2->failed, 0);
}

TEST(Consistency, ShrinksTheStepUntilThePathIsOne) {
  const PassVerdict verdict = consistency_of(kBranch);
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
  EXPECT_TRUE(verdict.tiers.t2.has_value()) << verdict.inconclusive.path;
}

TEST(Consistency, CountsTheRoundingOfEveryPointOfTheStencil) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const PassVerdict verdict = consistency_of(kCancelling, {}, seed);
    EXPECT_FALSE(verdict.failed()) << seed << ": " << verdict.decide().message;
    EXPECT_TRUE(verdict.tiers.t2.has_value());
  }
}

// The forward turns many times within the longest steps: its differences there are small, whatever the gradient is.
TEST(Consistency, DoesNotTrustDifferencesThatHaveNotSettled) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const PassVerdict verdict = consistency_of(kSwinging, {}, seed);
    EXPECT_FALSE(verdict.failed()) << seed << ": " << verdict.decide().message;
  }
}

TEST(Consistency, KeepsTheDifferencesOverEachStep) {
  const PassVerdict verdict = consistency_of(kSmooth);
  ASSERT_TRUE(verdict.plateau.has_value());
  ASSERT_EQ(verdict.plateau->estimates.size(), 6U);
  EXPECT_EQ(verdict.plateau->estimates[0].step, 2 * verdict.plateau->estimates[1].step);
  const auto error = [&](std::size_t i) {
    return std::abs(verdict.plateau->estimates[i].value - verdict.plateau->gradient);
  };
  EXPECT_LT(error(5), error(0)) << "shorter steps come closer";
}

TEST(Consistency, SeesAWrongDerivativeWithoutTheOracle) {
  const Edit wrong[] = {
      {R"((adj_\w+ = adj_\w+) \* 0\.75f)", "$1 * 0.750075f"},
      {R"(atomic_add\((grad_y\.at\(i\)), (\w+)\))", "atomic_add($1, -$2)"},
      {R"(atomic_add\(grad_s\.at\(0\), \w+\))", "(void)0"},
      {R"(\* cos\()", "* sin("},
  };
  for (const Edit& edit : wrong) {
    const PassVerdict verdict = consistency_of(kSmooth, {edit});
    EXPECT_EQ(verdict.decide().kind, "finite_differences") << edit.pattern;
    ASSERT_TRUE(verdict.tiers.t2.has_value());
    EXPECT_EQ(verdict.tiers.t2->failed, 1) << edit.pattern;
    EXPECT_GT(*verdict.tiers.t2->rho_max, 100) << edit.pattern;
  }
}

TEST(Consistency, SeesAForwardThatTheBackwardDoesNotBelongTo) {
  EXPECT_EQ(consistency_of(kSmooth, {{R"(0\.75f)", "0.7501f"}}).decide().kind, "finite_differences");
}

TEST(Consistency, AMisreadingOfBothSidesIsNotItsConcern) {
  // The same wrong constant in the forward and in the backward pass is consistent: T1 and T3 are there for that.
  const PassVerdict verdict = consistency_of(kSmooth, {{R"((= s \* sin\(x\.at\(i\)\) \+) 0\.75f)", "$1 0.5f"},
                                                       {R"((mul = ) ?0\.75f)", "$1 0.5f"},
                                                       {R"((adj_\w+ = adj_\w+) \* 0\.75f)", "$1 * 0.5f"}});
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
}

TEST(Consistency, ACrashIsACrash) {
  const PassVerdict verdict =
      consistency_of(kSmooth, {testing::at_thread_start(backends::Pass::kForward, "*(volatile int*)8 = 1;")});
  EXPECT_EQ(verdict.decide().outcome, Outcome::crashed);
}

}  // namespace
}  // namespace assay::harness
