// Kernels judged on recorded launches.
#include "harness/judge/recorded_sets.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/launch.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::summary;

constexpr const char* kGather = R"(
@wp.kernel
def k(x: wp.array(dtype=float), idx: wp.array(dtype=int), s: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = s * x[idx[i]] * x[idx[i]]
)";
constexpr const char* kScatter = R"(
@wp.kernel
def k(x: wp.array(dtype=float), idx: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[idx[i]] = 2.0 * x[i]
)";

void set_floats(ir::Argument& argument, const std::function<double(std::int64_t)>& value) {
  for (std::int64_t e = 0; e < ir::element_count(argument); ++e)
    ir::write_float(argument.type.scalar, argument.bytes.data() + ir::element_offset(argument, e), value(e));
}
void set_integers(ir::Argument& argument, const std::function<std::int64_t(std::int64_t)>& value) {
  for (std::int64_t e = 0; e < ir::element_count(argument); ++e)
    ir::write_integer(argument.type.scalar, argument.bytes.data() + ir::element_offset(argument, e), value(e));
}

/// A launch whose arrays have `extent` elements: floats between 1 and 2, integers 0.
RecordedLaunch launch_of(const KernelSource& source, std::int32_t threads, std::int32_t extent) {
  RecordedLaunch recorded{.file_name = "first.json", .launch = {.extents = {threads}, .arguments = {}}};
  const ir::Function& kernel = source.module->kernels[0];
  for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
    const ir::Type type = kernel.var(p).type;
    ir::Argument argument = ir::make_argument(
        *source.module, type, type.is_array() ? std::vector<std::int32_t>{extent} : std::vector<std::int32_t>{});
    if (ir::is_float(type.scalar))
      set_floats(argument, [](std::int64_t e) { return 1 + static_cast<double>(e * 7 % 16) / 16; });
    recorded.launch.arguments.push_back(std::move(argument));
  }
  return recorded;
}

class Recorded {
 public:
  explicit Recorded(const std::string& python)
      : source(testing::source_of({.name = "k", .python = python})),
        oracle_(reference::Oracle::make(*source.module, source.module->kernels[0]).take()),
        promoted_(ir::promoted(*source.module)),
        promoted_oracle_(reference::Oracle::make(promoted_, promoted_.kernels[0]).take()) {}

  std::variant<RecordedSets, InputDrawFailure> input_sets(const std::vector<RecordedLaunch>& launches) const {
    const KernelUnderTest subject{.module = *source.module,
                                  .kernel = source.module->kernels[0],
                                  .promoted = promoted_,
                                  .oracle = oracle_,
                                  .promoted_oracle = promoted_oracle_};
    const InputSpace space = InputSpace::make(*source.module, source.module->kernels[0], oracle_).take();
    return make_recorded_sets(subject, space, launches, JudgingPolicy::standard(), {}, 1);
  }

  std::vector<CaseRecord> judged(const RecordedLaunch& launch) {
    source.recorded_launches = std::make_shared<const std::vector<RecordedLaunch>>(std::vector{launch});
    return testing::records_of(std::span(&source, 1), *testing::cpu_device(), testing::faulty_printer({}),
                               testing::CpuRun::quick());
  }

  KernelSource source;

 private:
  reference::Oracle oracle_;
  ir::Module promoted_;
  reference::Oracle promoted_oracle_;
};

TEST(RecordedInputSets, PerturbFloatsWithinRangeAndKeepIntegers) {
  const Recorded recorded(kGather);
  RecordedLaunch launch = launch_of(recorded.source, 9, 16);
  set_integers(launch.launch.arguments[1], [](std::int64_t e) { return 15 - e; });
  const auto made = std::get<RecordedSets>(recorded.input_sets({launch}));
  ASSERT_THAT(made.input_sets, SizeIs(JudgingPolicy::standard().input_sets()));
  EXPECT_EQ(made.input_sets[0].launch_by_precision[reference::kNative].arguments[0].bytes,
            launch.launch.arguments[0].bytes);
  for (std::size_t s = 1; s < made.input_sets.size(); ++s) {
    const ir::Launch& copy = made.input_sets[s].launch_by_precision[reference::kNative];
    EXPECT_NE(copy.arguments[0].bytes, launch.launch.arguments[0].bytes);
    EXPECT_EQ(copy.arguments[1].bytes, launch.launch.arguments[1].bytes);
    for (const ComputedScalar& value :
         read_scalars(*recorded.source.module, copy.arguments[0], copy.arguments[0].bytes)) {
      EXPECT_GE(value.value, 1);
      EXPECT_LE(value.value, 1.9375);
    }
  }
}

