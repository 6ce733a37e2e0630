// Equal integers in index arrays, for Distribution::kTiedValues.
#include <cstdint>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using testing::Space;

TEST(TiedIndices, AreThoseOfOtherArraysInSomeDraws) {
  Space space(R"(
# domain: 0 <= first <= 3
# domain: 0 <= second <= 5
@wp.kernel
def gather(x: wp.array(dtype=float), first: wp.array(dtype=int), second: wp.array(dtype=int),
           out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[first[i]] * x[second[i]]
)");
  std::set<std::pair<std::int64_t, std::int64_t>> met;
  int differing = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const ir::Launch launch = space.found({.seed = seed, .distribution = Distribution::kTiedValues, .size = 13});
    const auto first = space.integers(launch, "first");
    if (first == space.integers(launch, "second")) met.insert({first.front(), first.back()});
    else ++differing;
  }
  EXPECT_THAT(met, ::testing::IsSupersetOf({std::pair(0L, 0L), std::pair(1L, 1L), std::pair(2L, 2L)}));
  EXPECT_GE(differing, 10);
}

}  // namespace
}  // namespace assay::harness
