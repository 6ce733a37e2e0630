// DIR/report.json: a run in one document, for machines.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/run.hpp"
#include "reports/summary.hpp"

namespace assay::reports {

// As schemas/report.schema.json describes it.
nlohmann::json report_json(const Run& run, const Summary& summary);

}  // namespace assay::reports
