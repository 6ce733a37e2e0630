#include "harness/judge/compare/tolerances.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace assay::harness {
namespace {

bool is_close(double got, long double expected, double tolerance = 0.01) {
  const std::vector<ComputedScalar> computed{{.value = 1.0}, {.value = got}};
  const std::vector<ExpectedScalar> wanted{{.value = 1.0}, {.value = expected}};
  return are_close(computed, wanted, tolerance);
}

TEST(Tolerances, AddAbsoluteAndRelativeTolerance) {
  EXPECT_TRUE(is_close(100.9, 100.0));
  EXPECT_TRUE(is_close(-0.009, 0.0));
  EXPECT_FALSE(is_close(101.2, 100.0));
  EXPECT_FALSE(is_close(0.011, 0.0));
  EXPECT_FALSE(is_close(100.9, 100.0, 1e-4));
}

TEST(Tolerances, CompareInfinitiesAndNanByClass) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_close(infinity, infinity));
  EXPECT_TRUE(is_close(nan, nan));
  EXPECT_FALSE(is_close(-infinity, infinity));
  EXPECT_FALSE(is_close(1e30, infinity));
  EXPECT_FALSE(is_close(infinity, 1.0));
  EXPECT_FALSE(is_close(nan, 1.0));
  EXPECT_FALSE(is_close(1.0, nan));
}

TEST(Tolerances, AlsoApplyToIntegers) {
  const std::vector<ComputedScalar> got{{.integer = 1004}};
  const std::vector<ExpectedScalar> expected{{.integer = 1000, .is_integer = true}};
  EXPECT_TRUE(are_close(got, expected, 1e-2));
  EXPECT_FALSE(are_close(got, expected, 1e-4));
}

}  // namespace
}  // namespace assay::harness
