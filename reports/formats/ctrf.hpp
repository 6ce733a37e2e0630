// A run in the Common Test Report Format (https://ctrf.io), version 0.0.0 of its JSON Schema.
#pragma once

#include "reports/model/summary.hpp"

namespace assay::reports {

// Inconclusive cases, and planned cases that were not run, have the status failed, because they fail the run;
// unsupported cases are skipped, and expected failures are other.
nlohmann::json ctrf_json(const Run& run, const Summary& summary);

}  // namespace assay::reports
