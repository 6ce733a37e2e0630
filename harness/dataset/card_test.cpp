#include "harness/dataset/card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/testing/generated.hpp"

namespace assay::dataset {
namespace {

using ::testing::AllOf;
using testing::files_of;
using testing::Folder;
using ::testing::HasSubstr;
using testing::made;
using ::testing::Not;
using testing::small_plan;

std::string card_of(const DatasetPlan& plan, const DatasetStatistics& stats = {}) {
  return render_dataset_card(plan, stats, stats.to_json(), {{"train", 1}}, "");
}

using Verdicts = std::vector<std::pair<std::string_view, std::string_view>>;

/// The statistics of rows with these verdicts.
DatasetStatistics stats_of(const std::vector<Verdicts>& rows) {
  DatasetStatistics stats;
  for (const Verdicts& verdicts : rows)
    stats.add({.family = "loop", .verdict_by_case = verdicts}, "train");
  return stats;
}

/// A plan whose rows are judged on these devices.
DatasetPlan judged_plan(std::vector<std::string> devices) {
  DatasetPlan plan = small_plan(4);
  plan.verifies_rows = true;
  plan.judging_effort = "standard";
  plan.devices = std::move(devices);
  for (const std::string& device : plan.devices)
    plan.numeric_modes.push_back(device + "/strict");
  return plan;
}

TEST(DatasetCard, StatesLicenseInHuggingFaceFormat) {
  DatasetPlan plan = small_plan(4);
  plan.license = "CC-BY-4.0";
  EXPECT_THAT(card_of(plan), AllOf(HasSubstr("\nlicense: cc-by-4.0\n"), HasSubstr("License of the rows: CC-BY-4.0.")));
  plan.license = "LicenseRef-House";
  EXPECT_THAT(card_of(plan), HasSubstr("\nlicense: other\nlicense_name: licenseref-house\n"));
}

TEST(DatasetCard, NamesPackagesAndTheirAuthors) {
  DatasetPlan plan = small_plan(3);
  plan.license = kLicensePerRow;
  plan.user_kernels = {
      {.name = "user/a",
       .python_source = "",
       .origin = live::KernelOrigin{"waves", "2.5", "waves/a.py", "MIT", "by Ada"}},
      {.name = "user/b",
       .python_source = "",
       .origin = live::KernelOrigin{"waves", "2.5", "waves/b.py", "MIT", "by Ada"}},
      {.name = "user/c", .python_source = "", .origin = live::KernelOrigin{"", "", "single.py", "ISC", "by Emmy"}}};
  EXPECT_THAT(card_of(plan), AllOf(HasSubstr("\nlicense: other\nlicense_name: licenseref-per-row\n"),
                                   HasSubstr("Python packages: single.py (1 kernel), waves 2.5 (2 kernels). Each"),
                                   HasSubstr("different ones, stated in `metadata.license`"),
                                   HasSubstr("The kernels were copied from:\n\n- by Ada\n- by Emmy\n\n")));
}

TEST(DatasetCard, StatesWhatWasNotVerified) {
  const DatasetPlan unverified = small_plan(4);
  EXPECT_THAT(card_of(unverified), HasSubstr("Nothing: the rows were generated without verification"));
  EXPECT_TRUE(unverified_parts(unverified, 4, {}).empty());
  DatasetPlan plan = judged_plan({"cpu"});
  plan.judging_effort = "quick";
  const Verdicts passed = {{"cpu/forward/strict", "pass"}, {"cpu/backward/strict", "pass"}};
  const std::string quick = card_of(plan, stats_of({passed}));
  EXPECT_THAT(quick,
              AllOf(HasSubstr("- No row ran on the device `ptx`"), HasSubstr("- No row ran on the device `cuda`"),
                    HasSubstr("judged on few inputs"), Not(HasSubstr("on the device `cpu`"))));
  const PassedRows all{.by_device = {{"cpu", 4}, {"cuda", 4}, {"ptx", 4}}, .by_mode = {}};
  EXPECT_TRUE(unverified_parts(judged_plan({"cpu", "cuda", "ptx"}), 4, all).empty());
}

/// A plan may ask for a device that is not available on the machine.
TEST(DatasetCard, CallsOnlyDevicesVerifiedOnWhichRowsPassed) {
  const DatasetPlan plan = judged_plan({"cpu", "cuda"});
  const Verdicts row = {{"cpu/backward", "not_run"},
                        {"cpu/forward/strict", "pass"},
                        {"cuda/backward", "not_run"},
                        {"cuda/forward", "not_run"}};
  const std::string card = card_of(plan, stats_of({row, row}));
  EXPECT_THAT(card, AllOf(HasSubstr("numeric modes: cpu/strict. Forward"), Not(HasSubstr("cuda/strict")),
                          HasSubstr("- No row ran on the device `cuda`")));
  EXPECT_THAT(card_of(plan, stats_of({{{"cpu/forward", "not_run"}}})), HasSubstr("Nothing: no row ran on a device."));
}

TEST(DatasetCard, CountsRowsThatPassedInSomeModes) {
  const DatasetPlan plan = judged_plan({"cpu", "ptx"});
  const Verdicts both = {{"cpu/forward/strict", "pass"},  {"cpu/backward/strict", "pass"},
                         {"ptx/forward/strict", "pass"},  {"ptx/backward/strict", "pass"},
                         {"ptx/forward/default", "pass"}, {"ptx/backward/default", "fail"}};
  const Verdicts one = {{"cpu/forward/strict", "pass"}, {"cpu/backward/strict", "pass"}};
  const DatasetStatistics stats = stats_of({both, one});
  EXPECT_THAT(stats.passed_rows().by_device,
              ::testing::ElementsAre(::testing::Pair("cpu", 2U), ::testing::Pair("ptx", 1U)));
  EXPECT_THAT(card_of(plan, stats), AllOf(HasSubstr("numeric modes: cpu/strict. Some rows also passed on ptx/strict (1 "
                                                    "of 2 rows). Forward"),
                                          HasSubstr("- Only 1 of 2 rows ran on the device `ptx`")));
}

TEST(DatasetCard, StatesNumberOfNearDuplicates) {
  DatasetStatistics stats;
  stats.add_cluster(3);
  EXPECT_THAT(render_dataset_card(small_plan(4), stats, stats.to_json(), {}, ""),
              HasSubstr("3 of 0 rows are near duplicates of another row"));
}

TEST(DatasetCard, ContainsEveryColumnAndSection) {
  const Folder folder;
  made(small_plan(8), {.output = folder / "d"});
  const auto files = files_of(folder / "d");
  const std::string& card = files.at("README.md");
  const std::string header = card.substr(0, card.find("\n---\n"));
  const nlohmann::json schema = nlohmann::json::parse(files.at("schema.json"));
  for (const auto& [column, property] : schema.at("properties").items())
    EXPECT_THAT(header, HasSubstr("  - name: " + column + "\n"));
  for (const char* const part : {"## Columns", "## How the rows were made", "## What was verified", "## Known limits",
                                 "## Splits", "## License and citation", "@misc{"})
    EXPECT_THAT(card, HasSubstr(part));
  EXPECT_THAT(header, HasSubstr("    path: data/train-*.jsonl.gz\n"));
}

}  // namespace
}  // namespace assay::dataset
