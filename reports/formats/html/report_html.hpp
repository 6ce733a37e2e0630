// DIR/report.html: the report of a run as one page.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

/// A self-contained file: its content security policy allows only its style and its script, by hash. Readable without
/// JavaScript, except for the list of all cases. `changes` is null without a baseline; `mutation_score`
/// (certification.schema.json) is null if it is unknown.
std::string report_html(const Run& run, const RunSummary& summary, const RunChanges* changes,
                        const nlohmann::json* mutation_score);

/// 'sha256-...' for a Content-Security-Policy: the hash that allows an inline element with this text.
std::string csp_hash(std::string_view text);

}  // namespace assay::reports
