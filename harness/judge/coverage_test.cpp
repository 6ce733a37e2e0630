#include "harness/judge/coverage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

using reference::BranchPoint;
using ::testing::ElementsAre;

BranchPoint branch(int line, std::int64_t yes, std::int64_t no) {
  return {.kind = BranchPoint::Kind::kBranch, .loc = {.line = line}, .branch_counts = {yes, no, 0}};
}
BranchPoint range(int line, std::int64_t inside, std::int64_t below, std::int64_t above) {
  return {.kind = BranchPoint::Kind::kClampRange, .loc = {.line = line}, .branch_counts = {inside, below, above}};
}

TEST(BranchCoverage, KernelWithoutBranchesHasNoUncoveredBranch) {
  EXPECT_EQ(BranchCoverage{}.missing_samples(), 0);
  EXPECT_TRUE(BranchCoverage{}.uncovered({}).empty());
}

TEST(BranchCoverage, BranchIsCoveredOnlyAfterTwoSamples) {
  BranchCoverage coverage;
  coverage.add({branch(3, 5, 0), range(4, 1, 2, 0)});
  EXPECT_EQ(coverage.missing_samples(), 2 + 1 + 2);
  EXPECT_THAT(coverage.uncovered({}),
              ElementsAre(UncoveredBranch{3, "the condition is never false"},
                          UncoveredBranch{4, "the operand is never inside the range except once"},
                          UncoveredBranch{4, "the operand is never above the range"}));
  EXPECT_EQ(coverage.gain({branch(3, 9, 7), range(4, 0, 9, 1)}), 2 + 1);
  coverage.add({branch(3, 9, 7), range(4, 0, 9, 1)});
  EXPECT_EQ(coverage.missing_samples(), 1 + 1);
  coverage.add({branch(3, 0, 0), range(4, 1, 0, 1)});
  EXPECT_EQ(coverage.missing_samples(), 0);
  EXPECT_TRUE(coverage.uncovered({}).empty());
}

TEST(BranchCoverage, ListsEachUncoveredBranchOfALineOnce) {
  BranchCoverage coverage;
  coverage.add({branch(3, 5, 0), branch(3, 4, 0)});
  EXPECT_EQ(coverage.missing_samples(), 4);
  EXPECT_EQ(coverage.uncovered({}).size(), 1U);
}

TEST(BranchCoverage, ReportsFileNameOfBranchInImportedFile) {
  ir::Module module;
  module.source_name = "wave.py";
  module.imported_files = {{.name = "physics.py", .preceding_line_count = 10}};
  BranchCoverage coverage;
  coverage.add({branch(3, 2, 0), branch(13, 2, 0)});
  EXPECT_THAT(coverage.uncovered(module),
              ElementsAre(UncoveredBranch{3, "the condition is never false"},
                          UncoveredBranch{3, "the condition is never false", "physics.py"}));
}

}  // namespace
}  // namespace assay::harness
