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

inline constexpr std::string_view kReportJsonFile = "report.json";
inline constexpr std::string_view kReportHtmlFile = "report.html";

struct ReportOptions {
  std::optional<nlohmann::json> expectations;  // in place of those of the run's start
  std::optional<Baseline> baseline;
  std::optional<nlohmann::json> mutation_score;  // of certification.schema.json, for how strong the judge is
};

struct Reports {
  Run run;
  Summary summary;
  std::optional<Changes> changes;  // since the baseline
  std::filesystem::path json;
  std::filesystem::path html;
};

// Reads DIR/records.jsonl and writes one file for each format into DIR. It needs only the records, so it renders old
// runs too. Each file appears whole or not at all.
Result<Reports> write_reports(const std::filesystem::path& dir, const ReportOptions& options = {});

// Removes the reports of an earlier run, which would be mistaken for those of the run that now writes to the folder.
void remove_reports(const std::filesystem::path& dir);

}  // namespace assay::reports
