// DIR/report.json: a run as one machine-readable document.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// Follows schemas/report.schema.json; `changes` is null without a baseline.
nlohmann::json report_json(const Run& run, const Summary& summary, const Changes* changes);

}  // namespace assay::reports
