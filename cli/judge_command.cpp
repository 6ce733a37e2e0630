// assay judge: judges CUDA or PTX that other people or programs wrote against a specification in Warp Python.
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_suite.hpp"

namespace assay::cli {

void add_judge(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<RunRequest>();
  const auto specification = std::make_shared<std::string>();
  harness::SuiteOptions& suite = request->suite_options;
  CLI::App& command = *app.add_subcommand("judge", "Judge an existing CUDA kernel against a specification");
  command
      .add_option("CANDIDATE", suite.device_options.candidate_path,
                  "CUDA source (.cu), PTX (.ptx) or a Python file that calls load_inline (.py). A file such as "
                  "sums.assay.json next to sums.cu states how it is launched")
      ->option_text(" ")
      ->check(CLI::ExistingFile)
      ->required();
  command
      .add_option("--against", *specification,
                  "The specification: a kernel in Warp Python that says what the candidate must compute")
      ->option_text("SPEC.py[:KERNEL]")
      ->required();
  add_nvrtc_options(command, suite.builds);
  add_no_check_option(command, suite.device_options.disabled_checks);
  CLI::Option* const quick = command.add_flag("--quick", suite.quick, "Judge on few inputs, for a first look");
  command.add_flag("--thorough", suite.thorough, "Judge on many inputs")->excludes(quick);
  add_seed_option(command, suite.seed, "Seed of the inputs");
  command.add_option("--output", suite.output, "Output folder for the records and reports")->option_text("DIR [out]");
  command.add_flag("--verbose", request->verbose, "Print every note");
  add_color_option(command, request->color);
  command.footer(
      "Only the forward pass is judged; no GPU is needed. See docs/guide/judge_foreign_kernels.md.\n"
      "Exit status: 0 the candidate computes what the specification says, 1 it does not, 2 usage error,\n"
      "3 internal error, 4 nothing ran, 77 the candidate or its specification is not supported here.");
  command.callback([request, specification, &invocation] {
    harness::SuiteOptions& options = request->suite_options;
    options.selectors = {*specification};
    options.device = "candidate";
    options.pass = "forward";
    options.max_cases_to_blame = 0;
    options.ignore_cached_verdicts = true;
    options.command_line = invocation.arguments;
    request->reduction_seconds = 0;
    invocation.status = run_suite(*request);
  });
}

}  // namespace assay::cli
