// Queries of hash grids and hierarchies of boxes in Warp and in the oracle, for inputs that random kernels do not have:
// grids of a single cell, cells far outside the grid, negative distances, boxes that touch, and rays along an axis.
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "harness/suite/select/kernel_file.hpp"
#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/forward.hpp"
#include "harness/warp_differences/signatures.hpp"
#include "harness/warp_differences/subject.hpp"
#include "ir/spatial_paths.hpp"
#include "support/rng.hpp"

namespace assay::warp {
namespace {

constexpr const char* kGridKernels = R"(import warp as wp


@wp.kernel
def visited(
    grids: wp.array(dtype=wp.uint64), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)
):
    i = wp.tid()
    sum = int(0)
    for point in wp.hash_grid_query(grids[i % 3], x[i], 2.0 * y[i][0]):
        sum += 1 << point
    out[i] = sum


@wp.kernel
def grouped(
    grids: wp.array(dtype=wp.uint64), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)
):
    i = wp.tid()
    sum = int(0)
    query = wp.hash_grid_query(grids[i % 3], x[i], wp.abs(y[i][0]), i % 5 - 1)
    point = int(-1)
    while wp.hash_grid_query_next(query, point):
        sum += 1 << point
    out[i] = sum
)";

constexpr const char* kBoxKernels = R"(import warp as wp


@wp.kernel
def touched(
    bvhs: wp.array(dtype=wp.uint64), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)
):
    i = wp.tid()
    sum = int(0)
    # The corners are those of boxes of the hierarchy, so that boxes touch.
    corner = wp.vec3(wp.rint(x[i][0]), wp.rint(x[i][1]), wp.rint(x[i][2]))
    overlapping = wp.bvh_query_aabb(bvhs[i % 3], corner, corner + wp.vec3(1.0, 0.0, 0.0))
    box = int(0)
    while wp.bvh_query_next(overlapping, box):
        sum += 1 << box
    touched = wp.bvh_query_sphere(bvhs[i % 3], corner, y[i][0])
    while wp.bvh_query_next(touched, box):
        sum += 65536 << box
    out[i] = sum


@wp.kernel
def met(
    bvhs: wp.array(dtype=wp.uint64), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)
):
    i = wp.tid()
    sum = int(0)
    box = int(0)
    axis = i % 4
    dir = wp.vec3(y[i][0] * float(axis != 0), y[i][1] * float(axis != 1), y[i][2] * float(axis != 2))
    ray = wp.bvh_query_ray(bvhs[i % 3], x[i], dir)
    while wp.bvh_query_next(ray, box, 1.5):
        sum += 1 << box
    capsule = wp.bvh_query_capsule(bvhs[i % 3], x[i], dir, y[i][0])
    while wp.bvh_query_next(capsule, box, 1.0):
        sum += 65536 << box
    out[i] = sum


@wp.kernel
def in_group(
    bvhs: wp.array(dtype=wp.uint64), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)
):
    i = wp.tid()
    sum = int(0)
    root = wp.bvh_get_group_root(bvhs[i % 3], i % 5 - 1)
    query = wp.bvh_query_sphere(bvhs[i % 3], x[i], wp.abs(y[i][0]), root)
    box = int(0)
    while wp.bvh_query_next(query, box):
        sum += 1 << box
    if root < 0:
        sum += 65536
    out[i] = sum
)";

constexpr std::int32_t kSpatialThreads = 300;
constexpr std::int32_t kRows = 3;
constexpr std::int32_t kColumns = 12;

