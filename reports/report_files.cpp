#include "reports/report_files.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "reports/formats/formats.hpp"
#include "reports/formats/html/report_html.hpp"
#include "reports/formats/markdown.hpp"
#include "reports/model/compilers.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"
#include "support/parallel.hpp"

namespace assay::reports {
namespace {

/// The data available to a format.
struct Content {
  const Run& run;
  const RunSummary& summary;
  const RunChanges* changes;             ///< null without a baseline
  const nlohmann::json* mutation_score;  ///< null if unknown
};

/// A report format: its file name, and a function that makes its text. An empty text is not written.
struct FormatRow {
  std::string_view file;
  std::string (*make)(const Content& content);
};

std::string text_of(const nlohmann::json& document) {
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string report_json_text(const Content& of) {
  const nlohmann::json report = report_json(of.run, of.summary, of.changes);
  if (const auto diagnostics = schemas::Validator(schemas::kReportSchemaText).diagnostics(report);
      !diagnostics.empty()) {
    std::fprintf(stderr, "assay: bug: report.json violates its schema: %s\n", diagnostics.front().text().c_str());
    std::abort();
  }
  return text_of(report);
}

std::string compilers_json_text(const Content& of) {
  const BuildMatrix matrix = build_matrix(of.run);
  return matrix.columns.empty() ? "" : text_of(build_json(matrix));
}

/// To add a format, write its function and add a row. The page is first because it takes longest.
constexpr std::array kFormats{
    FormatRow{kReportHtmlFileName,
              [](const Content& of) { return report_html(of.run, of.summary, of.changes, of.mutation_score); }},
    FormatRow{"trace.json", [](const Content& of) { return chrome_trace(of.run); }},
    FormatRow{"ctrf.json", [](const Content& of) { return text_of(ctrf_json(of.run, of.summary)); }},
    FormatRow{"junit.xml", [](const Content& of) { return junit_xml(of.run); }},
    FormatRow{kReportJsonFileName, report_json_text},
    FormatRow{"findings.sarif", [](const Content& of) { return text_of(sarif_json(of.run, of.summary)); }},
    FormatRow{"summary.md", [](const Content& of) { return summary_markdown(of.run, of.summary, of.changes); }},
    FormatRow{"compilers.json", compilers_json_text},
    FormatRow{"failures.csv", [](const Content& of) { return failures_csv(of.run); }},
};

}  // namespace

Result<WrittenReports> write_reports(const std::filesystem::path& dir, const ReportOptions& options) {
  Result<Run> run = read_run(dir, Damage::listed);
  if (!run.ok()) return run.error();
  if (options.expectations) apply_expectations(*run, *options.expectations);
  WrittenReports reports{.run = run.take(),
                         .summary = {},
                         .changes = {},
                         .json_path = dir / kReportJsonFileName,
                         .html_path = dir / kReportHtmlFileName};
  reports.summary = summarize(reports.run);
  if (options.baseline) reports.changes = changes_since(*options.baseline, reports.run);
  const Content content{.run = reports.run,
                        .summary = reports.summary,
                        .changes = reports.changes ? &*reports.changes : nullptr,
                        .mutation_score = options.mutation_score ? &*options.mutation_score : nullptr};
  std::array<std::string, kFormats.size()> texts;
  for_each_index_in_parallel(texts.size(), std::thread::hardware_concurrency(),
                             [&](std::size_t i) { texts[i] = kFormats[i].make(content); });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    if (Result<void> written = put_file(dir / kFormats[i].file, texts[i]); !written.ok()) return written.error();
  }
  return reports;
}

void remove_reports(const std::filesystem::path& dir) {
  std::error_code ignored;
  for (const FormatRow& format : kFormats)
    std::filesystem::remove(dir / format.file, ignored);
}

}  // namespace assay::reports
