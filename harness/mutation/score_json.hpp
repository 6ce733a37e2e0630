// DIR/certification.json: a campaign's score, for reports (schemas/certification.schema.json).
#pragma once

#include <string>
#include <vector>

#include "harness/mutation/injected_fault.hpp"
#include "harness/mutation/ledger.hpp"
#include "harness/mutation/score.hpp"

namespace assay::mutation {

/// Right kernels that a run judged, and what became of their cases.
struct Controls {
  std::int64_t kernels = 0;
  std::int64_t cases = 0;
  std::int64_t inconclusive = 0;
  std::int64_t rejected = 0;             ///< false alarms
  std::vector<std::string> alarms = {};  ///< names of the rejected
};

/// Without `plants` none were planted.
std::string to_json_text(const Score& score, const LedgerHead& head, const Controls& controls,
                         const std::vector<FaultResult>& injected_faults);

}  // namespace assay::mutation
