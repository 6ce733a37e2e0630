#include "harness/judge/coverage.hpp"

#include <algorithm>
#include <string>

#include "ir/source_location.hpp"

namespace assay::harness {

using reference::Choice;

namespace {

std::int64_t samples_missing(const Choice& choice, std::size_t way) {
  return std::max<std::int64_t>(0, kRequiredSamples - choice.branch_counts[way]);
}

}  // namespace

void Coverage::add(const std::vector<Choice>& choices) {
  if (choices_.empty()) choices_ = choices;
  else {
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      for (std::size_t way = 0; way < choices_[c].branch_count(); ++way)
        choices_[c].branch_counts[way] += choices[c].branch_counts[way];
    }
  }
}

std::int64_t Coverage::missing_samples() const {
  std::int64_t sum = 0;
  for (const Choice& choice : choices_) {
    for (std::size_t way = 0; way < choice.branch_count(); ++way)
      sum += samples_missing(choice, way);
  }
  return sum;
}

std::int64_t Coverage::gain(const std::vector<Choice>& choices) const {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    for (std::size_t way = 0; way < choices_[c].branch_count(); ++way)
      sum += std::min(samples_missing(choices_[c], way), choices[c].branch_counts[way]);
  }
  return sum;
}

std::vector<UncoveredBranch> Coverage::uncovered(const ir::Module& module) const {
  std::vector<UncoveredBranch> gaps;
  for (const Choice& choice : choices_) {
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
