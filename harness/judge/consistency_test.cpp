// The finite_differences check alone: the generated backward pass against finite differences of the generated forward
// pass.
#include <cmath>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/context.hpp"
#include "harness/judge/draw_sets.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using testing::TestKernel;
using testing::TextEdit;

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

// The derivative is exactly zero. The differences are rounding errors, which grow with the distance of x from zero.
constexpr const char* kCanceling = R"(
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

// The oscillation changes the derivative by 1000, and the differences by less than their tolerance.
constexpr const char* kRippling = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    # domain: 1.0 <= x <= 2.0
    i = wp.tid()
    out[i] = x[i] + 0.000000001 * wp.sin(1000000000000.0 * x[i])
)";

// s2 oscillates within the longest steps, and two estimates of its slope agree by accident (a random kernel).
constexpr const char* kMeeting = R"(
# domain: 0 <= kind <= 7
# domain: 1 <= n <= 6
@wp.kernel
def k(
    u: wp.array(dtype=float),
    force: wp.array(dtype=float),
    rate: float,
    alpha: float,
    rows: wp.array2d(dtype=float),
    state: wp.array(dtype=float),
    total: wp.array(dtype=float),
    kind: wp.array(dtype=int),
    n: int,
    next: wp.array(dtype=float),
):
    i = wp.tid()
    v = (1.58 - force[i]) * 0.96 - 1.52
    if -0.63 - state[i] <= -0.89:
        v = 1.45
    else:
        v = wp.sin(wp.tanh(rate * u[i] * 0.6))
    d = wp.sqrt(wp.atan(v) + 4.05)
    r = alpha
    d2 = wp.sqrt((r + rows[i, 0]) * 0.48 + 4.05)
    c = wp.sin(state[i]) if d2 >= 1.86 else r
    s = wp.tanh(c * d * 0.53)
    state[i] = (state[i] * (s * v / (s * s + 1.99)) + rate) * 0.49
    v2 = wp.sqrt(wp.tanh(r) + 4.05) - 2.0
    if v2 * s < 0.01:
        v2 = (force[i] - alpha if rows[i, 0] < 0.95 else alpha) * 0.48
    v3 = float(0.0)
    for j in range(n):
        v3 += wp.sqrt((v3 * 0.57 if u[i] < state[i] else rows[i, 0]) * 0.25 + 4.05) - 1.95
    s2 = float(1.34)
    for j2 in range(20):
        s2 = wp.sin(s2 + wp.sin(s2) * u[i])
    wp.atomic_sub(total, i % 4, wp.exp(wp.sqrt(rate * rate + 1.28) - 2.22))
    acc = float(0.69)
    for j3 in range(n, 0, -1):
        acc += acc * 0.57 / (s2 * s2 + 0.61) * 0.61 / 4.14
    p = float(1.42)
    for j4 in range(3, 11, 3):
        p = wp.tanh(0.8 * p + ((p if alpha > state[i] else 0.93) - v3 * 0.57) * 0.1)
    sum = float(0.51)
    for k in range(n):
        sum += (rows[i, 0] / (sum * 0.14 + 4.25) + rows[i, k]) * 0.68
    sum2 = float(0.35)
    for k2 in range(n):
        sum2 += (wp.exp(wp.exp(sum2 * 0.18 - 0.5) * 0.77 - 2.94) + 0.33 * rows[i, k2]) * 0.48 - 1.63
    wp.atomic_sub(total, i % 1, wp.min(0.82 * (v3 * 0.57), -0.88) * 0.71 + 2.55)
    p2 = p
    for a in range(2):
        for b in range(3):
            p2 = p2 / (1.0 + p2 * p2) + 0.25 * (wp.sqrt(p2 * p2 + 1.49) / (s * s + 2.09))
    sum3 = float(0.65)
    for k3 in range(n):
        sum3 += (wp.atan(wp.min(rows[i, k3] + 0.7, force[i])) + 1.06 * (sum3 * 0.59) * 0.95) * 0.21
    state[i] = (state[i] * (wp.min(rate * u[i], alpha) * 0.32 + 0.32) + s) * 0.66
    t = 0.66 + v2 if rate > rows[i, 0] else alpha
    s3 = wp.min(wp.tanh(sum3 * 0.18), 1.19)
    state2 = float(0.32)
    for a2 in range(2):
        for b2 in range(3):
            state2 = 0.75 * state2 + (wp.min(state2 * 0.38, 0.78) * t * 0.44 + 1.0) * 0.25
    v4 = (s3 - v2) * u[i] * 0.33
    if rows[i, 0] <= force[i] and state2 < -2.81:
        v4 = v4
    state[i] = (state[i] * (wp.sqrt((sum * 0.59 - v) * 0.2 + 4.05) - 1.95) + state[i]) * 0.64
    wp.atomic_sub(total, i % 2, wp.exp(u[i] * force[i] * 0.6 - 0.5) * 0.58 - 1.95)
    c2 = wp.exp(wp.exp(c) * 0.66 - 2.98)
    state[i] = (c2 / d if state[i] > u[i] else acc * 0.57) * 0.25
    wp.atomic_add(total, 0, wp.exp(d - 2.5))
    next[i] = wp.tanh((rows[i, 0] if rate >= u[i] else v3 * 0.57) * 0.31)
)";

