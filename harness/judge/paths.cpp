#include "harness/judge/paths.hpp"

#include <utility>

namespace assay::harness {
namespace {

using reference::ReferenceResult;

/// Enumerates the paths that branch off from one: each uncertain decision after its flips may go the other way.
class PathWalk {
 public:
  PathWalk(const reference::Oracle& oracle, const reference::OracleRun& run, Precision precision)
      : oracle_(oracle), run_(run), precision_(precision) {
    run_.forced_path.precision = precision;
  }

  bool leave(const ReferenceResult& path, const std::vector<bool>& flipped_decisions) {
    const std::int64_t uncertain = path.decisions.uncertain_decision_counts[precision_];
    if (uncertain > kMaxUncertainDecisions || !path.decisions.is_enumerable[precision_]) return false;
    for (auto next = flipped_decisions.size(); next < static_cast<std::size_t>(uncertain); ++next) {
      std::vector<bool> other(next, false);
      std::copy(flipped_decisions.begin(), flipped_decisions.end(), other.begin());
      other.push_back(true);
      run_.forced_path.flipped_decisions = other;
      ReferenceResult reference = oracle_.evaluate(run_);
      if (!reference.is_complete || !reference.findings.empty()) return false;
      if (!leave(reference, other)) return false;
      found.push_back(std::move(reference));
    }
    return true;
  }

  std::vector<ReferenceResult> found;

 private:
  const reference::Oracle& oracle_;
  reference::OracleRun run_;
  Precision precision_;
};

}  // namespace

std::vector<ReferenceResult> find_alternative_paths(const reference::Oracle& oracle, const reference::OracleRun& run,
                                                    const ReferenceResult& swept, Precision precision) {
  PathWalk walk(oracle, run, precision);
  if (!walk.leave(swept, {})) return {};
  return std::move(walk.found);
}

}  // namespace assay::harness
