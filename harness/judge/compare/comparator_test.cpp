#include "harness/judge/compare/comparator.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rng.hpp"

namespace assay::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

struct ScoreRow {
  const char* what;
  double got;
  double expected;
  double bound;
  Agreement agreement;
  double rho;
};

const ScoreRow kScores[] = {
    {"equal", 1.5, 1.5, 0.25, Agreement::kAgrees, 0},
    {"equal, bound 0", 1.5, 1.5, 0, Agreement::kAgrees, 0},
    {"above, within", 1.625, 1.5, 0.25, Agreement::kAgrees, 0.5},
    {"below, within", 1.375, 1.5, 0.25, Agreement::kAgrees, 0.5},
    {"above, on the bound", 1.75, 1.5, 0.25, Agreement::kAgrees, 1},
    {"below, on the bound", 1.25, 1.5, 0.25, Agreement::kAgrees, 1},
    {"above, just outside", 1.75 + 0x1p-52, 1.5, 0.25, Agreement::kDiffers, 1 + 0x1p-50},
    {"below, just outside", 1.25 - 0x1p-52, 1.5, 0.25, Agreement::kDiffers, 1 + 0x1p-50},
    {"far below", -100, 1.5, 0.25, Agreement::kDiffers, 406},
    {"half again the bound", 1.875, 1.5, 0.25, Agreement::kDiffers, 1.5},
    {"bound 0, one ulp off", 1 + 0x1p-52, 1, 0, Agreement::kDiffers, kInfinity},
    {"zeros of both signs", -0.0, 0.0, 0, Agreement::kAgrees, 0},
    {"the least subnormal is not zero", kLeast, 0, 0, Agreement::kDiffers, kInfinity},
    {"subnormals", 3 * kLeast, kLeast, 2 * kLeast, Agreement::kAgrees, 1},
    {"subnormals, outside", 4 * kLeast, kLeast, 2 * kLeast, Agreement::kDiffers, 1.5},
    {"the greatest numbers, opposite", 1.7e308, -1.7e308, 1e308, Agreement::kDiffers, 3.4},
    {"NaN for a number", kNan, 1, 0.5, Agreement::kDiffers, kInfinity},
    {"NaN for a number, huge bound", kNan, 1, 1e300, Agreement::kDiffers, kInfinity},
    {"a number for NaN", 1, kNan, 0, Agreement::kDiffers, kInfinity},
    {"infinity for NaN", kInfinity, kNan, 0, Agreement::kDiffers, kInfinity},
    {"NaN for NaN", kNan, kNan, 0, Agreement::kAgrees, 0},
    {"NaN for NaN, other sign", -kNan, kNan, 0, Agreement::kAgrees, 0},
    {"infinity", kInfinity, kInfinity, 0, Agreement::kAgrees, 0},
    {"infinity of the other sign", -kInfinity, kInfinity, 0, Agreement::kDiffers, kInfinity},
    {"NaN for infinity", kNan, kInfinity, 0, Agreement::kDiffers, kInfinity},
    {"the greatest number for infinity", 1.7976931348623157e308, kInfinity, 0, Agreement::kDiffers, kInfinity},
    {"infinity for a number", kInfinity, 1, 1e308, Agreement::kDiffers, kInfinity},
    {"nothing known", 1, 2, kInfinity, Agreement::kUnknown, 0},
    {"nothing known, equal", 1, 1, kInfinity, Agreement::kUnknown, 0},
    {"nothing known, NaN", kNan, kNan, kInfinity, Agreement::kUnknown, 0},
    {"a bound that is NaN", 1, 1, kNan, Agreement::kUnknown, 0},
};

TEST(Comparator, ComparisonOfOneValueGivesExpectedAgreementAndRho) {
  for (const ScoreRow& row : kScores) {
    SCOPED_TRACE(row.what);
    const ScalarComparison scored = score({.value = row.got}, {.value = row.expected, .bound = row.bound});
    EXPECT_EQ(scored.agreement, row.agreement);
    EXPECT_DOUBLE_EQ(scored.rho, row.rho);
  }
}

