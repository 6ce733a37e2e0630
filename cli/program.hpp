// assay: the command. One subcommand a file; program.cpp puts them together.
#pragma once

#include <optional>

namespace assay::cli {

/// The exit status of a worker, if the arguments make this process one.
std::optional<int> run_if_worker(int argc, char** argv);

/// Does what the command line says. Returns an exit status of harness/records/outcome.hpp, and throws nothing.
int run_program(int argc, char** argv);

}  // namespace assay::cli
