// DIR/report.json: a run in one document, for machines.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// As schemas/report.schema.json describes it; `changes` is null where there is no baseline.
nlohmann::json report_json(const Run& run, const Summary& summary, const Changes* changes);

}  // namespace assay::reports
