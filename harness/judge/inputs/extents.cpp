// The extents of the launches and arrays that InputSpace draws.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/judge/inputs/input_space.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::harness {
namespace {

using namespace ir;

/// Number of meshes, hash grids and hierarchies of boxes, whatever the number of threads: threads share them.
constexpr std::int32_t kSpatialCount = 3;
/// Number of corners of a mesh that the kernel queries, whatever the number of threads: each query examines all faces.
constexpr std::int32_t kQueriedCorners = 24;
/// The same for a request of long arrays, if the kernel visits the faces in a loop: the boxes of so many faces overlap
/// a box in more trips than an adjoint has checkpoints.
constexpr std::int32_t kManyCorners = 600;
/// The array extent from which a request is one of long arrays.
constexpr std::int32_t kLongArray = 64;
/// Number of faces in the order of the faces that no mesh has.
constexpr std::int32_t kMissingFaces = 2;
/// Number of points of a hash grid and of boxes of a hierarchy, whatever the number of threads.
constexpr std::int32_t kQueriedPoints = 16;

}  // namespace

std::uint64_t InputSpace::mixed(std::uint64_t seed, std::uint64_t attempt, std::uint64_t salt) {
  return (seed * 0x9E3779B97F4A7C15U) ^ (attempt * 0xD1B54A32D192ED03U) ^ (salt * 0x8CB92BA72F3D8DD7U);
}

/// An extent of DrawRequest::has_independent_extents; the launch has number 0, and the parameters follow.
std::int32_t InputSpace::independent_extent(const DrawRequest& request, std::size_t number, std::size_t dimension) {
  Rng rng(mixed(request.seed, number, dimension));
  if (request.has_round_extents) {
    const std::int32_t unit = std::max(request.array_extent, 1);
    return unit * rng.uniform_int<std::int32_t>(1, std::max(request.most_round_extent / unit, 1));
  }
  return rng.uniform_int<std::int32_t>(2, std::max(request.array_extent, 2));
}

std::int32_t InputSpace::chosen_extent(const DrawRequest& request, VarId parameter, std::size_t dimension) {
  for (const DrawRequest::ChosenExtent& chosen : request.chosen_extents)
    if (chosen.parameter == parameter && chosen.dimension == dimension) return chosen.extent;
  return 0;
}

std::int32_t InputSpace::round_extent(const DrawRequest& request, std::size_t dimension) {
  // Neighboring dimensions differ, so that swapped indices are detected.
  return dimension % 2 == 0 ? request.array_extent : 2 * request.array_extent;
}

void InputSpace::choose_extents(Launch& launch, const DrawRequest& request) const {
  if (!fixed_launch_extents_.empty()) {
    launch.extents.assign(fixed_launch_extents_.begin(), fixed_launch_extents_.end());
    return;
  }
  // The extents of the dimensions differ, so that swapped indices are detected.
  static constexpr std::int32_t kFurther[3] = {5, 3, 2};
  for (int d = 0; d < kernel_->launch_rank; ++d) {
    std::int32_t wanted = d == 0 ? request.size : kFurther[d - 1];
    if (request.size <= kThreadSamplingThreshold) wanted = std::min(wanted, max_drawn_extent_);
    // Arrays of exact extents are only as long as the launch makes them.
    const bool is_last = d > 0 && d + 1 == kernel_->launch_rank;
    if (is_last && array_extents_ == ArrayExtents::kExact && request.array_extent > 0) wanted = request.array_extent;
    const auto dimension = static_cast<std::size_t>(d);
    if (d > 0 && request.has_independent_extents) wanted = independent_extent(request, 0, dimension);
    else if (d > 0 && request.has_round_extents) wanted = round_extent(request, dimension);
    if (const std::int32_t chosen = chosen_extent(request, kNone, dimension); chosen > 0) wanted = chosen;
    if (uses_tiles_) wanted = std::min(wanted, d == 0 ? 3 : 2);
    launch.extents.push_back(std::min(wanted, max_launch_extent_[dimension]));
  }
}

