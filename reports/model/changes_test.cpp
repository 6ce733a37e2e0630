// Changes between runs, and between a table of failures and a run.
#include "reports/model/changes.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/formats/formats.hpp"
#include "reports/formats/terminal.hpp"
#include "reports/testing/synthetic_run.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::synthetic_run;

class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() { fs::create_directories(dir_); }
  ~ChangesTest() override { fs::remove_all(dir_); }

  fs::path dir_ = fs::temp_directory_path() / fmt::format("assay-changes-{}", ::getpid());
};

std::vector<std::string> names_of(const std::vector<CaseChange>& changes) {
  std::vector<std::string> names;
  for (const CaseChange& change : changes)
    names.push_back(change.name);
  return names;
}

json& case_of(Run& run, const std::string& name) {
  return *std::find_if(run.cases.begin(), run.cases.end(),
                       [&](const json& record) { return record.at("case") == name; });
}

TEST_F(ChangesTest, RunHasNoChangesSinceItself) {
  const reports::Run run = synthetic_run({});
  const RunChanges changes = changes_since(baseline_of(run, "out"), run);
  EXPECT_TRUE(changes.is_no_worse());
  EXPECT_EQ(changes.unchanged_case_count, 504U);
  EXPECT_EQ(changes_lines(changes, false), "since out: 504 the same\n");
}

TEST_F(ChangesTest, ReportsEveryKindOfChange) {
  const Baseline before = baseline_of(synthetic_run({.kernels_per_family = 15, .cuda = false}), "before");
  reports::Run run = synthetic_run({.cuda = false});
  json& broken = case_of(run, "arithmetic/generated_1_0003/f32/cpu/forward");
  broken["outcome"] = "fail";
  broken["kind"] = "mismatch";
  json& changed = case_of(run, "loop/generated_1_0020/f32/cpu/backward");
  changed["message"] = "grad_x[4] is 2";
  json& fixed = case_of(run, "loop/generated_1_0071/f32/cpu/backward");
  fixed["outcome"] = "pass";
  fixed["kind"] = "";
  case_of(run, "math/generated_1_0003/f32/cpu/backward")["rho_max"] = 0.99;
  run.start["environment"]["compiler"] = "g++ 13.1.0";
  run.start["environment"]["devices"][0]["confinement"] = "system calls are filtered; files are free";
  json added = broken;
  added["case"] = "arithmetic/new/f32/cpu/forward";
  run.cases.push_back(added);

  const RunChanges changes = changes_since(before, run);
  EXPECT_THAT(names_of(changes.broken_cases), ElementsAre("arithmetic/generated_1_0003/f32/cpu/forward"));
  EXPECT_THAT(names_of(changes.changed_cases), ElementsAre("loop/generated_1_0020/f32/cpu/backward"));
  EXPECT_THAT(names_of(changes.fixed_cases), ElementsAre("loop/generated_1_0071/f32/cpu/backward"));
  EXPECT_THAT(names_of(changes.added_cases), ElementsAre("arithmetic/new/f32/cpu/forward"));
  EXPECT_EQ(changes.removed_cases.size(), 18U);
  EXPECT_EQ(changes.unchanged_case_count, 252U - 3U) << "a larger share of the bound is not a change";
  EXPECT_FALSE(changes.is_no_worse());
  EXPECT_EQ(changes_text(changes), "1 broken, 1 changed, 18 gone, 1 added, 1 fixed; 249 the same");
  const std::string lines = changes_lines(changes, false);
  EXPECT_THAT(lines, HasSubstr("broken   arithmetic/generated_1_0003/f32/cpu/forward: pass -> fail(mismatch)\n"));
  EXPECT_THAT(lines, HasSubstr("Compiler: g++ 12.2.0 -> g++ 13.1.0\n"));
  EXPECT_THAT(lines, HasSubstr("Confinement on cpu: none -> system calls are filtered; files are free\n"));
  const json report = report_json(run, summarize(run), &changes);
  EXPECT_TRUE(schemas::Validator(schemas::kReportSchemaText).diagnostics(report).empty());
}

TEST_F(ChangesTest, CaseThatBecomesUnsupportedCountsAsChangedAndWorse) {
  reports::Run run = synthetic_run({.failures = false});
  const Baseline before = baseline_of(run, "before");
  json& lost = case_of(run, "loop/generated_1_0020/f32/cpu/backward");
  lost["outcome"] = "unsupported";
  lost["kind"] = "no compiler";
  const RunChanges changes = changes_since(before, run);
  EXPECT_EQ(changes_text(changes), "1 changed; 503 the same");
  EXPECT_FALSE(changes.is_no_worse());
}

TEST_F(ChangesTest, AcceptsFailuresCsvAsBaseline) {
  const reports::Run failed = synthetic_run({.cuda = false});
  const fs::path table = dir_ / "failures.csv";
  std::ofstream(table, std::ios::binary) << failures_csv(failed);
  const Result<Baseline> baseline = read_baseline(table);
  ASSERT_TRUE(baseline.ok()) << baseline.error().text();
  EXPECT_EQ(baseline->cases.size(), 8U);
  EXPECT_EQ(changes_text(changes_since(*baseline, failed)), "252 the same");
  const reports::Run clean = synthetic_run({.cuda = false, .failures = false});
  EXPECT_EQ(changes_text(changes_since(*baseline, clean)), "8 fixed; 244 the same");
  Baseline none = *baseline;
  none.cases.clear();
  EXPECT_EQ(changes_text(changes_since(none, failed)), "8 broken; 244 the same");
}

TEST_F(ChangesTest, RejectsInvalidBaseline) {
  const fs::path table = dir_ / "other.csv";
  std::ofstream(table) << "name,value\n";
  EXPECT_THAT(read_baseline(table).error().text(),
              HasSubstr("other.csv: expected the folder of a run or its failures"));
  EXPECT_THAT(read_baseline(dir_ / "nowhere").error().text(), HasSubstr("cannot read records"));
}

}  // namespace
}  // namespace assay::reports
