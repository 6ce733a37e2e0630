#include "harness/judge/coverage.hpp"

#include <algorithm>
#include <string>

#include "ir/source_location.hpp"

namespace assay::harness {

using reference::Choice;

namespace {

std::int64_t lacking_of(const Choice& choice, std::size_t way) {
  return std::max<std::int64_t>(0, kSamplesWanted - choice.taken[way]);
}

}  // namespace

void Coverage::add(const std::vector<Choice>& choices) {
  if (total_.empty()) total_ = choices;
  else {
    for (std::size_t c = 0; c < total_.size(); ++c) {
      for (std::size_t way = 0; way < total_[c].ways(); ++way)
        total_[c].taken[way] += choices[c].taken[way];
    }
  }
}

std::int64_t Coverage::lacking() const {
  std::int64_t sum = 0;
  for (const Choice& choice : total_) {
    for (std::size_t way = 0; way < choice.ways(); ++way)
      sum += lacking_of(choice, way);
  }
  return sum;
}

std::int64_t Coverage::gain(const std::vector<Choice>& choices) const {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < total_.size(); ++c) {
    for (std::size_t way = 0; way < total_[c].ways(); ++way)
      sum += std::min(lacking_of(total_[c], way), choices[c].taken[way]);
  }
  return sum;
}

std::vector<Uncovered> Coverage::gaps(const ir::Module& module) const {
  std::vector<Uncovered> gaps;
  for (const Choice& choice : total_) {
    for (std::size_t way = 0; way < choice.ways(); ++way) {
      if (lacking_of(choice, way) == 0) continue;
      const ir::SourceLocation place = ir::source_location(module, choice.loc);
      Uncovered gap{.line = place.loc.line, .what = std::string(never(choice.kind, way))};
      if (place.is_imported) gap.file = place.file;
      if (choice.taken[way] > 0) gap.what += " more than once";
      if (std::find(gaps.begin(), gaps.end(), gap) == gaps.end()) gaps.push_back(std::move(gap));
    }
  }
  return gaps;
}

}  // namespace assay::harness
