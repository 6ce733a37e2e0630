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
#include "harness/records/merge.hpp"
#include "harness/records/record_json.hpp"
#include "harness/records/record_reader.hpp"
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
  const Result<std::vector<fs::path>> unpacked = unpack_archive(archive, folder);
  if (!unpacked.ok()) return unpacked.error();
  std::vector<fs::path> runs;
  for (const fs::path& top : *unpacked) {
    if (top.filename() == reports::kRecordsFileName) runs.push_back(folder);
    if (!fs::is_directory(top)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
      if (entry.path().filename() == reports::kRecordsFileName) runs.push_back(entry.path().parent_path());
    }
  }
  if (runs.empty())
    return Error{fmt::format("contains no run: no {} found", reports::kRecordsFileName), archive.string()};
  std::ranges::sort(runs);
  return runs;
}

/// The folders of the runs to report: one, or those of an archive; with --merge, first merges the shards.
Result<std::vector<fs::path>> runs_of(const ReportOptions& options) {
  if (options.merge) {
    const Result<void> merged =
        harness::merge_records({options.dirs.begin(), options.dirs.end()}, fs::path(options.output));
    if (!merged.ok()) return merged.error();
    return std::vector<fs::path>{options.output};
  }
  if (options.dirs.size() != 1)
    return Error{fmt::format("expected one folder, got {}; use --merge to merge several", options.dirs.size())};
  const fs::path given = options.dirs.front();
  if (fs::is_regular_file(given)) return runs_in(given, options.output.empty() ? "." : options.output);
  if (!options.output.empty())
    return Error{"--output requires an archive or --merge; the reports of a folder are written into that folder"};
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
    const Result<reports::WrittenReports> written = reports::write_reports(run, *how);
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
  CLI::App& command = *app.add_subcommand("report", "Write the reports of a recorded run again");
  command
      .add_option(
          "DIR", options->dirs,
          "Folder with the records.jsonl of a run, or archive written by ci/gpu;\nwith --merge: folders of all shards")
      ->option_text(" ")
      ->required();
  CLI::Option* const output = command
                                  .add_option("--output", options->output,
                                              "Output folder for the merged run or the contents of the archive [.]")
                                  ->option_text("DIR");
  CLI::Option* const merge = command.add_flag("--merge", options->merge, "First merge the shards of a run");
  merge->needs(output);
  command
      .add_option("--expect", options->expect, "Table of expected failures, used instead of the table given to the run")
      ->option_text("FILE.csv");
  add_baseline_option(command, options->baseline);
  add_mutation_score_option(command, options->mutation_score);
  add_color_option(command, options->color);
  command.footer(
      "This command only reads records, so it has no device option. The exit status is that of the run. If an\n"
      "archive contains several runs, the exit status is the first one other than 0.");
  command.callback([options, &invocation] { invocation.status = report(*options); });
}

}  // namespace assay::cli
