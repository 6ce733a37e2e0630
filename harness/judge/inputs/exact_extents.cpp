// The exact extents of arrays: those that the accesses of a launch need.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/judge/inputs/input_space.hpp"

namespace assay::harness {
namespace {

using namespace ir;

/// Number of draws of other values that show whether the accesses depend on values.
constexpr std::uint64_t kDrawsOfValues = 6;
/// Number of them that must need the greatest extent.
constexpr int kAgreeingDraws = 2;

}  // namespace

bool InputSpace::can_have_independent_extents() const {
  if (array_extents_ != ArrayExtents::kExact) return false;
  for (std::size_t p = 0; p < data_dependences_.size(); ++p)
    if (parameter_uses_[p].changed() && data_dependences_[p].computes_index()) return false;
  return true;
}

std::vector<std::vector<std::int32_t>> InputSpace::extents_for_other_values(
    const DrawRequest& request, const Launch& launch, const std::vector<std::vector<std::int32_t>>& accessed) const {
  if (std::ranges::none_of(data_dependences_, &DataDependence::any)) return {};
  std::vector<std::vector<std::int32_t>> greatest = accessed;
  std::vector<std::vector<int>> count;  // of the draws that need the greatest extent
  for (const std::vector<std::int32_t>& extents : accessed)
    count.emplace_back(extents.size(), 0);
  for (std::uint64_t draw = 1; draw <= kDrawsOfValues; ++draw) {
    // With the values of the request, a branch may never be taken.
    const DrawRequest other_request{.seed = mixed(request.seed, draw, 2), .array_extent = request.array_extent};
    Launch other = launch;
    bind_values(other, other_request, 0);
    for (std::size_t p = 0; p < launch.arguments.size(); ++p)
      if (!launch.arguments[p].type.is_array()) other.arguments[p] = launch.arguments[p];
    reference::OracleRun run = run_of(request, other);
    run.thread_order.clear();
    run.reports_only_accessed_elements = true;
    run.records_extents = true;
    const reference::ReferenceResult result = oracle_->evaluate(run);
    if (!result.is_complete || !result.findings.empty()) continue;
    for (std::size_t p = 0; p < accessed.size(); ++p) {
      for (std::size_t d = 0; d < accessed[p].size(); ++d) {
        const std::int32_t needed = result.accessed_extents[p][d];
        if (needed > greatest[p][d]) count[p][d] = 0;
        greatest[p][d] = std::max(greatest[p][d], needed);
        count[p][d] += needed == greatest[p][d] ? 1 : 0;
      }
    }
  }
  for (std::size_t p = 0; p < greatest.size(); ++p)
    for (std::size_t d = 0; d < greatest[p].size(); ++d)
      if (count[p][d] < kAgreeingDraws) greatest[p][d] = 0;
  return greatest;
}

std::optional<std::vector<std::vector<std::int32_t>>> InputSpace::exact_extents(
    const DrawRequest& request, const Launch& launch, std::vector<std::vector<std::int32_t>> accessed) const {
  const std::vector<std::vector<std::int32_t>> of_other_values = extents_for_other_values(request, launch, accessed);
  // By dimension and extent in the launch: the extent that the accesses need; 0 where two arrays differ.
  std::map<std::pair<std::size_t, std::int32_t>, std::int32_t> needed;
  // The extents that other arrays may share.
  std::vector<std::int32_t> known = launch.extents;
  const auto depends_on_data = [&](std::size_t p, std::size_t d) {
    return data_dependences_[p].is_conditional || data_dependences_[p].has_computed_index[d];
  };
  for (std::size_t p = 0; p < accessed.size(); ++p) {
    const std::vector<std::int32_t>& shape = launch.arguments[p].shape;
    if (!data_dependences_[p].is_conditional && std::ranges::find(accessed[p], 0) != accessed[p].end()) {
      accessed[p] = shape;
      continue;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (depends_on_data(p, d)) continue;
      known.push_back(accessed[p][d]);
      const auto [entry, is_new] = needed.try_emplace({d, shape[d]}, accessed[p][d]);
      if (!is_new && entry->second != accessed[p][d]) entry->second = 0;
    }
  }
  for (std::size_t p = 0; p < accessed.size(); ++p) {
    const std::vector<std::int32_t>& shape = launch.arguments[p].shape;
    if (accessed[p] == shape) continue;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!depends_on_data(p, d)) continue;
      if (!data_dependences_[p].has_computed_index[d] && of_other_values[p][d] > 0) {
        accessed[p][d] = of_other_values[p][d];
        continue;
      }
      const std::int32_t extent = accessed[p][d];
      // Independent extents are equal by chance.
      const auto entry = request.has_independent_extents ? needed.end() : needed.find({d, shape[d]});
      const bool is_shared = extent > 0 && std::ranges::find(known, extent) != known.end();
      if (entry != needed.end() && entry->second > 0 && entry->second >= extent) accessed[p][d] = entry->second;
      else if (data_dependences_[p].has_computed_index[d] && is_shared) continue;
      else if (data_dependences_[p].has_computed_index[d] || !request.has_independent_extents)
        accessed[p][d] = shape[d];
      else return std::nullopt;
    }
  }
  return accessed;
}

}  // namespace assay::harness
