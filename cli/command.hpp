// The subcommands of `assay`, one file each, and what they share. Start reading at main.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/records/outcome.hpp"
#include "support/result.hpp"

namespace assay::cli {

using harness::ExitStatus;

/// One call of the program.
struct Invocation {
  std::vector<std::string> words;                       ///< the command line as given
  int status = static_cast<int>(ExitStatus::internal);  ///< what the process returns
};

// Each adds its subcommand to the program; its callback sets the invocation's status. Both outlive the parsing.
void add_bench(CLI::App& app, Invocation& invocation);
void add_mutate(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_compare(CLI::App& app, Invocation& invocation);
void add_calibrate(CLI::App& app, Invocation& invocation);
void add_emit(CLI::App& app, Invocation& invocation);
void add_diff(CLI::App& app, Invocation& invocation);
void add_dataset(CLI::App& app, Invocation& invocation);
void add_generate(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_profile(CLI::App& app, Invocation& invocation);
void add_ptx(CLI::App& app, Invocation& invocation);
void add_reduce(CLI::App& app, Invocation& invocation);
void add_report(CLI::App& app, Invocation& invocation);
void add_reproduce(CLI::App& app, Invocation& invocation);
void add_state(CLI::App& app, Invocation& invocation);
void add_validate(CLI::App& app, Invocation& invocation);

constexpr int to_int(ExitStatus status) { return static_cast<int>(status); }

/// Prints one line on standard error, whatever the text holds. What cannot be said there is lost.
void tell(std::string_view text);
/// The same, as "assay: error: ...".
void print_error(std::string_view text);

/// Prints the error and gives the exit status.
int fail(const Error& error, ExitStatus status = ExitStatus::usage);

/// Prints the text on standard output. Fails with the cause, as a full disk. A reader that went away (`assay emit ... |
/// head`) ends the process by SIGPIPE, as is the custom.
Result<void> print(std::string_view text);

/// Adds `--baseline`: the run's folder or failures.csv that reports tell the changes since.
void add_baseline_option(CLI::App& command, std::string& path);

/// Adds `--certification`: the folder with the certification.json that the report takes its score from.
void add_mutation_score_option(CLI::App& command, std::string& dir);

/// Adds `--device` with the names of all devices; `does` says what the option does for this command.
void add_device_option(CLI::App& command, std::string& device, const std::string& does);

}  // namespace assay::cli
