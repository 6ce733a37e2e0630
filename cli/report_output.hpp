// How a run closes on the terminal.
#pragma once

#include "ir/support/result.hpp"
#include "reports/report_files.hpp"
#include "reports/terminal.hpp"

namespace assay::cli {

/// Prints the closing table and where the report is.
Result<void> print_closing(const reports::Reports& reports, reports::ColorChoice color);

}  // namespace assay::cli
