// The subcommands of `assay`, in the order of the help. To add one, write cli/NAME_command.cpp with add_NAME() and list
// it here: as JUDGE if it needs nothing but the judge, as PRODUCT if it needs a part of the harness that uses the
// judge. PRODUCT commands are also listed in CMakeLists.txt; the program of ci/quickstart lacks them.
#pragma once

#include "cli/command.hpp"

// clang-format off
#define ASSAY_COMMANDS(JUDGE, PRODUCT) \
  JUDGE(run) JUDGE(capture) PRODUCT(judge) JUDGE(emit) JUDGE(diff) PRODUCT(generate) PRODUCT(validate) PRODUCT(dataset) \
  PRODUCT(mutate) PRODUCT(bench) JUDGE(list) JUDGE(profile) PRODUCT(calibrate) JUDGE(ptx) JUDGE(doctor) JUDGE(report) \
  JUDGE(compare) PRODUCT(compilers) JUDGE(state) JUDGE(reduce) JUDGE(reproduce)
// clang-format on

namespace assay::cli {

/// Each function adds its subcommand to the program; the callback of the subcommand sets the invocation's status. The
/// program and the invocation must outlive the parsing.
#define ASSAY_DECLARE_COMMAND(name) void add_##name(CLI::App& app, Invocation& invocation);
ASSAY_COMMANDS(ASSAY_DECLARE_COMMAND, ASSAY_DECLARE_COMMAND)
#undef ASSAY_DECLARE_COMMAND

}  // namespace assay::cli
