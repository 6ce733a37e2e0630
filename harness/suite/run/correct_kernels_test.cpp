// Correct kernels pass every check of the standard policy; kernels that cannot be judged get the correct outcome.
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::CpuRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestKernel;

const std::vector<TestKernel> kCorrect = {{"dynamic_product", R"(
@wp.kernel
def k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.0)
    for j in range(n):
        p *= x[j]
    out[i] = p * x[i]
)"},
                                          {"while_with_break", R"(
# domain: 0.25 <= x <= 2
# domain: 4 <= limit <= 30
@wp.kernel
def k(x: wp.array(dtype=float), limit: float, out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i]
    j = int(0)
    while j < 20:
        s = s * 1.25 + wp.sin(x[i])
        if s > limit:
            break
        j += 1
    out[i] = s * s
)"},
                                          {"nested_accumulator", R"(
# domain: 0 <= n <= 5
@wp.kernel
def k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for a in range(n):
        row = float(1.0)
        for b in range(a + 1):
            row = row * x[b] + 0.5
        total += row * x[i]
    out[i] = total
)"},
                                          {"gather", R"(
@wp.kernel
def k(x: wp.array(dtype=float), idx: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[idx[i]] * x[i]
)"},
                                          {"stencil", R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    if i > 0 and i < x.shape[0] - 1 and j > 0 and j < x.shape[1] - 1:
        out[i, j] = x[i - 1, j] * x[i + 1, j] + x[i, j - 1] * x[i, j + 1]
)"},
                                          {"rows_of_a_flat_array", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    for column in range(24):
        i = row * 24 + column
        out[i] = x[i] * x[i]
)"},
                                          {"in_place", R"(
@wp.kernel
def k(x: wp.array(dtype=float), v: wp.array(dtype=float), dt: float):
    i = wp.tid()
    v[i] = v[i] - dt * wp.sin(x[i])
    x[i] = x[i] + dt * v[i]
)"},
                                          {"sum", R"(
@wp.kernel
def k(x: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, 0, x[i] * x[i])
)"},
                                          {"doubles", R"(
@wp.kernel
def k(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.exp(x[i]) * x[i]
)"},
                                          {"vectors", R"(
@wp.kernel
def k(a: wp.array(dtype=wp.vec3), b: wp.vec3, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.dot(wp.cross(a[i], b), wp.vec3(1.0, 2.0, 3.0)) + wp.length_sq(a[i])
)"},
                                          {"parameters_of_a_struct", R"(
@wp.struct
class Spring:
    stiffness: float
    rest: float
    count: int

@wp.kernel
def k(x: wp.array(dtype=float), spring: Spring, force: wp.array(dtype=float)):
    i = wp.tid()
    if i < spring.count:
        force[i] = -spring.stiffness * (x[i] - spring.rest)
)"}};

TEST(CorrectKernels, PassEveryCheck) {
  const CpuRun run(kCorrect, [] {
    RunOptions options;  // the standard policy
    options.seed = 11;
    return options;
  }());
  for (const CaseRecord& record : run.records()) {
    SCOPED_TRACE(testing::summary(record));
    EXPECT_TRUE(is_pass(record.outcome));
    EXPECT_GE(record.input_sets, 10);
    EXPECT_GT(record.rejected_negative_controls, 30);
    const auto ran = [](const std::optional<CheckResult>& tier) {
      return tier && tier->compared_values > 0 && tier->failed == 0;
    };
    EXPECT_TRUE(ran(record.check_results.f64_promotion));
    EXPECT_TRUE(ran(record.check_results.native_precision));
    EXPECT_TRUE(ran(record.check_results.determinism));
    const bool backward = record.pass == "backward";
    EXPECT_EQ(ran(record.check_results.oracle_self_check), backward)
        << "oracle_self_check and finite_differences concern derivatives";
    EXPECT_EQ(ran(record.check_results.finite_differences), backward);
    ASSERT_TRUE(record.rho_max.has_value());
    EXPECT_GT(*record.rho_max, 0) << "nothing was rounded, so nothing was computed";
    EXPECT_LE(*record.rho_max, 1);
  }
}

// A few operations lose most of the accuracy of f16, in the large launch as well.
TEST(CorrectKernels, GiveConclusiveVerdictInHalfPrecision) {
  const CpuRun run({{"halves", R"(
@wp.kernel
def k(x: wp.array(dtype=wp.float16), y: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    value = y[i] * x[i] + wp.float16(0.26) * x[i]
    out[i] = (value + value) * wp.float16(0.85)
)"}},
                   [] {
                     RunOptions options;
                     options.policy.kernels_per_large_backward_launch = 1;
                     return options;
                   }());
  for (const CaseRecord& record : run.records()) {
    SCOPED_TRACE(testing::summary(record));
    EXPECT_TRUE(is_pass(record.outcome));
    EXPECT_EQ(record.inconclusive.total(), 0);
  }
}

// Springs between a particle and itself have no direction, and unused or fixed values may have an infinite derivative:
// multiplied by zero it gives NaN.
TEST(CorrectKernels, PassIfInfiniteDerivativeIsMultipliedByZero) {
  const CpuRun run({{"pixels", R"(
# domain: 0 <= columns <= 4
@wp.kernel
def k(x: wp.array(dtype=float), width: float, columns: int, out: wp.array(dtype=float)):
    i = wp.tid()
    u = (wp.abs(x[i]) + 0.5) / float(columns) * width
    value = x[i] * 2.0
    if u * u < 100.0:
        value = u * x[i]
    out[i] = value
)"},
                    {"springs", R"(
@wp.kernel
def k(x: wp.array(dtype=wp.vec3), ends: wp.array(dtype=int), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    to = x[ends[2 * i]] - x[ends[2 * i + 1]]
    out[i] = to * (1.0 / wp.length(to))
)"},
                    {"first_stands_still", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    along = x[i] * float(i)
    out[i] = wp.sqrt(along * along) + x[i]
)"}},
                   RunOptions());
  for (const char* name : {"pixels", "springs", "first_stands_still"})
    EXPECT_TRUE(is_pass(run.backward(name).outcome)) << testing::summary(run.backward(name));
}

/// Runs all threads of each launch, as a parallel device does.
class WholeLaunchSession final : public backends::DeviceSession {
 public:
  explicit WholeLaunchSession(std::unique_ptr<backends::DeviceSession> session) : session_(std::move(session)) {}
  Result<backends::BufferId> allocate(std::size_t size) override { return session_->allocate(size); }
  std::span<std::byte> bytes(backends::BufferId buffer) override { return session_->bytes(buffer); }
  void reset() override { session_->reset(); }
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override {
    std::vector<backends::LaunchRequest> whole(launches.begin(), launches.end());
    for (backends::LaunchRequest& launch : whole)
      launch.checked_threads.clear();
    return session_->run(whole);
  }

 private:
  std::unique_ptr<backends::DeviceSession> session_;
};

class WholeLaunchDevice final : public testing::ChangedDevice {
 public:
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override {
    auto session = ChangedDevice::open(limits);
    if (!session.ok()) return session;
    return std::unique_ptr<backends::DeviceSession>(std::make_unique<WholeLaunchSession>(session.take()));
  }
};

// The oracle evaluates a sample of 65,539 threads. A defect of another thread must not fail the device.
TEST(CorrectKernels, PassDespiteDefectsInUnsampledThreads) {
  const std::vector<TestKernel> test_kernels{
      {"one_thread_far_out", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
    if i == 65000:
        out[i + 540] = x[i]
)"},
      {"threads_that_meet", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i % 60000] = x[i] * x[i]
)"},
      {"wrong",
       R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
)",
       {testing::at_thread_start(backends::Pass::kForward, "if (thread > 65535) continue;")}}};
  std::vector<KernelSource> sources;
  for (const TestKernel& test_kernel : test_kernels)
    sources.push_back(testing::source_of(test_kernel));
  RunOptions options = CpuRun::quick();
  options.policy.judges_large_launch = true;
  options.policy.kernels_per_large_backward_launch = 1;
  WholeLaunchDevice device;
  const auto records = testing::records_of(sources, device, testing::faulty_printer(test_kernels), options);
  ASSERT_EQ(records.size(), 6U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(is_pass(records[i].outcome)) << testing::summary(records[i]);
    EXPECT_THAT(records[i].thread_counts, Not(Contains(::testing::Gt(65'535))));
  }
  EXPECT_EQ(records[4].outcome_detail, "mismatch") << testing::summary(records[4]);
}

TEST(CorrectKernels, SameSeedGivesSameRecord) {
  const std::vector<TestKernel> one(kCorrect.begin(), kCorrect.begin() + 1);
  CaseRecord first = CpuRun(one).backward("dynamic_product");
  CaseRecord second = CpuRun(one).backward("dynamic_product");
  first.stage_times = second.stage_times = {};
  first.judging_times = second.judging_times = {};
  EXPECT_EQ(first, second);
}

TEST(CorrectKernels, SourcesAreRecordedOnlyInFirstCaseOfKernel) {
  const std::vector<TestKernel> one(kCorrect.begin(), kCorrect.begin() + 1);
  RunOptions options = CpuRun::quick();
  options.keeps_source_texts = true;
  const CpuRun run(one, options);
  ASSERT_TRUE(run.forward("dynamic_product").source_texts.has_value());
  EXPECT_NE(run.forward("dynamic_product").source_texts->compile_command.find(" kernel.cpp "), std::string::npos);
  EXPECT_FALSE(run.backward("dynamic_product").source_texts.has_value()) << "once for each kernel";
}

TEST(CorrectKernels, InputsWithEqualValuesDoNotMakeGradientOfMinimumInconclusive) {
  const std::vector<TestKernel> least_by_group{{"least_by_group", R"(
# domain: 0 <= group < 4
@wp.kernel
def k(group: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float), least: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_min(least, group[i], x[i] * y[i] + x[i])
)"}};
  const CpuRun run(least_by_group, CpuRun::quick());
  const CaseRecord backward = run.backward("least_by_group");
  EXPECT_TRUE(is_pass(backward.outcome)) << testing::summary(backward);
  EXPECT_EQ(backward.inconclusive.total(), 0);
}

const std::vector<TestKernel> kUnjudged = {
    {"race", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[0] = x[i]
)"},
    {"out_of_bounds", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.vec2(x[i], 1.0)
    out[i] = v[i + 2]
)"},
    {"race_by_values", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[int(wp.abs(x[i]) * 7.0) % 2] = x[i]
)"},
    {"invalid_annotation", R"(
# domain: 0 <= y <= 1
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i]
)"},
    {"integers", R"(
@wp.kernel
def k(a: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = a[i] * 3 + i
)"},
    {"always_uncertain", R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if wp.sin(x[i]) * wp.sin(x[i]) + wp.cos(x[i]) * wp.cos(x[i]) > 1.0:
        out[i] = x[i]
    else:
        out[i] = -x[i]
)"},
};

TEST(UnjudgedKernels, HaveOutcomeDefectIfKernelIsUndefinedElseInconclusive) {
  const CpuRun run(kUnjudged);
  for (const CaseRecord* race : {&run.forward("race"), &run.backward("race")}) {
    SCOPED_TRACE(testing::summary(*race));
    EXPECT_EQ(race->outcome, Outcome::defect);
    EXPECT_EQ(race->outcome_detail, "race");
    EXPECT_THAT(race->message, Not(HasSubstr("# launch:"))) << "an annotation does not fix a race";
    ASSERT_TRUE(race->finding.has_value());
    EXPECT_EQ(race->finding->line, 6);
    EXPECT_EQ(race->finding->threads.size(), 2U);
    EXPECT_NE(race->finding->threads[0], race->finding->threads[1]);
  }
  const CaseRecord& outside = run.forward("out_of_bounds");
  EXPECT_EQ(outside.outcome, Outcome::defect);
  EXPECT_EQ(outside.outcome_detail, "out_of_bounds");
  ASSERT_TRUE(outside.finding.has_value());
  EXPECT_EQ(outside.finding->line, 7);
  EXPECT_THAT(outside.finding->faulty_access, HasSubstr("[2]"));

  const CaseRecord& by_values = run.forward("race_by_values");
  EXPECT_EQ(by_values.outcome, Outcome::inconclusive) << "other values may avoid it";
  EXPECT_EQ(by_values.outcome_detail, "race");
  EXPECT_THAT(by_values.message, HasSubstr("# launch: (1) for a single thread"));

  EXPECT_FALSE(is_pass(run.forward("invalid_annotation").outcome));
  EXPECT_THAT(run.forward("invalid_annotation").message, HasSubstr("a parameter name"));

  EXPECT_TRUE(is_pass(run.forward("integers").outcome)) << testing::summary(run.forward("integers"));
  EXPECT_THROW((void)run.backward("integers"), std::logic_error) << "there is nothing to differentiate";

  const CaseRecord& uncertain = run.forward("always_uncertain");
  EXPECT_EQ(uncertain.outcome, Outcome::inconclusive) << testing::summary(uncertain);
  EXPECT_GT(uncertain.inconclusive.uncertain_paths, 0);
}

TEST(UnjudgedKernels, UnsupportedKernelDoesNotAffectVerdictOfOtherKernels) {
  std::vector<KernelSource> sources{{.family = "user", .kernel = "unread", .module = nullptr, .file = "a.py"},
                                    testing::source_of(kCorrect.front())};
  sources.front().parse_error = Error{.message = "lambda: not a kernel's", .where = "a.py:3:5"};
  const auto device = testing::cpu_device();
  const auto records = testing::records_of(sources, *device, testing::faulty_printer({}), CpuRun::quick());
  ASSERT_EQ(records.size(), 4U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(records[i].outcome, Outcome::unsupported);
    EXPECT_EQ(records[i].outcome_detail, "reader");
    EXPECT_THAT(records[i].message, AllOf(HasSubstr("a.py:3:5"), HasSubstr("lambda")));
    EXPECT_TRUE(is_pass(records[i + 2].outcome)) << testing::summary(records[i + 2]);
  }
  EXPECT_EQ(records[0].name, "user/unread/unknown/cpu/forward");
}

}  // namespace
}  // namespace assay::harness
