#include "harness/judge/compare/controls.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace assay::harness {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A result and the oracle's values: equal, within the bound.
struct Passed {
  std::vector<ComputedScalar> got;
  std::vector<ExpectedScalar> expected;

  NegativeControlCounts tally(double mean = 0.375, std::size_t row = 1,
                              const std::vector<ComputedScalar>& untouched = {}) const {
    return try_negative_controls(got, expected, mean, row, 5, untouched);
  }
};

Passed floats(const std::vector<double>& values, double bound) {
  Passed passed;
  for (const double value : values) {
    passed.got.push_back({.value = value});
    passed.expected.push_back({.value = value, .bound = bound});
  }
  return passed;
}

Passed integers(const std::vector<std::int64_t>& values) {
  Passed passed;
  for (const std::int64_t value : values) {
    passed.got.push_back({.integer = value});
    passed.expected.push_back({.integer = value, .is_integer = true});
  }
  return passed;
}

constexpr int kOfOutputs = 8;

TEST(NegativeControls, NarrowBoundsRejectAllControls) {
  const NegativeControlCounts tally = floats({0.5, -1.25, 2, 3.5, -0.75, 1.5}, 0x1p-20).tally(0.375, 2);
  EXPECT_EQ(tally.tried_controls, kOfOutputs);
  EXPECT_EQ(tally.rejected_controls, kOfOutputs);
  EXPECT_EQ(tally.wrongly_accepted_control_name, "");
}

TEST(NegativeControls, ReportsRejectedControlWithSmallestRho) {
  const NegativeControlCounts tally = floats({1, 2, 4}, 0x1p-20).tally(1000);
  EXPECT_EQ(tally.nearest_rejected_control, "the result plus one") << "the others have larger errors";
  EXPECT_EQ(tally.least_rejected_rho, 0x1p20);
  EXPECT_EQ(floats({1, 2, 4}, 100).tally().nearest_rejected_control, "") << "none was rejected";

  NegativeControlCounts sum = tally;
  sum.add(floats({8, 8.5}, 0x1p-20).tally(1000, 1));
  EXPECT_EQ(sum.nearest_rejected_control, "the shuffled result");
  EXPECT_EQ(sum.least_rejected_rho, 0x1p19);
  sum.add(NegativeControlCounts{});
  EXPECT_EQ(sum.least_rejected_rho, 0x1p19);
}

TEST(NegativeControls, ReportsNameOfAcceptedControl) {
  const NegativeControlCounts shifted = floats({4, 4.25, 4.5}, 0.5).tally(0);
  EXPECT_EQ(shifted.wrongly_accepted_control_name, "the result shifted by one row");
  EXPECT_LT(shifted.rejected_controls, shifted.tried_controls);
  EXPECT_EQ(floats({4, 4.25}, 0.5).tally(4, 5).wrongly_accepted_control_name, "the shuffled result");
}

TEST(NegativeControls, BoundAsLargeAsResultAcceptsZerosAndDoubledResult) {
  const NegativeControlCounts tally = floats({0.01}, 0.011).tally(5);
  EXPECT_EQ(tally.rejected_controls, tally.tried_controls - 2);
}

TEST(NegativeControls, WideBoundAcceptsAllControls) {
  const NegativeControlCounts tally = floats({0.5, -1.25, 2}, 100).tally();
  EXPECT_GT(tally.tried_controls, 0);
  EXPECT_EQ(tally.rejected_controls, 0);
}

TEST(NegativeControls, SkipsControlsEqualToTheResult) {
  const NegativeControlCounts zeros = floats({0, 0, -0.0}, 0).tally();
  EXPECT_EQ(zeros.wrongly_accepted_control_name, "");
  EXPECT_EQ(zeros.tried_controls, 3)
      << "the mean, ones and plus one; zeros, negated, doubled, shuffled, shifted are equal";
  EXPECT_EQ(zeros.rejected_controls, 3);
  const NegativeControlCounts ones = floats({1, 1, 1}, 0).tally(1);
  EXPECT_EQ(ones.tried_controls, 4) << "zeros, plus one, negated and doubled";
  EXPECT_EQ(ones.wrongly_accepted_control_name, "");
}

TEST(NegativeControls, OmitShuffledAndShiftedControlsOfArraysWithOneElement) {
  const NegativeControlCounts tally = floats({0.5}, 0x1p-20).tally();
  EXPECT_EQ(tally.tried_controls, 6) << "one element can be neither shuffled nor shifted";
  EXPECT_EQ(tally.rejected_controls, 6);
}

TEST(NegativeControls, EmptyResultHasNoControls) {
  const NegativeControlCounts tally = floats({}, 0).tally();
  EXPECT_EQ(tally.tried_controls, 0);
  EXPECT_EQ(tally.rejected_controls, 0);
}

TEST(NegativeControls, IntegerResultRejectsAllControls) {
  const NegativeControlCounts tally = integers({3, -5, 7}).tally(2);
  EXPECT_EQ(tally.tried_controls, kOfOutputs);
  EXPECT_EQ(tally.rejected_controls, kOfOutputs);
}

