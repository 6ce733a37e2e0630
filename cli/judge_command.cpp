// assay judge: judges CUDA, PTX or Triton kernels that other people or programs wrote against a specification in Warp
// Python.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/contract_check.hpp"
#include "backends/candidate/host/compiler.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_suite.hpp"
#include "harness/candidates/candidate_suite.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/suite_run.hpp"
#include "ir/module.hpp"
#include "reports/report_files.hpp"

namespace assay::cli {

namespace {

struct JudgeRequest {
  RunRequest run;
  std::string specification;
  std::string suite_folder;  ///< folder with a list of candidates; empty: one candidate is judged
  bool prints_json = false;  ///< print a line of JSON for each candidate, and nothing else, on standard output
};

/// Prints notes on standard error.
class NoteObserver final : public harness::RunObserver {
 public:
  void on_note(std::string_view kind, std::string_view text) override {
    print_message(fmt::format("{}: {}", kind, text));
  }
};

/// Judges one candidate, writes the reports and prints the verdict as a line of JSON.
int print_json_verdict(const harness::SuiteOptions& options) {
  NoteObserver observer;
  const auto start = std::chrono::steady_clock::now();
  Result<harness::SuiteRun> run = harness::SuiteRun::prepare(options, observer);
  if (!run.ok()) return fail(run.error());
  reports::remove_reports(options.output);
  const Result<harness::RunEnd> end = run->judge(observer);
  if (!end.ok()) return fail(end.error(), ExitStatus::internal);
  const Result<reports::WrittenReports> reports = reports::write_reports(options.output);
  if (!reports.ok()) return fail(reports.error(), ExitStatus::internal);
  Result<harness::CandidateVerdict> verdict =
      harness::read_verdict({options.device_options.candidate_path, options.selectors.front()}, options.output);
  if (!verdict.ok()) return fail(verdict.error(), ExitStatus::internal);
  verdict->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const int printed = print_or_fail(verdict->json_text() + "\n"); printed != 0) return printed;
  return reports->summary.verdict.exit_status;
}

/// The contract of the candidate. Fails if it is invalid, or if its formulas do not fit the specification.
Result<candidate::CandidateContract> read_contract(const std::string& candidate_path,
                                                   const std::string& specification_selector) {
  Result<candidate::CandidateContract> contract = candidate::contract_of(candidate_path);
  if (!contract.ok()) return contract;
  const std::optional<harness::FileSelector> selector = harness::file_selector(specification_selector);
  if (!selector) return contract;
  // The run reports a specification that cannot be read or that has several kernels.
  const Result<harness::KernelSet> specification = harness::read_file(*selector);
  if (!specification.ok() || specification->kernels.size() != 1 || !specification->kernels.front().module)
    return contract;
  const harness::KernelSource& source = specification->kernels.front();
  const ir::Function& kernel = source.module->kernels[source.kernel_index];
  std::vector<candidate::FormulaParameter> parameters;
  for (int p = 0; p < kernel.parameter_count; ++p) {
    const ir::Variable& variable = kernel.var(p);
    const bool is_array = variable.type.is_array();
    parameters.push_back(
        {.name = variable.name,
         .rank = is_array ? static_cast<std::size_t>(variable.type.rank) : 0,
         .is_integer = !is_array && !variable.type.is_struct() && ir::is_integer(variable.type.scalar)});
  }
  const Result<void> fits = candidate::check_names(*contract, parameters, static_cast<std::size_t>(kernel.launch_rank));
  if (!fits.ok()) return Error{fits.error().message, candidate::contract_path(candidate_path).string()};
  return contract;
}

int judge_one(JudgeRequest& request, const Invocation& invocation) {
  harness::SuiteOptions& options = request.run.suite_options;
  const auto contract = read_contract(options.device_options.candidate_path, request.specification);
  if (!contract.ok()) return fail(contract.error());
  options.selectors = {request.specification};
  options.device = "candidate";
  options.pass = contract->backward ? "both" : "forward";
  options.fixed_extents = {.launch = contract->extents.threads, .shapes = contract->extents.shapes};
  options.max_failures_to_examine = 0;
  options.ignores_cached_verdicts = true;
  options.command_line = invocation.arguments;
  request.run.reduction_time_limit_seconds = 0;
  if (request.prints_json) return print_json_verdict(options);
  const int status = run_suite(request.run);
  const Result<harness::CandidateVerdict> verdict =
      harness::read_verdict({options.device_options.candidate_path, options.selectors.front()}, options.output);
  if (!verdict.ok() || verdict->errors_text().empty()) return status;
  if (const int printed = print_or_fail(verdict->errors_text() + "\n"); printed != 0) return printed;
  return status;
}

/// The options that each candidate of a suite is judged with.
std::vector<std::string> options_for_each(const harness::SuiteOptions& suite) {
  std::vector<std::string> options{"--seed", std::to_string(suite.seed)};
  if (suite.quick) options.emplace_back("--quick");
  if (suite.thorough) options.emplace_back("--thorough");
  const auto add_list = [&](const char* name, const std::vector<std::string>& values) {
    if (!values.empty()) options.insert(options.end(), {name, fmt::format("{}", fmt::join(values, ","))});
  };
  add_list("--nvrtc", suite.builds.nvrtc_versions_or_paths);
  add_list("--arch", suite.builds.architectures);
  if (!suite.device_options.python_interpreter.empty())
    options.insert(options.end(), {"--python", suite.device_options.python_interpreter});
  if (!suite.device_options.cuda_compiler.empty())
    options.insert(options.end(), {"--cuda-compiler", suite.device_options.cuda_compiler});
  for (const std::string& check : suite.device_options.disabled_checks)
    options.insert(options.end(), {"--no-check", check});
  return options;
}

int judge_suite(const JudgeRequest& request) {
  const harness::SuiteOptions& suite = request.run.suite_options;
  std::error_code error;
  const harness::CandidateSuiteOptions options{
      .program = std::filesystem::read_symlink("/proc/self/exe", error),
      .candidate_folder = request.suite_folder,
      .output = suite.output,
      .jobs = suite.jobs > 0 ? static_cast<unsigned>(suite.jobs) : std::thread::hardware_concurrency(),
      .judge_arguments = options_for_each(suite),
      .on_verdict = [&request](const harness::CandidateVerdict& verdict) {
        if (request.prints_json) {
          static_cast<void>(print(verdict.json_text() + "\n"));
          return;
        }
        const std::string reason = verdict.message.empty() ? "" : fmt::format("  {}", verdict.message);
        static_cast<void>(
            print(fmt::format("{:<30} {}{}{}\n", verdict.outcome_text(), verdict.listed_candidate.candidate_path,
                              reason, verdict.is_reused ? "  (earlier verdict)" : "")));
      }};
  const auto verdicts = harness::judge_candidates(options);
  if (!verdicts.ok()) return fail(verdicts.error());
  harness::OutcomeCounts counts;
  for (const harness::CandidateVerdict& verdict : *verdicts)
    counts.add(verdict.outcome);
  if (request.prints_json) return to_int(exit_status(counts));
  std::string table = fmt::format("\n{} candidates\n", verdicts->size());
  for (const auto& [outcome, count] : harness::count_verdicts(*verdicts))
    table += fmt::format("{:>6}  {}\n", count, outcome);
  for (const std::string& line : harness::tolerance_lines(*verdicts))
    table += line + "\n";
  table += fmt::format("verdicts: {}\n", (options.output / "candidates.json").string());
  if (const int printed = print_or_fail(table); printed != 0) return printed;
  return to_int(exit_status(counts));
}

}  // namespace

