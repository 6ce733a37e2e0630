#include "cli/commands.hpp"
#include "cli/program.hpp"

namespace assay::cli {

void add_commands(CLI::App& app, Invocation& invocation) {
#define ASSAY_ADD_COMMAND(name) add_##name(app, invocation);
  ASSAY_COMMANDS(ASSAY_ADD_COMMAND, ASSAY_ADD_COMMAND)
#undef ASSAY_ADD_COMMAND
}

}  // namespace assay::cli
