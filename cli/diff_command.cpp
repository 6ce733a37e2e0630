// assay diff: a kernel's CPU and CUDA source side by side.
#include <memory>

#include <fmt/format.h>

#include "backends/device/registry.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "harness/suite/emission.hpp"
#include "reports/formats/side_by_side.hpp"
#include "support/terminal.hpp"

namespace assay::cli {
namespace {

struct DiffOptions {
  std::string selector;
  std::string device = "cpu";
  ColorChoice color = ColorChoice::automatic;
  std::size_t width = 0;
  bool backward = false;
};

int diff(const DiffOptions& options) {
  const Result<harness::LoadedKernel> kernel = harness::load_kernel(options.selector, options.backward);
  if (!kernel.ok()) return fail(kernel.error());
  const bool cpu_left = backends::device_descriptor(options.device).target == backends::SourceTarget::kCpp;
  const auto cpu = emit_source(*kernel, backends::SourceTarget::kCpp);
  const auto cuda = emit_source(*kernel, backends::SourceTarget::kCuda);
  if (!cpu.ok()) return fail(cpu.error());
  if (!cuda.ok()) return fail(cuda.error());
  const std::string left = (cpu_left ? cpu : cuda)->source();
  const std::string right = (cpu_left ? cuda : cpu)->source();
  const std::size_t width = options.width > 0 ? options.width : terminal_width();
  return print_or_fail(reports::side_by_side(left, right, width, use_color_on_stdout(options.color)));
}

}  // namespace

void add_diff(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App& command = *app.add_subcommand("diff", "Show a kernel's CPU and CUDA source side by side");
  command
      .add_option("KERNEL", options->selector, "FILE.py:KERNEL, FILE.py with one kernel, or a name such as loop/r2_42")
      ->option_text(" ")
      ->required();
  add_device_option(command, options->device,
                    "Device whose source is shown on the left; cuda and ptx have the same source");
  command.add_flag("--backward", options->backward, "Also show the backward kernels");
  command.add_option("--width", options->width, "Width of the output in columns; default: the width of the terminal")
      ->option_text("N")
      ->check(CLI::Range(40, 1000));
  add_color_option(command, options->color);
  command.callback([options, &invocation] { invocation.status = diff(*options); });
}

}  // namespace assay::cli