TEST(Comparator, DetectsDifferenceBelowDoublePrecision) {
  // The oracle's value lies between two doubles: the bound applies to the value, not to its rounding.
  const ExpectedScalar between{.value = 1 + 0x1p-54L, .bound = 0x1p-54};
  EXPECT_EQ(score({.value = 1}, between).agreement, Agreement::kAgrees);
  EXPECT_EQ(score({.value = 1 + 0x1p-52}, between).agreement, Agreement::kDiffers);
  EXPECT_EQ(score({.value = 1}, {.value = 1 + 0x1p-54L, .bound = 0}).agreement, Agreement::kDiffers);
}

TEST(Comparator, IntegersMustMatchExactly) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;  // not a double
  const ExpectedScalar expected{.bound = kInfinity, .integer = large, .is_integer = true};
  EXPECT_EQ(score({.integer = large}, expected).agreement, Agreement::kAgrees);
  EXPECT_EQ(score({.integer = large - 1}, expected).agreement, Agreement::kDiffers);
  EXPECT_EQ(score({.integer = -large}, expected).agreement, Agreement::kDiffers);
  EXPECT_EQ(score({.value = 1, .integer = large}, expected).rho, 0);
}

TEST(Comparator, WideningBoundNeverRejectsAcceptedValue) {
  Rng rng(7);
  int both = 0;
  for (int i = 0; i < 2000; ++i) {
    const double expected = rng.uniform_real(-4, 4);
    const double got = expected + std::ldexp(rng.uniform_real(-1, 1), rng.uniform_int(-40, 0));
    const double narrow = std::ldexp(rng.uniform_real(0, 1), rng.uniform_int(-40, 0));
    const double wide = narrow + std::ldexp(rng.uniform_real(0, 1), rng.uniform_int(-40, 0));
    const ScalarComparison in_narrow = score({.value = got}, {.value = expected, .bound = narrow});
    const ScalarComparison in_wide = score({.value = got}, {.value = expected, .bound = wide});
    EXPECT_TRUE(in_narrow.agreement == Agreement::kDiffers || in_wide.agreement == Agreement::kAgrees);
    EXPECT_LE(in_wide.rho, in_narrow.rho);
    both += in_narrow.agreement != in_wide.agreement;
  }
  EXPECT_GT(both, 50) << "the samples should lie on both sides of the bounds";
}

TEST(Comparator, AgreesIfAndOnlyIfRhoIsAtMostOne) {
  Rng rng(8);
  int inside = 0;
  for (int i = 0; i < 2000; ++i) {
    const double expected = rng.uniform_real(-4, 4);
    const double got = rng.uniform_real(-4, 4);
    const double bound = rng.uniform_real(0, 8);
    const ScalarComparison there = score({.value = got}, {.value = expected, .bound = bound});
    const ScalarComparison back = score({.value = expected}, {.value = got, .bound = bound});
    const ScalarComparison cross_checked = score({.value = -got}, {.value = -expected, .bound = bound});
    EXPECT_EQ(there.agreement == Agreement::kAgrees, there.rho <= 1);
    EXPECT_EQ(there.rho, back.rho);
    EXPECT_EQ(there.rho, cross_checked.rho);
    inside += there.rho <= 1;
  }
  EXPECT_GT(inside, 200);
  EXPECT_LT(inside, 1800);
}

TEST(Comparator, DetectsMismatchInAnyElement) {
  const std::vector<ExpectedScalar> expected(5, {.value = 2, .bound = 0.125});
  for (std::size_t wrong = 0; wrong < expected.size(); ++wrong) {
    std::vector<ComputedScalar> got(5, {.value = 2});
    got[wrong].value = 3;
    const ComparisonResult comparison = compare(got, expected);
    EXPECT_FALSE(comparison.agrees());
    EXPECT_THAT(comparison.failed, ElementsAre(wrong));
    EXPECT_EQ(comparison.checked_scalars, 5);
    EXPECT_EQ(comparison.rho_max, 8);
  }
}

