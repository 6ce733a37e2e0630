// Structs with arrays, arrays of such structs, and arrays that a constructed struct lacks.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"
#include "ir/text.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kArraysOfGrids = R"(import warp as wp
@wp.struct
class Samples:
    values: wp.array(dtype=float)
    offset: float
@wp.struct
class Grid:
    samples: Samples
    slopes: wp.array2d(dtype=float)
@wp.func
def sample(samples: Samples, i: int):
    return samples.values[i] + samples.offset
@wp.func
def last(grids: wp.array(dtype=Grid)):
    return grids[-1].samples.offset
)";

TEST(ArrayStructs, ArraysOfStructsWithArraysAreOneArrayForEachField) {
  const ParsedFile file = read(std::string(kArraysOfGrids) + R"(
@wp.kernel
def k(grids: wp.array(dtype=Grid), x: wp.array(dtype=float)):
    i = wp.tid()
    grid = grids[2 * i]
    grids[i].slopes[0, i] = sample(grids[i].samples, 3) * last(grids)
    x[i] = sample(grid.samples, 4) + grid.slopes[i, 1] + float(grids.shape[0])
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const ir::Function& kernel = file.module.kernels[0];
  EXPECT_EQ(kernel.var(0).path, "grids.samples.values");
  EXPECT_EQ(kernel.var(2).path, "grids.slopes");
  const std::string text = ir::to_text(file.module);
  EXPECT_THAT(text.substr(text.find("kernel ")),
              AllOf(HasSubstr("kernel k(grids_samples_values: array<f32,2>, grids_samples_offset: array<f32,1>, "
                              "grids_slopes: array<f32,3>, x: array<f32,1>; i)"),
                    HasSubstr("let grid_at: i32 = mul(2, i)"),
                    HasSubstr("let grid_samples_offset: f32 = grids_samples_offset[grid_at]"),
                    HasSubstr("grids_slopes[i, 0, i] = mul(sample_1(grids_samples_values, i, grids_samples_offset[i], "
                              "3), last(grids_samples_values, grids_samples_offset, grids_slopes))"),
                    HasSubstr("add(sample_1(grids_samples_values, grid_at, grid_samples_offset, 4), "
                              "grids_slopes[grid_at, i, 1])"),
                    HasSubstr("cast<f32>(shape(grids_samples_values, 0))")));
}

TEST(ArrayStructs, StructsWithArraysCanBeConstructedAndCopied) {
  const ParsedFile file = read(std::string(kArraysOfGrids) + R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array2d(dtype=float)):
    i = wp.tid()
    grid = Grid()
    grid.samples.values = y[i]
    grid.slopes = y
    grid.samples.offset = 2.0
    other = grid
    other.samples.offset = 3.0
    x[i] = sample(grid.samples, 0) - sample(other.samples, 0) + other.slopes[i, 0]
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const std::string text = ir::to_text(file.module);
  EXPECT_THAT(text.substr(text.find("kernel ")),
              AllOf(HasSubstr("let grid_samples_offset: f32 = 0.0\n  grid_samples_offset = 2.0\n"
                              "  let other_samples_offset: f32 = grid_samples_offset\n  other_samples_offset = 3.0\n"),
                    HasSubstr("sub(sample_1(y, i, grid_samples_offset, 0), sample_1(y, i, other_samples_offset, 0))"),
                    HasSubstr("y[i, 0])")));
}

TEST(ArrayStructs, MissingArraysHaveNoElements) {
  const ParsedFile file = read(std::string(kArraysOfGrids) + R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array2d(dtype=float)):
    i = wp.tid()
    grid = Grid()
    other = grid
    values = grid.samples.values
    x[i] = sample(Samples(), 0) + other.slopes[i, 1] + float(grid.slopes.shape[1] + len(values))
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const std::string text = ir::to_text(file.module);
  EXPECT_THAT(text,
              AllOf(HasSubstr("func wp_missing_float32() -> f32 {\n  let none: local<f32,1>\n  return none[1]\n}"),
                    HasSubstr("func sample_1(samples_offset: f32, i: i32) -> f32 {\n"
                              "  return add(wp_missing_float32(), samples_offset)"),
                    HasSubstr("add(add(sample_1(constructed_offset, 0), wp_missing_float32()), "
                              "cast<f32>(add(0, 0)))")));
}

TEST(ArrayStructs, RejectsUnsupportedUsesOfArraysOfStructsWithArrays) {
  const auto message = [](std::string_view parameters, std::string_view statement) {
    return messages(read(fmt::format("{}@wp.kernel\ndef k({}, x: wp.array(dtype=float)):\n    {}\n", kArraysOfGrids,
                                     parameters, statement)));
  };
  constexpr std::string_view kGrids = "g: wp.array(dtype=Grid)";
  EXPECT_THAT(message(kGrids, "x[0] = last(g[1:])"), HasSubstr("slices of arrays of structs with array fields"));
  EXPECT_THAT(message(kGrids, "g[0] = g[1]"), HasSubstr("structs with array fields cannot be used as values"));
  EXPECT_THAT(message(kGrids, "x[0] = g.slopes[0, 0]"), HasSubstr("array attribute 'slopes' is not supported"));
  EXPECT_THAT(message(kGrids, "x[0] = g[0].heights[0]"), HasSubstr("struct Grid has no field 'heights'"));
  EXPECT_THAT(message(kGrids, "x[0] = g[0, 1].slopes[0, 0]"), HasSubstr("a value of type Grid cannot be indexed"));
  EXPECT_THAT(message(kGrids, "wp.tile_store(g, wp.tile_zeros(shape=4, dtype=float))"),
              HasSubstr("tiles must be loaded from and stored to arrays"));
  EXPECT_THAT(message(kGrids, "x[0] = float(wp.lower_bound(g, 1.0))"), HasSubstr("array"));
  EXPECT_THAT(message(kGrids, "wp.atomic_add(g, 0, 1.0)"), HasSubstr("the target of an atomic must be an array"));
  EXPECT_THAT(message(kGrids, "x[0] = wp.volume_sample_index(wp.uint64(1), wp.vec3(), 0, g, 1.0)"),
              HasSubstr("voxel_data must be an array parameter"));
  EXPECT_THAT(message("g: wp.array3d(dtype=Grid)", "x[0] = g[0, 0, 0].slopes[0, 0]"),
              HasSubstr("the dimensions of an array of structs and of an array field must be at most 4 together"));
}

}  // namespace
}  // namespace assay::frontend::testing
