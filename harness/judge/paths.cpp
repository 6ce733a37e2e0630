#include "harness/judge/paths.hpp"

#include <utility>

namespace assay::harness {
namespace {

using reference::Reference;

/// Follows the paths that leave one: after its flips, each further uncertain decision of it may go the other way.
class PathWalk {
 public:
  PathWalk(const reference::Oracle& oracle, const reference::Run& run, Precision precision)
      : oracle_(oracle), run_(run), precision_(precision) {
    run_.forced.precision = precision;
  }

  bool leave(const Reference& path, const std::vector<bool>& flips) {
    const std::int64_t uncertain = path.decisions.uncertain[precision_];
    if (uncertain > kForcedDecisions || !path.decisions.enumerable[precision_]) return false;
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
  Precision precision_;
};

}  // namespace

std::vector<Reference> other_paths(const reference::Oracle& oracle, const reference::Run& run, const Reference& swept,
                                   Precision precision) {
  PathWalk walk(oracle, run, precision);
  if (!walk.leave(swept, {})) return {};
  return std::move(walk.found);
}

}  // namespace assay::harness
