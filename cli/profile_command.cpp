// assay profile: what the kernels execute, and on a GPU how fast they run, as a table. It judges them on the way, so
// that nothing wrong is profiled.
#include <memory>
#include <string>

#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/gpu_options.hpp"
#include "cli/judging.hpp"
#include "reports/model/measurements.hpp"
#include "reports/model/profiles.hpp"

namespace assay::cli {
namespace {

struct ProfileOptions {
  JudgeOptions judge;
  harness::MeasureOptions measure;
};

int profile(ProfileOptions options) {
  JudgeOptions& judge = options.judge;
  const bool measures = judge.device == "cuda";
  if (measures) {
    // As users compile, and each kernel alone on the GPU.
    judge.mode = "default";
    judge.cross_check = "none";
    judge.jobs = 1;
    if (judge.device_bytes > 0) options.measure.memory_bytes = judge.device_bytes;
    options.measure.seed = judge.seed;
    judge.measure = options.measure;
  }
  const int status = judge_kernels(judge);
  if (status != to_int(ExitStatus::as_expected) && status != to_int(ExitStatus::unexpected)) return status;
  const Result<reports::Run> run = reports::read_run(judge.output);
  if (!run.ok()) return fail(run.error(), ExitStatus::internal);
  const bool color = reports::use_color_on_stdout(judge.color);
  const std::string table = measures ? reports::measurement_table(*run, color) : reports::profile_table(*run, color);
  const Result<void> printed = print("\n" + table);
  return printed.ok() ? status : fail(printed.error(), ExitStatus::internal);
}

void add_measure_options(CLI::App& command, harness::MeasureOptions& options) {
  command.add_option("--threads", options.threads, "With cuda: the launch's first dimension; the greatest that fits")
      ->option_text("N [16777216]")
      ->check(CLI::Range(1, 1 << 28));
  command.add_option("--samples", options.samples, "With cuda: timed runs of each pass")
      ->option_text("N [30]")
      ->check(CLI::Range(1, 10'000));
}

}  // namespace

void add_profile(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ProfileOptions>();
  JudgeOptions& judge = options->judge;
  judge.device = "ptx";
  judge.mode = "strict";
  judge.random = 0;
  judge.quick = true;
  CLI::App& command = *app.add_subcommand("profile", "Show what kernels execute, and how fast on a GPU");
  command.add_option("SELECTOR", judge.selectors, "What to profile: families, patterns, Python files")
      ->option_text(" ")
      ->required();
  add_device_option(command, judge.device,
                    "Where to run: ptx observes what it executes, independent of the machine; cuda takes times");
  add_measure_options(command, options->measure);
  add_gpu_options(command, judge.gpu, judge.device_bytes);
  command.add_option("--random", judge.random, "Random kernels of each family that a pattern names")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1'000'000));
  command.add_option("--seed", judge.seed, "Seed of the inputs, and of the first random kernel")->option_text("S [1]");
  command.add_option("--output", judge.output, "The folder for records.jsonl, report.json and report.html")
      ->option_text("DIR [out]");
  add_color_option(command, judge.color);
  command.footer(
      "On ptx one launch of each pass stands for all: the first input set, for each target of the device. On cuda it "
      "is\n"
      "a large one, compiled as users do (--mode default), whose arrays no cache holds; --device-memory [8GiB] bounds\n"
      "them and their copies. CUPTI adds what the hardware counts, where that is permitted.");
  command.callback([options, &invocation] {
    options->judge.command_line = invocation.words;
    invocation.status = profile(*options);
  });
}

}  // namespace assay::cli
