// Arrays whose extents differ from those of the launch.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using testing::Space;

constexpr std::int32_t kThreads = 5;
/// Number of launches, each with another seed.
constexpr std::uint64_t kSeeds = 40;

constexpr const char* kGuarded = R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(3):
        if i < x.shape[0] and j < x.shape[1]:
            s += x[i, j]
    if i < y.shape[0]:
        s += y[i]
    if i < out.shape[0]:
        out[i] = s
)";

DrawRequest request(std::uint64_t seed, DrawRequest::ExtentsOfArrays extents) {
  return {.seed = seed, .size = kThreads, .extents_of_arrays = extents, .accessed_extents = {{kThreads, 3}, {}, {0}}};
}

TEST(OtherExtents, AreCloseToTheAccessedExtents) {
  Space space(kGuarded);
  int less = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ir::Launch launch = space.found(request(seed, DrawRequest::ExtentsOfArrays::kAny));
    EXPECT_LE(space.shape(launch, "x")[0], kThreads + 3);
    EXPECT_LE(space.shape(launch, "x")[1], 3 + 3);
    less += space.shape(launch, "x")[1] < 3 ? 1 : 0;
  }
  EXPECT_GT(less, static_cast<int>(kSeeds / 2));
}

TEST(OtherExtents, AreOneLessInTheRequestedDimension) {
  Space space(kGuarded);
  DrawRequest asked = request(1, DrawRequest::ExtentsOfArrays::kOneShort);
  for (const std::int32_t dimension : {0, 1, 2}) {
    asked.short_dimension = static_cast<std::size_t>(dimension);
    const ir::Launch launch = space.found(asked);
    const bool is_first = dimension % 2 == 0;
    EXPECT_EQ(space.shape(launch, "x")[0], kThreads - (is_first ? 1 : 0)) << dimension;
    EXPECT_EQ(space.shape(launch, "x")[1], 3 - (is_first ? 0 : 1)) << dimension;
    EXPECT_EQ(space.shape(launch, "y")[0], kThreads - 1) << "y has one dimension";
  }
}

TEST(OtherExtents, AreUsualForArraysForWhichThisIsRequested) {
  Space space(kGuarded);
  int other = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    DrawRequest asked = request(seed, DrawRequest::ExtentsOfArrays::kAny);
    asked.has_usual_extents = {false, true, false};
    const ir::Launch launch = space.found(asked);
    EXPECT_EQ(space.shape(launch, "y")[0], kThreads);
    other += space.shape(launch, "out")[0] != kThreads ? 1 : 0;
  }
  EXPECT_GT(other, static_cast<int>(kSeeds / 2));
}

}  // namespace
}  // namespace assay::harness
