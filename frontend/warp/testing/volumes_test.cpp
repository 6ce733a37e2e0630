// Volumes: the parameters and functions that stand for them.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"
#include "ir/spatial_paths.hpp"
#include "ir/text.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Volumes, AreRowsOfArrays) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def inside(volume: wp.uint64, x: wp.vec3):
    return wp.volume_sample(volume, wp.volume_world_to_index(volume, x), wp.Volume.LINEAR, dtype=wp.float32)
@wp.kernel
def floats(volume: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=float)):
    i = wp.tid()
    slope = wp.vec3()
    y[i] = inside(volume, x[i])
    y[i] = wp.volume_sample_grad_f(volume, x[i], wp.Volume.CLOSEST, slope)
    wp.volume_store(volume, i, 0, 0, slope[0])
@wp.kernel
def numbers(volumes: wp.array(dtype=wp.uint64), data: wp.array(dtype=wp.vec2), x: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    if i < wp.volume_voxel_count(volumes[i]):
        data[wp.volume_lookup_index(volumes[i], i, 0, 0)] = wp.vec2(1.0, 2.0)
    x[i][0] = wp.volume_sample_index(volumes[i], x[i], i, data, wp.vec2(0.0, 0.0))[1]
@wp.kernel
def directions(volume: wp.uint64, x: wp.array(dtype=wp.vec3d), k: wp.array(dtype=int)):
    i = wp.tid()
    x[i] = wp.volume_index_to_world_dir(volume, x[i])
    k[i] = wp.volume_lookup_i(volume, i, 1, 2)
)");
  ASSERT_EQ(file.module.kernels.size(), 3U) << messages(file);
  const auto names = [&](std::size_t kernel) {
    std::vector<std::string> found;
    for (ir::VarId p = 0; p < file.module.kernels[kernel].parameter_count; ++p)
      found.push_back(file.module.kernels[kernel].var(p).name);
    return found;
  };
  // The value of the store tells nothing about its type.
  EXPECT_THAT(names(0), ElementsAre("volume", "x", "y", "volume_floats", "volume_vectors", "volume_ints",
                                    "volume_sizes", "volume_origins"));
  EXPECT_THAT(names(1), ElementsAre("volumes", "data", "x", "volume_extents"));
  EXPECT_THAT(names(2), ElementsAre("volume", "x", "k", "volume_ints", "volume_sizes"));
  EXPECT_EQ(file.module.kernels[2].var(4).path, ir::kVolumeSizesPath);
  EXPECT_THAT(file.module.kernels[1].annotations,
              ElementsAre("domain: 1 <= volume_extents <= 4", "domain: 1 <= volumes <= volume_extents.shape[0]"));
  EXPECT_THAT(ir::to_text(file.module),
              AllOf(HasSubstr("if or(lt(j, 0), ge(j, shape(values, 2))) {\n    return 0.0\n"),
                    HasSubstr("wp_volume_sample_f_linear(volume_floats, volume, wp_volume_world_to_index(volume_sizes, "
                              "volume_origins, volume, x))"),
                    HasSubstr("let inverse_1: f32 = div(1.0, extract(size, 1))"),
                    HasSubstr("= call wp_volume_sample_grad_f_closest(volume_floats, volume, x[i])"),
                    HasSubstr("if ne(mode, 1) {\n    return splat<vec<f32,2>>(0.0)\n"),
                    HasSubstr("wp_volume_store_f(volume_floats, volume, i, 0, 0, extract(slope, 0))"),
                    HasSubstr("return data[cast<u32>(add(mul(add(mul(i, extract(box, 1)), j), extract(box, 2)), k))]"),
                    HasSubstr("mul(extract(vector, 0), cast<f64>(extract(size, 0)))")));
}

}  // namespace
}  // namespace assay::frontend::testing
