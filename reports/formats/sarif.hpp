// The findings of a run by source line, in SARIF 2.1.0, for code hosts that show them next to the code.
#pragma once

#include "reports/model/summary.hpp"

namespace assay::reports {

// Cases that are not as expected are errors, cases without a verdict are warnings, and uncovered code is a note. Random
// kernels, which have no file, are left out.
nlohmann::json sarif_json(const Run& run, const Summary& summary);

}  // namespace assay::reports
