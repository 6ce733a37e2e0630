#include "harness/suite/run/run.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/device/scratch_directory.hpp"
#include "harness/suite/run/shared_plans.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using ::testing::ElementsAre;

testing::TestKernel squares(const std::string& name) {
  return {.name = name, .python = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
)"};
}

KernelGroup group_of(const std::vector<KernelSource>& sources, int optimization) {
  KernelGroup group{.options = testing::CpuRun::quick(), .sources = sources};
  group.options.jobs = 1;
  group.options.mode.flags.optimization_level = optimization;
  if (optimization > 0) group.options.mode.name = "O" + std::to_string(optimization);
  return group;
}

class SuiteRunTest : public ::testing::Test {
 protected:
  /// The records, in the order in which they were written.
  std::vector<CaseRecord> run(const std::vector<KernelGroup>& groups) {
    RunStart start;
    for (const KernelGroup& group : groups)
      std::ranges::move(plan_cases(group.sources, device_, group.options),
                        std::back_inserter(start.planned_case_names));
    auto writer = RecordWriter::create(folder_->path() / ("run" + std::to_string(++runs_)), start);
    EXPECT_TRUE(writer.ok());
    std::vector<CaseRecord> records;
    const auto counts = run_cases(groups, device_, testing::faulty_printer({}), *writer,
                                  [&](const CaseRecord& record) { records.push_back(record); });
    EXPECT_TRUE(counts.ok());
    EXPECT_EQ(records.size(), start.planned_case_names.size());
    return records;
  }

  Result<backends::ScratchDirectory> folder_ =
      backends::ScratchDirectory::create(std::filesystem::temp_directory_path());
  testing::CountingDevice device_;
  int runs_ = 0;
};

TEST_F(SuiteRunTest, RunsOptimizedBuildsFirst) {
  const KernelSource a = testing::source_of(squares("a")), b = testing::source_of(squares("b"));
  run({group_of({a, b}, 0), group_of({b}, 2)});
  EXPECT_THAT(device_.built, ElementsAre("b", "a", "b"));
}

TEST_F(SuiteRunTest, RunsMostExpensiveFamilyFirst) {
  KernelSource cheap = testing::source_of(squares("cheap"));
  KernelSource dear = testing::source_of({.name = "dear", .python = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i] * x[i]
)"});
  cheap.family = "cheap";
  dear.family = "dear";
  run({group_of({cheap, dear}, 0)});
  EXPECT_THAT(device_.built, ElementsAre("dear", "cheap"));
}

TEST_F(SuiteRunTest, ReusingTestPlanForOtherBuildsDoesNotChangeVerdict) {
  const KernelSource a = testing::source_of(squares("a"));
  const std::vector<CaseRecord> both = run({group_of({a}, 0), group_of({a}, 2)});
  const std::vector<CaseRecord> alone = run({group_of({a}, 0)});
  ASSERT_EQ(both.size(), 4U);
  ASSERT_EQ(alone.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(both[2 + i].name, alone[i].name);
    EXPECT_EQ(both[2 + i].outcome, Outcome::pass);
    EXPECT_EQ(both[2 + i].rho_histogram, alone[i].rho_histogram);
    EXPECT_EQ(both[2 + i].values_compared, alone[i].values_compared);
    EXPECT_EQ(both[i].outcome, Outcome::pass);
  }
}

TEST(SharedTestPlans, AreDrawnOnceForGroupsWithSameInputs) {
  const KernelSource a = testing::source_of(squares("a")), b = testing::source_of(squares("b"));
  KernelGroup forward = group_of({a}, 0);
  forward.options.backward = false;
  const std::vector<KernelGroup> groups{group_of({a, b}, 0), group_of({a}, 2), forward};
  SharedTestPlans test_plans(groups);
  int drawn = 0;
  const auto ask = [&](const KernelSource& source, const KernelGroup& group) {
    return test_plans.get_or_draw_test_plan(
        source, group.options, [&] { return InputDrawFailure{.message = std::to_string(++drawn), .finding = {}}; });
  };
  EXPECT_EQ(ask(a, groups[1]), ask(a, groups[0]));
  EXPECT_EQ(drawn, 1);
  ask(b, groups[0]);
  EXPECT_EQ(drawn, 2);
  ask(a, groups[2]);  // without gradients
  EXPECT_EQ(drawn, 3);
  ask(a, groups[0]);  // no other group needs it
  EXPECT_EQ(drawn, 4);
}

}  // namespace
}  // namespace assay::harness
