// assay report: the reports of a run that was recorded before.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/report_output.hpp"
#include "harness/record/expectation_file.hpp"
#include "harness/record/record_json.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
  std::string dir;
  std::string expect;
  std::string baseline;
  reports::ColorChoice color = reports::ColorChoice::automatic;
};

int report(const ReportOptions& options) {
  reports::ReportOptions how;
  if (!options.expect.empty()) {
    const auto expectations = harness::read_expectations(options.expect);
    if (!expectations.ok()) return fail(expectations.error());
    how.expectations = harness::to_json(*expectations);
  }
  if (!options.baseline.empty()) {
    Result<reports::Baseline> baseline = reports::read_baseline(options.baseline);
    if (!baseline.ok()) return fail(baseline.error());
    how.baseline = baseline.take();
  }
  const Result<reports::Reports> written = reports::write_reports(options.dir, how);
  if (!written.ok()) return fail(written.error());
  const Result<void> printed = print_closing(*written, options.color);
  return printed.ok() ? written->summary.verdict.exit_status : fail(printed.error());
}

}  // namespace

void add_report(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "Write a recorded run's reports again");
  command.add_option("DIR", options->dir, "The folder with the run's records.jsonl")->option_text(" ")->required();
  command.add_option("--expect", options->expect, "Failures that are known, in place of those that the run was given")
      ->option_text("FILE.csv");
  add_baseline_option(command, options->baseline);
  add_color_option(command, options->color);
  command.footer("Runs nothing, and so has no device option. The exit status is the run's.");
  command.callback([options, &invocation] { invocation.status = report(*options); });
}

}  // namespace assay::cli