/// A launch whose structures have integer coordinates. The first grid has one cell.
ir::Launch spatial_launch(const ir::Module& module, const ir::Function& kernel) {
  Rng rng(11);
  ir::Launch launch{.extents = {kSpatialThreads}, .arguments = {}};
  const auto integer = [&](std::string_view path, std::int64_t k) -> std::int64_t {
    if (path == ir::kGridCellsPath) return rng.uniform_int<std::int64_t>(-9, 9);
    if (path == ir::kGridDimsPath) return k < 3 ? 1 : rng.uniform_int<std::int64_t>(1, 5);
    if (path == ir::kGridGroupsPath || path == ir::kBvhGroupsPath) return rng.uniform_int<std::int64_t>(0, 2);
    if (path == ir::kGridOrderPath || path == ir::kBvhOrderPath) return kColumns - 1 - k;
    return 1 + k % kRows;  // identifiers
  };
  std::vector<double> lowers;
  for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
    const ir::Variable& parameter = kernel.var(p);
    const std::string_view path = parameter.path;
    const bool is_order = path == ir::kGridOrderPath || path == ir::kBvhOrderPath;
    std::vector<std::int32_t> shape{ir::is_spatial_path(path) ? kRows : kSpatialThreads};
    if (is_order) shape = {kColumns};
    if (parameter.type.rank == 2) shape.push_back(kColumns);
    ir::Argument argument = ir::make_argument(module, parameter.type, shape);
    const std::vector<ir::ScalarComponent> components = ir::scalar_components(module, parameter.type.element());
    std::int64_t number = 0;
    for (std::int64_t element = 0; element < ir::element_count(argument) && parameter.name != "out"; ++element) {
      for (const ir::ScalarComponent& component : components) {
        std::byte* const at = argument.bytes.data() + ir::element_offset(argument, element) + component.offset;
        if (!ir::is_float(component.scalar)) {
          ir::write_integer(component.scalar, at, integer(path, number++));
          continue;
        }
        double value = rng.uniform_real(-3, 3);
        if (path == ir::kGridWidthsPath) value = 0.3 + 0.5 * static_cast<double>(element);
        if (path == ir::kBvhLowersPath) lowers.push_back(value = static_cast<double>(rng.uniform_int(-3, 2)));
        if (path == ir::kBvhUppersPath)
          value = lowers[static_cast<std::size_t>(number++)] + static_cast<double>(rng.uniform_int(0, 2));
        ir::write_float(component.scalar, at, value);
      }
    }
    launch.arguments.push_back(std::move(argument));
  }
  return launch;
}

void expect_equal(const char* kernels, std::size_t count) {
  const Result<WarpInterpreter> interpreter = find_interpreter();
  if (!interpreter.ok()) GTEST_SKIP() << interpreter.error().text();
  Result<harness::KernelSet> set = harness::read_text(kernels, "queries.py");
  ASSERT_TRUE(set.ok()) << set.error().text();
  std::vector<ComparedKernel> subjects;
  for (harness::KernelSource& source : set->kernels) {
    ASSERT_TRUE(source.module) << source.kernel;
    ir::Launch launch = spatial_launch(*source.module, source.module->kernels[source.kernel_index]);
    Result<ComparedKernel> subject = ComparedKernel::with_launch(std::move(source), std::move(launch));
    ASSERT_TRUE(subject.ok()) << subject.error().text();
    subjects.push_back(subject.take());
  }
  ASSERT_EQ(subjects.size(), count);
  const Result<WarpResults> results = run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, subjects);
  ASSERT_TRUE(results.ok()) << results.error().text();
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const WarpPassResult& answer = results->launch_results[s][0].forward;
    ASSERT_EQ(answer.status, WarpPassStatus::kDone) << subjects[s].name() << ": " << answer.message;
    const ForwardComparison comparison = compare_forward(subjects[s], 0, answer);
    EXPECT_EQ(comparison.checked_scalars, kSpatialThreads) << subjects[s].name();
    EXPECT_TRUE(comparison.mismatches.empty())
        << fmt::format("{}:\n{}", subjects[s].name(), fmt::join(comparison.mismatches, "\n"));
  }
}

TEST(SpatialQueries, OfGridsThatWrapAroundEqualThoseOfWarp) { expect_equal(kGridKernels, 2); }

TEST(SpatialQueries, OfTouchingBoxesEqualThoseOfWarp) { expect_equal(kBoxKernels, 3); }

}  // namespace
}  // namespace assay::warp
