#include "harness/judge/inputs/input_space.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using ::testing::AllOf;
using testing::distinct;
using ::testing::ElementsAre;
using ::testing::Ge;
using testing::Space;

// ------------------------------------------------------------------------------------- without annotations

TEST(InputSpace, DrawsInBoundsIndicesForGather) {
  Space space(R"(
@wp.kernel
def gather(x: wp.array(dtype=float), idx: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[idx[i]]
)");
  for (const ir::Launch& launch : space.found_all()) {
    EXPECT_GE(distinct(space.integers(launch, "idx")), launch.extents[0] > 1 ? 2U : 1U);
  }
}

TEST(InputSpace, DrawsPermutationForScatter) {
  Space space(R"(
@wp.kernel
def scatter(x: wp.array(dtype=float), perm: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[perm[i]] = x[i]
)");
  for (const ir::Launch& launch : space.found_all()) {
    const auto perm = space.integers(launch, "perm");
    EXPECT_EQ(distinct(perm), perm.size());
  }
}

TEST(InputSpace, DrawsPermutationOfWholeTilesForTileOfIndices) {
  Space space(R"(
@wp.kernel
def scatter(x: wp.array(dtype=float), perm: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=4, offset=i * 4)
    wp.tile_store_indexed(out, wp.tile_load(perm, shape=4, offset=i * 4), t)
)");
  for (const ir::Launch& launch : space.found_all()) {
    const auto perm = space.integers(launch, "perm");
    EXPECT_EQ(distinct(perm), perm.size());
    EXPECT_GE(perm.size(), 4U);
  }
}

TEST(InputSpace, DrawsDifferentTripCountsForDynamicLoop) {
  Space space(R"(
@wp.kernel
def product(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.0)
    for j in range(n):
        p *= x[j]
    out[i] = p
)");
  std::set<std::int64_t> trips;
  for (const ir::Launch& launch : space.found_all())
    trips.insert(space.integers(launch, "n")[0]);
  EXPECT_GE(trips.size(), 3U) << "trip counts should vary";
}

constexpr const char* kStencilBody = R"(
    i, j = wp.tid()
    if i > 0 and i < ROWS - 1 and j > 0 and j < COLUMNS - 1:
        out[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4.0 * x[i, j]
)";
std::string stencil(const std::string& parameters, const std::string& rows, const std::string& columns) {
  std::string body = kStencilBody;
  body.replace(body.find("ROWS"), 4, rows);
  body.replace(body.find("COLUMNS"), 7, columns);
  return "@wp.kernel\ndef stencil(x: wp.array2d(dtype=float), " + parameters + "out: wp.array2d(dtype=float)):" + body;
}

void expect_interior(Space& space) {
  int with_interior = 0;
  for (const ir::Launch& launch : space.found_all()) {
    const auto& shape = space.shape(launch, "x");
    with_interior += launch.extents[0] > 2 && launch.extents[1] > 2 && shape[0] > 2 && shape[1] > 2;
  }
  EXPECT_GE(with_interior, 6) << "most launches should reach the guarded statement";
}

TEST(InputSpace, DrawsSizesThatReachStencilInteriorIfParametersGuardIt) {
  Space space(stencil("n: int, m: int, ", "n", "m"));
  expect_interior(space);
  int reached = 0;
  for (const ir::Launch& launch : space.found_all())
    reached += space.integers(launch, "n")[0] > 2 && space.integers(launch, "m")[0] > 2;
  EXPECT_GE(reached, 6);
}

TEST(InputSpace, DrawsSizesThatReachInteriorOfStencilIfItsGuardUsesArrayShape) {
  Space space(stencil("", "x.shape[0]", "x.shape[1]"));
  expect_interior(space);
}

TEST(InputSpace, DrawsLaunchSmallerThanStencilInput) {
  Space space(R"(
@wp.kernel
def interior(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i + 1, j + 1] = x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_THAT(space.shape(launch, "x"), ElementsAre(Ge(launch.extents[0] + 2), Ge(launch.extents[1] + 2)));
}

TEST(InputSpace, EnlargesArraysForIndicesBeyondThreadCount) {
  Space space(R"(
@wp.kernel
def pairs(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[2 * i] * x[2 * i + 1]
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_GE(space.shape(launch, "x")[0], 2 * launch.extents[0]);
}

// More elements than can be learned from single out-of-bounds accesses.
TEST(InputSpace, LaunchHasAnnotatedThreadCount) {
  Space space(R"(
# launch: (1000)
@wp.kernel
def wide(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i]
)");
  auto drawn = space.draw({.seed = 1, .size = 1});
  ASSERT_TRUE(std::holds_alternative<ir::Launch>(drawn)) << std::get<InputDrawFailure>(drawn).message;
  EXPECT_EQ(std::get<ir::Launch>(drawn).threads(), 1000);
  EXPECT_EQ(std::get<ir::Launch>(drawn).arguments[0].shape, std::vector<std::int32_t>{1000});
}

TEST(InputSpace, DrawsArraysLargeEnoughForNeighborAccess) {
  Space space(R"(
@wp.kernel
def neighbour(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i + 1] - x[i]
)");
  space.found_all();
  space.found({.seed = 1, .size = 65'539});
}

/// The oracle evaluates a sample of the threads; the last ones may not take the branch that reaches farthest.
TEST(InputSpace, EnlargesArraysForIndicesOfUnsampledThreads) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Space space(R"(
@wp.kernel
def far(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i + 20] if x[i] > 0.0 else 0.5
)");
    const ir::Launch launch = space.found({.seed = seed, .size = 65'539});
    EXPECT_GE(launch.arguments[0].shape[0], 65'539 + 20) << seed;
  }
}

// Beyond the array nothing ends the loop; the array needs a few elements, not a thousand.
TEST(InputSpace, GrowsArraysGraduallyForDataDependentLoop) {
  Space space(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    sum = float(0.0)
    j = int(0)
    while j < 1000:
        sum += wp.abs(x[j])
        if sum > 6.0:
            break
        j += 1
    out[i] = sum
)");
  EXPECT_LE(space.found({.seed = 3, .size = 1}).arguments[0].shape[0], 32);
}

// A vector always has three components, so that integers that index them must be less.
TEST(InputSpace, DrawsInBoundsIndicesForVectorComponents) {
  Space space(R"(
@wp.kernel
def pick(x: wp.array(dtype=wp.vec3), axis: wp.array(dtype=int), first: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i][axis[i]] * x[i][first]
)");
  for (const ir::Launch& launch : space.found_all()) {
    for (const std::int64_t axis : space.integers(launch, "axis"))
      EXPECT_LE(axis, 2);
    EXPECT_LE(space.integers(launch, "first")[0], 2);
  }
}

// ------------------------------------------------------------------------------------------- exact extents

TEST(InputSpace, ExactExtentsEndAtTheLastElementAccessed) {
  Space space(R"(
@wp.kernel
def matmul(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total
)",
              ArrayExtents::kExact);
  for (const ir::Launch& launch : space.found_all()) {
    const auto& a = space.shape(launch, "a");
    EXPECT_EQ(a[0], launch.extents[0]);
    EXPECT_THAT(space.shape(launch, "b"), ElementsAre(a[1], launch.extents[1]));
    EXPECT_THAT(space.shape(launch, "c"), ElementsAre(launch.extents[0], launch.extents[1]));
  }
}

TEST(InputSpace, ExactExtentsDoNotChangeElementValues) {
  const std::string python = R"(
@wp.kernel
def corner(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[j, i] = x[j, i] * 2.0
)";
  Space sufficient(python);
  Space exact(python, ArrayExtents::kExact);
  const DrawRequest request{.seed = 3, .size = 13};
  const ir::Launch whole = sufficient.found(request);
  const ir::Launch part = exact.found(request);
  const auto& shape = exact.shape(part, "x");
  ASSERT_THAT(shape, ElementsAre(part.extents[1], part.extents[0]));
  const auto columns = static_cast<std::size_t>(sufficient.shape(whole, "x")[1]);
  const std::vector<double> of_whole = sufficient.floats(whole, "x");
  const std::vector<double> of_part = exact.floats(part, "x");
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row)
    for (std::size_t column = 0; column < static_cast<std::size_t>(shape[1]); ++column)
      EXPECT_EQ(of_part[row * static_cast<std::size_t>(shape[1]) + column], of_whole[row * columns + column]);
}

TEST(InputSpace, ExactExtentsEqualRequestedSizeAndArrayExtent) {
  Space space(R"(
@wp.kernel
def doubled(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = 2.0 * x[i, j]
)",
              ArrayExtents::kExact);
  const ir::Launch launch = space.found({.seed = 1, .size = 3, .array_extent = 257});
  EXPECT_THAT(space.shape(launch, "x"), ElementsAre(3, 257));
}

/// A product of matrices: only the columns of `a` must equal the rows of `b`.
constexpr const char* kProduct = R"(
@wp.kernel
def product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total
)";

TEST(InputSpace, IndependentExtentsVaryUnlessKernelRequiresEquality) {
  Space space(kProduct, ArrayExtents::kExact);
  std::set<std::vector<std::int32_t>> shapes_of_a;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const ir::Launch launch =
        space.found({.seed = seed, .size = 3, .array_extent = 12, .has_independent_extents = true});
    const auto& a = space.shape(launch, "a");
    shapes_of_a.insert(a);
    EXPECT_THAT(space.shape(launch, "b"), ElementsAre(a[1], launch.extents[1]));
  }
  EXPECT_GT(shapes_of_a.size(), 4U);
}

TEST(InputSpace, EnlargesOneDimensionOnRequest) {
  Space space(kProduct, ArrayExtents::kExact);
  const ir::Launch launch = space.found({.seed = 1,
                                         .size = 3,
                                         .array_extent = 4,
                                         .has_independent_extents = true,
                                         .chosen_extents = {{.parameter = 0, .dimension = 1, .extent = 131}}});
  EXPECT_THAT(space.shape(launch, "a"), ElementsAre(3, 131));
  EXPECT_THAT(space.shape(launch, "b"), ElementsAre(131, launch.extents[1]));
  EXPECT_LE(launch.extents[1], 4);
}

TEST(InputSpace, DrawsDifferentRoundExtents) {
  Space space(kProduct, ArrayExtents::kExact);
  std::set<std::int32_t> inner;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const ir::Launch launch = space.found(
        {.seed = seed, .size = 8, .array_extent = 4, .has_independent_extents = true, .has_round_extents = true});
    const std::int32_t extent = space.shape(launch, "a")[1];
    EXPECT_EQ(extent % 4, 0);
    EXPECT_EQ(launch.extents[1] % 4, 0);
    if (extent != launch.extents[1]) inner.insert(extent);
  }
  EXPECT_GT(inner.size(), 3U);
}

TEST(InputSpace, FewValuesAreOutliersOnRequest) {
  Space space(kProduct);
  const ir::Launch launch = space.found({.seed = 1, .float_outlier = 200, .size = 31, .array_extent = 31});
  const std::vector<double> values = space.floats(launch, "a");
  const auto outliers = std::ranges::count_if(values, [](double value) { return value > 150; });
  EXPECT_GT(outliers, std::ssize(values) / 60);
  EXPECT_LT(outliers, std::ssize(values) / 15);
}

TEST(InputSpace, ExactExtentsSatisfyLaunchAnnotation) {
  // The guard keeps all but three elements of `w` from being read, so `w` becomes shorter and the launch longer. The
  // read of the last element of `x` keeps its length.
  Space space(R"(
# launch: (x.shape[0] - w.shape[0] + 1)
@wp.kernel
def windows(x: wp.array(dtype=float), w: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    total = x[x.shape[0] - 1]
    for k in range(w.shape[0]):
        if k < 3:
            total += x[i + k] * w[k]
    out[i] = total
)",
              ArrayExtents::kExact);
  for (const ir::Launch& launch : space.found_all()) {
    const std::int32_t length = space.shape(launch, "w")[0];
    EXPECT_LE(length, 3);
    EXPECT_EQ(launch.extents[0], space.shape(launch, "x")[0] - length + 1);
    EXPECT_EQ(space.shape(launch, "out")[0], launch.extents[0]);
  }
}

TEST(InputSpace, ExtentsInLaunchAnnotationAreExactIfNoShorterOnesAre) {
  // A shorter `x` means fewer threads, none of which reads the last element either.
  Space space(R"(
# launch: (len(x))
@wp.kernel
def sums_before(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for j in range(i):
        total += x[j]
    out[i] = total
)",
              ArrayExtents::kExact);
  const auto drawn = space.space().draw({.seed = 1, .size = 131}, [](reference::OracleRun&) {});
  ASSERT_TRUE(std::holds_alternative<DrawnLaunch>(drawn));
  const auto& exact = std::get<DrawnLaunch>(drawn);
  EXPECT_TRUE(exact.has_exact_extents);
  EXPECT_THAT(space.shape(exact.launch, "x"), ElementsAre(131));
  EXPECT_THAT(space.shape(exact.launch, "out"), ElementsAre(131));
}

TEST(InputSpace, RunsAllThreadsOfLargeAnnotatedLaunch) {
  Space space(R"(
# launch: (20000)
@wp.kernel
def copies(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i]
)");
  const auto drawn = space.space().draw({.seed = 1, .size = 3}, [](reference::OracleRun&) {});
  ASSERT_TRUE(std::holds_alternative<DrawnLaunch>(drawn));
  EXPECT_GE(std::get<DrawnLaunch>(drawn).reference.instructions, 20'000);
}

// A caller does not know which elements are written, so the extents of `out` must not depend on the values of `x`.
TEST(InputSpace, ExactExtentsDoNotDependOnValues) {
  Space space(R"(
@wp.kernel
def positive(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    for j in range(3):
        if x[i, j] > 0.0:
            out[i, j] = x[i, j]
)",
              ArrayExtents::kExact);
  for (const ir::Launch& launch : space.found_all()) {
    EXPECT_THAT(space.shape(launch, "x"), ElementsAre(launch.extents[0], 3));
    EXPECT_THAT(space.shape(launch, "out"), ElementsAre(launch.extents[0], 3));
  }
}

TEST(InputSpace, ExactExtentsIncludeElementsAccessedByUnsampledThreads) {
  Space space(R"(
@wp.kernel
def reversed(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[(i * 7) % 60000]
)",
              ArrayExtents::kExact);
  const ir::Launch launch = space.found({.seed = 1, .size = 65'539});
  EXPECT_THAT(space.shape(launch, "x"), ElementsAre(60'000));
  EXPECT_THAT(space.shape(launch, "out"), ElementsAre(65'539));
}

TEST(InputSpace, DrawsNonzeroIntegerDivisors) {
  Space space(R"(
@wp.kernel
def rows(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i // n] + float(i % n)
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_NE(space.integers(launch, "n")[0], 0);
}

TEST(InputSpace, DrawsValuesInDomainsOfCalledFunctions) {
  for (const char* function : {"wp.sqrt", "wp.log"}) {
    SCOPED_TRACE(function);
    Space space(std::string(R"(
@wp.kernel
def domain(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = )") +
                function + "(x[i])\n");
    for (const ir::Launch& launch : space.found_all()) {
      for (const double value : space.floats(launch, "x"))
        EXPECT_GT(value, 0);
    }
  }
}

TEST(InputSpace, DrawsNonNegativeIntegersForStructFields) {
  Space space(R"(
@wp.struct
class Grid:
    rows: int
    columns: int
    scale: float

@wp.kernel
def cells(x: wp.array(dtype=float), grid: Grid, out: wp.array(dtype=float)):
    i = wp.tid()
    if i < grid.rows * grid.columns:
        out[i] = grid.scale * x[i % grid.columns] + float(i // grid.columns)
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_THAT(space.integers(launch, "grid"), ElementsAre(Ge(0), Ge(0)));
}

TEST(InputSpace, DrawsNonzeroValuesForStructFieldsUsedAsDivisors) {
  Space space(R"(
@wp.struct
class Grid:
    columns: int
    scale: float

@wp.kernel
def cells(x: wp.array(dtype=float), grid: Grid, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = grid.scale * x[i % grid.columns] + float(i // grid.columns)
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_GE(space.integers(launch, "grid")[0], 1);
}

TEST(InputSpace, DrawsThreadCountsOnBothSidesOfThreadGuard) {
  Space space(R"(
@wp.kernel
def guarded(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    if i >= n:
        return
    out[i] = 2.0 * x[i]
)");
  bool some_idle = false;
  bool all_busy = false;
  for (const ir::Launch& launch : space.found_all()) {
    const auto n = space.integers(launch, "n")[0];
    some_idle |= n < launch.extents[0];
    all_busy |= n >= launch.extents[0];
  }
  EXPECT_TRUE(some_idle) << "guards should be tested from both sides";
  EXPECT_TRUE(all_busy);
}

TEST(InputSpace, DrawsLaunchWithoutThreadsIfSizeIsZero) {
  Space space(R"(
@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]
)");
  EXPECT_EQ(space.found({.seed = 1, .size = 0}).threads(), 0);
}

// ------------------------------------------------------------------------------------------------- with annotations

TEST(InputSpace, DrawsValuesWithinAnnotatedDomains) {
  Space space(R"(
# launch: (n, len(x))
# domain: 2 <= n <= 6
# domain: 0 < x < 0.5
# domain: -1 <= s
# domain: 0 <= idx < n
@wp.kernel
def hinted(x: wp.array(dtype=float), idx: wp.array(dtype=int), n: int, s: float, out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = x[j] * s + float(idx[j])
)");
  for (const ir::Launch& launch : space.found_all()) {
    const auto n = space.integers(launch, "n")[0];
    EXPECT_THAT(launch.extents, ElementsAre(n, space.shape(launch, "x")[0]));
    EXPECT_GE(n, 2);
    EXPECT_LE(n, 6);
    for (const double x : space.floats(launch, "x")) {
      EXPECT_GT(x, 0);
      EXPECT_LT(x, 0.5);
    }
    EXPECT_GE(space.floats(launch, "s")[0], -1);
    for (const std::int64_t index : space.integers(launch, "idx")) {
      EXPECT_GE(index, 0);
      EXPECT_LT(index, n);
    }
  }
}

TEST(InputSpace, BlockSizeIsLastExtentAndFirstExtentIsOpen) {
  Space space(R"(
@wp.kernel
def rows(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i, j = wp.tid()
    for k in range(j, x.shape[1], wp.block_dim()):
        wp.atomic_add(out, i, x[i, k])
)");
  std::set<std::int32_t> first_extents;
  for (const ir::Launch& launch : space.found_all()) {
    ASSERT_EQ(launch.extents.size(), 2U);
    EXPECT_EQ(space.integers(launch, "block_dim")[0], launch.extents[1]);
    first_extents.insert(launch.extents[0]);
  }
  EXPECT_GT(*first_extents.rbegin(), 1);
}

TEST(InputSpace, ArraysDoNotGrowForIndexBeyondAnyArray) {
  Space space(R"(
@wp.kernel
def before(x: wp.array(dtype=float), n: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[wp.uint32(n[0]) - wp.uint32(1)]
)");
  for (const ir::Launch& launch : space.found_all()) {
    EXPECT_LT(space.shape(launch, "x")[0], 1000);
    EXPECT_GE(space.integers(launch, "n")[0], 1);
  }
}

TEST(InputSpace, DrawsPermutationForAnnotatedArray) {
  Space space(R"(
# domain: perm is a permutation
@wp.kernel
def scatter(x: wp.array(dtype=float), perm: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[perm[i]] = x[i]
)");
  for (const ir::Launch& launch : space.found_all()) {
    const auto perm = space.integers(launch, "perm");
    EXPECT_EQ(distinct(perm), perm.size());
    EXPECT_EQ(*std::max_element(perm.begin(), perm.end()), static_cast<std::int64_t>(perm.size()) - 1);
  }
}

TEST(InputSpace, DrawsValuesWithinDomainInEveryDistribution) {
  Space space(R"(
# domain: 0.25 <= x <= 4
@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]
)");
  for (const ir::Launch& launch : space.found_all()) {
    for (const double x : space.floats(launch, "x")) {
      EXPECT_GE(x, 0.25);
      EXPECT_LE(x, 4);
    }
  }
}

// -------------------------------------------------------------------------------------------------- not found

TEST(InputSpace, DrawsFewThreadsIfAllOfTheirNumbersSelectAnElementOfATile) {
  Space space(R"(
@wp.kernel
def elements(x: wp.array2d(dtype=wp.vec2), out: wp.array2d(dtype=wp.vec2)):
    i, j = wp.tid()
    t = wp.tile_load(x, shape=(3, 2))
    out[i, j] = t[i, j]
)");
  for (const ir::Launch& launch : space.found_all())
    EXPECT_LT((launch.extents[0] - 1) * 2 + launch.extents[1] - 1, 6);
}

// ------------------------------------------------------------------------------------------------ the drawing

constexpr const char* kPlain = R"(
@wp.kernel
def scale(x: wp.array(dtype=float), s: float, n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = s * x[i] + float(n)
)";

std::vector<std::byte> all_bytes(const ir::Launch& launch) {
  std::vector<std::byte> bytes;
  for (const ir::Argument& argument : launch.arguments)
    bytes.insert(bytes.end(), argument.bytes.begin(), argument.bytes.end());
  return bytes;
}

TEST(InputSpace, RowsOfWhichTilesAreLoadedAreDrawn) {
  Space space(R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    total = wp.tile_zeros(shape=8, dtype=float)
    for row in range(x.shape[0]):
        total += wp.tile_load(x[row], shape=8)
    wp.tile_store(out, total, offset=i * 8)
)");
  for (const ir::Launch& launch : space.found_all()) {
    EXPECT_GE(space.shape(launch, "x")[0], 1);
    EXPECT_THAT(space.shape(launch, "x")[1], AllOf(Ge(6), ::testing::Le(8)));
  }
}

TEST(InputSpace, SameRequestDrawsSameLaunch) {
  const DrawRequest request{.seed = 5, .size = 13};
  EXPECT_EQ(all_bytes(Space(kPlain).found(request)), all_bytes(Space(kPlain).found(request)));
  EXPECT_NE(all_bytes(Space(kPlain).found(request)), all_bytes(Space(kPlain).found({.seed = 6, .size = 13})));
}

TEST(InputSpace, EdgeDistributionDrawsOnlyValuesNearZeroOrDomainLimits) {
  Space space(kPlain);
  const auto near_edges = [&](Distribution distribution) {
    const auto values = space.floats(space.found({.seed = 5, .distribution = distribution, .size = 400}), "x");
    return std::ranges::count_if(values, [](double x) {
      return std::min({std::abs(x), std::abs(x - 2), std::abs(x + 2)}) < 0.07;
    });
  };
  EXPECT_EQ(near_edges(Distribution::kNearBounds), 400);
  EXPECT_LT(near_edges(Distribution::kUniform), 60);
}

TEST(InputSpace, MarksOnlyWriteOnlyArraysAsUninitialized) {
  Space space(R"(
@wp.kernel
def mixed(x: wp.array(dtype=float), y: wp.array(dtype=float), total: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = y[i] + x[i]
    wp.atomic_add(total, 0, x[i])
    out[i] = x[i]
)");
  EXPECT_THAT(space.space().uninitialized(), ElementsAre(false, false, false, true));
  space.found_all();
}

TEST(SampledThreads, AreChosenOnlyForLargeLaunches) {
  EXPECT_TRUE(sampled_threads(kThreadSamplingThreshold, 1).empty());
  const auto sample = sampled_threads(70'000, 1);
  EXPECT_TRUE(std::ranges::is_sorted(sample));
  EXPECT_EQ(sample.front(), 0);
  EXPECT_EQ(sample.back(), 69'999);
  EXPECT_TRUE(std::ranges::binary_search(sample, 65'535));
  EXPECT_TRUE(std::ranges::binary_search(sample, 65'536));
  EXPECT_EQ(std::ranges::adjacent_find(sample), sample.end());
  EXPECT_GT(sample.size(), 50U);
}

}  // namespace
}  // namespace assay::harness
