#include "cli/foreign_import.hpp"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/python/python_process.hpp"
#include "backends/warp/interpreter.hpp"
#include "cli/progress.hpp"
#include "harness/dataset/production.hpp"

namespace assay::cli {

void add_foreign_effort_options(CLI::App& command, ForeignImportOptions& options) {
  CLI::Option* const unverified =
      command.add_flag("--no-verify", options.skips_verification,
                       "Only check whether Warp generates the code from the Python source; run no kernel");
  CLI::Option* const quick =
      command.add_flag("--quick", options.uses_few_inputs, "Judge each kernel on few inputs")->excludes(unverified);
  command.add_flag("--thorough", options.uses_many_inputs, "Judge each kernel on many inputs")
      ->excludes(quick)
      ->excludes(unverified);
}

int import_foreign(const ForeignImportOptions& options, bool as_json, ExitStatus incomplete) {
  Result<foreign::FieldMapping> mapping = foreign::read_mapping(options.mapping);
  if (!mapping.ok()) return fail(mapping.error());
  foreign::RowJudgeOptions judge{.devices = options.devices,
                                 .judging_effort = options.uses_few_inputs    ? "quick"
                                                   : options.uses_many_inputs ? "thorough"
                                                                              : "standard",
                                 .seed = options.seed,
                                 .verify = !options.skips_verification};
  const Result<foreign::RowJudge> devices = foreign::RowJudge::make(judge);
  if (!devices.ok()) return fail(devices.error());
  if (const std::string reason = devices->device_unavailable_reason(); !reason.empty()) {
    return fail({fmt::format("cannot judge rows on this machine: {}", reason)}, ExitStatus::all_unsupported);
  }
  const Result<warp::WarpInterpreter>& python = warp::known_interpreter();
  if (!python.ok()) return fail(python.error(), ExitStatus::all_unsupported);

  const python::ScratchFolder scratch;
  const std::string output = options.output.empty() ? (scratch.path() / "import").string() : options.output;
  const Result<std::uint64_t> rows = foreign::count_rows(options.dataset, *mapping);
  if (!rows.ok()) return fail(rows.error());
  ProgressDisplay progress(*rows, false, {.item_noun = "rows", .unexpected_label = "rejected"});
  const auto start = std::chrono::steady_clock::now();
  const Result<foreign::ImportReport> report =
      foreign::import_rows({.dataset = options.dataset,
                            .row_count = *rows,
                            .mapping = mapping.take(),
                            .judge_options = std::move(judge),
                            .python_interpreter = python->program,
                            .warp_version = python->version,
                            .output = output,
                            .resume = options.resume,
                            .jobs = dataset::jobs_of(options.jobs),
                            .on_progress = [&](std::uint64_t done, std::uint64_t bad) { progress.set(done, bad); }});
  progress.stop();
  if (!report.ok()) return fail(report.error());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string text =
      as_json ? to_json(*report).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
              : to_text(*report);
  if (const int status = print_or_fail(text); status != 0) return status;
  if (report->was_already_complete) {
    print_message(fmt::format("{} is already complete", output));
  } else {
    print_message(fmt::format("{:.1f} s, {:.1f} rows/s", seconds, static_cast<double>(report->rows) / seconds));
  }
  const bool is_complete =
      report->rejected_row_count == 0 && (options.skips_verification || report->undecided_row_count == 0);
  return is_complete ? 0 : to_int(incomplete);
}

}  // namespace assay::cli
