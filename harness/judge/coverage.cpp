#include "harness/judge/coverage.hpp"

#include <algorithm>
#include <string>

#include "ir/source_location.hpp"

namespace assay::harness {

using reference::BranchPoint;

namespace {

std::int64_t samples_missing(const BranchPoint& choice, std::size_t way) {
  return std::max<std::int64_t>(0, kRequiredSamplesPerBranch - choice.branch_counts[way]);
}

}  // namespace

void BranchCoverage::add(const std::vector<BranchPoint>& choices) {
  if (branch_points_.empty()) branch_points_ = choices;
  else {
    for (std::size_t c = 0; c < branch_points_.size(); ++c) {
      for (std::size_t way = 0; way < branch_points_[c].branch_count(); ++way)
        branch_points_[c].branch_counts[way] += choices[c].branch_counts[way];
    }
  }
}

std::int64_t BranchCoverage::missing_samples() const {
  std::int64_t sum = 0;
  for (const BranchPoint& choice : branch_points_) {
    for (std::size_t way = 0; way < choice.branch_count(); ++way)
      sum += samples_missing(choice, way);
  }
  return sum;
}

std::int64_t BranchCoverage::gain(const std::vector<BranchPoint>& choices) const {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < branch_points_.size(); ++c) {
    for (std::size_t way = 0; way < branch_points_[c].branch_count(); ++way)
      sum += std::min(samples_missing(branch_points_[c], way), choices[c].branch_counts[way]);
  }
  return sum;
}

std::vector<UncoveredBranch> BranchCoverage::uncovered(const ir::Module& module) const {
  std::vector<UncoveredBranch> gaps;
  for (const BranchPoint& choice : branch_points_) {
    for (std::size_t way = 0; way < choice.branch_count(); ++way) {
      if (samples_missing(choice, way) == 0) continue;
      const ir::SourceLocation place = ir::source_location(module, choice.loc);
      UncoveredBranch gap{.line = place.loc.line, .description = std::string(describe_uncovered(choice.kind, way))};
      if (place.file != module.source_name) gap.file = place.file;
      if (choice.branch_counts[way] > 0) gap.description += " except once";
      if (std::find(gaps.begin(), gaps.end(), gap) == gaps.end()) gaps.push_back(std::move(gap));
    }
  }
  return gaps;
}

}  // namespace assay::harness
