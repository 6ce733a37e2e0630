// Faults that only some of the drawn launches reveal: those that do not fit the arrays, and those with long arrays.
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using testing::CpuRun;
using testing::summary;

constexpr const char* kGuarded = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if i < x.shape[0]:
        out[i] = x[i] * x[i]
)";
constexpr const char* kNeighbors = R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    columns = x.shape[1]
    s = float(0.0)
    for j in range(3):
        if j < columns:
            s += x[i, j] * x[i, j]
    out[i] = s
)";
constexpr const char* kOptional = R"(
@wp.kernel
def k(x: wp.array(dtype=float), scale: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(1.0)
    if scale.shape[0] > 0:
        s = scale[i]
    out[i] = s * x[i]
)";

TEST(ExtentsThatDifferFromTheLaunch, RevealFaultsInGuards) {
  const CpuRun run(
      {{.name = "correct", .python = kGuarded},
       {.name = "one_more", .python = kGuarded, .edits = {{R"(if \(i < x\.shape\[0\]\))", "if (i <= x.shape[0])"}}},
       {.name = "one_thread_more", .python = kGuarded, .edits = {{"thread < end", "thread <= end"}}},
       {.name = "none", .python = kGuarded, .edits = {{R"(if \(i < x\.shape\[0\]\))", "if (i < 100000)"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  EXPECT_TRUE(run.forward("correct").uncovered_branches.empty());
  EXPECT_NE(run.forward("one_more").outcome, Outcome::pass);
  EXPECT_NE(run.forward("none").outcome, Outcome::pass);
  // All arrays are longer than the launch, so that the guard does not stop the thread after the last one.
  EXPECT_NE(run.forward("one_thread_more").outcome, Outcome::pass);
}

TEST(ExtentsThatDifferFromTheLaunch, RevealFaultsInComparisonsInLoops) {
  const CpuRun run(
      {{.name = "correct", .python = kNeighbors},
       {.name = "one_more", .python = kNeighbors, .edits = {{R"(if \(j < columns\))", "if (j <= columns)"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  EXPECT_NE(run.forward("one_more").outcome, Outcome::pass);
}

TEST(ExtentsThatDifferFromTheLaunch, IncludeEmptyArrays) {
  const CpuRun run({{.name = "correct", .python = kOptional},
                    {.name = "wrong", .python = kOptional, .edits = {{R"(s = 1\.0f)", "s = 2.0f"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  EXPECT_NE(run.forward("wrong").outcome, Outcome::pass);
}

TEST(NonfiniteFloats, RevealFaultsInCodeForThem) {
  constexpr const char* kReplacing = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    v = x[i]
    s = float(3.0)
    if wp.isfinite(v):
        s = v * v
    out[i] = s
)";
  const CpuRun run({{.name = "correct", .python = kReplacing},
                    {.name = "wrong", .python = kReplacing, .edits = {{R"(s = 3\.0f)", "s = 4.0f"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  EXPECT_TRUE(run.forward("correct").uncovered_branches.empty());
  EXPECT_EQ(run.forward("wrong").outcome, Outcome::fail);
}

TEST(LongArrays, RevealFaultsInLateIterationsOfWhileLoops) {
  constexpr const char* kSum = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    j = int(0)
    while j < x.shape[0]:
        s += x[j] * x[j]
        j += 1
    out[i] = s
)";
  const CpuRun run({{.name = "correct", .python = kSum},
                    {.name = "stops_early",
                     .python = kSum,
                     .edits = {{R"(while \(j < x\.shape\[0\]\))", "while (j < x.shape[0] && j < 70)"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_NE(run.forward("stops_early").outcome, Outcome::pass);
}

TEST(LongArrays, RevealFaultsInLateIterationsOfLoopsThatLargeValuesEnd) {
  constexpr const char* kBounded = R"(
# domain: 0 <= n <= 80
# domain: -1.5 <= x <= 3
@wp.kernel
def k(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    j = int(0)
    while j < n:
        if s * s > 16.0:
            break
        s = s * 0.5 + 0.45 * wp.sin(s) + x[i, j]
        j += 1
    out[i] = s * s + float(j)
)";
  const CpuRun run(
      {{.name = "correct", .python = kBounded},
       {.name = "stops_early", .python = kBounded, .edits = {{R"(while \(j < n\))", "while (j < n && j < 70)"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_NE(run.forward("stops_early").outcome, Outcome::pass);
}

TEST(LongArrays, RevealStaleStatesOfRunningMaximums) {
  constexpr const char* kGreatest = R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), greatest: wp.array(dtype=float)):
    i = wp.tid()
    top = x[i, 0]
    for j in range(1, x.shape[1]):
        top = wp.max(top, x[i, j])
    greatest[i] = top
)";
  // The state at a checkpoint is saved as that of the next checkpoint.
  const CpuRun run({{.name = "correct", .python = kGreatest},
                    {.name = "stale",
                     .python = kGreatest,
                     .edits = {{R"(checkpoint_top\[checkpoint\] = top_(\d))",
                                "checkpoint_top[checkpoint < 62 ? checkpoint + 1 : 63] = top_$1"}}}});
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  EXPECT_NE(run.backward("stale").outcome, Outcome::pass);
}

TEST(LargerFloats, CoverBranchesThatUsualFloatsDoNotReach) {
  constexpr const char* kAbove = R"(
@wp.kernel
def k(x: wp.array(dtype=float), limit: float, out: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.clamp(x[i], -3.0, 3.0)
    if x[i] > 2.5:
        v = x[i] * x[i]
    if limit > 20.0:
        v = 2.0 * v
    out[i] = v
)";
  const CpuRun run(
      {{.name = "correct", .python = kAbove}, {.name = "wrong", .python = kAbove, .edits = {{R"(2\.0f)", "2.5f"}}}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  EXPECT_TRUE(run.forward("correct").uncovered_branches.empty());
  EXPECT_TRUE(run.backward("correct").uncovered_branches.empty());
  EXPECT_EQ(run.forward("wrong").outcome, Outcome::fail);
}

TEST(LargerFloats, AreLeftOutIfResultsOverflow) {
  constexpr const char* kExponential = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.exp(wp.exp(x[i]))
    if x[i] > 500.0:
        v = 0.0
    out[i] = v
)";
  const CpuRun run(std::vector<testing::TestKernel>{{.name = "exponential", .python = kExponential}});
  EXPECT_EQ(run.forward("exponential").outcome, Outcome::pass) << summary(run.forward("exponential"));
  EXPECT_EQ(run.backward("exponential").outcome, Outcome::pass) << summary(run.backward("exponential"));
}

/// The CPU device, whose code counts as that of a candidate.
class CandidateDevice final : public testing::ChangedDevice {
 public:
  [[nodiscard]] double input_error() const override { return 4; }
};

constexpr const char* kSquare = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
)";

TEST(OrdersOfBlocks, RevealDependenceOnEarlierBlocksInLargeSets) {
  // The fully checked set has one block. In the others, a block that runs after a later one writes nothing.
  const std::vector<testing::TestKernel> kernels = {
      {.name = "correct", .python = kSquare},
      {.name = "ordered",
       .python = kSquare,
       .edits = {
           testing::at_thread_start(backends::Pass::kForward,
                                    "static long previous = 0; const bool is_late = begin > 64 && begin < previous; "
                                    "if (thread + 1 == end) previous = begin; if (is_late) continue;")}}};
  std::vector<KernelSource> sources;
  for (const testing::TestKernel& kernel : kernels)
    sources.push_back(testing::source_of(kernel));
  CandidateDevice device;
  const auto records = testing::records_of(sources, device, testing::faulty_printer(kernels), CpuRun::quick());
  for (const CaseRecord& record : records) {
    const bool is_correct = record.kernel == "correct" || record.pass == "backward";
    EXPECT_EQ(record.outcome, is_correct ? Outcome::pass : Outcome::fail) << summary(record);
  }
}

TEST(LargeLaunch, IsExcludedByAListedAssumptionIfItRaces) {
  constexpr const char* kRing = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i % 256] = x[i]
)";
  RunOptions options = CpuRun::quick();
  options.policy = JudgingPolicy::standard();
  const CpuRun run({{.name = "ring", .python = kRing}, {.name = "square", .python = kSquare}}, options);
  const CaseRecord& ring = run.forward("ring");
  EXPECT_EQ(ring.outcome, Outcome::pass) << summary(ring);
  ASSERT_EQ(ring.assumptions.size(), 1U);
  EXPECT_EQ(ring.assumptions[0].description.find(
                "launches have fewer than 65539 threads; in a launch of 65539 threads, line 6: race"),
            0U)
      << ring.assumptions[0].description;
  EXPECT_TRUE(run.forward("square").assumptions.empty());
}

TEST(LargeLaunch, HasSmallIntegersIfOthersOverflow) {
  RunOptions options = CpuRun::quick();
  options.policy = JudgingPolicy::standard();
  const CpuRun run({{.name = "cube", .python = R"(
@wp.kernel
def k(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = x[i] * x[i] * x[i]
)"}},
                   options);
  const CaseRecord& cube = run.forward("cube");
  EXPECT_EQ(cube.outcome, Outcome::pass) << summary(cube);
  EXPECT_TRUE(cube.assumptions.empty()) << cube.assumptions[0].description;
  EXPECT_THAT(cube.thread_counts, ::testing::Contains(65'539));
}

constexpr const char* kCompaction = R"(
@wp.kernel
def k(x: wp.array(dtype=float), count: wp.array(dtype=int), kept: wp.array(dtype=float), index: wp.array(dtype=int)):
    i = wp.tid()
    if x[i] > 0.25:
        slot = wp.atomic_add(count, 0, 1)
        if slot < kept.shape[0]:
            kept[slot] = x[i] * 2.0
            index[slot] = i
)";

TEST(ResultsThatDependOnOrderOfThreads, AreJudgedInTheOrderOfTheirNumbers) {
  RunOptions options = CpuRun::quick();
  options.policy = JudgingPolicy::standard();
  const CpuRun run({{.name = "correct", .python = kCompaction},
                    {.name = "condition", .python = kCompaction, .edits = {{R"(> 0\.25f)", "> 0.5f"}}},
                    {.name = "capacity", .python = kCompaction, .edits = {{R"(if \(slot < )", "if (slot + 1 < "}}},
                    {.name = "factor", .python = kCompaction, .edits = {{R"(2\.0f)", "2.5f"}}}},
                   options);
  const CaseRecord& correct = run.forward("correct");
  EXPECT_EQ(correct.outcome, Outcome::pass) << summary(correct);
  ASSERT_EQ(correct.assumptions.size(), 1U);
  EXPECT_EQ(correct.assumptions[0].description,
            "the threads run one after another, in the order of their numbers, because the result depends on their "
            "order");
  for (const char* name : {"condition", "capacity", "factor"})
    EXPECT_EQ(run.forward(name).outcome, Outcome::fail) << summary(run.forward(name));
}

TEST(ResultsThatDependOnOrderOfThreads, AreNotJudgedWhereTheOrderIsNotFixed) {
  const std::vector<testing::TestKernel> kernels = {{.name = "correct", .python = kCompaction}};
  const std::vector<KernelSource> sources = {testing::source_of(kernels[0])};
  testing::CountingDevice unordered;
  CandidateDevice candidate;
  for (backends::Device* const device : std::initializer_list<backends::Device*>{&unordered, &candidate}) {
    const auto records = testing::records_of(sources, *device, testing::faulty_printer(kernels), CpuRun::quick());
    EXPECT_EQ(records[0].outcome, Outcome::inconclusive) << summary(records[0]);
    EXPECT_EQ(records[0].outcome_detail, "race");
    EXPECT_NE(records[0].message.find("depends on the order of threads"), std::string::npos) << records[0].message;
  }
}

}  // namespace
}  // namespace assay::harness
