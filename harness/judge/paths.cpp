#include "harness/judge/paths.hpp"

#include <utility>

namespace assay::harness {
namespace {

using reference::Reference;

/// Follows the paths that leave one: after its flips, each further uncertain decision of it may go the other way.
class PathWalk {
 public:
  PathWalk(const reference::Oracle& oracle, const reference::Run& run, Lane lane)
      : oracle_(oracle), run_(run), lane_(lane) {
    run_.forced.lane = lane;
  }

  bool leave(const Reference& path, const std::vector<bool>& flips) {
    const std::int64_t uncertain = path.decisions.uncertain[lane_];
    if (uncertain > kForcedDecisions || !path.decisions.enumerable[lane_]) return false;
    for (auto next = flips.size(); next < static_cast<std::size_t>(uncertain); ++next) {
      std::vector<bool> other(next, false);
      std::copy(flips.begin(), flips.end(), other.begin());
      other.push_back(true);
      run_.forced.flips = other;
      Reference reference = oracle_.evaluate(run_);
      if (!reference.complete || !reference.findings.empty()) return false;
      if (!leave(reference, other)) return false;
      found.push_back(std::move(reference));
    }
    return true;
  }

  std::vector<Reference> found;

 private:
  const reference::Oracle& oracle_;
  reference::Run run_;
  Lane lane_;
};

}  // namespace

std::vector<Reference> other_paths(const reference::Oracle& oracle, const reference::Run& run, const Reference& swept,
                                   Lane lane) {
  PathWalk walk(oracle, run, lane);
  if (!walk.leave(swept, {})) return {};
  return std::move(walk.found);
}

}  // namespace assay::harness
