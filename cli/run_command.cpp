// assay run: judges kernels, records the results, writes reports.
#include <memory>

#include "cli/commands.hpp"
#include "cli/import_options.hpp"
#include "cli/options.hpp"
#include "cli/run_suite.hpp"

namespace assay::cli {
namespace {

constexpr const char* kRunFooter =
    "A SELECTOR is a family, a pattern over <family>/<kernel>/<types>/<device>/<pass>[/<mode>] or the beginning of\n"
    "such a pattern, a Python file, a folder of Python files, or a file pattern:\n"
    "  loop   'loop/dyn*'   '*/*/f64'   loop/r2_42 (a random kernel)   FILE.py   FILE.py:KERNEL   src/   'src/*.py'\n"
    "With --import, a SELECTOR is FILE.py, FILE.py:KERNEL or the name of a module.\n"
    "Exit status: 0 all results as expected, 1 unexpected results, 2 usage error, 3 internal error, 4 nothing ran,\n"
    "77 every case is unsupported here.";

void add_selection_options(CLI::App& command, harness::SuiteOptions& options) {
  command.add_option("SELECTOR", options.selectors, "Cases to judge: families, patterns, Python files or folders")
      ->option_text(" ");
  command
      .add_option("--failed-in", options.failed_run_folder,
                  "Instead of SELECTOR: judge the cases that failed in the run in this folder")
      ->option_text("DIR")
      ->excludes("SELECTOR");
  command
      .add_option(
          "--launches", options.launches_folder,
          "Folder of recorded launches: judge their kernels on the recorded arguments\nand on perturbed copies of them")
      ->option_text("DIR");
  add_main_and_other_devices_option(
      command, options.device, options.additional_devices,
      "Devices: cpu runs C++, cuda runs CUDA C++ on a GPU, ptx interprets the PTX\nof the CUDA C++ on the CPU; "
      "warp-cpu, warp-ptx and warp-cuda run the code\nthat NVIDIA Warp generates");
  add_mode_option(command, options.mode,
                  "Compiler flags: strict rounds every operation; default keeps the compiler's defaults;\n"
                  "both: strict and default; fast_compile (ptx): strict with few optimizations; sampled (ptx):\n"
                  "strict and default for kernels of files and 1 in 8 other kernels, fast_compile for the rest",
                  "ptx: sampled; other devices: strict");
  command.add_option("--pass", options.pass, "Which pass to judge")
      ->option_text("{forward,backward,both} [both]")
      ->check(CLI::IsMember({"forward", "backward", "both"}));
  add_random_option(command, options.random_kernels_per_family);
  add_warp_version_option(command);
  add_seed_option(command, options.seed, "Seed of the inputs and of the first random kernel");
}

void add_effort_options(CLI::App& command, harness::SuiteOptions& options) {
  CLI::Option* const quick =
      command.add_flag("--quick", options.quick, "Judge each kernel on few inputs, for a first look");
  command.add_flag("--thorough", options.thorough, "Judge each kernel on many inputs")->excludes(quick);
  command.add_flag("--trust-custom-gradients", options.trusts_custom_gradients,
                   "Accept custom gradients (wp.func_grad) that are not the derivatives of their functions");
  add_optimization_option(
      command, options.optimization_levels,
      "Compile for the CPU with these -O levels, each as a separate mode;\ndefault: -O0, and for one kernel in 16 "
      "also -O2");
  add_jobs_option(command, options.jobs, "Number of kernel batches processed at once");
  command
      .add_option("--repeat", options.repetition_count,
                  "Judge each case N times with the same inputs, to find flaky cases")
      ->option_text("N [1]")
      ->check(CLI::Range(1, 1000));
  command.add_option("--shard", options.shard, "Judge the I-th of N parts of the selection")->option_text("I/N");
}

void add_device_options(CLI::App& command, harness::SuiteOptions& options) {
  add_no_check_option(command, options.device_options.disabled_checks);
  add_builds_options(command, options.builds);
  add_tables_option(command, options.device_options.approximation_tables_file);
  add_gpu_options(command, options.device_options.gpu_number_or_all, options.device_options.device_memory_limit_bytes);
  command
      .add_option("--cross-check", options.cross_check_device,
                  "With cuda: also compare the results with cpu (within both error bounds) or ptx (bit for bit)")
      ->option_text("{cpu,ptx,both,none} [both; cpu with --mode default]")
      ->check([](const std::string& name) -> std::string {
        std::vector<std::string> names{"both", "none"};
        for (const backends::DeviceDescriptor& row : backends::devices()) {
          for (const std::string_view other : {row.agreeing_device_name, row.bit_identical_device_name})
            if (!other.empty()) names.emplace_back(other);
        }
        return CLI::IsMember(names)(name);
      });
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<RunRequest>();
  harness::SuiteOptions& suite = request->suite_options;
  CLI::App& command = *app.add_subcommand("run", "Judge kernels, forward and backward");
  add_selection_options(command, suite);
  add_import_options(command, request->import_options);
  add_effort_options(command, suite);
  add_device_options(command, suite);
  command.add_option("--output", suite.output, "Output folder for the records and reports")->option_text("DIR [out]");
  command.add_flag("--fresh", suite.ignores_cached_verdicts,
                   "Also judge the cases that an earlier run on this machine verified (cpu, ptx)");
  command.add_flag("--resume", suite.resumes_interrupted_run, "Continue the interrupted run in the output folder");
  command
      .add_option("--reduce", request->reduction_time_limit_seconds,
                  "Time to reduce failing kernels after the run, in seconds; 0: do not reduce")
      ->option_text("S [10]")
      ->check(CLI::Range(0.0, 86'400.0));
  command
      .add_option("--blame", suite.max_failures_to_examine,
                  "Number of failing cases to judge in other builds, to find out whether\nthe kernel, the emitter, a "
                  "compiler or the oracle is at fault")
      ->option_text("N [3]")
      ->check(CLI::Range(0, 1'000'000));
  command
      .add_option("--expect", suite.expectations_file, "Table of expected failures; see docs/guide/read_a_verdict.md")
      ->option_text("FILE.csv");
  const auto watches = std::make_shared<bool>(false);
  command
      .add_flag("--watch", *watches, "Run again each time that a selected file, or a file that it imports, is saved")
      ->excludes("--failed-in")
      ->excludes("--shard");
  command.add_flag("--verbose", request->prints_every_note,
                   "Print every note, such as each kernel that is not supported");
  add_baseline_option(command, request->baseline_path);
  add_mutation_score_option(command, request->mutation_score_folder);
  add_color_option(command, request->color);
  command.footer(kRunFooter);
  command.callback([request, watches, &invocation] {
    if (request->suite_options.selectors.empty() && request->suite_options.failed_run_folder.empty() &&
        request->import_options.module_names.empty())
      throw CLI::RequiredError("SELECTOR");
    request->suite_options.command_line = invocation.arguments;
    invocation.status = *watches ? run_on_save(*request) : run_suite(*request);
  });
}

}  // namespace assay::cli
