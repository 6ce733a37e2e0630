// assay run: judges kernels, records what it finds, reports.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/gpu_options.hpp"
#include "cli/judging.hpp"
#include "cli/modes.hpp"
#include "cli/unit_tables.hpp"

namespace assay::cli {
namespace {

constexpr const char* kFooter =
    "A SELECTOR is a family or a pattern over <family>/<kernel>/<types>/<device>/<pass>[/<mode>], or the beginning of "
    "one:\n"
    "  loop   'loop/dyn*'   '*/*/f64'   loop/r1_42 (a random kernel by its name)   FILE.py   FILE.py:KERNEL\n"
    "Exit status: 0 as expected, 1 unexpected, 2 usage, 3 internal, 4 nothing ran, 77 all unsupported.";

void add_selection_options(CLI::App& command, JudgeOptions& options) {
  command.add_option("SELECTOR", options.selectors, "What to judge: families, patterns, Python files")
      ->option_text(" ");
  command
      .add_option("--failed-in", options.failed_in,
                  "In place of SELECTOR: what was not as expected in the run of this folder")
      ->option_text("DIR")
      ->excludes("SELECTOR");
  add_device_option(command, options.device,
                    "Where to run: cpu the C++; cuda the CUDA C++ on a GPU, by NVRTC; ptx NVRTC's PTX on the CPU");
  command.add_option("--mode", options.mode, "Compiler flags: strict rounds each operation, default leaves them alone")
      ->option_text("{strict,default,both} [both on ptx, else strict]")
      ->check(CLI::IsMember(std::vector<std::string>(kModeNames.begin(), kModeNames.end())));
  command.add_option("--pass", options.pass, "Which pass to judge")
      ->option_text("{forward,backward,both} [both]")
      ->check(CLI::IsMember({"forward", "backward", "both"}));
  command.add_option("--random", options.random, "Random kernels of each family that a pattern names")
      ->option_text("N [8]")
      ->check(CLI::Range(0, 1'000'000));
  command.add_option("--seed", options.seed, "Seed of the inputs, and of the first random kernel")
      ->option_text("S [1]");
}

void add_effort_options(CLI::App& command, JudgeOptions& options) {
  CLI::Option* const quick = command.add_flag("--quick", options.quick, "Few inputs: a first look");
  command.add_flag("--thorough", options.thorough, "Many inputs")->excludes(quick);
  command
      .add_option("--optimise", options.optimise,
                  "Compile for the CPU with -O1, -O2 or -O3, a mode of its own;\ndefault: -O0, and one kernel in 16 "
                  "with -O2 too")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 3));
  command.add_option("--jobs", options.jobs, "Batches of kernels at once; 0: one for each core")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1024));
  command.add_option("--repeat", options.repeat, "Judge each case so often, with the same inputs, to find flaky ones")
      ->option_text("N [1]")
      ->check(CLI::Range(1, 1000));
  command.add_option("--shard", options.shard, "Judge the I-th of N parts of the selection")->option_text("I/N");
  command
      .add_option("--no-check", options.no_checks,
                  fmt::format("With ptx: leave a check out, one of {}", fmt::join(check_names(), ", ")))
      ->option_text("NAME ...")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(check_names()));
  add_tables_option(command, options.tables);
  add_gpu_options(command, options.gpu, options.device_bytes);
  command
      .add_option("--mirror", options.cross_check,
                  "With cuda: what to hold it against, cpu within both bounds, ptx for the same bits")
      ->option_text("{cpu,ptx,both,none} [both, with --mode default cpu]")
      ->check(CLI::IsMember({"cpu", "ptx", "both", "none"}));
  command.add_option("--cxx", options.compiler, "The C++ compiler of the device cpu; default: $CXX, else c++")
      ->option_text("COMMAND");
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<JudgeOptions>();
  CLI::App& command = *app.add_subcommand("run", "Judge kernels, forward and backward");
  add_selection_options(command, *options);
  add_effort_options(command, *options);
  command.add_option("--output", options->output, "The folder for the records and the reports")
      ->option_text("DIR [out]");
  command.add_flag("--fresh", options->fresh,
                   "Judge again what an earlier run of this program proved on this machine (cpu, ptx)");
  command.add_flag("--resume", options->resume, "Go on with the run in that folder that was cut off");
  command
      .add_option("--reduce", options->reduce,
                  "Seconds to spend on making kernels that fail small, after all is judged; 0: none")
      ->option_text("S [10]")
      ->check(CLI::Range(0.0, 86'400.0));
  command.add_option("--expect", options->expect, "Failures that are known, as a table: docs/verdicts.md")
      ->option_text("FILE.csv");
  add_baseline_option(command, options->baseline);
  add_mutation_score_option(command, options->mutation_score);
  add_color_option(command, options->color);
  command.footer(kFooter);
  command.callback([options, &invocation] {
    if (options->selectors.empty() && options->failed_in.empty()) throw CLI::RequiredError("SELECTOR");
    options->command_line = invocation.words;
    invocation.status = judge_kernels(*options);
  });
}

}  // namespace assay::cli
