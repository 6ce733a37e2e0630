// Writes a run's reports beside its records.
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
inline constexpr std::string_view kJunitFile = "junit.xml";
inline constexpr std::string_view kCtrfFile = "ctrf.json";
inline constexpr std::string_view kSarifFile = "findings.sarif";
inline constexpr std::string_view kMarkdownFile = "summary.md";
inline constexpr std::string_view kFailuresFile = "failures.csv";
inline constexpr std::string_view kTraceFile = "trace.json";

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

// Reads DIR/records.jsonl and writes the files named above into DIR; needs nothing but the records, and so renders old
// runs too. Each file appears whole or not at all.
Result<Reports> write_reports(const std::filesystem::path& dir, const ReportOptions& options = {});

}  // namespace assay::reports
