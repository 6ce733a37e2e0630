// assay profile: what the kernels execute, as a table. It judges them on the way, so that nothing wrong is profiled.
#include <memory>

#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/judging.hpp"
#include "reports/profiles.hpp"

namespace assay::cli {
namespace {

int profile(const JudgeOptions& options) {
  const int status = judge_kernels(options);
  if (status != to_int(ExitStatus::as_expected) && status != to_int(ExitStatus::unexpected)) return status;
  const Result<reports::Run> run = reports::read_run(options.output);
  if (!run.ok()) return fail(run.error(), ExitStatus::internal);
  const Result<void> printed = print("\n" + reports::profile_table(*run, reports::use_color_on_stdout(options.color)));
  return printed.ok() ? status : fail(printed.error(), ExitStatus::internal);
}

}  // namespace

void add_profile(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<JudgeOptions>();
  options->device = "ptx";
  options->mode = "strict";
  options->random = 0;
  options->quick = true;
  CLI::App& command = *app.add_subcommand("profile", "Show what kernels execute, independent of the machine");
  command.add_option("SELECTOR", options->selectors, "What to profile: families, patterns, Python files")
      ->option_text(" ")
      ->required();
  add_device_option(command, options->device, "Where to run; ptx alone observes what it executes");
  command.add_option("--random", options->random, "Random kernels of each family that a pattern names")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1'000'000));
  command.add_option("--seed", options->seed, "Seed of the inputs, and of the first random kernel")
      ->option_text("S [1]");
  command.add_option("--output", options->output, "The folder for records.jsonl, report.json and report.html")
      ->option_text("DIR [out]");
  add_color_option(command, options->color);
  command.footer("One launch of each pass stands for all: the first input set, for each target of the device.");
  command.callback([options, &invocation] {
    options->command_line = invocation.words;
    invocation.status = profile(*options);
  });
}

}  // namespace assay::cli
