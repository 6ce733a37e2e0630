#include "harness/judge/compare/controls.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace assay::harness {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A result and what the oracle says of it: equal, within the bound.
struct Passed {
  std::vector<Computed> got;
  std::vector<Expected> expected;

  ControlTally tally(double mean = 0.375, std::size_t row = 1, const std::vector<Computed>& untouched = {}) const {
    return present_controls(got, expected, mean, row, 5, untouched);
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

TEST(Controls, AreAllRefusedByNarrowBounds) {
  const ControlTally tally = floats({0.5, -1.25, 2, 3.5, -0.75, 1.5}, 0x1p-20).tally(0.375, 2);
  EXPECT_EQ(tally.presented, kOfOutputs);
  EXPECT_EQ(tally.rejected, kOfOutputs);
  EXPECT_EQ(tally.accepted, "");
}

TEST(Controls, NameTheOneThatIsRefusedByTheLeast) {
  const ControlTally tally = floats({1, 2, 4}, 0x1p-20).tally(1000);
  EXPECT_EQ(tally.closest, "the result plus one") << "the others are off by more somewhere";
  EXPECT_EQ(tally.closest_rho, 0x1p20);
  EXPECT_EQ(floats({1, 2, 4}, 100).tally().closest, "") << "none was refused";

  ControlTally sum = tally;
  sum.add(floats({8, 8.5}, 0x1p-20).tally(1000, 1));
  EXPECT_EQ(sum.closest, "the shuffled result");
  EXPECT_EQ(sum.closest_rho, 0x1p19);
  sum.add(ControlTally{});
  EXPECT_EQ(sum.closest_rho, 0x1p19);
}

TEST(Controls, NameOneThatPasses) {
  const ControlTally shifted = floats({4, 4.25, 4.5}, 0.5).tally(0);
  EXPECT_EQ(shifted.accepted, "the result shifted by one row");
  EXPECT_LT(shifted.rejected, shifted.presented);
  EXPECT_EQ(floats({4, 4.25}, 0.5).tally(4, 5).accepted, "the shuffled result");
}

TEST(Controls, ZerosAndDoublesPassWhereTheBoundIsAsLargeAsTheResult) {
  const ControlTally tally = floats({0.01}, 0.011).tally(5);
  EXPECT_EQ(tally.rejected, tally.presented - 2);
}

TEST(Controls, EverythingPassesAWideBound) {
  const ControlTally tally = floats({0.5, -1.25, 2}, 100).tally();
  EXPECT_GT(tally.presented, 0);
  EXPECT_EQ(tally.rejected, 0);
}

TEST(Controls, ThatEqualTheResultDoNotCount) {
  const ControlTally zeros = floats({0, 0, -0.0}, 0).tally();
  EXPECT_EQ(zeros.accepted, "");
  EXPECT_EQ(zeros.presented, 3) << "the mean, ones and plus one; zeros, negated, doubled, shuffled, shifted are equal";
  EXPECT_EQ(zeros.rejected, 3);
  const ControlTally ones = floats({1, 1, 1}, 0).tally(1);
  EXPECT_EQ(ones.presented, 4) << "zeros, plus one, negated and doubled";
  EXPECT_EQ(ones.accepted, "");
}

TEST(Controls, OfOneElement) {
  const ControlTally tally = floats({0.5}, 0x1p-20).tally();
  EXPECT_EQ(tally.presented, 6) << "one element can be neither shuffled nor shifted";
  EXPECT_EQ(tally.rejected, 6);
}

TEST(Controls, OfNothing) {
  const ControlTally tally = floats({}, 0).tally();
  EXPECT_EQ(tally.presented, 0);
  EXPECT_EQ(tally.rejected, 0);
}

TEST(Controls, OfIntegers) {
  const ControlTally tally = integers({3, -5, 7}).tally(2);
  EXPECT_EQ(tally.presented, kOfOutputs);
  EXPECT_EQ(tally.rejected, kOfOutputs);
}

TEST(Controls, ZeroGradientIsPresentedAsWhatWasThere) {
  const Passed gradient = floats({1.5, 2.5, -0.5}, 0x1p-20);
  const ControlTally told = gradient.tally(0.375, 1, {{.value = 0.5}, {.value = 0.75}, {.value = -0.625}});
  EXPECT_EQ(told.presented, kOfOutputs + 1);
  EXPECT_EQ(told.rejected, kOfOutputs + 1);

  const ControlTally inactive = gradient.tally(0.375, 1, gradient.got);
  EXPECT_EQ(inactive.presented, kOfOutputs) << "a gradient that really is zero decides nothing";
  EXPECT_EQ(inactive.accepted, "");
}

TEST(Controls, ZeroGradientWithinTheBoundIsNamed) {
  const ControlTally tally = floats({100, 200}, 0.5).tally(0, 1, {{.value = 100.25}, {.value = 200}});
  EXPECT_EQ(tally.accepted, "a zero gradient");
}

TEST(Controls, ThatDifferOnlyWhereNothingIsKnownDoNotCount) {
  Passed passed = floats({0, 5}, 0);
  passed.expected[1].bound = kInfinity;
  const ControlTally tally = passed.tally();
  EXPECT_EQ(tally.accepted, "") << "zeros differ from the result in the second element only, which has no bound";
  EXPECT_GE(tally.rejected, 3);
}

TEST(Controls, ThatAreWrongByLittleDoNotCount) {
  Passed gradient = floats({1, 1 + 0x1p-12}, 0x1p-20);
  const auto tally_at = [&](double scale) {
    for (Expected& expected : gradient.expected)
      expected.scale = scale;
    return gradient.tally(5);
  };
  EXPECT_EQ(tally_at(1).presented, kOfOutputs - 3) << "ones, shuffled and shifted are off by 2^-12 at most";
  EXPECT_EQ(tally_at(0x1p-4).presented, kOfOutputs);
  EXPECT_EQ(tally_at(0x1p-12).presented, 0) << "bounds that are wide against the scale decide nothing";
}

TEST(Controls, OfOutputsThatDifferByLittleOnlyDoNotCount) {
  const ControlTally level = floats({1, 1 + 0x1p-40, 1 - 0x1p-41}, 0x1p-39).tally(5);
  EXPECT_EQ(level.accepted, "") << "to shuffle a saturated function's values gives no wrong result";
  EXPECT_EQ(level.presented, kOfOutputs - 3) << "nor do ones";
  EXPECT_EQ(level.rejected, level.presented);
}

TEST(Controls, OfAResultThatIsZeroButForRounding) {
  const ControlTally tally = floats({0x1p-56, -0x1p-58, 0x1p-57}, 0x1p-52).tally(0.5);
  EXPECT_EQ(tally.accepted, "");
  EXPECT_EQ(tally.presented, 3) << "the mean, ones, plus one";
  EXPECT_EQ(tally.rejected, 3);
  EXPECT_NE(floats({0x1p-36, -0x1p-38, 0x1p-37}, 0x1p-32).tally(0.5).accepted, "") << "a bound that is not so small";
}

TEST(Controls, ANanIsEqualToANan) {
  const ControlTally tally = floats({kNan}, 0).tally();
  EXPECT_EQ(tally.accepted, "") << "the negated, doubled and increased NaN are NaN";
  EXPECT_EQ(tally.presented, 3) << "zeros, ones and the mean";
  EXPECT_EQ(tally.rejected, 3);
}

TEST(Controls, OfInfinities) {
  const ControlTally tally = floats({kInfinity, 1}, 0).tally();
  EXPECT_EQ(tally.accepted, "");
  EXPECT_EQ(tally.presented, tally.rejected);
}

TEST(Controls, TalliesAddUp) {
  ControlTally sum{.presented = 3, .rejected = 3};
  sum.add({.presented = 4, .rejected = 3, .accepted = "ones"});
  sum.add({.presented = 1, .rejected = 0, .accepted = "zeros"});
  EXPECT_EQ(sum.presented, 8);
  EXPECT_EQ(sum.rejected, 6);
  EXPECT_EQ(sum.accepted, "ones") << "the first stays";
}

}  // namespace
}  // namespace assay::harness
