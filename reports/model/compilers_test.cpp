#include "reports/model/compilers.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::reports {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A record with what the matrix reads. `instructions` below zero: not counted.
json record(const std::string& name, const char* outcome, const char* kind, double instructions) {
  json made = {{"case", name},          {"outcome", outcome},
               {"kind", kind},          {"message", "x[0] is 1, expected 2"},
               {"attempts", {outcome}}, {"time_ms", {{"build", 250.0}}}};
  if (instructions >= 0) made["profiles"] = {{{"measures", {{"thread_instructions", instructions}}}}};
  return made;
}

reports::Run run_of(const json& cases) {
  reports::Run run;
  run.start["plan"] = json::array();
  for (const json& one : cases) {
    run.start["plan"].push_back(one.at("case"));
    run.cases.push_back(one);
  }
  return run;
}

const std::string kOld = "strict@nvrtc-13.0.88-compute_100";
const std::string kNew = "strict@nvrtc-13.5.37-compute_100";

/// One case passes in both builds and is longer in the new one; the other is wrong in the old one.
reports::Run two_builds() {
  json wrong = record("loop/b/f32/ptx/backward/" + kOld, "fail", "mismatch", 10);
  wrong["blame"] = {{"culprit", "compiler(NVRTC 13.0.88 compute_100)"}};
  return run_of({record("loop/a/f32/ptx/forward/" + kOld, "pass", "", 100),
                 record("loop/a/f32/ptx/forward/" + kNew, "pass", "", 120), wrong,
                 record("loop/b/f32/ptx/backward/" + kNew, "pass", "", 50)});
}

TEST(BuildMatrix, CountsCasesByBuildAndFamily) {
  const BuildMatrix matrix = build_matrix(two_builds());
  ASSERT_EQ(matrix.columns.size(), 2U);
  EXPECT_EQ(title_of(matrix.columns[0]), "NVRTC 13.0.88 compute_100");
  ASSERT_EQ(matrix.rows.size(), 2U) << "loop and all";
  EXPECT_EQ(matrix.rows[0].family, "loop");
  EXPECT_EQ(matrix.rows[1].family, "all");
  for (const BuildRow& row : matrix.rows) {
    EXPECT_EQ(row.cells[0].passed, 1);
    EXPECT_EQ(row.cells[0].incorrect, 1);
    EXPECT_EQ(row.cells[1].passed, 2);
    EXPECT_EQ(row.cells[0].build_ms, 500);
  }
}

TEST(BuildMatrix, CountsPassingCasesWithMoreInstructionsThanInAnotherBuild) {
  const BuildMatrix matrix = build_matrix(two_builds());
  EXPECT_EQ(matrix.rows[0].cells[0].passed_with_more_instructions, 0);
  EXPECT_EQ(matrix.rows[0].cells[1].passed_with_more_instructions, 1)
      << "120 to 100; the incorrect build with 10 does not count";
}

TEST(BuildMatrix, ListsCasesWithDifferentResults) {
  const BuildMatrix matrix = build_matrix(two_builds());
  ASSERT_EQ(matrix.differences.size(), 1U);
  const BuildDifference& difference = matrix.differences.front();
  EXPECT_EQ(difference.name, "loop/b/f32/ptx/backward");
  EXPECT_EQ(difference.culprit, "compiler(NVRTC 13.0.88 compute_100)");
  EXPECT_EQ(outcomes_text(matrix, difference), "NVRTC 13.0.88 compute_100: fail(mismatch); 1 pass");
  EXPECT_THAT(build_table(matrix, false), HasSubstr("1 case with different results"));
}

TEST(BuildMatrix, CountsBuildFailuresCrashesAndUndecidedCasesSeparately) {
  const BuildMatrix matrix = build_matrix(run_of({
      record("loop/a/f32/cpu/forward/strict@g++-12", "build_failed", "build", -1),
      record("loop/a/f32/cpu/forward/O2@g++-12", "crashed", "", -1),
      record("loop/a/f32/cpu/forward/O3@g++-12", "inconclusive", "domain", -1),
      record("loop/a/f32/cpu/forward/strict@clang++-14", "memory_fault", "device", -1),
  }));
  ASSERT_EQ(matrix.columns.size(), 4U);
  EXPECT_EQ(title_of(matrix.columns[1]), "g++-12 -O2");
  const std::vector<BuildCaseCounts>& cells = matrix.rows.back().cells;
  EXPECT_EQ(cells[0].rejected, 1);
  EXPECT_EQ(cells[1].crashed, 1);
  EXPECT_EQ(cells[2].undecided, 1);
  EXPECT_EQ(cells[3].crashed, 1);
}

TEST(BuildMatrix, CountsPlannedCaseWithoutRecordAsUndecided) {
  reports::Run run = two_builds();
  run.cases.pop_back();
  EXPECT_EQ(build_matrix(run).rows.back().cells[1].undecided, 1);
}

TEST(BuildMatrix, IsEmptyForRunWithOneBuild) {
  const BuildMatrix matrix =
      build_matrix(run_of(json::array({record("loop/a/f32/ptx/forward/default", "pass", "", 1)})));
  EXPECT_THAT(matrix.columns, IsEmpty());
  EXPECT_TRUE(build_view(matrix).is_null());
  EXPECT_EQ(build_table(matrix, false), "");
}

}  // namespace
}  // namespace assay::reports
