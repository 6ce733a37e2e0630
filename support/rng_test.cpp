#include "support/rng.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

// The published first outputs of SplitMix64 with seed 1234567.
TEST(Rng, MatchesPublishedOutputsOfSplitMix64) {
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317U);
  EXPECT_EQ(rng.next(), 3203168211198807973U);
  EXPECT_EQ(rng.next(), 9817491932198370423U);
  EXPECT_EQ(rng.next(), 4593380528125082431U);
  EXPECT_EQ(rng.next(), 16408922859458223821U);
}

// Names of random kernels carry seeds, so these values must never change.
TEST(Rng, SequenceOfASeedNeverChanges) {
  Rng rng(42);
  std::vector<std::int64_t> drawn;
  for (int i = 0; i < 8; ++i)
    drawn.push_back(rng.uniform_int<std::int64_t>(-5, 5));
  EXPECT_EQ(drawn, (std::vector<std::int64_t>{0, -2, -3, -1, -3, 1, -1, 0}));
}

TEST(Rng, UniformIntReachesAllValuesEquallyOften) {
  Rng rng(1);
  std::array<int, 10> count{};
  for (int i = 0; i < 10'000; ++i)
    ++count[static_cast<std::size_t>(rng.uniform_int(-3, 6) + 3)];
  // The standard deviation of each count is 30.
  for (const int c : count)
    EXPECT_NEAR(c, 1000, 150);
}

TEST(Rng, UniformIntSupportsTheWholeRangeOfInt64) {
  using Limits = std::numeric_limits<std::int64_t>;
  Rng rng(2);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 64; ++i) {
    const std::int64_t value = rng.uniform_int(Limits::min(), Limits::max());
    (value < 0 ? negative : positive) = true;
  }
  EXPECT_TRUE(negative && positive);
  EXPECT_EQ(rng.uniform_int(Limits::max(), Limits::max()), Limits::max());
}

TEST(Rng, UniformRealReachesBothEndsOfItsRange) {
  Rng rng(3);
  double least = 1.0;
  double greatest = 0.0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = rng.uniform_real();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  EXPECT_LT(least, 0.01);
  EXPECT_GT(greatest, 0.99);
}

TEST(Rng, UniformRealOfTheWidestRangeIsFinite) {
  constexpr double kMax = std::numeric_limits<double>::max();
  Rng rng(4);
  for (int i = 0; i < 100; ++i) {
    const double value = rng.uniform_real(-kMax, kMax);
    EXPECT_LE(value, kMax);
    EXPECT_GE(value, -kMax);
  }
}

TEST(Rng, BernoulliHasGivenProbability) {
  Rng rng(5);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    hits += rng.bernoulli(0.25) ? 1 : 0;
    ASSERT_FALSE(rng.bernoulli(0.0));
    ASSERT_TRUE(rng.bernoulli(1.0));
  }
  // The standard deviation is 43.
  EXPECT_NEAR(hits, 2500, 220);
}

TEST(Rng, ChooseReachesEveryElement) {
  const std::vector<int> values{10, 20, 30};
  std::vector<int> seen;
  Rng rng(6);
  for (int i = 0; i < 100; ++i)
    seen.push_back(rng.choose(values));
  for (const int value : values)
    EXPECT_NE(std::find(seen.begin(), seen.end(), value), seen.end());
}

TEST(Rng, ShuffleReachesEveryOrder) {
  std::vector<std::array<int, 3>> seen;
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    std::array<int, 3> order{1, 2, 3};
    rng.shuffle(order);
    seen.push_back(order);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()) - seen.begin(), 6);
}

TEST(Rng, SplitDependsOnLabelAndStateButDoesNotAdvanceState) {
  Rng rng(8);
  const Rng before = rng;
  EXPECT_EQ(rng.split("inputs").next(), rng.split("inputs").next());
  EXPECT_NE(rng.split("inputs").next(), rng.split("launch").next());
  EXPECT_NE(rng.split(0).next(), rng.split(1).next());
  EXPECT_EQ(rng.next(), Rng(before).next());
  EXPECT_NE(rng.split("inputs").next(), before.split("inputs").next());
}

}  // namespace
}  // namespace assay
