// How a case ended, as far as a smaller kernel must end in the same way.
#pragma once

#include <string>

#include "harness/records/record.hpp"

namespace assay::reduce {

struct Ending {
  harness::Outcome outcome = harness::Outcome::pass;
  std::string kind;
  std::string array;  ///< of the first mismatch; empty where there is none
  /// The words of the message, without names and numbers, where only they tell apart what went wrong: the compiler's
  /// error, the signal, the reason of a refusal.
  std::string words;

  friend bool operator==(const Ending&, const Ending&) = default;
};

Ending ending_of(const harness::CaseRecord& record);

/// Whether the record ended in this way. Of mismatches that means that the array is among those with one.
bool ended_so(const harness::CaseRecord& record, const Ending& ending);

/// "fail(mismatch) in grad_x", "crashed(signal)".
std::string to_text(const Ending& ending);

}  // namespace assay::reduce
