// The meshes and hierarchies of boxes that InputSpace draws.
#include <cstddef>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using testing::distinct;
using testing::Space;

TEST(InputSpace, DrawsMeshesWhoseTrianglesHaveThreeCorners) {
  Space space(R"(
@wp.kernel
def normals(meshes: wp.array(dtype=wp.uint64), out: wp.array2d(dtype=wp.vec3)):
    i, face = wp.tid()
    out[i, face] = wp.mesh_eval_face_normal(meshes[i], face)
)");
  std::size_t triangles = 0;
  for (const ir::Launch& launch : space.found_all()) {
    const auto meshes = space.shape(launch, "mesh_points")[0];
    for (const std::int64_t mesh : space.integers(launch, "meshes")) {
      EXPECT_GE(mesh, 1);
      EXPECT_LE(mesh, meshes);
    }
    const auto indices = space.integers(launch, "mesh_indices");
    const auto row_length = static_cast<std::size_t>(space.shape(launch, "mesh_indices")[1]);
    for (std::size_t k = 0; k + 2 < indices.size(); ++k) {
      if (k % row_length % 3 != 0 || k % row_length + 2 >= row_length) continue;
      EXPECT_EQ(distinct({indices[k], indices[k + 1], indices[k + 2]}), 3U);
      ++triangles;
    }
  }
  EXPECT_GT(triangles, 0U);
}

TEST(InputSpace, DrawsQueriedMeshesWhoseTrianglesHaveNoCommonCorners) {
  Space space(R"(
@wp.kernel
def hit(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=bool)):
    i = wp.tid()
    out[i] = wp.mesh_query_ray_anyhit(mesh, x[i], wp.vec3(1.0, 0.5, 0.25), 10.0)
)");
  for (const ir::Launch& launch : space.found_all()) {
    const auto row_length = static_cast<std::size_t>(space.shape(launch, "mesh_indices")[1]);
    EXPECT_EQ(row_length, 24U);
    const auto indices = space.integers(launch, "mesh_indices");
    for (std::size_t first = 0; first < indices.size(); first += row_length) {
      const std::set<std::int64_t> corners(indices.begin() + static_cast<std::ptrdiff_t>(first),
                                           indices.begin() + static_cast<std::ptrdiff_t>(first + row_length));
      EXPECT_EQ(corners.size(), row_length);
    }
  }
}

TEST(InputSpace, DrawsManyFacesForKernelsThatVisitThem) {
  Space visiting(R"(
@wp.kernel
def k(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    for face in wp.mesh_query_sphere(mesh, x[i], 0.5):
        out[i] += face
)");
  Space querying(R"(
@wp.kernel
def k(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = wp.mesh_query_ray_count_intersections(mesh, x[i], wp.vec3(1.0, 0.0, 0.0))
)");
  const ir::Launch few = visiting.found({.seed = 3, .size = 3});
  const ir::Launch many = visiting.found({.seed = 3, .size = 3, .array_extent = 79});
  EXPECT_EQ(visiting.shape(few, "mesh_indices")[1], 3 * 8);
  EXPECT_EQ(visiting.shape(many, "mesh_indices")[1], 3 * 200);
  // The order, which all meshes share, has numbers of faces that these meshes do not have.
  EXPECT_EQ(visiting.shape(few, "mesh_order")[0], 8 + 2);
  EXPECT_EQ(visiting.shape(many, "mesh_order")[0], 200 + 2);
  EXPECT_EQ(querying.shape(querying.found({.seed = 3, .size = 3, .array_extent = 79}), "mesh_indices")[1], 3 * 8);
}

TEST(InputSpace, DrawsAnOrderOfTheFacesWhoseGroupsTheKernelLooksUp) {
  Space space(R"(
@wp.kernel
def k(mesh: wp.uint64, groups: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = wp.mesh_get_group_root(mesh, groups[i])
)");
  for (const ir::Launch& launch : space.found_all()) {
    EXPECT_EQ(space.shape(launch, "mesh_order")[0], 8);
    EXPECT_EQ(space.shape(launch, "mesh_groups")[1], 8);
  }
}

TEST(InputSpace, DrawsBoxesWhoseLowerCornersAreBelowUpperCorners) {
  Space space(R"(
@wp.kernel
def touched(bvh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    query = wp.bvh_query_sphere(bvh, x[i], 0.5)
    box = int(0)
    while wp.bvh_query_next(query, box):
        out[i] += box
)");
  std::size_t boxes = 0;
  for (const ir::Launch& launch : space.found_all()) {
    const auto lowers = space.floats(launch, "bvh_lowers");
    const auto uppers = space.floats(launch, "bvh_uppers");
    ASSERT_EQ(lowers.size(), uppers.size());
    for (std::size_t k = 0; k < lowers.size(); ++k)
      EXPECT_LE(lowers[k], uppers[k]);
    boxes += lowers.size() / 3;
    EXPECT_EQ(space.shape(launch, "bvh_order")[0], 16);
  }
  EXPECT_GT(boxes, 0U);
}

}  // namespace
}  // namespace assay::harness
