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
  const Result<std::optional<reduce::Target>> found = reduce::find_target(options.target, options.suite);
  if (!found.ok()) return fail(found.error());
  if (!*found) {
    tell(fmt::format("nothing to reduce: every case of {} passes", options.target));
    return to_int(ExitStatus::unexpected);
  }
  const reduce::Target& target = **found;
  tell(fmt::format("{} ended as {}: {}", target.failure.name, reduce::to_text(target.failure.ending),
                   target.failure.message));
  const auto device = reduce::device_of(target.failure.conditions);
  if (!device.ok()) return fail(device.error());
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](const reduce::Stand& stand) {
    tell(fmt::format("{}  {:5} trials  {:4} statements  {:5} parts of expressions  {}", elapsed(start), stand.trials,
                     stand.size.statements, stand.size.expressions, stand.step));
  };
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(options.time_limit));
  const Result<reduce::Archived> archived =
      archive_failure(target.source, target.failure, **device, target.folder, time, options.suite.jobs, report,
                      [](const std::string& line) { tell(line); });
  if (!archived.ok()) return fail(archived.error(), ExitStatus::internal);
  if (!archived->failure.reduced) return to_int(ExitStatus::unexpected);
  const reduce::Reduced& reduced = *archived->failure.reduced;
  if (!reduced.finished) tell("the time limit ended the reduction; a longer one may give a smaller kernel");
  const reduce::Evidence evidence = reduce::read_evidence(archived->folder, "reduced");
  return print_or_fail(
      fmt::format("{}\n# {}\n# {}\n", evidence.at(".py"), reduced.message, reduce::line_of(*archived)));
}

}  // namespace

void add_reduce(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReduceOptions>();
  CLI::App& command =
      *app.add_subcommand("reduce", "Make a failing kernel as small as possible while it fails in the same way");
  command.add_option("TARGET", options->target, "A case or kernel by its name, FILE.py:KERNEL, or a failure's folder")
      ->option_text(" ")
      ->required();
  harness::SuiteOptions& suite = options->suite;
  add_device_option(command, suite.device, "Where it fails, unless the case's name or the folder says so");
  command.add_option("--time-limit", options->time_limit, "Seconds to spend")
      ->option_text("S [60]")
      ->check(CLI::Range(0.001, 86'400.0));
  command
      .add_option("--output", suite.output, "Archive it in DIR/failures/CASE; a failure's folder is updated in place")
      ->option_text("DIR [out]");
  add_mode_option(command, suite.mode, "Compiler flags under which it fails", "both");
  add_optimise_option(command, suite.optimise, "Compile for the CPU with -O1, -O2 or -O3");
  add_seed_option(command, suite.seed, "Seed of the inputs");
  CLI::Option* const quick = command.add_flag("--quick", suite.quick, "Look for the failure with few inputs");
  command.add_flag("--thorough", suite.thorough, "Look for it with many")->excludes(quick);
  add_jobs_option(command, suite.jobs, "Candidates to build and judge");
  add_compiler_option(command, suite.device_options.compiler);
  command.footer(
      "Prints the reduced kernel. Exit status: 0 reduced, 1 nothing fails or not in the same way again, "
      "2 usage.");
  command.callback([options, &invocation] { invocation.status = reduce_target(*options); });
}

}  // namespace assay::cli
