#include "harness/attacks/attack.hpp"

#include <algorithm>
#include <iterator>

namespace assay::attacks {

std::vector<Attack> attack_set() {
  std::vector<Attack> in_either;
  for (std::vector<Attack>& part : std::vector{early_ends(), used_up_resources(), escapes()})
    std::ranges::move(part, std::back_inserter(in_either));
  std::vector<Attack> attacks = false_results();
  std::ranges::copy(in_either, std::back_inserter(attacks));
  std::ranges::move(false_gradients(), std::back_inserter(attacks));
  for (Attack& attack : in_either) {
    if (attack.when_loaded) continue;
    attack.name += "_in_backward";
    attack.pass = backends::Pass::kBackward;
    attacks.push_back(std::move(attack));
  }
  return attacks;
}

std::string_view to_text(Guard guard) {
  switch (guard) {
    case Guard::kJudge: return "the judge's comparisons";
    case Guard::kProcess: return "a process of its own";
    case Guard::kLimits: return "limits of time and memory";
    case Guard::kSystemCalls: return "the filter of system calls";
    case Guard::kFiles: return "Landlock";
  }
  return "";
}

}  // namespace assay::attacks
