// The exact extents of arrays whose accesses depend on data.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::Space;

TEST(ExactExtents, CanHaveIndependentExtentsUnlessDataDecidesWhereResultsAreStored) {
  const auto can_have = [](const std::string& statement, ArrayExtents extents = ArrayExtents::kExact) {
    return Space(fmt::format(R"(
@wp.kernel
def move(x: wp.array(dtype=float), index: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    {}
)",
                             statement),
                 extents)
        .space()
        .can_have_independent_extents();
  };
  EXPECT_TRUE(can_have("out[i] = x[i]"));
  EXPECT_TRUE(can_have("out[i] = x[index[i]]"));
  EXPECT_FALSE(can_have("out[index[i]] = x[i]"));
  EXPECT_FALSE(can_have("out[i] = x[i]", ArrayExtents::kSufficient));
}

TEST(ExactExtents, OnlyTheDimensionThatDataIndexesHasAnotherExtent) {
  Space space(R"(
# launch: (x.shape[0], index.shape[1])
# domain: 0 <= index < x.shape[1]
@wp.kernel
def pick(x: wp.array2d(dtype=float), index: wp.array2d(dtype=int), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = x[i, index[i, j]]
)",
              ArrayExtents::kExact);
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const ir::Launch launch =
        space.found({.seed = seed, .size = 3, .array_extent = 12, .has_independent_extents = true});
    EXPECT_EQ(space.shape(launch, "x")[0], launch.extents[0]);
    EXPECT_THAT(space.shape(launch, "index"), ElementsAreArray(launch.extents));
    EXPECT_THAT(space.shape(launch, "out"), ElementsAreArray(launch.extents));
    differs |= space.shape(launch, "x")[1] != launch.extents[1];
  }
  EXPECT_TRUE(differs);
}

TEST(ExactExtents, ResultStoredAtComputedIndicesIsAsLongAsTheLaunch) {
  Space space(R"(
# launch: (len(x))
@wp.kernel
def rank_sort(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    rank = int(0)
    for k in range(x.shape[0]):
        if x[k] < x[i] or (x[k] == x[i] and k < i):
            rank += 1
    out[rank] = x[i]
)",
              ArrayExtents::kExact);
  const ir::Launch launch = space.found({.seed = 1, .size = 5, .array_extent = 79});
  EXPECT_THAT(space.shape(launch, "out"), ElementsAreArray(space.shape(launch, "x")));
}

TEST(ExactExtents, ArrayThatIsReadForSomeDataHasExactExtents) {
  Space space(R"(
@wp.kernel
def prelu(x: wp.array2d(dtype=float), slope: wp.array(dtype=float), limit: wp.array2d(dtype=float),
          out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    value = x[i, j]
    if value < 0.0:
        value *= slope[j] + limit[i, 3]
    out[i, j] = value
)",
              ArrayExtents::kExact);
  for (const bool independent : {false, true}) {
    const ir::Launch launch =
        space.found({.seed = 1, .size = 13, .array_extent = 9, .has_independent_extents = independent});
    EXPECT_THAT(space.shape(launch, "slope"), ElementsAre(launch.extents[1]));
    EXPECT_THAT(space.shape(launch, "limit"), ElementsAre(launch.extents[0], 4));
  }
  // Then no value is negative.
  const ir::Launch positive = space.found({.seed = 1, .float_offset = 95, .size = 13, .array_extent = 9});
  EXPECT_THAT(space.shape(positive, "slope"), ElementsAre(positive.extents[1]));
}

TEST(ExactExtents, ArrayThatDataLeavesUnreadHasExtentsOfOtherArrays) {
  Space space(R"(
# domain: 0 <= mask <= 0
@wp.kernel
def masked(x: wp.array2d(dtype=float), mask: wp.array2d(dtype=int), out: wp.array2d(dtype=float)):
    i = wp.tid()
    for j in range(x.shape[1]):
        out[i, j] = 0.0
        if mask[i, j] != 0:
            out[i, j] = x[i, j]
)",
              ArrayExtents::kExact);
  const ir::Launch launch = space.found({.seed = 1, .size = 2, .array_extent = 5});
  EXPECT_THAT(space.shape(launch, "mask"), ElementsAre(2, space.shape(launch, "x")[1]));
  EXPECT_EQ(space.shape(launch, "x")[0], 2);
}

}  // namespace
}  // namespace assay::harness
