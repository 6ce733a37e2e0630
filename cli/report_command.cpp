// assay report: the reports of a run that was recorded before.
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/report_output.hpp"
#include "harness/record/expectation_file.hpp"
#include "harness/record/merge.hpp"
#include "harness/record/record_json.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> dirs;
  bool merge = false;
  std::string output;  ///< of the merged run
  std::string expect;
  std::string baseline;
  std::string certification;
  reports::ColorChoice color = reports::ColorChoice::automatic;
};

/// The folder of the run to report; with --merge it is made first.
Result<std::filesystem::path> run_of(const ReportOptions& options) {
  if (!options.merge) {
    if (options.dirs.size() == 1) return std::filesystem::path(options.dirs.front());
    return Error{fmt::format("found {} folders, expected one; or --merge them", options.dirs.size())};
  }
  const Result<void> merged =
      harness::merge_records({options.dirs.begin(), options.dirs.end()}, std::filesystem::path(options.output));
  if (!merged.ok()) return merged.error();
  return std::filesystem::path(options.output);
}

int report(const ReportOptions& options) {
  Result<reports::ReportOptions> how = read_report_options(options.baseline, options.certification);
  if (!how.ok()) return fail(how.error());
  if (!options.expect.empty()) {
    const auto expectations = harness::read_expectations(options.expect);
    if (!expectations.ok()) return fail(expectations.error());
    how->expectations = harness::to_json(*expectations);
  }
  const Result<std::filesystem::path> dir = run_of(options);
  if (!dir.ok()) return fail(dir.error());
  const Result<reports::Reports> written = reports::write_reports(*dir, *how);
  if (!written.ok()) return fail(written.error());
  const Result<void> printed = print_closing(*written, options.color);
  return printed.ok() ? written->summary.verdict.exit_status : fail(printed.error());
}

}  // namespace

void add_report(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "Write a recorded run's reports again");
  command.add_option("DIR", options->dirs, "The folder with the run's records.jsonl; with --merge, of each shard")
      ->option_text(" ")
      ->required();
  CLI::Option* const output =
      command.add_option("--output", options->output, "The folder for the merged run")->option_text("DIR");
  CLI::Option* const merge = command.add_flag("--merge", options->merge, "First make one run of the shards of one");
  merge->needs(output);
  output->needs(merge);
  command.add_option("--expect", options->expect, "Failures that are known, in place of those that the run was given")
      ->option_text("FILE.csv");
  add_baseline_option(command, options->baseline);
  add_certification_option(command, options->certification);
  add_color_option(command, options->color);
  command.footer("Runs nothing, and so has no device option. The exit status is the run's.");
  command.callback([options, &invocation] { invocation.status = report(*options); });
}

}  // namespace assay::cli
