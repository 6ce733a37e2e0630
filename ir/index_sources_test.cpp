#include "ir/index_sources.hpp"

#include <string>

#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::ir {
namespace {

constexpr VarId kFirst = 0, kOrder = 1, kCount = 2;
constexpr std::size_t kY = 4;

std::vector<ParameterIndexSources> sources_in(const std::string& body, const std::string& before = "") {
  const Result<Module> module =
      parse_text(before +
                 "kernel k(first: array<i32,1>, order: array<i32,1>, count: array<i32,1>, x: array<f32,1>, "
                 "y: array<f32,1>; i) {\n" +
                 body + "}\n");
  if (!module.ok()) {
    ADD_FAILURE() << module.error().text();
    return std::vector<ParameterIndexSources>(kY + 1);
  }
  return index_sources(module.value(), module.value().kernels[0]);
}

TEST(IndexSources, AreTheArraysFromWhichAnIndexIsComputed) {
  const auto sources = sources_in("  let j: i32 = add(first[i], 1)\n  y[j] = x[i]\n");
  EXPECT_EQ(sources[kY].stores, (IndexSources{.direct = {kFirst}, .indirect = {}}));
  EXPECT_EQ(sources[kY].loads, IndexSources{});
  EXPECT_EQ(sources[3].loads, IndexSources{});
}

TEST(IndexSources, AreIndirectIfTheirElementsSelectElementsOfASource) {
  const auto sources = sources_in("  y[first[order[i]]] = 1.0\n");
  EXPECT_EQ(sources[kY].stores, (IndexSources{.direct = {kFirst}, .indirect = {kOrder}}));
  EXPECT_EQ(sources[kFirst].loads, (IndexSources{.direct = {kOrder}, .indirect = {}}));
}

TEST(IndexSources, IncludeTheStartOfALoopButNotItsBound) {
  const auto sources = sources_in("  for j: i32 in range(first[i], count[i], 1) {\n    y[j] = 1.0\n  }\n");
  EXPECT_EQ(sources[kY].stores, (IndexSources{.direct = {kFirst}, .indirect = {}}));
}

TEST(IndexSources, OfAnArrayThatIsWalkedThroughItsOwnElementsIncludeTheArray) {
  const auto sources = sources_in("  let j: i32 = i\n  while gt(j, 0) {\n    j = order[j]\n  }\n  y[j] = 1.0\n");
  EXPECT_TRUE(sources[kOrder].loads.direct.contains(kOrder));
  EXPECT_TRUE(sources[kY].stores.direct.contains(kOrder));
}

TEST(IndexSources, AreFollowedThroughFunctions) {
  const auto sources = sources_in("  let j: i32 = at(count, i)\n  call put(y, j)\n",
                                  "func at(values: array<i32,1>, j: i32) -> i32 {\n  return values[j]\n}\n"
                                  "func put(to: array<f32,1>, j: i32) {\n  atomic_add(to[j], 1.0)\n}\n");
  EXPECT_EQ(sources[kY].stores, (IndexSources{.direct = {kCount}, .indirect = {}}));
}

TEST(IndexSources, DoNotIncludeArraysOfFloats) {
  const auto sources = sources_in("  let j: i32 = cast<i32>(x[i])\n  y[j] = 1.0\n");
  EXPECT_EQ(sources[kY].stores, IndexSources{});
}

}  // namespace
}  // namespace assay::ir
