#include "reports/report_files.hpp"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "reports/formats/ctrf.hpp"
#include "reports/formats/failures_csv.hpp"
#include "reports/formats/html/report_html.hpp"
#include "reports/formats/junit.hpp"
#include "reports/formats/markdown.hpp"
#include "reports/formats/report_json.hpp"
#include "reports/formats/sarif.hpp"
#include "reports/formats/trace.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"
#include "support/parallel.hpp"

namespace assay::reports {
namespace {

std::string text_of(const nlohmann::json& document) {
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<Reports> write_reports(const std::filesystem::path& dir, const ReportOptions& options) {
  Result<Run> run = read_run(dir, Damage::listed);
  if (!run.ok()) return run.error();
  if (options.expectations) hold_to(*run, *options.expectations);
  Reports reports{
      .run = run.take(), .summary = {}, .changes = {}, .json = dir / kReportJsonFile, .html = dir / kReportHtmlFile};
  reports.summary = summarise(reports.run);
  if (options.baseline) reports.changes = changes_since(*options.baseline, reports.run);
  const Changes* const changes = reports.changes ? &*reports.changes : nullptr;

  const nlohmann::json* const mutation_score = options.mutation_score ? &*options.mutation_score : nullptr;
  const nlohmann::json report = report_json(reports.run, reports.summary, changes);
  if (const auto diagnostics = schemas::Validator(schemas::kReportSchemaText).diagnostics(report);
      !diagnostics.empty()) {
    std::fprintf(stderr, "assay: bug: report.json breaks its schema: %s\n", diagnostics.front().text().c_str());
    std::abort();
  }
  struct File {
    std::string_view name;
    std::function<std::string()> make;  // the page, which takes longest, first
    std::string text = {};
  };
  File files[] = {{kReportHtmlFile, [&] { return report_html(reports.run, reports.summary, changes, mutation_score); }},
                  {kTraceFile, [&] { return chrome_trace(reports.run); }},
                  {kCtrfFile, [&] { return text_of(ctrf_json(reports.run, reports.summary)); }},
                  {kJunitFile, [&] { return junit_xml(reports.run); }},
                  {kReportJsonFile, [&] { return text_of(report); }},
                  {kSarifFile, [&] { return text_of(sarif_json(reports.run, reports.summary)); }},
                  {kMarkdownFile, [&] { return summary_markdown(reports.run, reports.summary, changes); }},
                  {kFailuresFile, [&] { return failures_csv(reports.run); }}};
  for_each_index(std::size(files), std::thread::hardware_concurrency(),
                 [&](std::size_t i) { files[i].text = files[i].make(); });
  for (const File& file : files) {
    if (Result<void> written = put_file(dir / file.name, file.text); !written.ok()) return written.error();
  }
  return reports;
}

}  // namespace assay::reports
