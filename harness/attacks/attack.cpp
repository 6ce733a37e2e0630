#include "harness/attacks/attack.hpp"

#include <algorithm>
#include <iterator>

namespace assay::attacks {

std::vector<Attack> attack_set() {
  std::vector<Attack> attacks;
  for (std::vector<Attack>& part : std::vector{false_results(), early_ends(), used_up_resources(), escapes()})
    std::ranges::move(part, std::back_inserter(attacks));
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