std::int32_t InputSpace::spatial_extent(std::string_view path, std::size_t dimension,
                                        const DrawRequest& request) const {
  if (!ir::is_spatial_path(path)) return 0;
  const bool has_many = visits_faces_ && request.array_extent >= kLongArray;
  const std::int32_t corners = has_many ? kManyCorners : kQueriedCorners;
  // All meshes share the order, so it may be longer than the faces of one. Not so if the kernel looks up their groups.
  if (path == ir::kMeshOrderPath) return corners / 3 + (has_groups_of_faces_ ? 0 : kMissingFaces);
  if (path == ir::kMeshGroupsPath && dimension > 0) return corners / 3;
  if (path == ir::kGridOrderPath || path == ir::kBvhOrderPath) return kQueriedPoints;
  if (dimension == 0) return kSpatialCount;
  // Few values, so that coordinates from 0 to 1 meet each of them, and different numbers of them in each dimension.
  if (path.starts_with(ir::kTexturePathPrefix) || path.starts_with(ir::kVolumePathPrefix))
    return static_cast<std::int32_t>(dimension) + 2;
  if (!path.starts_with(ir::kMeshPathPrefix)) return kQueriedPoints;
  const auto& queried = preconditions_.must_be_separate_triangles;
  return std::ranges::find(queried, true) == queried.end() ? 0 : corners;
}

std::vector<std::int32_t> InputSpace::thread_numbers(std::int64_t thread, const std::vector<std::int32_t>& extents) {
  std::vector<std::int32_t> numbers(extents.size());
  for (std::size_t d = numbers.size(); d-- > 0;) {
    const std::int64_t extent = std::max(extents[d], 1);
    numbers[d] = static_cast<std::int32_t>(thread % extent);
    thread /= extent;
  }
  return numbers;
}

std::string InputSpace::launch_hint(const reference::Finding& race, const std::vector<std::int32_t>& extents) const {
  if (kernel_->launch_rank < 2 || !preconditions_.launch_extents.empty()) return "";
  const std::vector<std::int32_t> first = thread_numbers(race.thread, extents);
  const std::vector<std::int32_t> second = thread_numbers(race.earlier_thread, extents);
  std::size_t dimension = extents.size();
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (first[d] != second[d]) dimension = d;
  if (dimension == extents.size()) return "";
  const std::int32_t most = std::max(first[dimension], second[dimension]);
  std::vector<std::string> stated(extents.size(), "_");
  stated[dimension] = std::to_string(most);
  return fmt::format(
      "; if launches have at most {} {} in dimension {}, state the extent in a comment above the kernel, "
      "such as # launch: ({})",
      most, most == 1 ? "thread" : "threads", dimension, fmt::join(stated, ", "));
}

std::int32_t InputSpace::annotated_extent(std::size_t dimension) const {
  if (dimension >= preconditions_.launch_extents.size() ||
      preconditions_.launch_extents[dimension].kind != PreconditionTerm::Kind::kNumber)
    return 0;
  return static_cast<std::int32_t>(
      std::clamp(preconditions_.launch_extents[dimension].number, 0.0, double{kLargestExtent}));
}

std::int32_t InputSpace::other_extent(std::int32_t usual, const DrawRequest& request, std::size_t number,
                                      std::size_t dimension, std::size_t rank) {
  const std::uint64_t drawn = mixed(request.seed, dimension, number);
  if (request.extents_of_arrays == DrawRequest::ExtentsOfArrays::kGreater)
    return usual + 1 + static_cast<std::int32_t>(drawn % 3);
  if (number < request.has_usual_extents.size() && request.has_usual_extents[number]) return usual;
  if (number < request.accessed_extents.size() && dimension < request.accessed_extents[number].size() &&
      request.accessed_extents[number][dimension] > 0)
    usual = request.accessed_extents[number][dimension];
  if (request.extents_of_arrays == DrawRequest::ExtentsOfArrays::kOneShort)
    return std::max(usual - (dimension == request.short_dimension % rank ? 1 : 0), 0);
  switch (drawn % 8) {
    case 0: return 0;
    case 1:
    case 2: return std::min(usual, 1 + static_cast<std::int32_t>(drawn / 8 % 3));
    case 3: return usual + 1 + static_cast<std::int32_t>(drawn / 8 % 3);
    default: return std::max(usual - 1 - static_cast<std::int32_t>(drawn / 8 % 3), std::min(usual, 1));
  }
}

std::int32_t InputSpace::tile_extent(std::size_t parameter, std::size_t dimension, const DrawRequest& request) const {
  const std::int32_t whole = min_shape_covering_tiles_[parameter][dimension];
  const bool is_whole = has_whole_tiles_ || request.seed % 2 == 0;
  // Three sets in turn cut 0, 1 and 2 elements off each dimension.
  const std::uint64_t turn = request.seed / 2 + mixed(0, dimension, parameter) % 3;
  const auto cut = static_cast<std::int32_t>(is_whole ? 0 : turn % 3);
  return std::max(whole - cut, std::min(whole, 1));
}

}  // namespace assay::harness
