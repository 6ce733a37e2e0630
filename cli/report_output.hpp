// What reports are given beside a run, and how a run closes on the terminal.
#pragma once

#include "reports/formats/terminal.hpp"
#include "reports/report_files.hpp"
#include "support/result.hpp"

namespace assay::cli {

/// Prints the closing table and where the report is.
Result<void> print_closing(const reports::Reports& reports, reports::ColorChoice color);

/// What reports are given beside a run: a baseline (a folder, or its failures.csv) and the folder of a certification;
/// empty: none.
Result<reports::ReportOptions> read_report_options(const std::string& baseline, const std::string& mutation_score);

}  // namespace assay::cli
