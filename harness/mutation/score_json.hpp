// DIR/certification.json: the score of a campaign, for reports (schemas/certification.schema.json).
#pragma once

#include <string>
#include <vector>

#include "harness/mutation/injected_fault.hpp"
#include "harness/mutation/ledger.hpp"
#include "harness/mutation/score.hpp"

namespace assay::mutation {

/// The false-positive corpus: correct kernels that a run judged, and the outcomes of their cases.
struct FalsePositiveCorpus {
  std::int64_t kernels = 0;                  ///< number of judged kernels
  std::int64_t cases = 0;                    ///< number of their cases
  std::int64_t inconclusive_case_count = 0;  ///< number of cases without a verdict
  /// Number of cases that failed although the kernel is correct: false positives.
  std::int64_t rejected_case_count = 0;
  std::vector<std::string> rejected_case_names = {};  ///< names of the rejected cases
};

/// The score as JSON. `injected_faults` is empty if no faults were injected.
std::string to_json_text(const MutationScore& score, const MutantLedgerHeader& head,
                         const FalsePositiveCorpus& controls, const std::vector<FaultResult>& injected_faults);

}  // namespace assay::mutation