TEST(NegativeControls, IncludeUnchangedInitialGradient) {
  const Passed gradient = floats({1.5, 2.5, -0.5}, 0x1p-20);
  const NegativeControlCounts tally = gradient.tally(0.375, 1, {{.value = 0.5}, {.value = 0.75}, {.value = -0.625}});
  EXPECT_EQ(tally.tried_controls, kOfOutputs + 1);
  EXPECT_EQ(tally.rejected_controls, kOfOutputs + 1);

  const NegativeControlCounts inactive = gradient.tally(0.375, 1, gradient.got);
  EXPECT_EQ(inactive.tried_controls, kOfOutputs) << "a gradient that is really zero is skipped";
  EXPECT_EQ(inactive.wrongly_accepted_control_name, "");
}

TEST(NegativeControls, ReportsAcceptedZeroGradient) {
  const NegativeControlCounts tally = floats({100, 200}, 0.5).tally(0, 1, {{.value = 100.25}, {.value = 200}});
  EXPECT_EQ(tally.wrongly_accepted_control_name, "a zero gradient");
}

TEST(NegativeControls, SkipsControlsThatDifferOnlyInUnboundedElements) {
  Passed passed = floats({0, 5}, 0);
  passed.expected[1].bound = kInfinity;
  const NegativeControlCounts tally = passed.tally();
  EXPECT_EQ(tally.wrongly_accepted_control_name, "")
      << "zeros differ from the result in the second element only, which has no bound";
  EXPECT_GE(tally.rejected_controls, 3);
}

TEST(NegativeControls, SkipsControlsThatDifferLittleRelativeToScale) {
  Passed gradient = floats({1, 1 + 0x1p-12}, 0x1p-20);
  const auto tally_at = [&](double scale) {
    for (ExpectedScalar& expected : gradient.expected)
      expected.informative_bound_scale = scale;
    return gradient.tally(5);
  };
  EXPECT_EQ(tally_at(1).tried_controls, kOfOutputs - 3) << "ones, shuffled and shifted are off by 2^-12 at most";
  EXPECT_EQ(tally_at(0x1p-4).tried_controls, kOfOutputs);
  EXPECT_EQ(tally_at(0x1p-12).tried_controls, 0) << "bounds that are wide relative to the scale are skipped";
}

TEST(NegativeControls, SkipsShufflingOfNearlyEqualOutputs) {
  const NegativeControlCounts level = floats({1, 1 + 0x1p-40, 1 - 0x1p-41}, 0x1p-39).tally(5);
  EXPECT_EQ(level.wrongly_accepted_control_name, "")
      << "shuffling the values of a saturated function gives a correct result";
  EXPECT_EQ(level.tried_controls, kOfOutputs - 3) << "so do ones";
  EXPECT_EQ(level.rejected_controls, level.tried_controls);
}

TEST(NegativeControls, SkipsScaledResultsWithinRoundingError) {
  const NegativeControlCounts tally = floats({0x1p-56, -0x1p-58, 0x1p-57}, 0x1p-52).tally(0.5);
  EXPECT_EQ(tally.wrongly_accepted_control_name, "");
  EXPECT_EQ(tally.tried_controls, 3) << "the mean, ones, plus one";
  EXPECT_EQ(tally.rejected_controls, 3);
  EXPECT_NE(floats({0x1p-36, -0x1p-38, 0x1p-37}, 0x1p-32).tally(0.5).wrongly_accepted_control_name, "")
      << "a bound that is not so small";
}

TEST(NegativeControls, SkipsControlsThatLeaveNanUnchanged) {
  const NegativeControlCounts tally = floats({kNan}, 0).tally();
  EXPECT_EQ(tally.wrongly_accepted_control_name, "") << "the negated, doubled and increased NaN are NaN";
  EXPECT_EQ(tally.tried_controls, 3) << "zeros, ones and the mean";
  EXPECT_EQ(tally.rejected_controls, 3);
}

TEST(NegativeControls, AreAllRejectedIfResultIsInfinite) {
  const NegativeControlCounts tally = floats({kInfinity, 1}, 0).tally();
  EXPECT_EQ(tally.wrongly_accepted_control_name, "");
  EXPECT_EQ(tally.tried_controls, tally.rejected_controls);
}

TEST(NegativeControls, AddedCountsKeepNameOfFirstAcceptedControl) {
  NegativeControlCounts sum{.tried_controls = 3, .rejected_controls = 3};
  sum.add({.tried_controls = 4, .rejected_controls = 3, .wrongly_accepted_control_name = "ones"});
  sum.add({.tried_controls = 1, .rejected_controls = 0, .wrongly_accepted_control_name = "zeros"});
  EXPECT_EQ(sum.tried_controls, 8);
  EXPECT_EQ(sum.rejected_controls, 6);
  EXPECT_EQ(sum.wrongly_accepted_control_name, "ones") << "the first is kept";
}

}  // namespace
}  // namespace assay::harness
