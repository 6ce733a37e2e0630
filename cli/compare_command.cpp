// assay compare: what changed between two recorded runs.
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "reports/formats/terminal.hpp"
#include "reports/model/changes.hpp"
#include "support/terminal.hpp"

namespace assay::cli {
namespace {

struct CompareOptions {
  std::string before;
  std::string after;
  bool json = false;
  ColorChoice color = ColorChoice::automatic;
};

int compare(const CompareOptions& options) {
  const Result<reports::Baseline> before = reports::read_baseline(options.before);
  if (!before.ok()) return fail(before.error());
  const Result<reports::Run> after = reports::read_run(options.after);
  if (!after.ok()) return fail(after.error());
  if (!after->complete()) return fail({"the run is not finished; continue it with --resume", options.after});
  const reports::RunChanges changes = reports::changes_since(*before, *after);
  const Result<void> printed = print(
      options.json ? reports::changes_json(changes).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                   : reports::changes_lines(changes, use_color_on_stdout(options.color)));
  if (!printed.ok()) return fail(printed.error());
  return to_int(changes.is_no_worse() ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App& command = *app.add_subcommand("compare", "Report the changes between two recorded runs");
  command.add_option("BEFORE", options->before, "The earlier run's folder, or its failures.csv")
      ->option_text(" ")
      ->required();
  command.add_option("AFTER", options->after, "The later run's folder")->option_text(" ")->required();
  command.add_flag("--json", options->json, "Print JSON in the format of the member 'changes' of report.json");
  add_color_option(command, options->color);
  command.footer(
      "This command only reads records, so it has no device option. It ignores tables of expected failures.\n"
      "Exit status: 0 each earlier case is unchanged or fixed, and no added case fails; 1 otherwise; 2 usage error.");
  command.callback([options, &invocation] { invocation.status = compare(*options); });
}

}  // namespace assay::cli
