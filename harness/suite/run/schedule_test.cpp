#include "harness/suite/run/schedule.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using ::testing::ElementsAre;

KernelSource source(const std::string& family, const std::string& name, const std::string& statement) {
  KernelSource source = testing::source_of({.name = name, .python = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i]
    )" + statement + "\n    out[i] = s\n"});
  source.family = family;
  return source;
}

const std::string kShort = "s = s + 1.0";
const std::string kMatrices = "s = wp.determinant(wp.mat44(s) * wp.mat44(s))";
const std::string kTrips = "for j in range(0, 100000, 2):\n        s = 0.5 * s";

std::vector<std::string> names(const std::vector<KernelSource>& sources) {
  std::vector<std::string> names;
  for (const KernelSource& source : sources)
    names.push_back(source.family + "/" + source.kernel);
  return names;
}

RunOptions at_level(int optimization) {
  RunOptions options;
  options.mode.flags.optimization_level = optimization;
  return options;
}

TEST(ExpectedCost, GrowsWithCodeSizeAndTripCounts) {
  const RunOptions plain = at_level(0);
  const double of_short = expected_cost(source("f", "short", kShort), plain);
  EXPECT_GT(of_short, 70);
  EXPECT_LT(of_short, 90);
  EXPECT_GT(expected_cost(source("f", "matrices", kMatrices), plain), of_short + 16);
  EXPECT_GT(expected_cost(source("f", "matrices", kMatrices), at_level(2)), of_short + 5 * 16);
  const double of_trips = expected_cost(source("f", "trips", kTrips), plain);
  EXPECT_GT(of_trips, 50000 / 12);
  EXPECT_LT(of_trips, 50000 / 12 + 2 * of_short);
  EXPECT_EQ(expected_cost({.family = "f", .kernel = "unreadable"}, plain), 0);
}

TEST(ExpectedCost, IsDividedEquallyAmongCasesOfKernel) {
  const KernelGroup group{.options = at_level(0), .sources = {source("f", "short", kShort)}};
  const auto costs = estimate_case_costs({group}, testing::CountingDevice{});
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_DOUBLE_EQ(costs.at("f/short/f32/cpu/forward"), expected_cost(group.sources[0], group.options) / 2);
  EXPECT_DOUBLE_EQ(costs.at("f/short/f32/cpu/backward"), costs.at("f/short/f32/cpu/forward"));
}

TEST(Schedule, RunsCostliestFamiliesFirst) {
  KernelGroup group{
      .options = at_level(0),
      .sources = {source("cheap", "b", kShort), source("dear", "d", kShort), source("dearest", "f", kShort),
                  source("cheap", "a", kShort), source("dearest", "e", kTrips), source("dear", "c", kMatrices),
                  source("cheapest", "g", "s = -s"), source("twin", "h", kShort)}};
  sort_by_descending_cost(group);
  EXPECT_THAT(names(group.sources),
              ElementsAre("dearest/f", "dearest/e", "dear/d", "dear/c", "twin/h", "cheap/b", "cheap/a", "cheapest/g"));
}

TEST(Schedule, UsesSmallerBatchesTowardEndOfRun) {
  KernelGroup plain;
  plain.options.batch_size = 32;
  plain.sources.resize(200);
  KernelGroup optimized = plain;
  optimized.sources.resize(12);
  optimized.options.mode.flags.optimization_level = 2;
  const std::vector<KernelGroup> groups{plain, optimized};
  const std::vector<Batch> batches = batches_of(groups, 2);
  std::vector<std::size_t> sizes;
  for (const Batch& batch : batches)
    sizes.push_back(batch.sources.size());
  EXPECT_THAT(sizes, ElementsAre(8, 4, 32, 32, 32, 26, 20, 15, 11, 8, 8, 8, 8));
  EXPECT_EQ(batches[0].options, &groups[1].options);
  EXPECT_EQ(batches[2].options, &groups[0].options);
  EXPECT_EQ(&batches.back().sources.back(), &groups[0].sources.back());
}

TEST(Schedule, UsesSmallerBatchesForCostlyKernels) {
  const std::string matrices = "s = " + std::string(40, '(') + "s" + [] {
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += " + wp.determinant(wp.mat44(s) * wp.mat44(s)))";
    return text;
  }();
  KernelGroup plain{.options = at_level(0), .sources = std::vector(200, source("f", "k", matrices))};
  KernelGroup optimized{.options = at_level(2), .sources = plain.sources};
  const double cost = expected_cost(plain.sources[0], plain.options);
  ASSERT_GT(cost, 50'000 / 96.0);
  const std::vector<KernelGroup> groups{plain, optimized};
  const std::vector<Batch> batches = batches_of(groups, 1);
  const auto fits = [&](const RunOptions& options) {
    return static_cast<std::size_t>(50'000 / expected_cost(plain.sources[0], options));
  };
  EXPECT_EQ(batches.front().sources.size(), fits(optimized.options));
  EXPECT_LT(fits(optimized.options), fits(plain.options));
  const auto first_plain = std::ranges::find(batches, &groups[0].options, &Batch::options);
  EXPECT_EQ(first_plain->sources.size(), fits(plain.options));
  std::size_t all = 0;
  for (const Batch& batch : batches)
    all += batch.sources.size();
  EXPECT_EQ(all, 400U);
}

}  // namespace
}  // namespace assay::harness
