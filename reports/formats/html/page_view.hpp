// The members that html/page.html shows, as text that needs no more thought.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// Everything of the page but its style, script, data, security policy and what strength_view gives. `changes` is null
// where there is no baseline.
nlohmann::json page_view(const Run& run, const Summary& summary, const Changes* changes);

// What changed since the baseline.
nlohmann::json changes_view(const Changes& changes);

// How many cases used up which share of their bounds: bars of a histogram of their greatest rho.
nlohmann::json margins_view(const Run& run);

// How strong the judge was: wrong results that it refused in this run, and the score of a certification, which may be
// null.
nlohmann::json strength_view(const Run& run, const nlohmann::json* mutation_score);

// The grid of family by device and pass: members grid_devices, grid_columns, grid_rows, grid_totals.
nlohmann::json grid_view(const Summary& summary);

// The lines of the expectations, and what became of their cases.
nlohmann::json expectations_view(const Run& run);

// The cases that are not as expected, in their groups, with sources as far as they fit.
nlohmann::json groups_view(const Run& run, const Summary& summary);

}  // namespace assay::reports
