// The ending of a case that a reduced kernel must reproduce.
#pragma once

#include <string>

#include "harness/records/record.hpp"

namespace assay::reduce {

/// How a case failed. Cases with the same failure class are taken for the same failure.
struct FailureClass {
  harness::Outcome outcome = harness::Outcome::pass;  ///< outcome of the case
  std::string outcome_detail;                         ///< kind of the outcome, as in CaseRecord::outcome_detail
  std::string mismatched_array;                       ///< array of the first mismatch; empty if there is none
  /// The words of the message without names and numbers, if only they identify the failure: the compiler error, the
  /// signal, the reason of a rejection.
  std::string normalized_message;

  friend bool operator==(const FailureClass&, const FailureClass&) = default;
};

/// The failure class of the recorded case.
FailureClass ending_of(const harness::CaseRecord& record);

/// Whether the recorded case failed in this way. A mismatch matches if its array is among the arrays with mismatches.
bool has_ending(const harness::CaseRecord& record, const FailureClass& ending);

/// The failure class as text: "fail(mismatch) in grad_x", "crashed(signal)".
std::string to_text(const FailureClass& ending);

}  // namespace assay::reduce
