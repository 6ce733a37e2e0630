// assay emit: prints a kernel as source or IR.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/source/targets/targets.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "harness/suite/emission.hpp"
#include "support/files.hpp"

namespace assay::cli {
namespace {

struct EmitOptions {
  std::string selector;
  std::string to;
  std::string device = "cpu";
  std::string architecture = "compute_75";
  std::string output;
  bool backward = false;
  bool prints_host_program = false;
};

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const source::EmissionTarget& row : source::targets())
    names.emplace_back(row.name);
  return names;
}

int emit(const EmitOptions& options) {
  const source::EmissionTarget& target = *source::find_target(options.to.empty() ? options.device : options.to);
  if (options.prints_host_program && !target.supports_host_program) {
    return fail({fmt::format("--with-host adds a CUDA main program and requires --to cuda, got {}", target.name)});
  }
  const Result<harness::LoadedKernel> kernel = harness::load_kernel(options.selector, options.backward);
  if (!kernel.ok()) return fail(kernel.error());
  const Result<std::string> text = target.print({.module = kernel->source.module.get(),
                                                 .kernel_index = kernel->source.kernel_index,
                                                 .adjoint = kernel->adjoint ? &*kernel->adjoint : nullptr,
                                                 .prints_host_program = options.prints_host_program,
                                                 .architecture = options.architecture});
  if (!text.ok()) return fail(text.error());
  if (options.output.empty()) {
    const Result<void> printed = print(*text);
    return printed.ok() ? 0 : fail(printed.error());
  }
  const std::filesystem::path folder = std::filesystem::path(options.output).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    return fail({fmt::format("cannot write: the folder {} does not exist", folder.string()), options.output});
  const Result<void> written = put_file(options.output, *text);
  return written.ok() ? 0 : fail(written.error());
}

}  // namespace

void add_emit(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<EmitOptions>();
  CLI::App& command = *app.add_subcommand("emit", "Print a kernel as C++, CUDA C++, PTX, Python or IR");
  command
      .add_option("KERNEL", options->selector, "FILE.py:KERNEL, FILE.py with one kernel, or a name such as loop/r2_42")
      ->option_text(" ")
      ->required();
  const std::vector<std::string> names = target_names();
  command.add_option("--to", options->to, "Language to print; default: the source language of --device")
      ->option_text(fmt::format("{{{}}}", fmt::join(names, ",")))
      ->check(CLI::IsMember(names));
  add_device_option(command, options->device, "Device whose source language is printed if --to is not given");
  add_warp_version_option(command);
  command.add_flag("--backward", options->backward,
                   "Also print the backward kernel; with --to python or ir, print only the backward kernel");
  command.add_flag("--with-host", options->prints_host_program,
                   "With --to cuda: add a main() that runs the kernel, to be compiled with nvcc");
  command.add_option("--arch", options->architecture, "With --to ptx: architecture to compile for")
      ->option_text("NAME [compute_75]");
  command.add_option("-o,--output", options->output, "Write to this file instead of the terminal")->option_text("FILE");
  command.callback([options, &invocation] { invocation.status = emit(*options); });
}

}  // namespace assay::cli
