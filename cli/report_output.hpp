// The inputs of reports next to a run, and the result of a run on the terminal.
#pragma once

#include "reports/formats/terminal.hpp"
#include "reports/report_files.hpp"
#include "support/result.hpp"
#include "support/terminal.hpp"

namespace assay::cli {

/// Prints the table of results and the path of the report.
Result<void> print_closing(const reports::WrittenReports& reports, ColorChoice color);

/// Reads the inputs of reports next to a run: a baseline (a run's folder or its failures.csv) and the folder of a
/// mutation score; empty: none.
Result<reports::ReportOptions> read_report_options(const std::string& baseline, const std::string& mutation_score);

}  // namespace assay::cli
