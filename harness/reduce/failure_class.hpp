// The ending of a case that a reduced kernel must reproduce.
#pragma once

#include <string>

#include "harness/records/record.hpp"

namespace assay::reduce {

struct FailureClass {
  harness::Outcome outcome = harness::Outcome::pass;  ///< outcome of the case
  std::string outcome_detail;                         ///< kind of the outcome, as in CaseRecord::outcome_detail
  std::string mismatched_array;                       ///< array of the first mismatch; empty if there is none
  /// The words of the message without names and numbers, if only they identify the failure: the compiler error, the
  /// signal, the reason of a rejection.
  std::string normalized_message;

  friend bool operator==(const FailureClass&, const FailureClass&) = default;
};

FailureClass ending_of(const harness::CaseRecord& record);

/// Whether the record has this ending. A mismatch matches if the array is among the arrays with mismatches.
bool has_ending(const harness::CaseRecord& record, const FailureClass& ending);

/// "fail(mismatch) in grad_x", "crashed(signal)".
std::string to_text(const FailureClass& ending);

}  // namespace assay::reduce
