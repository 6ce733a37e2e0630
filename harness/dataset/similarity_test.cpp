#include "harness/dataset/similarity.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"
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

TEST(Shingles, LeaveOutFunctionsOfWarpButNotOfTheUser) {
  const auto shingles = [](const std::string& functions, const std::string& call) {
    const Result<ir::Module> module =
        ir::parse_text(functions + "kernel k(x: array<f32,1>; i) {\n  x[i] = " + call + "\n}\n");
    EXPECT_TRUE(module.ok()) << module.error().text();
    return shingles_of(*module);
  };
  const auto function = [](const std::string& name, const std::string& result) {
    return "func " + name + "(a: f32) -> f32 {\n  return " + result + "\n}\n";
  };
  const auto library = [&](const std::string& name, const std::string& result) {
    Result<ir::Module> module =
        ir::parse_text(function(name, result) + "kernel k(x: array<f32,1>; i) {\n  x[i] = " + name + "(x[i])\n}\n");
    EXPECT_TRUE(module.ok());
    module->functions[0].loc = {};  // as library_function makes it
    return shingles_of(*module);
  };
  EXPECT_EQ(library("wp_trace", "add(a, 1.0)"), library("wp_trace", "mul(sin(a), 2.0)"));
  EXPECT_NE(library("wp_trace", "add(a, 1.0)"), library("wp_determinant", "add(a, 1.0)"));
  EXPECT_NE(shingles(function("f", "add(a, 1.0)"), "f(x[i])"), shingles(function("f", "mul(sin(a), 2.0)"), "f(x[i])"));
}

TEST(NearDuplicates, ArePairsWithANewRowInTheOrderOfTheLaterRow) {
  const Shingles a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Shingles b{2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::vector<Shingles> sets{a, {100, 101}, a, b, {100, 101}};
  const std::vector<ShingleView> rows(sets.begin(), sets.end());
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(near_duplicates(rows, 0), ElementsAre(Pair(0, 2), Pair(0, 3), Pair(2, 3), Pair(1, 4)));
  EXPECT_THAT(near_duplicates(rows, 3), ElementsAre(Pair(0, 3), Pair(2, 3), Pair(1, 4)));
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
