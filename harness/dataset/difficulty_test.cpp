#include "harness/dataset/difficulty.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ir::Module module_of(const std::string& text) {
  Result<ir::Module> module = ir::parse_text(text);
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module.ok() ? module.take() : ir::Module{};
}

KernelDifficulty measured(const std::string& text) {
  const ir::Module module = module_of(text);
  return measure_difficulty(module, module.kernels.at(0));
}

/// The patterns of `out[i] = x[index]`.
std::vector<std::string> patterns_of(const std::string& index) {
  return measured("kernel k(x: array<f32,1>, at: array<i32,1>, n: i32, out: array<f32,1>; i) {\n  out[i] = x[" + index +
                  "]\n}\n")
      .memory_patterns;
}

TEST(Difficulty, MeasuresStraightLineKernel) {
  const KernelDifficulty found =
      measured("kernel k(x: array<f32,1>; i) {\n  let t: f32 = mul(x[i], 2.0)\n  x[i] = add(t, sin(t))\n}\n");
  EXPECT_EQ(found.statement_count, 2);
  EXPECT_EQ(found.nesting_depth, 0);
  EXPECT_EQ(found.expression_depth, 2);
  EXPECT_EQ(found.loop_kind, "none");
  EXPECT_THAT(found.features, ElementsAre("in_place"));
  EXPECT_THAT(found.memory_patterns, ElementsAre("elementwise"));
}

TEST(Difficulty, MeasuresLoopsAndBranches) {
  const auto with_loop = [](const std::string& stop) {
    return measured("kernel k(x: array<f32,1>, n: i32; i) {\n  let s: f32 = 0.0\n  for j: i32 in range(0, " + stop +
                    ", 1) {\n    if lt(s, 2.0) {\n      s = add(s, x[j])\n    }\n  }\n  x[i] = s\n}\n");
  };
  const KernelDifficulty fixed = with_loop("4");
  EXPECT_EQ(fixed.loop_kind, "static");
  EXPECT_EQ(fixed.nesting_depth, 2);
  EXPECT_EQ(fixed.statement_count, 5);
  EXPECT_THAT(fixed.features, ElementsAre("branch", "in_place", "loop"));
  EXPECT_THAT(fixed.memory_patterns, ElementsAre("elementwise", "loop"));
  EXPECT_EQ(with_loop("n").loop_kind, "dynamic");
}

TEST(Difficulty, ClassifiesIndices) {
  EXPECT_THAT(patterns_of("i"), ElementsAre("elementwise"));
  EXPECT_THAT(patterns_of("3"), ElementsAre("broadcast", "elementwise"));
  EXPECT_THAT(patterns_of("add(i, 1)"), ElementsAre("elementwise", "shifted"));
  EXPECT_THAT(patterns_of("n"), ElementsAre("computed", "elementwise"));
  EXPECT_THAT(patterns_of("at[i]"), ElementsAre("elementwise", "gather"));
  EXPECT_THAT(patterns_of("wrap_index(i, shape(x, 0))"), ElementsAre("elementwise"));
}

TEST(Difficulty, ConstantIndexIsNotClassifiedAsTransposed) {
  EXPECT_THAT(measured("kernel k(x: array<f32,2>, out: array<f32,1>; i) {\n  out[i] = x[i, 0]\n}\n").memory_patterns,
              ElementsAre("elementwise"));
  EXPECT_THAT(measured("kernel k(x: array<f32,2>, out: array<f32,1>; i) {\n  out[i] = x[i, i]\n}\n").memory_patterns,
              ElementsAre("elementwise", "transposed"));
}

TEST(Difficulty, ClassifiesTransposedAndScatteredStores) {
  const KernelDifficulty found = measured(
      "kernel k(x: array<f32,2>, at: array<i32,1>, out: array<f32,1>; i, j) {\n  let p: i32 = at[i]\n"
      "  atomic_add(out[p], x[j, i])\n}\n");
  EXPECT_THAT(found.memory_patterns, ElementsAre("elementwise", "scatter", "transposed"));
  EXPECT_THAT(found.features, ElementsAre("atomic", "integer_input", "multi_dimensional_launch"));
}

TEST(Difficulty, ListsCalledFunctionsInOrderOfUse) {
  const ir::Module module = module_of(
      "kernel k(x: array<f32,1>; i) {\n  let t: f32 = tanh(sin(x[i]))\n  atomic_add(x[i], add(sin(t), "
      "exp(conditional(lt(t, 0.0), t, 1.0))))\n}\n");
  EXPECT_THAT(functions_called(module, module.kernels[0]), ElementsAre("tanh", "sin", "exp", "atomic_add"));
}

TEST(Difficulty, ListsFunctionsOfTilesByTheirNamesInWarp) {
  const ir::Module module = module_of(
      "kernel k(x: array<f32,2>, at: array<i32,1>; i) {\n"
      "  let t: tile<f32,3,3> = tile_load<tile<f32,3,3>>(x[0, 0])\n"
      "  let places: tile<i32,3> = tile_load<tile<i32,3>>(at[0])\n"
      "  let c: tile<f32,3> = tile_reshape<tile<f32,3>>(tile_view<tile<f32,3,1>>(t, 0, 1))\n"
      "  let d: tile<f32,9> = tile_reshape<tile<f32,9>>(t)\n"
      "  atomic_add(x[places, 0], t)\n}\n");
  EXPECT_THAT(functions_called(module, module.kernels[0]),
              ElementsAre("tile_squeeze", "tile_view", "tile_reshape", "tile_atomic_add_indexed"));
}

/// The frontend wraps indices that may be negative; the source does not contain this.
TEST(Difficulty, IgnoresWrappingOfIndices) {
  const ir::Module module =
      module_of("kernel k(x: array<f32,1>, n: i32; i) {\n  x[i] = sin(x[wrap_index(n, shape(x, 0))])\n}\n");
  EXPECT_THAT(functions_called(module, module.kernels[0]), ElementsAre("sin"));
  EXPECT_EQ(measure_difficulty(module, module.kernels[0]).expression_depth, 2);
}

}  // namespace
}  // namespace assay::dataset
