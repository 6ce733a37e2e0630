// assay: the command. One subcommand a file; program.cpp puts them together.
#pragma once

#include <optional>

#include "cli/command.hpp"

namespace assay::cli {

/// The exit status of a worker, if the arguments make this process one.
std::optional<int> run_if_worker(int argc, char** argv);

/// Adds the subcommands of a program.
using AddCommands = void(CLI::App& app, Invocation& invocation);
/// Adds all subcommands.
AddCommands add_commands;
/// Adds the subcommands that need only the judge.
AddCommands add_judge_commands;

/// Runs the command line. Returns an exit status of harness/records/outcome.hpp; never throws.
int run_program(int argc, char** argv, AddCommands& add);

}  // namespace assay::cli
