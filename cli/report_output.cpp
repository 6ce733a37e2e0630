#include "cli/report_output.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "reports/model/mutation_score.hpp"

namespace assay::cli {

Result<void> print_closing(const reports::WrittenReports& reports, ColorChoice color) {
  std::error_code error;
  const std::filesystem::path page = std::filesystem::absolute(reports.html_path, error);
  std::string changes;
  if (reports.changes)
    changes = fmt::format("since {}: {}\n", reports.changes->baseline_label, reports::changes_text(*reports.changes));
  return print(fmt::format("{}{}report: {}\n",
                           reports::closing_table(reports.run, reports.summary, use_color_on_stdout(color)), changes,
                           (error ? reports.html_path : page).lexically_normal().string()));
}

Result<reports::ReportOptions> read_report_options(const std::string& baseline, const std::string& mutation_score) {
  reports::ReportOptions options;
  if (!baseline.empty()) {
    Result<reports::Baseline> read = reports::read_baseline(baseline);
    if (!read.ok()) return read.error();
    options.baseline = read.take();
  }
  if (!mutation_score.empty()) {
    Result<nlohmann::json> read = reports::read_mutation_score(mutation_score);
    if (!read.ok()) return read.error();
    options.mutation_score = read.take();
  }
  return options;
}

}  // namespace assay::cli
