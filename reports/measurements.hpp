// How fast launches ran, as a device with a clock of its own recorded: a table for the terminal.
#pragma once

#include <string>

#include "reports/run.hpp"

namespace assay::reports {

// All that was measured, what the columns mean, the ceilings, and below them what could not be measured; empty where
// nothing was asked to be.
std::string measurement_table(const Run& run, bool color);

}  // namespace assay::reports
