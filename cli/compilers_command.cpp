// assay compilers: judges kernels in the builds of several compilers, and shows the results side by side.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_suite.hpp"
#include "harness/compilers/choices.hpp"
#include "harness/compilers/compiler_failures.hpp"
#include "harness/compilers/findings.hpp"
#include "harness/compilers/hunt.hpp"
#include "reports/formats/side_by_side.hpp"
#include "support/files.hpp"

namespace assay::cli {
namespace {

/// Reduces the sources that a compiler translates incorrectly, and writes the PTX side by side.
Result<void> reduce_failures(const std::string& output, std::chrono::milliseconds time, unsigned jobs) {
  constexpr std::size_t kWidth = 120;
  const auto failures =
      compilers::archive_compiler_failures(output, time, jobs, [](const std::string& line) { print_message(line); });
  if (!failures.ok()) return failures.error();
  for (const compilers::CompilerFailure& failure : *failures) {
    const std::string text =
        reports::side_by_side(failure.reduction.incorrect_ptx, failure.reduction.correct_ptx, kWidth, false);
    if (Result<void> written = put_file(failure.folder / "wrong_and_right.txt", text); !written.ok()) return written;
  }
  return {};
}

struct HuntRequest {
  bool enabled = false;
  double minutes = 10;
};

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

unsigned jobs_of(const harness::SuiteOptions& suite) {
  return suite.jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : static_cast<unsigned>(suite.jobs);
}

/// Judges random kernels for some minutes and writes the page of findings.
int hunt_for_failures(const harness::SuiteOptions& suite, double minutes, double seconds) {
  const std::filesystem::path folder = suite.output;
  compilers::MiscompilationHuntOptions options{.suite_options = suite,
                                               .folder = folder,
                                               .time_limit = milliseconds_of(60 * minutes),
                                               .reduction_time_limit = milliseconds_of(seconds),
                                               .jobs = jobs_of(suite)};
  // Each failing kernel of a round may be a finding.
  options.suite_options.max_failures_to_examine = std::max(suite.max_failures_to_examine, 100);
  const auto counts = compilers::hunt(options, [](const std::string& line) { print_message(line); });
  if (!counts.ok()) return fail(counts.error());
  const std::vector<std::filesystem::path> folders{folder};
  const auto page = compilers::findings_page(folders);
  if (!page.ok()) return fail(page.error(), ExitStatus::internal);
  if (const auto written = put_file(folder / "findings.md", *page); !written.ok())
    return fail(written.error(), ExitStatus::internal);
  const int printed = print_or_fail(fmt::format("{} kernels, {} cases, {} failed, {:.0f} s; findings: {}\n",
                                                counts->kernels, counts->cases, counts->failing_case_count,
                                                counts->judging_seconds, (folder / "findings.md").string()));
  if (printed != 0) return printed;
  return to_int(counts->failing_case_count == 0 ? ExitStatus::as_expected : ExitStatus::unexpected);
}

int compare_compilers(RunRequest request, const HuntRequest& hunt, double seconds) {
  harness::SuiteOptions& suite = request.suite_options;
  if (suite.selectors.empty()) suite.selectors.emplace_back("*");
  std::vector<std::string> devices{suite.device};
  std::ranges::copy(suite.additional_devices, std::back_inserter(devices));
  suite.builds = compilers::with_all_compilers(std::move(suite.builds), devices);
  if (hunt.enabled) return hunt_for_failures(suite, hunt.minutes, seconds);
  const std::string output = suite.output;
  const unsigned jobs = jobs_of(suite);
  const int status = run_suite(std::move(request));
  if (status != to_int(ExitStatus::unexpected) || seconds <= 0) return status;
  const Result<void> reduced = reduce_failures(output, milliseconds_of(seconds), jobs);
  return reduced.ok() ? status : fail(reduced.error(), ExitStatus::internal);
}

}  // namespace

void add_compilers(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<RunRequest>();
  const auto seconds = std::make_shared<double>(60);
  const auto hunt = std::make_shared<HuntRequest>();
  harness::SuiteOptions& suite = request->suite_options;
  suite.device = "ptx";
  suite.mode = "strict";
  suite.random_kernels_per_family = 0;
  suite.quick = true;
  request->reduction_time_limit_seconds = 0;
  CLI::App& command =
      *app.add_subcommand("compilers", "Judge kernels with several compilers and GPU architectures, side by side");
  command
      .add_option("SELECTOR", suite.selectors,
                  "Kernels to judge: families, patterns, Python files or folders;\ndefault: all curated kernels")
      ->option_text(" ");
  add_main_and_other_devices_option(command, suite.device, suite.additional_devices,
                                    "Devices: ptx compares versions of NVRTC, cpu compares C++ compilers");
  add_builds_options(command, suite.builds);
  add_optimization_option(command, suite.optimization_levels,
                          "With cpu: optimization levels (-O) to judge, each as a separate mode");
  add_mode_option(command, suite.mode, "Compiler flags, as for 'assay run'", suite.mode);
  command.add_option("--pass", suite.pass, "Which pass to judge")
      ->option_text("{forward,backward,both} [both]")
      ->check(CLI::IsMember({"forward", "backward", "both"}));
  add_random_option(command, suite.random_kernels_per_family);
  add_seed_option(command, suite.seed, "Seed of the inputs and of the first random kernel");
  add_jobs_option(command, suite.jobs, "Number of kernel batches processed at once");
  command
      .add_option("--blame", suite.max_failures_to_examine,
                  "Number of failing cases to judge in other builds, to find out what is at fault")
      ->option_text("N [3]")
      ->check(CLI::Range(0, 1'000'000));
  command
      .add_option("--reduce", *seconds,
                  "Time to reduce each CUDA source that is blamed on a compiler, in seconds;\n0: do not reduce")
      ->option_text("S [60]")
      ->check(CLI::Range(0.0, 86'400.0));
  command
      .add_option("--expect", suite.expectations_file, "Table of expected failures; see docs/guide/read_a_verdict.md")
      ->option_text("FILE.csv");
  command.add_option("--output", suite.output, "Output folder for the records and reports")->option_text("DIR [out]");
  command.add_flag("--fresh", suite.ignores_cached_verdicts,
                   "Also judge the cases that an earlier run on this machine verified");
  command.add_flag("--resume", suite.resumes_interrupted_run, "Continue the interrupted run in the output folder");
  add_color_option(command, request->color);
  command.footer(
      "Without --nvrtc and --cxx, compares all compilers of this machine: the versions of NVRTC that\n"
      "ci/setup-compilers installed, and the C++ compilers on PATH. All builds of a kernel are judged on the same\n"
      "inputs. The table of results is also in report.html, summary.md and compilers.json.");
  command.add_flag("--hunt", hunt->enabled,
                   "Instead of SELECTOR: judge random kernels that stress optimizers, reduce those that\na compiler "
                   "translates incorrectly, and continue an earlier hunt in the output folder");
  command.add_option("--minutes", hunt->minutes, "With --hunt: start no further round after this many minutes")
      ->option_text("N [10]")
      ->check(CLI::Range(0.0, 100'000.0));
  command.callback([request, seconds, hunt, &invocation] {
    request->suite_options.command_line = invocation.arguments;
    invocation.status = compare_compilers(*request, *hunt, *seconds);
  });
}

}  // namespace assay::cli
