// The members of the template html/page.html, as final text.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

/// All members except style, script, data, security policy and those of strength_view. `changes` is null if there is no
/// baseline.
nlohmann::json page_view(const Run& run, const RunSummary& summary, const RunChanges* changes);

/// The changes since the baseline.
nlohmann::json changes_view(const RunChanges& changes);

/// Histogram of the maximum rho of the cases.
nlohmann::json margins_view(const Run& run);

/// Strength of the judge: incorrect results that it rejected in this run, and the mutation score, which may be null.
nlohmann::json strength_view(const Run& run, const nlohmann::json* mutation_score);

/// The grid of family by device and pass: members grid_devices, grid_columns, grid_rows, grid_totals.
nlohmann::json grid_view(const RunSummary& summary);

/// The expected failures, and the outcomes of the cases that they name.
nlohmann::json expectations_view(const Run& run);

/// The cases that are not as expected, by group, with sources up to a size limit.
nlohmann::json groups_view(const Run& run, const RunSummary& summary);

}  // namespace assay::reports
