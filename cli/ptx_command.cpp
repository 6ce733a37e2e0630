// assay ptx run: runs any PTX on the interpreter, which checks every access.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/ptx/device.hpp"
#include "backends/ptx/execute/argument_text.hpp"
#include "backends/ptx/parse/module.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "support/files.hpp"

namespace assay::cli {
namespace {

struct PtxRunOptions {
  std::string file;
  std::string kernel;
  std::vector<std::uint32_t> grid{1};
  std::vector<std::uint32_t> block{32};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::string> arguments;
  std::vector<std::string> disabled_checks;
  std::string tables;
  std::uint64_t budget = 20'000'000'000;
  std::uint64_t seed = 1;
  bool shuffled = false;
  std::size_t print = 8;
};

/// The entry that the options name, or the module's only one.
Result<std::shared_ptr<const ptx::Kernel>> kernel_of(const std::shared_ptr<const ptx::Module>& module,
                                                     const std::string& name) {
  std::vector<std::string> entries;
  for (const ptx::Function& function : module->functions) {
    if (function.is_entry) entries.push_back(function.name);
  }
  if (!name.empty()) {
    if (module->find_entry(name) != nullptr) return ptx::lower(module, name);
    return Error{fmt::format("unknown kernel '{}'; the file defines {}", name, fmt::join(entries, ", ")), module->name};
  }
  if (entries.size() == 1) return ptx::lower(module, entries.front());
  return Error{fmt::format("has {} kernels; choose one with --kernel: {}", entries.size(), fmt::join(entries, ", ")),
               module->name};
}

ptx::Dim3 dimensions(const std::vector<std::uint32_t>& extents) {
  const auto at = [&](std::size_t i) { return i < extents.size() ? extents[i] : 1; };
  return {at(0), at(1), at(2)};
}

std::string status_text(const ptx::RunResult& result) {
  if (!result.message.empty()) return result.message;
  return result.findings.empty() ? "completed, no findings"
                                 : fmt::format("completed, {} findings", result.findings.size());
}

std::string memory_text(ptx::Machine& machine, const ptx::ParsedArgument& argument, std::size_t most) {
  if (!argument.allocation) return "";
  const std::span<const std::byte> bytes = machine.bytes(*argument.allocation);
  const std::size_t count = bytes.size() / ptx::bytes_of(argument.type);
  std::string text = fmt::format("{:<12}", argument.name);
  for (std::size_t i = 0; i < std::min(count, most); ++i)
    text += " " + ptx::element_text(bytes, argument.type, i);
  return text + (count > most ? fmt::format(" ... ({} of {})\n", most, count) : "\n");
}

std::string profile_text(const ptx::InstructionProfile& profile) {
  std::string text = ptx::exactness_line(profile) + "\n";
  for (const auto& [name, value] : ptx::measures_of(profile)) {
    if (value != 0) text += fmt::format("  {:<22} {:>12.6g}\n", name, value);
  }
  return text;
}

int run(const PtxRunOptions& options) {
  const Result<std::string> text = read_file_text(options.file);
  if (!text.ok()) return fail(text.error());
  Result<ptx::Module> parsed = ptx::parse(*text, options.file);
  if (!parsed.ok()) return fail(parsed.error());
  const auto module = std::make_shared<const ptx::Module>(parsed.take());
  const auto kernel = kernel_of(module, options.kernel);
  if (!kernel.ok()) return fail(kernel.error());

  ptx::Machine machine;
  ptx::KernelArguments arguments;
  std::vector<ptx::ParsedArgument> placed;
  Rng random(options.seed);
  const auto& parameters = (*kernel)->entry_function->parameters;
  for (std::size_t i = 0; i < options.arguments.size(); ++i) {
    const std::string name = i < parameters.size() ? parameters[i].name : fmt::format("argument {}", i);
    Result<ptx::ParsedArgument> added = ptx::add_argument(machine, arguments, name, options.arguments[i], random);
    if (!added.ok()) return fail(added.error());
    placed.push_back(added.take());
  }
  std::optional<ptx::ApproximationTables> tables;
  if (!options.tables.empty()) {
    Result<ptx::ApproximationTables> read = ptx::read_tables(options.tables);
    if (!read.ok()) return fail(read.error());
    tables = read.take();
  }
  ptx::LaunchOptions launch{.checks = ptx::checks_without(options.disabled_checks),
                            .instruction_limit = options.budget,
                            .tables = tables ? &*tables : nullptr};
  if (options.shuffled) launch.execution_order = {ptx::Order::kShuffled, options.seed};
  const ptx::RunResult result = machine.launch(
      *kernel, {dimensions(options.grid), dimensions(options.block), options.dynamic_shared_bytes}, arguments, launch);
  if (result.status == ptx::RunResult::Status::kRejected) return fail({result.message});

  std::string shown = status_text(result) + "\n";
  for (const ptx::CheckFinding& finding : result.findings)
    shown += "  " + ptx::describe(finding) + "\n";
  for (const ptx::ParsedArgument& argument : placed)
    shown += memory_text(machine, argument, options.print);
  const Result<void> printed = print(shown + profile_text(result.profile));
  if (!printed.ok()) return fail(printed.error());
  if (result.status == ptx::RunResult::Status::kUnsupported) return to_int(ExitStatus::all_unsupported);
  return to_int(result.ok() ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_ptx(CLI::App& app, Invocation& invocation) {
  CLI::App& ptx = *app.add_subcommand("ptx", "Run PTX from any source");
  ptx.require_subcommand(1);
  const auto options = std::make_shared<PtxRunOptions>();
  CLI::App& command = *ptx.add_subcommand("run", "Run a kernel of a PTX file on the CPU, with every check");
  command.add_option("FILE", options->file, "File that contains the PTX text")->option_text(" ")->required();
  command.add_option("--kernel", options->kernel, "Kernel entry to run; required if the file has several")
      ->option_text("NAME");
  command.add_option("--grid", options->grid, "Size of the grid in blocks")
      ->option_text("X[,Y,Z] [1]")
      ->delimiter(',')
      ->expected(1, 3)
      ->allow_extra_args(false);
  command.add_option("--block", options->block, "Size of a block in threads")
      ->option_text("X[,Y,Z] [32]")
      ->delimiter(',')
      ->expected(1, 3)
      ->allow_extra_args(false);
  command.add_option("--shared", options->dynamic_shared_bytes, "Bytes of dynamic shared memory")->option_text("N [0]");
  command.add_option("--arg", options->arguments, "Arguments of the kernel, in order; described below")
      ->option_text("ARG ...")
      ->allow_extra_args(false);
  add_no_check_option(command, options->disabled_checks);
  add_tables_option(command, options->tables);
  command.add_option("--budget", options->budget, "Instruction limit, summed over threads")
      ->option_text("N [2e10]")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  command.add_flag("--shuffle", options->shuffled, "Run blocks, warps and lanes in a random order");
  add_seed_option(command, options->seed, "Seed of the random arrays and of --shuffle");
  command.add_option("--print", options->print, "Number of elements to print of each array")
      ->option_text("N [8]")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  command.footer(
      "ARG is a scalar, such as s32:5 or f32:0.25, or an array, such as f32[64]. Arrays are filled with zeros, or as\n"
      "specified by a suffix: =1.5, =ramp or =random; =? leaves the array uninitialized. The prefix ro: makes an\n"
      "array read-only. array:f32[8,4] passes the struct {data, shape, strides} by value.\n"
      "Exit status: 0 no findings, 1 findings or not completed, 2 usage error, 77 an instruction is not supported.");
  command.callback([options, &invocation] { invocation.status = run(*options); });
}

}  // namespace assay::cli
