// assay report: the reports of a run that was recorded before.
#include <memory>

#include <fmt/format.h>

#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/report_output.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
  std::string dir;
  reports::ColorChoice color = reports::ColorChoice::automatic;
};

int report(const ReportOptions& options) {
  const Result<reports::Reports> written = reports::write_reports(options.dir);
  if (!written.ok()) return fail(written.error());
  const Result<void> printed = print_closing(*written, options.color);
  return printed.ok() ? written->summary.verdict.exit_status : fail(printed.error());
}

}  // namespace

void add_report(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "Write a recorded run's reports again");
  command.add_option("DIR", options->dir, "The folder with the run's records.jsonl")->option_text(" ")->required();
  add_color_option(command, options->color);
  command.footer("Runs nothing, and so has no device option. The exit status is the run's.");
  command.callback([options, &invocation] { invocation.status = report(*options); });
}

}  // namespace assay::cli