/// Runs only finite_differences on a kernel with edits.
PassVerdict consistency_of(const char* python, std::vector<TextEdit> edits = {}, std::uint64_t seed = 0) {
  const TestKernel test_kernel{.name = "kernel", .python = python, .edits = std::move(edits)};
  const KernelSource source = testing::source_of(test_kernel);
  const auto device = testing::cpu_device();
  RunOptions options = testing::CpuRun::quick();
  options.seed += seed;
  const PreparedKernel prepared =
      prepare_kernel(source, testing::faulty_printer({test_kernel}), device->target(), options);
  if (prepared.early_result) throw std::runtime_error(prepared.early_result->message);
  const auto built = device->build({&*prepared.emitted_kernel, 1}, options.mode.flags);
  auto session = device->open({}).take();

  const KernelUnderTest subject{.module = *source.module,
                                .kernel = prepared.kernel(),
                                .promoted = *prepared.promoted,
                                .adjoint = &*prepared.adjoint,
                                .oracle = *prepared.oracle,
                                .promoted_oracle = *prepared.promoted_oracle};
  InputSpace space = InputSpace::make(subject.module, subject.kernel, subject.oracle).take();
  const auto sets = std::get<std::vector<InputSet>>(draw_input_sets(subject, space, options.policy, {}, options.seed));
  const JudgeConfiguration configuration{
      .session = *session, .policy = options.policy, .profile = {}, .seed = options.seed};
  Judgment judgment;
  judge_consistency({.subject = subject,
                     .kernel = std::get<backends::BuiltKernel>(built.front()),
                     .configuration = configuration,
                     .input_sets = sets,
                     .is_poisoned = space.uninitialized(),
                     .parameter_uses = space.parameter_uses(),
                     .judgment = judgment});
  return judgment.backward;
}

TEST(FiniteDifferencesCheck, PassesForCorrectKernel) {
  const PassVerdict verdict = consistency_of(kSmooth);
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
  ASSERT_TRUE(verdict.check_results.finite_differences.has_value());
  EXPECT_EQ(verdict.check_results.finite_differences->compared_values, 1);
  EXPECT_EQ(verdict.check_results.finite_differences->failed, 0);
}

TEST(FiniteDifferencesCheck, ReducesStepUntilAllPointsTakeSameBranches) {
  const PassVerdict verdict = consistency_of(kBranch);
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
  EXPECT_TRUE(verdict.check_results.finite_differences.has_value()) << verdict.inconclusive.uncertain_paths;
}

TEST(FiniteDifferencesCheck, ToleratesRoundingErrorAtEveryPoint) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const PassVerdict verdict = consistency_of(kCanceling, {}, seed);
    EXPECT_FALSE(verdict.failed()) << seed << ": " << verdict.decide().message;
    EXPECT_TRUE(verdict.check_results.finite_differences.has_value());
  }
}

