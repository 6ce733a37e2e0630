#include "harness/attacks/attack.hpp"

#include <algorithm>
#include <iterator>

namespace assay::attacks {

std::vector<Attack> attack_set() {
  std::vector<Attack> in_either;
  for (std::vector<Attack>& part : std::vector{abnormal_exits(), exhausted_resources(), escapes()})
    std::ranges::move(part, std::back_inserter(in_either));
  std::vector<Attack> attacks = incorrect_results();
  std::ranges::copy(in_either, std::back_inserter(attacks));
  std::ranges::move(incorrect_gradients(), std::back_inserter(attacks));
  for (Attack& attack : in_either) {
    if (attack.runs_when_loaded) continue;
    attack.name += "_in_backward";
    attack.pass = backends::Pass::kBackward;
    attacks.push_back(std::move(attack));
  }
  return attacks;
}

std::string_view to_text(Protection protection) {
  switch (protection) {
    case Protection::kResultComparison: return "the judge's checks";
    case Protection::kProcessIsolation: return "process isolation";
    case Protection::kResourceLimits: return "time and memory limits";
    case Protection::kSystemCallFilter: return "the system call filter";
    case Protection::kFileAccessRules: return "Landlock";
  }
  return "";
}

}  // namespace assay::attacks
