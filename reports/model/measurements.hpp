// How fast launches ran, as a device with a clock of its own recorded: a table for the terminal, and its view for the
// page.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace assay::reports {

// All that was measured, what the columns mean, the ceilings, and below them what could not be measured; empty where
// nothing was asked to be.
std::string measurement_table(const Run& run, bool color);

// For the page: the same columns, rows of which no more than a page can hold, the ceilings and what could not be
// measured; null where nothing was asked to be.
nlohmann::json measurements_view(const Run& run);

}  // namespace assay::reports
