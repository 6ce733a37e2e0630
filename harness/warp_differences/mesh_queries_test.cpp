// Queries of closed meshes, whose faces have common corners and edges, in Warp and in the oracle. The kernels compute
// only values that are the same for all faces that are equally close.
#include <cstring>
#include <stdexcept>
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
#include "support/rng.hpp"

namespace assay::warp {
namespace {

constexpr const char* kQueries = R"(import warp as wp


@wp.kernel
def closest(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    near = wp.mesh_query_point(mesh, x[i], 10.0)
    parity = wp.mesh_query_point_sign_parity(mesh, x[i], 10.0, 3)
    found = wp.mesh_eval_position(mesh, near.face, near.u, near.v)
    # Rounded, because the weights of another face give another rounding error.
    out[i] = wp.vec3(wp.rint(found[0] * 1024.0), wp.rint(found[1] * 1024.0), wp.rint(found[2] * 1024.0)) * near.sign
    normal = wp.mesh_query_point_sign_normal(mesh, x[i], 10.0)
    out[i] += wp.vec3(0.25 * parity.sign, 0.25 * normal.sign, 0.0)


@wp.kernel
def few_are_close(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    near = wp.mesh_query_point_no_sign(mesh, x[i], 0.5)
    far = wp.mesh_query_furthest_point_no_sign(mesh, x[i], 1.75)
    out[i] = wp.vec3(float(int(near.result)), float(int(far.result)), 0.0)
    if far.result:
        out[i] += wp.vec3(0.0, 0.0, wp.length(wp.mesh_eval_position(mesh, far.face, far.u, far.v) - x[i]))


@wp.kernel
def rays(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, x[i], y[i], 1.5)
    any = wp.mesh_query_ray_anyhit(mesh, x[i], y[i], 0.5)
    count = wp.mesh_query_ray_count_intersections(mesh, x[i], y[i])
    out[i] = wp.vec3(hit.t + hit.sign, float(int(any)), float(count)) + hit.normal * hit.sign


@wp.kernel
def visits(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    box = wp.mesh_query_aabb(mesh, wp.min(x[i], y[i]), wp.max(x[i], y[i]))
    face = int(0)
    sum = int(0)
    while wp.mesh_query_next(box, face):
        sum += 1 << face
    touched = wp.mesh_query_sphere(mesh, x[i], wp.abs(y[i][0]))
    for each in touched:
        sum += (1 << each) * 16384
    out[i] = wp.vec3(float(sum % 16384), float(sum // 16384), 0.0)
)";

/// The unit cube, with one triangle whose area is zero.
constexpr float kPoints[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
constexpr std::int32_t kIndices[] = {0, 3, 2, 0, 2, 1, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 2, 3,
                                     7, 2, 7, 6, 0, 4, 7, 0, 7, 3, 1, 2, 6, 1, 6, 5, 0, 0, 0};
constexpr std::int32_t kFaces = std::size(kIndices) / 3;
constexpr std::int32_t kThreads = 200;

ir::Launch launch_of(const ir::Module& module, const ir::Function& kernel) {
  Rng rng(7);
  ir::Launch launch{.extents = {kThreads}, .arguments = {}};
  for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
    const ir::Variable& parameter = kernel.var(p);
    const bool is_points = parameter.path == ir::kMeshPointsPath;
    const bool is_indices = parameter.path == ir::kMeshIndicesPath;
    std::vector<std::int32_t> shape{kThreads};
    if (is_points) shape = {1, 8};
    if (is_indices) shape = {1, static_cast<std::int32_t>(std::size(kIndices))};
    if (parameter.path == ir::kMeshOrderPath) shape = {kFaces};
    if (!parameter.type.is_array()) shape = {};
    ir::Argument argument = ir::make_argument(module, parameter.type, shape);
    std::byte* const bytes = argument.bytes.data();
    if (is_points) std::memcpy(bytes, kPoints, sizeof(kPoints));
    if (is_indices) std::memcpy(bytes, kIndices, sizeof(kIndices));
    for (std::size_t k = 0; k < kFaces && parameter.path == ir::kMeshOrderPath; ++k)
      ir::write_integer(ir::Scalar::kI32, bytes + 4 * k, static_cast<std::int64_t>(kFaces - 1 - k));
    if (parameter.name == "mesh") ir::write_integer(ir::Scalar::kU64, bytes, 1);
    for (std::size_t k = 0; k < std::size_t{3} * kThreads && (parameter.name == "x" || parameter.name == "y"); ++k)
      ir::write_float(ir::Scalar::kF32, bytes + 4 * k, rng.uniform_real(-0.5, 1.5));
    launch.arguments.push_back(std::move(argument));
  }
  return launch;
}

TEST(MeshQueries, OfClosedMeshesEqualThoseOfWarp) {
  const Result<WarpInterpreter> interpreter = find_interpreter();
  if (!interpreter.ok()) GTEST_SKIP() << interpreter.error().text();
  Result<harness::KernelSet> set = harness::read_text(kQueries, "queries.py");
  ASSERT_TRUE(set.ok()) << set.error().text();
  std::vector<ComparedKernel> subjects;
  for (harness::KernelSource& source : set->kernels) {
    ASSERT_TRUE(source.module) << source.kernel;
    ir::Launch launch = launch_of(*source.module, source.module->kernels[source.kernel_index]);
    Result<ComparedKernel> subject = ComparedKernel::with_launch(std::move(source), std::move(launch));
    ASSERT_TRUE(subject.ok()) << subject.error().text();
    subjects.push_back(subject.take());
  }
  ASSERT_EQ(subjects.size(), 4U);
  const Result<WarpResults> results = run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, subjects);
  ASSERT_TRUE(results.ok()) << results.error().text();
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const WarpPassResult& answer = results->launch_results[s][0].forward;
    ASSERT_EQ(answer.status, WarpPassStatus::kDone) << subjects[s].name() << ": " << answer.message;
    const ForwardComparison comparison = compare_forward(subjects[s], 0, answer);
    EXPECT_EQ(comparison.checked_scalars, 3 * kThreads) << subjects[s].name();
    EXPECT_TRUE(comparison.mismatches.empty())
        << fmt::format("{}:\n{}", subjects[s].name(), fmt::join(comparison.mismatches, "\n"));
  }
}

/// Sides of a point above a triangle, by normals. Two others below it face away, between one and two lengths of the
/// edges further from the point than the first one: Warp adds their normals if it visits them first.
TEST(MeshQueries, SideIsUndecidedIfItDependsOnTheOrderOfVisits) {
  constexpr float kLayers[9][3] = {{0, 0, 0},     {1, 0, 0},     {0, 1, 0},     {0, 0, -1.7F}, {1, 0, -1.7F},
                                   {0, 1, -1.7F}, {0, 0, -1.8F}, {1, 0, -1.8F}, {0, 1, -1.8F}};
  constexpr std::int32_t kFaceCorners[] = {0, 1, 2, 3, 5, 4, 6, 8, 7};
  constexpr float kAbove[3] = {0.2F, 0.2F, 0.5F};
  const auto undecided_with = [&](double epsilon) {
    const std::string python = fmt::format(R"(import warp as wp


@wp.kernel
def side(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.mesh_query_point_sign_normal(mesh, x[i], 10.0, {:.3f}).sign
)",
                                           epsilon);
    harness::KernelSource source = harness::read_text(python, "side.py").value().kernels.at(0);
    if (!source.module) throw std::runtime_error("the kernel was not parsed");
    const ir::Module& module = *source.module;
    const ir::Function& kernel = module.kernels[source.kernel_index];
    ir::Launch launch{.extents = {1}, .arguments = {}};
    for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
      const ir::Variable& parameter = kernel.var(p);
      const bool is_points = parameter.path == ir::kMeshPointsPath;
      const bool is_indices = parameter.path == ir::kMeshIndicesPath;
      std::vector<std::int32_t> shape;
      if (parameter.type.is_array()) shape = {1};
      if (is_points || is_indices) shape.push_back(9);
      ir::Argument argument = ir::make_argument(module, parameter.type, shape);
      std::byte* const bytes = argument.bytes.data();
      if (is_points) std::memcpy(bytes, kLayers, sizeof(kLayers));
      if (is_indices) std::memcpy(bytes, kFaceCorners, sizeof(kFaceCorners));
      if (parameter.name == "mesh") ir::write_integer(ir::Scalar::kU64, bytes, 1);
      if (parameter.name == "x") std::memcpy(bytes, kAbove, sizeof(kAbove));
      launch.arguments.push_back(std::move(argument));
    }
    const Result<ComparedKernel> subject = ComparedKernel::with_launch(std::move(source), std::move(launch));
    if (!subject.ok()) throw std::runtime_error(subject.error().text());
    return subject->oracle().evaluate(subject->run(subject->sets().at(0))).decisions;
  };
  const reference::DecisionSummary undecided = undecided_with(1.0);
  for (const auto precision : {backends::Precision::kNative, backends::Precision::kPromoted}) {
    const auto number = static_cast<std::size_t>(precision);
    EXPECT_EQ(undecided.uncertain_decision_counts[number], 1);
    EXPECT_TRUE(undecided.is_enumerable[number]) << "the judge must accept either side";
    EXPECT_EQ(undecided_with(0.001).uncertain_decision_counts[number], 0) << "the others are too far away to matter";
  }
}

}  // namespace
}  // namespace assay::warp
