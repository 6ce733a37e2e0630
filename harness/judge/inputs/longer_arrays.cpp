// Finds the arrays that must be longer than the launch, because a thread accesses elements behind its own, as in
// `x[i + 1]`.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/judge/inputs/input_space.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::Finding;

/// Extents of the two launches that are compared. In each dimension, they differ by another number, so that an extent
/// which exceeds one of them by the same number in both launches does not do so by chance.
constexpr std::int32_t kLaunchExtents[2][4] = {{3, 4, 5, 6}, {5, 7, 9, 11}};
/// By how many elements an array may exceed the launch, at most.
constexpr std::int32_t kMostExcess = 8;
/// Instruction limit of the oracle for one launch.
constexpr std::int64_t kBudget = 1'000'000;

}  // namespace

std::optional<InputSpace::LaunchWithExtents> InputSpace::draw_with_extents(std::size_t number,
                                                                           std::uint64_t seed) const {
  DrawRequest request{.seed = mixed(seed, number, 3), .size = kLaunchExtents[number][0], .instruction_budget = kBudget};
  for (std::size_t k = 1; k < max_launch_extent_.size(); ++k)
    request.chosen_extents.push_back({.dimension = k, .extent = kLaunchExtents[number][k]});
  auto drawn = trial().draw(request);
  auto* const launch = std::get_if<Launch>(&drawn);
  if (launch == nullptr) return std::nullopt;
  for (std::size_t k = 0; k < launch->extents.size(); ++k)
    if (launch->extents[k] != kLaunchExtents[number][k]) return std::nullopt;
  reference::OracleRun run = run_of(request, *launch);
  run.records_extents = true;
  reference::ReferenceResult result = oracle_->evaluate(run);
  if (!result.is_complete || !result.findings.empty()) return std::nullopt;
  return LaunchWithExtents{.launch = *std::move(launch), .accessed = std::move(result.accessed_extents)};
}

std::optional<Loc> InputSpace::access_behind_launch(const LaunchWithExtents& drawn, std::size_t parameter,
                                                    std::size_t dimension, std::size_t launch_dimension,
                                                    std::int32_t excess) const {
  const std::int32_t extent = drawn.launch.extents[launch_dimension];
  std::vector<std::vector<std::int32_t>> shapes;
  for (const Argument& argument : drawn.launch.arguments)
    shapes.push_back(argument.shape);
  shapes[parameter][dimension] = extent;
  const Launch shorter = cropped(drawn.launch, shapes);
  const reference::ReferenceResult result = oracle_->evaluate(run_of({.instruction_budget = kBudget}, shorter));
  const auto found = std::ranges::find_if(result.findings, [&](const Finding& finding) {
    return finding.kind == Finding::Kind::kOutOfBounds && finding.parameter == static_cast<VarId>(parameter) &&
           finding.index[dimension] == extent &&
           thread_numbers(finding.thread, shorter.extents)[launch_dimension] == extent - excess;
  });
  if (found == result.findings.end()) return std::nullopt;
  return found->loc;
}

std::vector<InputAssumption> InputSpace::longer_arrays(std::uint64_t seed) const {
  // Without an access outside an array, no array became longer than the launch.
  const bool has_grown = std::ranges::any_of(min_array_shape_, [](const std::vector<std::int32_t>& shape) {
    return std::ranges::any_of(shape, [](std::int32_t extent) { return extent > 0; });
  });
  const std::size_t rank = max_launch_extent_.size();
  if (!has_grown || uses_tiles_ || has_fixed_extents() || rank > std::size(kLaunchExtents[0])) return {};
  std::array<LaunchWithExtents, 2> drawn;
  for (std::size_t number = 0; number < drawn.size(); ++number) {
    auto found = draw_with_extents(number, seed);
    if (!found) return {};
    drawn[number] = *std::move(found);
  }
  std::vector<InputAssumption> assumptions;
  for (std::size_t p = 0; p < drawn[0].accessed.size(); ++p) {
    const std::string& name = kernel_->variables[p].name;
    if (is_spatial_path(name)) continue;
    for (std::size_t d = 0; d < drawn[0].accessed[p].size(); ++d) {
      for (std::size_t k = 0; k < rank; ++k) {
        const auto excess_in = [&](const LaunchWithExtents& one) { return one.accessed[p][d] - one.launch.extents[k]; };
        const std::int32_t excess = excess_in(drawn[0]);
        if (excess < 1 || excess > kMostExcess || excess_in(drawn[1]) != excess || is_extent_stated(k)) continue;
        const std::optional<Loc> loc = access_behind_launch(drawn[0], p, d, k, excess);
        if (!loc || !access_behind_launch(drawn[1], p, d, k, excess)) continue;
        std::vector<std::string> stated(rank, "_");
        stated[k] = fmt::format("{}.shape[{}] - {}", name, d, excess);
        assumptions.push_back(
            {.description = fmt::format(
                 "dimension {} of '{}' is at least {} longer than dimension {} of the launch, because of line {}", d,
                 name, excess, k, loc->line),
             .domain_comment = fmt::format("# launch: ({})", fmt::join(stated, ", "))});
        break;
      }
    }
  }
  return assumptions;
}

}  // namespace assay::harness
