#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using testing::Space;

auto described(const char* description) { return Field(&InputAssumption::description, description); }

TEST(Assumptions, NameArrayOfIndicesThatBecomesPermutation) {
  Space space(R"(
@wp.kernel
def scatter(idx: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[idx[i]] = x[i]
)");
  EXPECT_THAT(space.space().assumptions(), IsEmpty());
  space.found_all();
  EXPECT_THAT(space.space().assumptions(),
              ElementsAre(InputAssumption{.description = "the elements of 'idx' are a permutation of its indices",
                                          .domain_comment = "# domain: idx is a permutation"}));
}

TEST(Assumptions, AreEmptyIfCommentStatesThem) {
  Space space(R"(
# domain: idx is a permutation
@wp.kernel
def scatter(idx: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[idx[i]] = x[i]
)");
  space.found_all();
  EXPECT_THAT(space.space().assumptions(), IsEmpty());
}

TEST(Assumptions, AreEmptyIfAccessesDecideRangeOfIndices) {
  Space space(R"(
@wp.kernel
def gather(idx: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[idx[i]]
)");
  space.found_all();
  EXPECT_THAT(space.space().assumptions(), IsEmpty());
}

TEST(Assumptions, NameOffsetsThatAreFarApart) {
  Space space(R"(
@wp.kernel
def scale_rows(first: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    for j in range(7):
        y[first[i] + j] = x[i] * float(j)
)");
  space.space().assume_offsets();
  space.found_all();
  EXPECT_THAT(space.space().assumptions(),
              ElementsAre(described(
                  "the elements of 'first' are ascending offsets, each at least 12 greater than the one before")));
}

TEST(Assumptions, NameArraysThatAreLongerThanTheLaunch) {
  Space space(R"(
@wp.kernel
def differences(x: wp.array2d(dtype=float), n: int, out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = x[i, j + 2] - x[i, j] + x[n, j]
)");
  space.found_all();
  const InputAssumption expected{
      .description = "dimension 1 of 'x' is at least 2 longer than dimension 1 of the launch, because of line 6",
      .domain_comment = "# launch: (_, x.shape[1] - 2)"};
  EXPECT_THAT(space.space().longer_arrays(3), ElementsAre(expected));
}

TEST(Assumptions, NameNoLongerArrays) {
  constexpr const char* kKernels[] = {// A comment states the launch.
                                      R"(
# launch: (x.shape[0] - 1)
@wp.kernel
def differences(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i + 1] - y[i + 2]
)",
                                      // The kernel tests the extent.
                                      R"(
@wp.kernel
def differences(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i]
    if i + 1 < x.shape[0]:
        out[i] = x[i + 1] - x[i]
)",
                                      // The extents follow from the integer.
                                      R"(
@wp.kernel
def differences(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[n + 1] - x[i]
    for k in range(n):
        out[i] += x[i + k]
)",
                                      // Each thread has two elements.
                                      R"(
@wp.kernel
def differences(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[2 * i + 1] - x[2 * i]
)"};
  for (const char* kernel : kKernels) {
    Space space(kernel);
    space.found_all();
    EXPECT_THAT(space.space().longer_arrays(3), IsEmpty()) << kernel;
  }
}

TEST(Assumptions, NameLinksAndLaunchDimensionsAndPositiveFloats) {
  Space links(R"(
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
  links.found_all();
  EXPECT_THAT(links.space().assumptions(), ElementsAre(described("each element of 'parent' is -1 or less than its "
                                                                 "index")));

  Space dimension(R"(
@wp.kernel
def k(first: wp.array(dtype=int), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i, j = wp.tid()
    out[first[i] + j] = x[i]
)");
  dimension.found_all();
  EXPECT_THAT(dimension.space().assumptions(),
              ::testing::Contains(::testing::AnyOf(described("dimension 0 of the launch has the extent 1"),
                                                   described("dimension 1 of the launch has the extent 1"))));

  Space components(R"(
@wp.kernel
def k(x: wp.array(dtype=wp.vec3), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = x[i][j]
)");
  components.found_all();
  EXPECT_THAT(components.space().assumptions(),
              ElementsAre(described("dimension 1 of the launch has the extent 3 or less")));

  Space positive(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.log(x[i])
)");
  positive.found_all();
  EXPECT_THAT(positive.space().assumptions(),
              ElementsAre(described("the floats whose range no comment states are positive")));
}

constexpr const char* kSearches = R"(
@wp.kernel
def search(x: wp.array(dtype=float), limit: float, y: wp.array(dtype=int)):
    i = wp.tid()
    k = i
    while {}x[k] < limit:
        k += 1
    y[i] = k
)";

TEST(Assumptions, NameLoopThatOnlyFloatsKeepInsideAnArray) {
  Space space(fmt::format(kSearches, ""));
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    space.draw({.seed = seed});
  EXPECT_THAT(space.space().assumptions(),
              ElementsAre(described("the values of the inputs keep the loop's accesses in line 7 inside 'x'")));
}

TEST(Assumptions, AreEmptyIfLoopEndsWithTheArray) {
  Space space(fmt::format(kSearches, "k < x.shape[0] and "));
  space.found_all();
  EXPECT_THAT(space.space().assumptions(), IsEmpty());
}

TEST(Assumptions, AreEmptyIfIntegerEndsTheLoop) {
  Space space(R"(
# domain: 80 <= count <= 80
# domain: -1 <= x <= 1
@wp.kernel
def sums(x: wp.array2d(dtype=float), count: int, y: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    k = int(0)
    while k < count:
        if x[i, k] < -0.5:
            break
        total += x[i, k]
        k += 1
    y[i] = total
)");
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    space.draw({.seed = seed, .size = 1, .array_extent = 3});
  EXPECT_THAT(space.space().assumptions(), IsEmpty());
}

}  // namespace
}  // namespace assay::harness
