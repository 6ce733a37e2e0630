// assay reproduce: judges an archived failure again.
#include <memory>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "harness/reduce/target.hpp"

namespace assay::cli {
namespace {

struct ReproduceOptions {
  std::string folder;
  bool original = false;
};

int reproduce(const ReproduceOptions& options) {
  const Result<reduce::Reproduction> found = reduce::reproduce(options.folder, options.original);
  if (!found.ok()) return fail(found.error());
  if (!found->unsupported_reason.empty()) {
    print_message(fmt::format("unsupported: {}", found->unsupported_reason));
    return to_int(ExitStatus::all_unsupported);
  }
  const std::string ending = reduce::to_text(reduce::ending_of(found->record));
  const int printed =
      print_or_fail(found->is_reproduced
                        ? fmt::format("reproduced: {}: {}\n", ending, found->record.message)
                        : fmt::format("not reproduced: {} ended as {}, expected {}\n", found->kernel_file_path.string(),
                                      ending, reduce::to_text(found->archived_failure_class)));
  if (printed != 0) return printed;
  return to_int(found->is_reproduced ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_reproduce(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App& command =
      *app.add_subcommand("reproduce", "Judge an archived failure again and check that it fails in the same way");
  command.add_option("FOLDER", options->folder, "Failure folder written by 'assay run' or 'assay reduce'")
      ->option_text(" ")
      ->required();
  command.add_flag("--original", options->original, "Judge the original kernel instead of the reduced kernel");
  command.footer(
      "Exit status: 0 the case fails in the same way, 1 it does not, 2 usage error, 77 the device is missing.");
  command.callback([options, &invocation] { invocation.status = reproduce(*options); });
}

}  // namespace assay::cli
