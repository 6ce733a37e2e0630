// Launch times recorded by a device with its own clock: a table for the terminal, and a view for the page.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace assay::reports {

/// All measurements, with the meaning of the columns, the measured limits, and notes on what could not be measured;
/// empty if no measurements were requested.
std::string measurement_table(const Run& run, bool color);

/// The measurements for the page, with at most kMaxRowsPerPage rows; null if no measurements were requested.
nlohmann::json measurements_view(const Run& run);

}  // namespace assay::reports