TEST(RecordedInputSets, UseFirstThreadsOfLargeLaunch) {
  const Recorded recorded(kGather);
  const auto made = std::get<RecordedSets>(recorded.input_sets({launch_of(recorded.source, 50'000, 50'000)}));
  EXPECT_EQ(made.input_sets.front().launch_by_precision[reference::kNative].threads(), kThreadSamplingThreshold);
  ASSERT_THAT(made.large_launches, SizeIs(1));
  EXPECT_EQ(made.large_launches.front().launch.threads(), 50'000);
  EXPECT_THAT(made.large_launches.front().reference.outputs[3]->element_indices,
              SizeIs(sampled_threads(50'000, 1).size()));
}

TEST(RecordedInputSets, OmitThreadsWithUncertainBranchDecisions) {
  const Recorded recorded(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if wp.sin(x[i]) * wp.sin(x[i]) + wp.cos(x[i]) * wp.cos(x[i]) > 1.0 + x[i] - 1.5:
        out[i] = x[i]
    else:
        out[i] = 2.0 * x[i]
)");
  RecordedLaunch launch = launch_of(recorded.source, 32, 32);
  set_floats(launch.launch.arguments[0], [](std::int64_t e) { return e < 8 ? 1 + static_cast<double>(e) / 32 : 1.5; });
  const auto made = std::get<RecordedSets>(recorded.input_sets({launch}));
  EXPECT_EQ(made.input_sets.front().launch_by_precision[reference::kNative].threads(), 8);
  EXPECT_TRUE(made.input_sets.front().is_conclusive(reference::kNative));
}

TEST(RecordedInputSets, DrawIntegersFromAnnotatedRange) {
  const Recorded recorded("# domain: 3 <= idx <= 5\n" + std::string(kGather).substr(1));
  const auto made = std::get<RecordedSets>(recorded.input_sets({launch_of(recorded.source, 9, 16)}));
  const ir::Argument& idx = made.input_sets.back().launch_by_precision[reference::kNative].arguments[1];
  for (const ComputedScalar& value : read_scalars(*recorded.source.module, idx, idx.bytes)) {
    EXPECT_GE(value.integer, 3);
    EXPECT_LE(value.integer, 5);
  }
}

TEST(RecordedLaunch, IsJudgedOnItsRecordedInputs) {
  Recorded recorded(kGather);
  const auto records = recorded.judged(launch_of(recorded.source, 7, 16));
  ASSERT_THAT(records, SizeIs(2));
  for (const CaseRecord& record : records) {
    EXPECT_EQ(record.outcome, Outcome::pass) << summary(record);
    EXPECT_THAT(record.thread_counts, Each(7)) << record.pass;
  }
}

TEST(RecordedLaunch, IsJudgedInTheOrderOfThreadsIfTheResultDependsOnIt) {
  Recorded recorded(R"(
@wp.kernel
def k(x: wp.array(dtype=float), count: wp.array(dtype=int), kept: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 1.25:
        kept[wp.atomic_add(count, 0, 1)] = x[i]
)");
  const CaseRecord forward = recorded.judged(launch_of(recorded.source, 7, 16)).front();
  EXPECT_EQ(forward.outcome, Outcome::pass) << summary(forward);
  EXPECT_THAT(forward.assumptions, SizeIs(1));
}

TEST(RecordedLaunch, PassesWithMoreThreadsThanAreSampled) {
  Recorded recorded(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
)");
  for (const CaseRecord& record : recorded.judged(launch_of(recorded.source, 50'000, 50'000)))
    EXPECT_EQ(record.outcome, Outcome::pass) << summary(record);
}

TEST(RecordedLaunch, ReportsOutOfBoundsAccessOutsideSample) {
  Recorded recorded(kGather);
  RecordedLaunch launch = launch_of(recorded.source, 50'000, 50'000);
  const std::vector<std::int64_t> sample = sampled_threads(50'000, 1);
  ASSERT_FALSE(std::ranges::binary_search(sample, 20'000));
  set_integers(launch.launch.arguments[1], [](std::int64_t e) { return e == 20'000 ? 50'000 : e; });
  const auto failure = std::get<InputDrawFailure>(recorded.input_sets({launch}));
  EXPECT_EQ(failure.reason, InputDrawFailure::Reason::kOutOfBounds);
}

TEST(RecordedLaunch, ReportsRaceAsDefect) {
  Recorded recorded(kScatter);
  for (const CaseRecord& record : recorded.judged(launch_of(recorded.source, 7, 16))) {
    EXPECT_EQ(record.outcome, Outcome::defect) << summary(record);
    EXPECT_EQ(record.outcome_detail, "race");
    EXPECT_THAT(record.message, HasSubstr("in the recorded launch first.json of (7) threads"));
  }
}

TEST(RecordedLaunch, ReportsIndexOutOfBoundsAsDefect) {
  Recorded recorded(kGather);
  RecordedLaunch launch = launch_of(recorded.source, 7, 16);
  set_integers(launch.launch.arguments[1], [](std::int64_t e) { return e == 6 ? 16 : e; });
  for (const CaseRecord& record : recorded.judged(launch)) {
    EXPECT_EQ(record.outcome, Outcome::defect) << summary(record);
    EXPECT_EQ(record.outcome_detail, "out_of_bounds");
  }
}

TEST(RecordedLaunch, ReportsReplayThatReturnsAnotherValueAsDefect) {
  Recorded recorded(R"(
@wp.func
def count(counter: wp.array(dtype=int), i: int):
    return wp.atomic_add(counter, i, 1)

@wp.func_replay(count)
def count_again(counter: wp.array(dtype=int), i: int):
    return counter[i]

@wp.kernel
def k(x: wp.array(dtype=float), counter: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = float(count(counter, i) + 1) * x[i]
)");
  for (const CaseRecord& record : recorded.judged(launch_of(recorded.source, 7, 16))) {
    if (record.pass == "forward") continue;
    EXPECT_EQ(record.outcome, Outcome::defect) << summary(record);
    EXPECT_EQ(record.outcome_detail, "custom_replay");
    EXPECT_THAT(record.message, HasSubstr("the replay of 'count' (line 8), the gradient of x[0] is"));
  }
}

TEST(RecordedLaunch, DigestDependsOnValuesAndExtents) {
  const Recorded recorded(kGather);
  const RecordedLaunch first = launch_of(recorded.source, 7, 16);
  RecordedLaunch other = first, longer = first;
  set_floats(other.launch.arguments[2], [](std::int64_t) { return 3; });
  longer.launch.extents[0] = 8;
  EXPECT_EQ(digest_of(std::vector{first}), digest_of(std::vector{first}));
  EXPECT_NE(digest_of(std::vector{first}), digest_of(std::vector{other}));
  EXPECT_NE(digest_of(std::vector{first}), digest_of(std::vector{longer}));
}

}  // namespace
}  // namespace assay::harness
