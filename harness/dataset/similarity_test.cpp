#include "harness/dataset/similarity.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rng.hpp"

namespace assay::dataset {
namespace {

using ::testing::ElementsAre;

/// Distinct hashes, `common` of which are in every set made with the same `shared` seed.
Shingles set_of(Rng& shared, Rng& own, std::size_t common, std::size_t others) {
  Shingles set;
  for (std::size_t i = 0; i < common; ++i)
    set.push_back(static_cast<std::uint32_t>(shared.next()));
  for (std::size_t i = 0; i < others; ++i)
    set.push_back(static_cast<std::uint32_t>(own.next()));
  std::ranges::sort(set);
  return set;
}

std::vector<std::uint32_t> clusters(const std::vector<Shingles>& sets) {
  return clusters_of(std::vector<ShingleView>(sets.begin(), sets.end()));
}

TEST(Shingles, DoNotDependOnSpacesBetweenTokens) {
  EXPECT_EQ(shingles_of("a b c d e f").size(), 2U);
  EXPECT_EQ(shingles_of("a  b\nc d e f"), shingles_of("a b c d e f"));
  EXPECT_NE(shingles_of("a b c d e 0.5"), shingles_of("a b c d e 0.25"));
  EXPECT_EQ(shingles_of("a b").size(), 1U);
  EXPECT_TRUE(shingles_of(" \n").empty());
}

TEST(Jaccard, IsIntersectionOverUnion) {
  EXPECT_DOUBLE_EQ(jaccard(Shingles{1, 2, 3}, Shingles{2, 3, 4}), 0.5);
  EXPECT_DOUBLE_EQ(jaccard(Shingles{1}, Shingles{2}), 0);
  EXPECT_DOUBLE_EQ(jaccard(Shingles{}, Shingles{}), 1);
}

TEST(Clusters, JoinTwoRowsThatAreBothSimilarToAThird) {
  // 0 and 2 share 9 of 11; 2 and 4 too; 0 and 4 only 8 of 12. 1 and 3 are unrelated.
  const Shingles a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Shingles b{2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Shingles c{3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_THAT(clusters({a, {100, 101}, b, {200, 201, 202}, c}), ElementsAre(0, 1, 0, 3, 0));
}

TEST(Clusters, DoNotJoinRowsBelowSimilarityThreshold) {
  EXPECT_THAT(clusters({{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 9}}), ElementsAre(0, 1));  // 7 of 9
}

TEST(Clusters, JoinNearlyAllPairsAtSimilarityThreshold) {
  constexpr int kPairs = 2000;
  std::vector<Shingles> sets;
  Rng own(7);
  for (int pair = 0; pair < kPairs; ++pair) {
    for (int side = 0; side < 2; ++side) {
      Rng shared = Rng(11).split(static_cast<std::uint64_t>(pair));
      sets.push_back(set_of(shared, own, 240, 30));  // 240 / 300
    }
  }
  const std::vector<std::uint32_t> found = clusters(sets);
  int missed = 0;
  for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
    missed += found[2 * pair + 1] != 2 * pair ? 1 : 0;
    EXPECT_EQ(found[2 * pair], 2 * pair);
  }
  EXPECT_LE(missed, 4);
}

TEST(Clusters, JoinSubsetAndSupersetAtSimilarityThreshold) {
  std::vector<Shingles> sets;
  Rng rng(13);
  for (std::size_t fifth = 20; fifth < 220; ++fifth) {
    Rng part = rng.split(fifth);
    Rng whole = rng.split(fifth);
    sets.push_back(set_of(part, part, 4 * fifth, 0));
    sets.push_back(set_of(whole, whole, 4 * fifth, fifth));
  }
  const std::vector<std::uint32_t> found = clusters(sets);
  int missed = 0;
  for (std::uint32_t pair = 0; 2 * pair < found.size(); ++pair)
    missed += found[2 * pair + 1] != 2 * pair ? 1 : 0;
  EXPECT_LE(missed, 1);
}

}  // namespace
}  // namespace assay::dataset
