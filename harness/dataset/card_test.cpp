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

std::string card_of(const DatasetPlan& plan) {
  return render_dataset_card(plan, {}, DatasetStatistics().to_json(), {}, "");
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
  DatasetPlan plan = small_plan(4);
  EXPECT_THAT(card_of(plan), HasSubstr("Nothing: the rows were generated without verification"));
  EXPECT_TRUE(unverified_parts(plan).empty());
  plan.verifies_rows = true;
  plan.judging_effort = "quick";
  plan.devices = {"cpu"};
  plan.numeric_modes = {"cpu/strict"};
  const std::string quick = card_of(plan);
  EXPECT_THAT(quick,
              AllOf(HasSubstr("- No row ran on the device `ptx`"), HasSubstr("- No row ran on the device `cuda`"),
                    HasSubstr("judged on few inputs"), Not(HasSubstr("the device `cpu`"))));
  plan.judging_effort = "standard";
  plan.devices = {"cpu", "cuda", "ptx"};
  EXPECT_TRUE(unverified_parts(plan).empty());
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
