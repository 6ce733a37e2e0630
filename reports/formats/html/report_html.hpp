// DIR/report.html: a run on one page, for people.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// One file that asks for nothing outside of itself: its content-security policy names the hashes of its one style and
// its one script, and forbids everything else. Readable without JavaScript but for the list of all cases.
// `changes` is null where there is no baseline, `certification` (certification.schema.json) where there is none.
std::string report_html(const Run& run, const Summary& summary, const Changes* changes,
                        const nlohmann::json* mutation_score);

// 'sha256-...' for a Content-Security-Policy: the hash that admits an inline element with this text.
std::string csp_hash(std::string_view text);

}  // namespace assay::reports
