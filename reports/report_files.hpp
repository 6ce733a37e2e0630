// Writes a run's reports next to its records, one file for each format in the table of report_files.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "reports/model/changes.hpp"
#include "reports/model/summary.hpp"
#include "support/result.hpp"

namespace assay::reports {

inline constexpr std::string_view kReportJsonFileName = "report.json";  ///< name in the run's folder
inline constexpr std::string_view kReportHtmlFileName = "report.html";  ///< name in the run's folder

/// What reports show in addition to the run.
struct ReportOptions {
  std::optional<nlohmann::json> expectations;    ///< expected failures that replace those of the run's start record
  std::optional<Baseline> baseline;              ///< earlier run to compare with
  std::optional<nlohmann::json> mutation_score;  ///< content of certification.json
};

/// The data of the reports, and where they were written.
struct WrittenReports {
  Run run;                            ///< the run
  RunSummary summary;                 ///< its summary
  std::optional<RunChanges> changes;  ///< changes since the baseline; empty without a baseline
  std::filesystem::path json_path;    ///< path of report.json
  std::filesystem::path html_path;    ///< path of report.html
};

/// Reads DIR/records.jsonl and writes one file for each format to DIR. Needs only the records, so that it can render
/// old runs. Each file is written atomically.
Result<WrittenReports> write_reports(const std::filesystem::path& dir, const ReportOptions& options = {});

/// Removes the reports of an earlier run, so that they are not mistaken for reports of the current one.
void remove_reports(const std::filesystem::path& dir);

}  // namespace assay::reports
