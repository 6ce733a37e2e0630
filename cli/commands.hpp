// The subcommands of `assay`, in the order of the help. To add one, write cli/NAME_command.cpp with add_NAME() and list
// it here.
#pragma once

#include "cli/command.hpp"

// clang-format off
#define ASSAY_COMMANDS(COMMAND) \
  COMMAND(run) COMMAND(capture) COMMAND(judge) COMMAND(emit) COMMAND(diff) COMMAND(generate) COMMAND(validate) COMMAND(dataset) COMMAND(mutate) \
  COMMAND(bench) COMMAND(list) COMMAND(profile) COMMAND(calibrate) COMMAND(ptx) COMMAND(doctor) COMMAND(report) \
  COMMAND(compare) COMMAND(compilers) COMMAND(state) COMMAND(reduce) COMMAND(reproduce)
// clang-format on

namespace assay::cli {

// Each adds its subcommand to the program; its callback sets the invocation's status. Both outlive the parsing.
#define ASSAY_DECLARE_COMMAND(name) void add_##name(CLI::App& app, Invocation& invocation);
ASSAY_COMMANDS(ASSAY_DECLARE_COMMAND)
#undef ASSAY_DECLARE_COMMAND

}  // namespace assay::cli
