#include "harness/dataset/plan.hpp"

#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::dataset {
namespace {

using ::testing::HasSubstr;

DatasetPlan plan_of(std::uint64_t count, std::vector<FamilyShare> shares) {
  DatasetPlan plan{
      .generator_version = "0.1.0", .row_count = count, .family_shares = std::move(shares), .slots_per_block = 8};
  EXPECT_TRUE(distribute_rows(plan).ok());
  return plan;
}

std::vector<std::uint64_t> rows_of(const DatasetPlan& plan) {
  std::vector<std::uint64_t> rows;
  for (const FamilyShare& share : plan.family_shares)
    rows.push_back(share.row_count);
  return rows;
}

TEST(RowDistribution, RowCountsAreProportionalToFamilyWeights) {
  EXPECT_THAT(rows_of(plan_of(10, {{"a"}, {"b"}, {"c"}})), ::testing::ElementsAre(4, 3, 3));
  EXPECT_THAT(rows_of(plan_of(10, {{"a", 3}, {"b", 1}, {"c", 1}})), ::testing::ElementsAre(6, 2, 2));
  EXPECT_THAT(rows_of(plan_of(2, {{"a"}, {"b"}, {"c"}})), ::testing::ElementsAre(1, 1, 0));
}

TEST(RowDistribution, RejectsWeightsOutOfRange) {
  DatasetPlan plan{.row_count = 4, .family_shares = {{"a", 1}}};
  for (const double weight : {-1.0, 0.0, 1e-4, 1e7, HUGE_VAL, std::nan("")}) {
    plan.family_shares.front().weight = weight;
    ASSERT_FALSE(distribute_rows(plan).ok()) << weight;
    EXPECT_THAT(distribute_rows(plan).error().text(), HasSubstr("weight of 'a' must be from 0.001 to 1000000, got "));
  }
  plan.family_shares = {};
  EXPECT_FALSE(distribute_rows(plan).ok());
}

TEST(DatasetSlots, EveryPrefixContainsFamiliesInProportionToWeights) {
  const DatasetPlan plan = plan_of(1000, {{"a", 2}, {"b", 1}, {"c", 1}});
  const std::vector<DatasetSlot> slots = slots_of(plan);
  ASSERT_EQ(slots.size(), 1000U);
  std::map<std::uint32_t, int> seen;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].number, i);
    EXPECT_EQ(slots[i].index_in_family, static_cast<std::uint64_t>(seen[slots[i].family]++));
    EXPECT_NEAR(seen[0], static_cast<double>(i + 1) / 2, 1.5) << i;
  }
}

TEST(DatasetSlots, BelongToExactlyOneShard) {
  DatasetPlan plan = plan_of(100, {{"a"}, {"b"}});
  const std::vector<DatasetSlot> slots = slots_of(plan);
  std::set<std::uint64_t> seen;
  plan.shard.shard_count = 3;
  for (plan.shard.shard_index = 0; plan.shard.shard_index < 3; ++plan.shard.shard_index) {
    for (const std::uint64_t block : blocks_of_shard(plan)) {
      for (const DatasetSlot& slot : slots_of_block(plan, slots, block))
        EXPECT_TRUE(seen.insert(slot.number).second);
    }
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(CandidateName, IsUniqueForEachSeedFamilySlotAndAttempt) {
  DatasetPlan plan = plan_of(4, {{"loop"}, {"math"}});
  std::set<std::string> names;
  for (plan.seed = 1; plan.seed < 3; ++plan.seed) {
    for (const DatasetSlot& slot : slots_of(plan)) {
      for (const std::uint32_t attempt : {0U, 1U})
        names.insert(*candidate_name(plan, slot, attempt));
    }
  }
  EXPECT_EQ(names.size(), 16U);
  EXPECT_THAT(*names.begin(), HasSubstr("loop/r2_"));
}

TEST(CandidateName, DoesNotExistForSecondAttemptOfUserKernel) {
  DatasetPlan plan{.row_count = 1, .family_shares = {{"user"}}, .user_kernels = {{"user/wave.step", "..."}}};
  ASSERT_TRUE(distribute_rows(plan).ok());
  EXPECT_EQ(candidate_name(plan, slots_of(plan)[0], 0), "user/wave.step");
  EXPECT_EQ(candidate_name(plan, slots_of(plan)[0], 1), std::nullopt);
}

TEST(PlanJson, RoundTripsAndMatchesSchema) {
  DatasetPlan plan = plan_of(20, {{"loop", 2.5}, {"math"}});
  plan.kernel_generators_version = 1;
  plan.seed = ~std::uint64_t{0};
  plan.verifies_rows = false;
  plan.judging_effort = "none";
  plan.devices = {"cpu", "ptx"};
  plan.numeric_modes = {"cpu/strict"};
  plan.toolchain = {{"cpu", "g++ 12", std::string(64, 'a')}};
  plan.ptx = {.architecture = "compute_90", .version = "NVRTC 13.0.88"};
  plan.excluded_kernels = {{"user/task.k", "import warp as wp\n"}};
  plan.user_kernels = {{.name = "user/waves.step",
                        .python_source = "import warp as wp\n",
                        .origin = live::KernelOrigin{"waves", "2.5", "waves/core.py", "MIT", "waves 2.5, Ada, MIT"}},
                       {.name = "user/waves.any", .python_source = "", .export_error = "is generic"},
                       {.name = "user/a.f", .python_source = "import warp as wp\n", .parse_error = "a.py:4:5: error"}};
  plan.shard = {.shard_index = 2, .shard_count = 5};
  const nlohmann::json line = nlohmann::json::parse(to_json(plan).dump());
  EXPECT_EQ(plan_from(line), plan);
  EXPECT_TRUE(schemas::Validator(schemas::kManifestSchemaText).diagnostics(line).empty());
}

TEST(RowLicense, IsThatOfTheKernelIfTheDatasetHasSeveral) {
  DatasetPlan plan = plan_of(2, {{"user"}});
  const live::KernelOrigin origin{.license = "MIT"};
  plan.license = "Apache-2.0";
  EXPECT_EQ(metadata_of(plan, origin).license, "Apache-2.0");
  plan.license = kLicensePerRow;
  EXPECT_EQ(metadata_of(plan, origin).license, "MIT");
}

TEST(PlanDifference, ReportsNameOfDifferingMemberAndIgnoresShard) {
  const DatasetPlan plan = plan_of(20, {{"loop"}});
  DatasetPlan other = plan;
  other.shard = {.shard_index = 1, .shard_count = 2};
  EXPECT_EQ(difference(plan, other), "");
  other.seed = 2;
  EXPECT_EQ(difference(plan, other), "seed");
}

}  // namespace
}  // namespace assay::dataset
