// What a run found, at lines of source, in SARIF 2.1.0: for code hosts that show it beside the code.
#pragma once

#include "reports/model/summary.hpp"

namespace assay::reports {

// Cases that are not as expected are errors, those without a verdict warnings, code that was not reached notes. Random
// kernels, which lie in no file, are left out.
nlohmann::json sarif_json(const Run& run, const Summary& summary);

}  // namespace assay::reports
