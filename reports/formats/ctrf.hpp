// A run in the Common Test Report Format (https://ctrf.io), version 0.0.0 of its JSON Schema.
#pragma once

#include "reports/model/summary.hpp"

namespace assay::reports {

// Inconclusive and planned but not run cases are failed, as they turn the run red; unsupported ones are skipped,
// and failures that an expectation bears are other.
nlohmann::json ctrf_json(const Run& run, const Summary& summary);

}  // namespace assay::reports
