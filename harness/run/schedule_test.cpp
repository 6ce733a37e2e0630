#include "harness/run/schedule.hpp"

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

TEST(ExpectedCost, CountsWhatIsCompiledAndHowOftenItRuns) {
  const double of_short = expected_cost(source("f", "short", kShort));
  EXPECT_GT(of_short, 1);
  EXPECT_GT(expected_cost(source("f", "matrices", kMatrices)), of_short + 16);
  const double of_trips = expected_cost(source("f", "trips", kTrips));
  EXPECT_GT(of_trips, 50000 / 12);
  EXPECT_LT(of_trips, 50000 / 12 + 4 * of_short);
  EXPECT_EQ(expected_cost({.family = "f", .kernel = "unreadable"}), 0);
}

TEST(Schedule, TakesTheFamilyFirstWhoseKernelsCostMost) {
  std::vector<KernelSource> sources{source("cheap", "b", kShort),      source("dear", "d", kShort),
                                    source("dearest", "f", kShort),    source("cheap", "a", kShort),
                                    source("dearest", "e", kTrips),    source("dear", "c", kMatrices),
                                    source("cheapest", "g", "s = -s"), source("twin", "h", kShort)};
  put_costliest_first(sources);
  EXPECT_THAT(names(sources),
              ElementsAre("dearest/f", "dearest/e", "dear/d", "dear/c", "twin/h", "cheap/b", "cheap/a", "cheapest/g"));
}

TEST(Schedule, MakesBatchesSmallerTowardsTheEnd) {
  Group plain;
  plain.options.batch = 32;
  plain.sources.resize(200);
  Group optimised = plain;
  optimised.sources.resize(12);
  optimised.options.mode.flags.optimisation = 2;
  const std::vector<Group> groups{plain, optimised};
  const std::vector<Batch> batches = batches_of(groups, 2);
  std::vector<std::size_t> sizes;
  for (const Batch& batch : batches)
    sizes.push_back(batch.sources.size());
  EXPECT_THAT(sizes, ElementsAre(8, 4, 32, 32, 32, 26, 20, 15, 11, 8, 8, 8, 8));
  EXPECT_EQ(batches[0].options, &groups[1].options);
  EXPECT_EQ(batches[2].options, &groups[0].options);
  EXPECT_EQ(&batches.back().sources.back(), &groups[0].sources.back());
}

TEST(Schedule, MakesBatchesOfCostlyKernelsSmall) {
  Group plain;
  plain.sources.assign(100, source("f", "k", kTrips));
  Group optimised = plain;
  optimised.options.mode.flags.optimisation = 2;
  const std::vector<Group> groups{plain, optimised};
  const std::vector<Batch> batches = batches_of(groups, 1);
  ASSERT_EQ(batches.size(), 100U + 12U);
  EXPECT_EQ(batches.front().sources.size(), 1U);
  EXPECT_EQ(batches[100].sources.size(), 9U);
  EXPECT_EQ(batches.back().sources.size(), 2U);
}

}  // namespace
}  // namespace assay::harness
