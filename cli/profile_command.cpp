// assay profile: what the kernels execute, and on a GPU how fast they run, as a table. Judges them as well, so that no
// incorrect kernel is profiled.
#include <algorithm>
#include <memory>
#include <string>

#include "backends/device/registry.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_suite.hpp"
#include "reports/model/measurements.hpp"
#include "reports/model/profiles.hpp"

namespace assay::cli {
namespace {

struct ProfileOptions {
  RunRequest request;
  harness::MeasureOptions measure;
};

int profile(ProfileOptions options) {
  harness::SuiteOptions& suite = options.request.suite_options;
  const bool measures = backends::device_descriptor(suite.device).is_gpu;
  if (measures) {
    // As users compile, and each kernel alone on the GPU.
    suite.mode = "default";
    suite.cross_check_device = "none";
    suite.jobs = 1;
    if (suite.device_options.device_memory_limit_bytes > 0)
      options.measure.memory_limit_bytes = suite.device_options.device_memory_limit_bytes;
    options.measure.seed = suite.seed;
    suite.measure_options = options.measure;
  }
  const int status = run_suite(options.request);
  if (status != to_int(ExitStatus::as_expected) && status != to_int(ExitStatus::unexpected)) return status;
  const Result<reports::Run> run = reports::read_run(suite.output);
  if (!run.ok()) return fail(run.error(), ExitStatus::internal);
  const bool color = use_color_on_stdout(options.request.color);
  const std::string table = measures ? reports::measurement_table(*run, color) : reports::profile_table(*run, color);
  const int printed = print_or_fail("\n" + table);
  return printed == 0 ? status : printed;
}

void add_measure_options(CLI::App& command, harness::MeasureOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "With cuda: maximum number of threads in the first dimension of the launch")
      ->option_text("N [16777216]")
      ->check(CLI::Range(1, 1 << 28));
  command.add_option("--samples", options.timed_runs_per_pass, "With cuda: number of timed runs of each pass")
      ->option_text("N [30]")
      ->check(CLI::Range(1, 10'000));
}

}  // namespace

void add_profile(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ProfileOptions>();
  harness::SuiteOptions& suite = options->request.suite_options;
  suite.device = std::ranges::find_if(backends::devices(), &backends::DeviceDescriptor::reports_profiles)->name;
  suite.mode = "strict";
  suite.random_kernels_per_family = 0;
  suite.quick = true;
  CLI::App& command =
      *app.add_subcommand("profile", "Count the instructions of kernels, or measure their time on a GPU");
  command.add_option("SELECTOR", suite.selectors, "Kernels to profile: families, patterns or Python files")
      ->option_text(" ")
      ->required();
  add_device_option(command, suite.device,
                    "Device: ptx counts executed instructions on any machine; cuda measures time on a GPU");
  add_measure_options(command, options->measure);
  add_gpu_options(command, suite.device_options.gpu_number_or_all, suite.device_options.device_memory_limit_bytes);
  add_random_option(command, suite.random_kernels_per_family);
  add_seed_option(command, suite.seed, "Seed of the inputs and of the first random kernel");
  command.add_option("--output", suite.output, "Output folder for records.jsonl, report.json and report.html")
      ->option_text("DIR [out]");
  add_color_option(command, options->request.color);
  command.footer(
      "With ptx, profiles one launch of each pass on the first input set, for each GPU architecture. With cuda,\n"
      "compiles with --mode default and profiles a large launch whose arrays exceed every cache; --device-memory "
      "[8GiB]\n"
      "limits the size of the arrays and their copies. CUPTI adds hardware counters where the driver permits them.");
  command.callback([options, &invocation] {
    options->request.suite_options.command_line = invocation.arguments;
    invocation.status = profile(*options);
  });
}

}  // namespace assay::cli
