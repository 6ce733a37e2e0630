#include "harness/dataset/overview.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/testing/generated.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Folder;
using ::testing::HasSubstr;

/// The rows by value of the distribution with this title.
std::map<std::string, std::uint64_t> counts_of(const DatasetOverview& overview, const std::string& title) {
  for (const RowCounts& one : overview.distributions) {
    if (one.title == title) return {one.rows_by_value.begin(), one.rows_by_value.end()};
  }
  ADD_FAILURE() << "no distribution " << title;
  return {};
}

std::uint64_t sum(const std::map<std::string, std::uint64_t>& counts) {
  std::uint64_t total = 0;
  for (const auto& [value, rows] : counts)
    total += rows;
  return total;
}

class Overview : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder();
    testing::made(testing::small_plan(24), {.output = *folder_ / "rows"});
  }
  static void TearDownTestSuite() { delete folder_; }

  static DatasetOverview read(OverviewOptions options) {
    options.dataset = *folder_ / "rows";
    Result<DatasetOverview> overview = overview_of(options);
    if (overview.ok()) return overview.take();
    ADD_FAILURE() << overview.error().text();
    return {};
  }

  static Folder* folder_;
};
Folder* Overview::folder_ = nullptr;

TEST_F(Overview, CountsEachRowOnceInEachMeasure) {
  const DatasetOverview overview = read({});
  EXPECT_EQ(overview.name, "rows");
  EXPECT_EQ(overview.row_count, 24U);
  for (const char* const title :
       {"Families", "Splits", "Statements", "Lines of Python", "Lines of CUDA C++", "Nesting", "Loops"})
    EXPECT_EQ(sum(counts_of(overview, title)), 24U) << title;
  const json stats = json::parse(read_file_text(*folder_ / "rows/stats.json").take());
  EXPECT_EQ(json(counts_of(overview, "Families")), stats.at("families"));
  ASSERT_FALSE(overview.evidence.empty());
  for (const EvidenceSummary& one : overview.evidence) {
    EXPECT_EQ(one.verified_rows, 0U) << "the rows were not judged";
    EXPECT_EQ(one.other_rows, 24U);
  }
}

TEST_F(Overview, ShowsSamplesOfAllFamiliesBeforeASecondRowOfOne) {
  const DatasetOverview overview = read({.sample_count = 5});
  EXPECT_EQ(overview.samples.size(), 5U);
  std::map<std::string, int> by_family;
  for (const SampleRow& one : overview.samples)
    ++by_family[one.row.family];
  const std::size_t families = counts_of(overview, "Families").size();
  EXPECT_EQ(by_family.size(), std::min<std::size_t>(families, 5));
  EXPECT_TRUE(read({.sample_count = 0}).samples.empty());
  EXPECT_EQ(read({.sample_count = 100}).samples.size(), 24U);
}

TEST_F(Overview, GroupsRejectedKernelsByVerdict) {
  const fs::path file = *folder_ / "rows/quarantine/quarantine.jsonl";
  const std::string before = read_file_text(file).take();
  const auto rejected = [](const char* name, const char* verdict, const char* message) {
    return json({{"slot", 1},
                 {"attempt", 0},
                 {"name", name},
                 {"verdict", verdict},
                 {"message", message},
                 {"python_source", "def k(): pass\n"},
                 {"records", json::array()}})
               .dump() +
           "\n";
  };
  ASSERT_TRUE(put_file(file, rejected("loop/a", "inconclusive(path)", "undecided") +
                                 rejected("loop/b", "fail(mismatch)", "out[0] is 1") +
                                 rejected("loop/c", "fail(mismatch)", "out[1] is 2"))
                  .ok());
  const std::vector<RejectionGroup> groups = read({}).rejections;
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].verdict, "fail(mismatch)");
  EXPECT_EQ(groups[0].kernels, 2U);
  EXPECT_EQ(groups[0].example_name, "loop/b");
  EXPECT_EQ(groups[0].example_message, "out[0] is 1");
  EXPECT_EQ(groups[1].kernels, 1U);
  ASSERT_TRUE(put_file(file, "{}\n").ok());
  const auto damaged = overview_of({.dataset = *folder_ / "rows"});
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.error().text(), HasSubstr("quarantine.jsonl:1"));
  ASSERT_TRUE(put_file(file, before).ok());
}

TEST_F(Overview, ShowsWhereANearMissDiffers) {
  const auto pair = [](const char* mutation, const json& accepting) {
    return json({{"kernel_name", "k"},
                 {"language", "cuda"},
                 {"pass", "backward"},
                 {"mutation", mutation},
                 {"change", "a contribution is dropped"},
                 {"accepted_by_allclose", accepting},
                 {"reason", {{"message", "grad_x[0] is 1, expected 2"}}},
                 {"chosen", "a;\nb;\nc;\nd;\n"},
                 {"rejected", "a;\nb;\nx;\nd;\n"}})
        .dump();
  };
  fs::create_directories(*folder_ / "near");
  LineWriter file = LineWriter::create(*folder_ / "near/train.jsonl.gz").take();
  ASSERT_TRUE(file.add(pair("wrong_sign", nullptr)).ok());
  ASSERT_TRUE(file.add(pair("drop_contribution", {0.01})).ok());
  ASSERT_TRUE(file.add(pair("drop_contribution", json::array())).ok());
  ASSERT_TRUE(file.commit().ok());
  const NearMissSummary found = read({.near_misses = *folder_ / "near"}).near_misses;
  EXPECT_EQ(found.pairs, 3U);
  EXPECT_EQ(found.pairs_within_tolerance, 1U);
  ASSERT_EQ(found.pairs_by_mutation.size(), 2U);
  EXPECT_EQ(found.pairs_by_mutation[0].first, "drop_contribution");
  ASSERT_EQ(found.samples.size(), 2U);
  EXPECT_EQ(found.samples[0].correct_lines, "b;\nc;\n");
  EXPECT_EQ(found.samples[0].incorrect_lines, "b;\nx;\n");
  const auto missing = overview_of({.dataset = *folder_ / "rows", .near_misses = *folder_ / "rows"});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().text(), HasSubstr("--format preference"));
}

TEST_F(Overview, RejectsRowsThatDoNotMatchTheSchema) {
  fs::create_directories(*folder_ / "bad");
  ASSERT_TRUE(put_file(*folder_ / "bad/rows.jsonl", "{\"id\": \"1\"}\n").ok());
  const auto overview = overview_of({.dataset = *folder_ / "bad/rows.jsonl"});
  ASSERT_FALSE(overview.ok());
  EXPECT_THAT(overview.error().text(), HasSubstr("rows.jsonl:1"));
  ASSERT_TRUE(put_file(*folder_ / "bad/rows.jsonl", "").ok());
  EXPECT_FALSE(overview_of({.dataset = *folder_ / "bad/rows.jsonl"}).ok());
}

}  // namespace
}  // namespace assay::dataset