TEST(Comparator, BoundDoesNotWidenAfterAMismatch) {
  // A bound that widens with each mismatch would accept the later ones.
  const std::vector<ExpectedScalar> expected(12, {.value = 0, .bound = 1});
  const std::vector<ComputedScalar> got(12, {.value = 1.25});
  EXPECT_EQ(compare(got, expected).failed.size(), 12U);
}

TEST(Comparator, CountsInfiniteAndUninformativeBoundsSeparately) {
  const std::vector<ExpectedScalar> expected{{.value = 1, .bound = 0, .informative_bound_scale = 1},
                                             {.value = 1, .bound = kInfinity},
                                             {.value = 1, .bound = 0.5, .informative_bound_scale = 1},
                                             {.value = 1, .bound = 0.5, .informative_bound_scale = 1024}};
  const ComparisonResult comparison = compare(std::vector<ComputedScalar>(4, {.value = 1}), expected);
  EXPECT_TRUE(comparison.agrees());
  EXPECT_EQ(comparison.checked_scalars, 3);
  EXPECT_EQ(comparison.unbounded_scalars, 1);
  EXPECT_EQ(comparison.uninformative_scalars, 1);
}

TEST(Comparator, RhoHistogramBinsAreTenthsOfBound) {
  ComparisonResult comparison;
  for (const double got : {0.0, 0.05, 0.1, 0.99, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN()})
    comparison.add(0, {.value = got}, {.value = 0, .bound = 1});
  comparison.add(0, {.value = 1}, {.value = 0, .bound = std::numeric_limits<double>::infinity()});
  EXPECT_EQ(comparison.rho_histogram, (RhoHistogram{2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2}))
      << "values without a verdict are not counted";
  ComparisonResult twice = comparison;
  twice.add(comparison);
  EXPECT_EQ(twice.rho_histogram[10], 4);
}

TEST(Comparator, ComparisonOfEmptyArraysHasNoChecksAndNoMismatches) {
  const ComparisonResult comparison = compare({}, {});
  EXPECT_EQ(comparison.checked_scalars, 0);
  EXPECT_THAT(comparison.failed, IsEmpty());
}

TEST(Comparator, AddsCountsOfTwoComparisons) {
  ComparisonResult sum;
  sum.add(3, {.value = 1}, {.value = 2, .bound = 0.5});
  ComparisonResult other;
  other.add(1, {.value = 1}, {.value = 1, .bound = kInfinity});
  other.add(0, {.value = 1}, {.value = 1.25, .bound = 1, .informative_bound_scale = 1.25});
  sum.add(other);
  EXPECT_EQ(sum.checked_scalars, 2);
  EXPECT_EQ(sum.unbounded_scalars, 1);
  EXPECT_EQ(sum.uninformative_scalars, 1);
  EXPECT_THAT(sum.failed, ElementsAre(3U));
  EXPECT_EQ(sum.rho_max, 2);
}

TEST(Comparator, BoundIsInformativeIfSmallRelativeToScale) {
  EXPECT_TRUE(is_informative({.value = 1, .bound = 0x1p-10, .informative_bound_scale = 1}));
  EXPECT_FALSE(is_informative({.value = 1, .bound = 0x1.1p-10, .informative_bound_scale = 1}));
  EXPECT_TRUE(is_informative({.value = 0, .bound = 0x1p-10, .informative_bound_scale = 1}))
      << "cancellation: the terms count";
  EXPECT_FALSE(is_informative({.value = 1, .bound = 0x1p-10, .informative_bound_scale = 0.5}))
      << "the initial gradient does not count";
  EXPECT_FALSE(is_informative({.value = 0, .bound = kLeast, .informative_bound_scale = 0}));
  EXPECT_TRUE(is_informative({.value = 0, .bound = 0, .informative_bound_scale = 0}));
  EXPECT_TRUE(is_informative({.value = 1, .bound = 100})) << "without a scale every bound is informative";
  EXPECT_TRUE(is_informative({.value = kNan, .bound = 0}));
  EXPECT_TRUE(is_informative({.integer = 3, .is_integer = true}));
}

}  // namespace
}  // namespace assay::harness
