// assay state: CUDA_STATE.md, the latest verification results on each device.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "reports/state.hpp"

namespace assay::cli {
namespace {

struct StateOptions {
  std::string run;
  std::string root = ".";
};

int state(const StateOptions& options) {
  const std::filesystem::path summary = std::filesystem::path(options.root) / "conformance/state.json";
  const std::filesystem::path page = std::filesystem::path(options.root) / "CUDA_STATE.md";
  Result<reports::ProjectState> state = reports::read_state(summary);
  if (!state.ok()) {
    const Error& error = state.error();
    return fail(
        {error.message + "; run this command in Assay's repository, or give its folder with --root", error.where});
  }
  if (!options.run.empty()) {
    const Result<reports::Run> run = reports::read_run(options.run);
    if (!run.ok()) return fail(run.error());
    const Result<void> updated = reports::update_state(*state, *run, reports::summarize(*run));
    if (!updated.ok()) return fail(updated.error());
    const Result<void> written = reports::write_state(summary, *state);
    if (!written.ok()) return fail(written.error());
  }
  Result<void> done = reports::write_state_page(page, *state);
  if (done.ok()) done = print(fmt::format("wrote {}\n", page.lexically_normal().string()));
  return done.ok() ? 0 : fail(done.error());
}

}  // namespace

void add_state(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<StateOptions>();
  CLI::App& command = *app.add_subcommand("state", "Write CUDA_STATE.md from conformance/state.json");
  command.add_option("--update", options->run, "First add the run recorded in this folder to conformance/state.json")
      ->option_text("DIR");
  command.add_option("--root", options->root, "Folder of Assay's repository")->option_text("DIR [.]");
  command.footer("This command only reads the records of runs, so it has no device option.");
  command.callback([options, &invocation] { invocation.status = state(*options); });
}

}  // namespace assay::cli
