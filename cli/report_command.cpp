// assay report: the reports of a run that was recorded before.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report_output.hpp"
#include "harness/records/expectation_file.hpp"
#include "harness/records/merge.hpp"
#include "harness/records/record_json.hpp"
#include "support/tar_archive.hpp"
#include "support/terminal.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> dirs;
  bool merge = false;
  std::string output;  ///< of the merged run
  std::string expect;
  std::string baseline;
  std::string mutation_score;
  ColorChoice color = ColorChoice::automatic;
};

namespace fs = std::filesystem;

/// The folders of the runs in an archive, once it is unpacked.
Result<std::vector<fs::path>> runs_in(const fs::path& archive, const fs::path& folder) {
  const Result<std::vector<fs::path>> unpacked = unpack(archive, folder);
  if (!unpacked.ok()) return unpacked.error();
  std::vector<fs::path> runs;
  for (const fs::path& top : *unpacked) {
    if (top.filename() == reports::kRecordsFile) runs.push_back(folder);
    if (!fs::is_directory(top)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
      if (entry.path().filename() == reports::kRecordsFile) runs.push_back(entry.path().parent_path());
    }
  }
  if (runs.empty()) return Error{fmt::format("holds no run, no file {}", reports::kRecordsFile), archive.string()};
  std::ranges::sort(runs);
  return runs;
}

/// The folders of the runs to report: one, or those of an archive; with --merge it is made first.
Result<std::vector<fs::path>> runs_of(const ReportOptions& options) {
  if (options.merge) {
    const Result<void> merged =
        harness::merge_records({options.dirs.begin(), options.dirs.end()}, fs::path(options.output));
    if (!merged.ok()) return merged.error();
    return std::vector<fs::path>{options.output};
  }
  if (options.dirs.size() != 1)
    return Error{fmt::format("found {} folders, expected one; or --merge them", options.dirs.size())};
  const fs::path given = options.dirs.front();
  if (fs::is_regular_file(given)) return runs_in(given, options.output.empty() ? "." : options.output);
  if (!options.output.empty())
    return Error{"found --output, which an archive takes and --merge; a folder's reports go into it"};
  return std::vector<fs::path>{given};
}

int report(const ReportOptions& options) {
  Result<reports::ReportOptions> how = read_report_options(options.baseline, options.mutation_score);
  if (!how.ok()) return fail(how.error());
  if (!options.expect.empty()) {
    const auto expectations = harness::read_expectations(options.expect);
    if (!expectations.ok()) return fail(expectations.error());
    how->expectations = harness::to_json(*expectations);
  }
  const Result<std::vector<fs::path>> runs = runs_of(options);
  if (!runs.ok()) return fail(runs.error());
  int status = 0;
  for (const fs::path& run : *runs) {
    const Result<reports::Reports> written = reports::write_reports(run, *how);
    if (!written.ok()) return fail(written.error());
    const Result<void> printed = print_closing(*written, options.color);
    if (!printed.ok()) return fail(printed.error());
    if (status == 0) status = written->summary.verdict.exit_status;
  }
  return status;
}

}  // namespace

void add_report(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "Write a recorded run's reports again");
  command
      .add_option("DIR", options->dirs,
                  "The folder with the run's records.jsonl, or an archive of ci/gpu; with --merge, of each shard")
      ->option_text(" ")
      ->required();
  CLI::Option* const output =
      command
          .add_option("--output", options->output, "The folder for the merged run, or for what an archive holds [.]")
          ->option_text("DIR");
  CLI::Option* const merge = command.add_flag("--merge", options->merge, "First make one run of the shards of one");
  merge->needs(output);
  command.add_option("--expect", options->expect, "Failures that are known, in place of those that the run was given")
      ->option_text("FILE.csv");
  add_baseline_option(command, options->baseline);
  add_mutation_score_option(command, options->mutation_score);
  add_color_option(command, options->color);
  command.footer(
      "Runs nothing, and so has no device option. The exit status is the run's, of an archive's the first that is not "
      "0.");
  command.callback([options, &invocation] { invocation.status = report(*options); });
}

}  // namespace assay::cli
