// What InputSpace learns from launches for which the kernel is not well defined.
#include <algorithm>
#include <cstddef>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using testing::Space;

constexpr const char* kRowsAtOffsets = R"(
@wp.kernel
def expand(x: wp.array(dtype=float), first: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    for j in range(7):
        y[first[i] + j] = x[i] * float(j)
)";

TEST(InputSpace, DrawsOffsetsThatAreFarApartIfThreadsWriteSeveralElements) {
  Space space(kRowsAtOffsets);
  space.space().assume_offsets();
  for (const ir::Launch& launch : space.found_all()) {
    const auto first = space.integers(launch, "first");
    for (std::size_t i = 1; i < first.size(); ++i)
      EXPECT_GE(first[i] - first[i - 1], 7);
  }
}

TEST(InputSpace, DrawsNoOffsetsUnlessTheyAreAssumed) {
  Space space(kRowsAtOffsets);
  EXPECT_EQ(space.none().reason, InputDrawFailure::Reason::kDifferentThreadOrder);
}

TEST(InputSpace, DrawsAscendingOffsetsForRowsBetweenTwoOfThem) {
  Space space(R"(
@wp.kernel
def scale_rows(first: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    for j in range(first[i], first[i + 1]):
        y[j] = y[j] * 2.0
)");
  space.space().assume_offsets();
  for (const ir::Launch& launch : space.found_all()) {
    const auto first = space.integers(launch, "first");
    EXPECT_TRUE(std::ranges::is_sorted(first));
  }
}

TEST(InputSpace, ShrinksOnlyTheLaunchDimensionThatIndexesComponents) {
  Space space(R"(
@wp.kernel
def split(x: wp.array(dtype=wp.vec3), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[i, j] = x[i][j]
)");
  for (const std::int32_t size : {13, 65'539}) {
    const ir::Launch launch = space.found({.seed = 1, .size = size});
    EXPECT_THAT(launch.extents, ElementsAre(size, 3));
  }
}

TEST(InputSpace, ShrinksLaunchDimensionsThatTogetherIndexComponents) {
  Space space(R"(
@wp.kernel
def sum(x: wp.array(dtype=wp.vec4), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[i, j] = x[0][i + 2 * j]
)");
  EXPECT_THAT(space.found({.seed = 1, .size = 13}).extents, ElementsAre(2, 2));
}

TEST(InputSpace, KeepsTheLaunchIfIntegersOfArraysIndexSeveralComponents) {
  Space space(R"(
@wp.kernel
def pick(index: wp.array(dtype=int), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i][index[i]]
    b = x[0][index[i]]
    c = x[1][index[i]]
    y[i] = a + b + c
)");
  EXPECT_THAT(space.found({.seed = 1, .size = 13}).extents, ElementsAre(13));
}

TEST(InputSpace, DrawsLinksToEarlierElementsForWalkToRoot) {
  Space space(R"(
@wp.kernel
def depth(parent: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    j = int(i)
    n = int(0)
    while j >= 0:
        j = parent[j]
        n += 1
    out[i] = n
)");
  for (const ir::Launch& launch : space.found_all()) {
    const auto parent = space.integers(launch, "parent");
    for (std::size_t i = 0; i < parent.size(); ++i) {
      EXPECT_GE(parent[i], -1);
      EXPECT_LT(parent[i], static_cast<std::int64_t>(i));
    }
  }
}

TEST(InputSpace, DrawsRootThatLinksToItselfIfWalkEndsAtTheFirstElement) {
  Space space(R"(
@wp.kernel
def depth(parent: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    j = int(i)
    n = int(0)
    while j != 0:
        j = parent[j]
        n += 1
    out[i] = n
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_EQ(space.integers(launch, "parent")[0], 0);
}

TEST(InputSpace, DrawsNoZerosInArrayOfDivisors) {
  Space space(R"(
@wp.kernel
def wrap(count: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = i % count[i]
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_THAT(space.integers(launch, "count"), Each(Ge(1)));
}

TEST(InputSpace, DrawsLaunchAsSmallAsVectorThatThreadNumberIndexes) {
  Space space(R"(
@wp.kernel
def axes(x: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i, axis = wp.tid()
    v = wp.vec3(x[i], 2.0 * x[i], 3.0 * x[i])
    out[i, axis] = v[axis]
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_LE(launch.extents[1], 3);
}

TEST(InputSpace, DoesNotCallRaceDefectIfItDependsOnExtents) {
  Space space(R"(
@wp.kernel
def ends(count: wp.array2d(dtype=int), out: wp.array2d(dtype=int)):
    i = wp.tid()
    n = count.shape[1]
    out[0, i] = i
    if i == n - 1:
        out[0, n] = i
)");
  EXPECT_EQ(space.none().reason, InputDrawFailure::Reason::kDifferentThreadOrder);
}

TEST(InputSpace, CallsRaceDefectIfItDoesNotDependOnExtents) {
  Space space(R"(
@wp.kernel
def last(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i // 2] = x[i]
)");
  EXPECT_EQ(space.none().reason, InputDrawFailure::Reason::kRace);
}

TEST(InputSpace, DrawsSmallIntegersIfTheyIndexFourDimensions) {
  Space space(R"(
@wp.kernel
def pick(index: wp.array(dtype=int), x: wp.array4d(dtype=wp.mat44), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[index[i], index[i + 1], index[i + 2], index[i + 3]][0, 0]
)");
  DrawRequest request;
  request.size = 31;
  const ir::Launch launch = space.found(request);
  EXPECT_THAT(space.integers(launch, "index"), Each(Le(12)));
}

TEST(InputSpace, DrawsNothingIfNumberOfElementsExceeds64Bits) {
  Space space(R"(
@wp.kernel
def increment(a: wp.array4d(dtype=float)):
    i, j, k, l = wp.tid()
    a[i, j, k, l] = a[i, j, k, l] + 1.0
)");
  const auto drawn = space.draw({.seed = 1, .size = 13, .array_extent = 75'000});
  ASSERT_TRUE(std::holds_alternative<InputDrawFailure>(drawn));
  EXPECT_THAT(std::get<InputDrawFailure>(drawn).message, HasSubstr("require arrays of more than"));
}

TEST(InputSpace, DrawsIntegersThatTheKernelComparesWithOnRequest) {
  Space space(R"(
@wp.kernel
def choose(kind: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    if kind[i] == -40:
        out[i] = 1.0
)");
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    DrawRequest request;
    request.seed = seed;
    request.distribution = Distribution::kComparedConstants;
    const auto kinds = space.integers(space.found(request), "kind");
    found += static_cast<std::size_t>(std::ranges::count(kinds, -40));
  }
  EXPECT_GT(found, 12U);
}

TEST(InputSpace, ReportsRacesBetweenThreadsThatDifferInOneLaunchDimension) {
  Space space(R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), o: wp.array(dtype=float)):
    i, j = wp.tid()
    o[i] = x[i, j]
)");
  const InputDrawFailure none = space.none();
  EXPECT_EQ(none.reason, InputDrawFailure::Reason::kRace);
  EXPECT_THAT(none.message, HasSubstr("if launches have at most 1 thread in dimension 1, state the extent"));
  EXPECT_THAT(none.message, HasSubstr("# launch: (_, 1)"));
  Space rows(R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), o: wp.array(dtype=float)):
    i, j = wp.tid()
    o[3 * i + j] = x[i, j]
)");
  EXPECT_THAT(rows.none().message, HasSubstr("at most 3 threads in dimension 1"));
  EXPECT_THAT(rows.none().message, HasSubstr("# launch: (_, 3)"));
}

TEST(InputSpace, ReducesLaunchDimensionToOneIfContentsDecideWhetherItsThreadsRace) {
  Space space(R"(
@wp.kernel
def k(first: wp.array(dtype=int), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i, j = wp.tid()
    out[first[i] + j] = x[i]
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_EQ(std::min(launch.extents[0], launch.extents[1]), 1);
}

TEST(InputSpace, DrawsNoSmallLaunchesToAvoidReadsOfUnassignedVariables) {
  Space space(R"(
@wp.kernel
def k(x: wp.array(dtype=float), n: int, o: wp.array(dtype=float)):
    i = wp.tid()
    if i == 0:
        best = x[i]
    for j in range(n):
        if x[j] > best:
            best = x[j]
    o[i] = best
)");
  const InputDrawFailure none = space.none();
  EXPECT_EQ(none.reason, InputDrawFailure::Reason::kUninitialized);
  EXPECT_THAT(none.message, HasSubstr("variable best is used before it is assigned"));
}

TEST(InputSpace, DrawsLoopsWithTripsForVariablesThatTheyAssign) {
  Space space(R"(
@wp.kernel
def k(x: wp.array(dtype=float), n: int, o: wp.array(dtype=float)):
    i = wp.tid()
    for j in range(n):
        last = x[j]
    o[i] = last
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_THAT(space.integers(launch, "n"), Each(Ge(1)));
}

}  // namespace
}  // namespace assay::harness
