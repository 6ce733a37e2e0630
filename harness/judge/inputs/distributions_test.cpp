// Values that a request asks for: tied, waves, and those that code often treats in a special way.
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using testing::Space;

/// How often a sequence changes between rising and falling.
int turns(const std::vector<double>& values) {
  int count = 0;
  double last = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double step = values[i] - values[i - 1];
    if (step == 0) continue;
    count += last * step < 0 ? 1 : 0;
    last = step;
  }
  return count;
}

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

TEST(Waves, RiseAndFallOnceAlongTheLongestDimension) {
  Space space(R"(
# domain: 0.5 <= along <= 2
@wp.kernel
def k(along: wp.array2d(dtype=float), across: wp.array2d(dtype=wp.vec2), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(along.shape[1]):
        s += along[i, j] * across[j, i][1]
    out[i] = s
)");
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ir::Launch launch =
        space.found({.seed = seed, .distribution = Distribution::kWave, .size = 3, .array_extent = 50});
    const auto sequences = [&](const char* name, std::size_t first, std::size_t stride, std::size_t length) {
      const std::vector<double> all = space.floats(launch, name);
      std::vector<double> values;
      for (std::size_t i = 0; i < length; ++i)
        values.push_back(all.at(first + i * stride));
      return values;
    };
    const auto columns = static_cast<std::size_t>(space.shape(launch, "along")[1]);
    const auto rows = static_cast<std::size_t>(space.shape(launch, "across")[0]);
    const auto width = 2 * static_cast<std::size_t>(space.shape(launch, "across")[1]);
    ASSERT_GE(columns, 50U);
    ASSERT_GE(rows, width / 2);
    for (std::size_t row = 0; row < 3; ++row) {
      const auto values = sequences("along", row * columns, 1, columns);
      EXPECT_LE(turns(values), 2);
      EXPECT_THAT(values, ::testing::Each(::testing::AllOf(::testing::Ge(0.5), ::testing::Le(2))));
      EXPECT_NE(values, sequences("along", (row + 1) % 3 * columns, 1, columns));
    }
    for (std::size_t column = 0; column < width; ++column) {
      const auto values = sequences("across", column, width, rows);
      EXPECT_LE(turns(values), 2);
      EXPECT_NE(values, sequences("across", (column + 1) % width, width, rows));
    }
  }
}

constexpr const char* kIntegersAndFloats = R"(
@wp.kernel
def k(value: wp.array(dtype=int), index: wp.array(dtype=int), x: wp.array2d(dtype=float), scale: float,
      out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = scale * x[index[i], 0] + float(value[i])
)";

TEST(SpecialValues, AreIntegersOfAnyMagnitudeThatAreNoIndices) {
  Space space(kIntegersAndFloats);
  const ir::Launch launch = space.found({.seed = 3, .integer_bits = 30, .size = 64});
  const auto values = space.integers(launch, "value");
  EXPECT_THAT(values, ::testing::Contains(::testing::Gt(1 << 24)));
  EXPECT_THAT(values, ::testing::Contains(::testing::Lt(-(1 << 24))));
  EXPECT_THAT(values, ::testing::Contains(::testing::AllOf(::testing::Gt(-100), ::testing::Lt(100))));
  EXPECT_THAT(space.integers(launch, "index"), ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(64))));
  EXPECT_TRUE(space.space().has_free_integers());
}

TEST(SpecialValues, AreZeroRowsAndParameters) {
  Space space(kIntegersAndFloats);
  const ir::Launch launch = space.found({.seed = 3, .float_parameters = 1, .has_zero_rows = true, .size = 9});
  EXPECT_THAT(space.floats(launch, "scale"), ::testing::ElementsAre(1));
  const auto x = space.floats(launch, "x");
  const auto columns = static_cast<std::size_t>(space.shape(launch, "x")[1]);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(x[i] == 0, i / columns % 3 == 1) << i;
}

TEST(RoundExtents, AreMultiplesThatDifferBetweenDimensions) {
  Space space(kIntegersAndFloats);
  const ir::Launch launch = space.found({.seed = 3, .size = 16, .array_extent = 16, .has_round_extents = true});
  EXPECT_THAT(space.shape(launch, "x"), ::testing::ElementsAre(16, 32));
}

TEST(FewRows, AreLong) {
  Space space(R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), scale: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(x.shape[1]):
        s += x[i, j]
    out[i] = s * scale[i]
)");
  const ir::Launch launch = space.found({.seed = 3, .size = 4, .array_extent = 100, .has_few_rows = true});
  EXPECT_THAT(space.shape(launch, "x"), ::testing::ElementsAre(4, 101));
  EXPECT_THAT(space.shape(launch, "scale"), ::testing::ElementsAre(100));
}

}  // namespace
}  // namespace assay::harness
