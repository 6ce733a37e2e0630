// assay reduce: makes a failing kernel as small as possible while it fails in the same way.
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "harness/reduce/failure_archive.hpp"
#include "harness/reduce/failure_folder.hpp"
#include "harness/reduce/target.hpp"

namespace assay::cli {
namespace {

struct ReduceOptions {
  std::string target;
  harness::SuiteOptions suite;
  double time_limit = 60;
};

std::string elapsed(std::chrono::steady_clock::time_point start) {
  return fmt::format("{:6.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

int reduce_target(const ReduceOptions& options) {
  const Result<std::optional<reduce::ReproductionTarget>> found = reduce::find_target(options.target, options.suite);
  if (!found.ok()) return fail(found.error());
  if (!*found) {
    print_message(fmt::format("nothing to reduce: every case of {} passes", options.target));
    return to_int(ExitStatus::unexpected);
  }
  const reduce::ReproductionTarget& target = **found;
  print_message(fmt::format("{} ended as {}: {}", target.failure.name, reduce::to_text(target.failure.failure_class),
                            target.failure.message));
  const auto device = reduce::device_of(target.failure.conditions);
  if (!device.ok()) return fail(device.error());
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](const reduce::ReductionProgress& stand) {
    print_message(fmt::format("{}  {:5} trials  {:4} statements  {:5} expression nodes  {}", elapsed(start),
                              stand.candidate_count, stand.size.statements, stand.size.expression_weight,
                              stand.step_name));
  };
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(options.time_limit));
  const Result<reduce::ArchivedFailure> archived =
      archive_failure(target.source, target.failure, **device, target.folder, time, options.suite.jobs, report,
                      [](const std::string& line) { print_message(line); });
  if (!archived.ok()) return fail(archived.error(), ExitStatus::internal);
  if (!archived->failure.reduction_summary) return to_int(ExitStatus::unexpected);
  const reduce::ReductionSummary& reduced = *archived->failure.reduction_summary;
  if (!reduced.is_minimal)
    print_message("the time limit ended the reduction; a longer time limit may give a smaller kernel");
  const reduce::Evidence evidence = reduce::read_evidence(archived->folder, "reduced");
  return print_or_fail(
      fmt::format("{}\n# {}\n# {}\n", evidence.at(".py"), reduced.message, reduce::line_of(*archived)));
}

}  // namespace

void add_reduce(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReduceOptions>();
  CLI::App& command =
      *app.add_subcommand("reduce", "Make a failing kernel as small as possible while it fails in the same way");
  command.add_option("TARGET", options->target, "Name of a case or kernel, FILE.py:KERNEL, or a failure folder")
      ->option_text(" ")
      ->required();
  harness::SuiteOptions& suite = options->suite;
  add_any_device_option(command, suite.device,
                        "Device to run on, unless the case name or the failure folder specifies one");
  command.add_option("--time-limit", options->time_limit, "Time limit in seconds")
      ->option_text("S [60]")
      ->check(CLI::Range(0.001, 86'400.0));
  command
      .add_option("--output", suite.output,
                  "Archive the failure in DIR/failures/CASE; if TARGET is a failure folder, update that folder")
      ->option_text("DIR [out]");
  add_mode_option(command, suite.mode, "Mode in which the case fails", "both");
  add_optimization_option(command, suite.optimization_levels, "Compile for the CPU with -O1, -O2 or -O3");
  add_seed_option(command, suite.seed, "Seed of the inputs");
  CLI::Option* const quick = command.add_flag("--quick", suite.quick, "Look for the failure with few inputs");
  command.add_flag("--thorough", suite.thorough, "Look for the failure with many inputs")->excludes(quick);
  add_jobs_option(command, suite.jobs, "Number of smaller kernels judged at once");
  add_compiler_option(command, suite.device_options.compiler);
  command.footer(
      "Prints the reduced kernel.\n"
      "Exit status: 0 reduced, 1 no case fails or the failure did not recur, 2 usage error.");
  command.callback([options, &invocation] { invocation.status = reduce_target(*options); });
}

}  // namespace assay::cli
