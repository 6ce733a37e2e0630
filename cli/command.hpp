// What the subcommands share: the invocation, messages and exit statuses. Start reading at main.cpp.
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
  std::vector<std::string> arguments;                   ///< the command line as given
  int status = static_cast<int>(ExitStatus::internal);  ///< exit status of the process; set by the subcommand
};

constexpr int to_int(ExitStatus status) { return static_cast<int>(status); }

/// Prints one line on standard error; control characters become spaces. Ignores a failure to write.
void print_message(std::string_view text);
/// Prints "assay: error: ..." on standard error, as print_message does.
void print_error(std::string_view text);

/// Prints the error and returns the exit status.
int fail(const Error& error, ExitStatus status = ExitStatus::usage);

/// Prints the text on standard output. Fails with the cause, such as a full disk. A reader that went away (`assay emit
/// ... | head`) ends the process by SIGPIPE, as is usual.
Result<void> print(std::string_view text);
/// The same as the last step of a command: returns 0, or prints the error and returns its exit status.
int print_or_fail(std::string_view text);

/// Prints why the device cannot run here and returns the status of a skipped test.
int fail_unsupported(std::string_view device, std::string_view reason);

}  // namespace assay::cli
