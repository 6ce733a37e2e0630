// assay reproduce: judges a kept failure again.
#include <memory>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/emission.hpp"
#include "cli/keeping.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/suite/select/python_file.hpp"

namespace assay::cli {
namespace {

struct ReproduceOptions {
  std::string folder;
  bool original = false;
};

int reproduce(const ReproduceOptions& options) {
  Result<reduce::Failure> read = reduce::read_failure(options.folder);
  if (!read.ok()) return fail(read.error());
  reduce::Failure failure = read.take();
  const bool reduced = failure.reduced && !options.original;
  if (reduced) failure.conditions.effort = failure.reduced->effort;
  const std::filesystem::path file = std::filesystem::path(options.folder) / (reduced ? "reduced.py" : "kernel.py");
  const Result<harness::PythonKernels> kernels = harness::read_file({.path = file, .kernel = failure.kernel});
  if (!kernels.ok()) return fail(kernels.error());

  const auto device = device_of(failure.conditions);
  if (const backends::Capability can = device->can_run(); !can.available) {
    tell(fmt::format("unsupported: {}", can.detail));
    return to_int(ExitStatus::all_unsupported);
  }
  const harness::CaseRecord record = reduce::judge_case(kernels->kernels.front(), failure.conditions.which_pass(),
                                                        *device, printer(), run_options(failure.conditions, 1));
  const bool again = reduce::ended_so(record, failure.ending);
  const std::string found = reduce::to_text(reduce::ending_of(record));
  const std::string verdict = again ? fmt::format("reproduced: {}: {}", found, record.message)
                                    : fmt::format("not reproduced: {} ended as {}, expected {}", file.string(), found,
                                                  reduce::to_text(failure.ending));
  const Result<void> printed = print(verdict + "\n");
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  return to_int(again ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_reproduce(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App& command = *app.add_subcommand("reproduce", "Judge a kept failure again: does it fail in the same way?");
  command.add_option("FOLDER", options->folder, "The failure's folder, as assay run and assay reduce leave it")
      ->option_text(" ")
      ->required();
  command.add_flag("--original", options->original, "The kernel as it was, and not what it was reduced to");
  command.footer("Exit status: 0 it does, 1 it does not, 2 usage, 77 the device is missing here.");
  command.callback([options, &invocation] { invocation.status = reproduce(*options); });
}

}  // namespace assay::cli