void add_judge(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<JudgeRequest>();
  harness::SuiteOptions& suite = request->run.suite_options;
  CLI::App& command = *app.add_subcommand("judge", "Judge existing CUDA or Triton kernels against specifications");
  CLI::Option* const candidate =
      command
          .add_option("CANDIDATE", suite.device_options.candidate_path,
                      "CUDA source (.cu), PTX (.ptx), or a Python file that has a Triton kernel or calls load_inline "
                      "(.py). A file such as sums.assay.json next to sums.cu states how it is launched")
          ->option_text(" ")
          ->check(CLI::ExistingFile);
  CLI::Option* const against =
      command
          .add_option("--against", request->specification,
                      "The specification: a kernel in Warp Python that says what the candidate must compute")
          ->option_text("SPEC.py[:KERNEL]")
          ->needs(candidate);
  candidate->needs(against);
  command
      .add_option("--suite", request->suite_folder,
                  fmt::format("Instead of CANDIDATE: judge the candidates that the file {} in this folder lists, with "
                              "the columns candidate,specification. Candidates that did not change since an earlier "
                              "run with the same output folder keep their verdicts",
                              harness::kCandidateListFileName))
      ->option_text("DIR")
      ->check(CLI::ExistingDirectory)
      ->excludes(candidate);
  add_jobs_option(command, suite.jobs, "Number of candidates of a suite processed at once");
  add_nvrtc_options(command, suite.builds);
  command
      .add_option("--python", suite.device_options.python_interpreter, "For Triton: Python interpreter that has Triton")
      ->option_text("PROGRAM [$ASSAY_PYTHON or python3]");
  command
      .add_option(
          "--cuda-compiler", suite.device_options.cuda_compiler,
          "Compiler of candidates with host code: nvcc, or clang 19 or later, which needs the headers of nvcc's "
          "CUDA Toolkit")
      ->option_text("NAME [nvcc]")
      ->check(CLI::IsMember(
          std::vector<std::string>(candidate::kHostCompilerNames.begin(), candidate::kHostCompilerNames.end())));
  add_no_check_option(command, suite.device_options.disabled_checks);
  CLI::Option* const quick = command.add_flag("--quick", suite.quick, "Judge on few inputs, for a first look");
  command.add_flag("--thorough", suite.thorough, "Judge on many inputs")->excludes(quick);
  add_seed_option(command, suite.seed, "Seed of the inputs");
  command.add_option("--output", suite.output, "Output folder for the records and reports")->option_text("DIR [out]");
  command.add_flag(
      "--json", request->prints_json,
      "Print one line of JSON for each candidate instead of text (schemas/candidate_verdicts.schema.json)");
  command.add_flag("--verbose", request->run.prints_every_note, "Print every note");
  add_color_option(command, request->run.color);
  command.footer(
      "The backward pass is judged if the contract describes it. No GPU is needed. See "
      "docs/guide/judge_foreign_kernels.md.\n"
      "Exit status: 0 all candidates compute what their specifications say, 1 a candidate does not, 2 usage error,\n"
      "3 internal error, 4 nothing ran, 77 no candidate or specification is supported here.");
  command.callback([request, &invocation] {
    const bool judges_suite = !request->suite_folder.empty();
    if (!judges_suite && request->run.suite_options.device_options.candidate_path.empty()) {
      invocation.status = fail(Error{"nothing to judge: give CANDIDATE --against SPEC.py, or --suite DIR"});
      return;
    }
    invocation.status = judges_suite ? judge_suite(*request) : judge_one(*request, invocation);
  });
}

}  // namespace assay::cli