// The forward pass oscillates within the longest steps: its differences are small, whatever the gradient is.
TEST(FiniteDifferencesCheck, IgnoresDifferencesThatDoNotConverge) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const PassVerdict verdict = consistency_of(kSwinging, {}, seed);
    EXPECT_FALSE(verdict.failed()) << seed << ": " << verdict.decide().message;
  }
}

TEST(FiniteDifferencesCheck, IgnoresFastOscillationOfSmallAmplitude) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const PassVerdict verdict = consistency_of(kRippling, {}, seed);
    EXPECT_FALSE(verdict.failed()) << seed << ": " << verdict.decide().message;
    EXPECT_GT(verdict.inconclusive.uncertain_paths, 0);
  }
}

TEST(FiniteDifferencesCheck, IgnoresEstimateNotConfirmedBySmallerSteps) {
  const PassVerdict verdict = consistency_of(kMeeting, {}, 3000);
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
  EXPECT_TRUE(verdict.check_results.finite_differences.has_value());
}

TEST(FiniteDifferencesCheck, RecordsEstimateForEachStepSize) {
  const PassVerdict verdict = consistency_of(kSmooth);
  ASSERT_TRUE(verdict.finite_difference_series.has_value());
  ASSERT_EQ(verdict.finite_difference_series->estimates.size(), 6U);
  EXPECT_EQ(verdict.finite_difference_series->estimates[0].step,
            2 * verdict.finite_difference_series->estimates[1].step);
  const auto error = [&](std::size_t i) {
    return std::abs(verdict.finite_difference_series->estimates[i].value - verdict.finite_difference_series->gradient);
  };
  EXPECT_LT(error(5), error(0)) << "shorter steps come closer";
}

TEST(FiniteDifferencesCheck, DetectsIncorrectDerivativeWithoutOracle) {
  const TextEdit wrong[] = {
      {R"((adj_\w+ = adj_\w+) \* 0\.75f)", "$1 * 0.750075f"},
      {R"(atomic_add\((grad_y\.at\(i\)), (\w+)\))", "atomic_add($1, -$2)"},
      {R"(atomic_add\(grad_s\.at\(0\), \w+\))", "(void)0"},
      {R"(\* cos\()", "* sin("},
  };
  for (const TextEdit& edit : wrong) {
    const PassVerdict verdict = consistency_of(kSmooth, {edit});
    EXPECT_EQ(verdict.decide().outcome_detail, "finite_differences") << edit.pattern;
    ASSERT_TRUE(verdict.check_results.finite_differences.has_value());
    EXPECT_EQ(verdict.check_results.finite_differences->failed, 1) << edit.pattern;
    EXPECT_GT(*verdict.check_results.finite_differences->rho_max, 100) << edit.pattern;
  }
}

TEST(FiniteDifferencesCheck, DetectsForwardBackwardMismatch) {
  EXPECT_EQ(consistency_of(kSmooth, {{R"(0\.75f)", "0.7501f"}}).decide().outcome_detail, "finite_differences");
}

TEST(FiniteDifferencesCheck, DoesNotDetectErrorPresentInBothForwardAndBackwardPass) {
  // The same incorrect constant in both passes is consistent; f64_promotion and native_precision detect it.
  const PassVerdict verdict = consistency_of(kSmooth, {{R"((= s \* sin\(x\.at\(i\)\) \+) 0\.75f)", "$1 0.5f"},
                                                       {R"((mul = ) ?0\.75f)", "$1 0.5f"},
                                                       {R"((adj_\w+ = adj_\w+) \* 0\.75f)", "$1 * 0.5f"}});
  EXPECT_FALSE(verdict.failed()) << verdict.decide().message;
}

TEST(FiniteDifferencesCheck, ReportsCrashOfKernel) {
  const PassVerdict verdict =
      consistency_of(kSmooth, {testing::at_thread_start(backends::Pass::kForward, "*(volatile int*)8 = 1;")});
  EXPECT_EQ(verdict.decide().outcome, Outcome::crashed);
}

}  // namespace
}  // namespace assay::harness
