// assay generate: makes a dataset of verified rows.
#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/import_options.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "harness/dataset/emitter.hpp"
#include "harness/dataset/generate.hpp"
#include "harness/dataset/production.hpp"

namespace assay::cli {
namespace {

struct GenerateCommand {
  dataset::ProductionOptions production;
  PythonImportOptions import;
  std::string output;
  bool resume = false;
};

/// A dataset that lacks rows fails the command. Of the kernels of packages, those that pass are enough.
int status_of(const dataset::FinishedDataset& finished, bool is_import) {
  if (finished.was_already_complete || finished.rows == finished.requested_rows) return 0;
  if (is_import && finished.rows > 0) return 0;
  print_error(fmt::format("{} of {} rows are missing because none of their candidate kernels passed; see quarantine/",
                          finished.requested_rows - finished.rows, finished.requested_rows));
  return to_int(ExitStatus::unexpected);
}

std::string stage_text(std::uint64_t replaced) {
  return replaced == 0 ? "writing the files" : fmt::format("replacing {} near duplicates", replaced);
}

/// Imports the kernels that the command asks for. A kernel that cannot be exported is kept with its reason.
Result<void> import_kernels(GenerateCommand& command) {
  dataset::ProductionOptions& production = command.production;
  if (!command.import.is_import_requested) return {};
  if (production.python_files.empty() && command.import.module_names.empty())
    return Error{"--import needs --module MODULE or --from FILE.py"};
  const Result<live::ImportedKernels> imported = import_kernels(production.python_files, command.import, true);
  if (!imported.ok()) return imported.error();
  for (const live::ImportedKernel& kernel : imported->kernels) {
    production.imported_kernels.push_back(
        {.name = fmt::format("{}/{}", dataset::kUserFamily, kernel.name),
         .python_source = kernel.source_text,
         .origin = kernel.export_error.empty() ? std::optional(kernel.origin) : std::nullopt,
         .export_error = kernel.export_error});
  }
  return {};
}

int generate(GenerateCommand& command) {
  if (const Result<void> imported = import_kernels(command); !imported.ok()) return fail(imported.error());
  const Result<dataset::DatasetPlan> plan = make_plan(command.production);
  if (!plan.ok()) return fail(plan.error());
  const Result<dataset::ProducerSetup> production = dataset::ProducerSetup::make(*plan, command.production.compiler);
  if (!production.ok()) return fail(production.error());
  if (const std::string reason = production->device_unavailable_reason(); !reason.empty()) {
    return fail({fmt::format("cannot make rows on this machine: {}", reason)}, ExitStatus::all_unsupported);
  }
  ProgressDisplay progress(rows_of_shard(*plan), false, {.item_noun = "rows", .unexpected_label = "quarantined"});
  const Result<dataset::FinishedDataset> finished = dataset::generate(
      *plan, production->producer(),
      {.output = command.output,
       .resume = command.resume,
       .jobs = dataset::jobs_of(command.production.jobs),
       .on_progress = [&](std::uint64_t rows, std::uint64_t bad) { progress.set(rows, bad); },
       .on_finishing = [&](std::uint64_t replaced) { progress.set_final_stage(stage_text(replaced)); }});
  progress.stop();
  if (!finished.ok()) return fail(finished.error());
  if (const auto printed = print(closing_text(*plan, *finished, command.output)); !printed.ok()) {
    return fail(printed.error(), ExitStatus::internal);
  }
  return status_of(*finished, command.import.is_import_requested);
}

void add_choice_options(CLI::App& command, dataset::ProductionOptions& options) {
  command.add_option("--emitter", options.emitter, "Code generator for the C++ and CUDA C++ of the rows")
      ->option_text(fmt::format("{{{}}} [{}]", fmt::join(dataset::emitter_names(), ","), options.emitter))
      ->check(CLI::IsMember(dataset::emitter_names()));
  add_device_list_option(command, options.devices, "Devices that verify each row, forward and backward",
                         "those that run here");
  constexpr std::int64_t kMaxRows = 100'000'000;  // the plan is in memory
  command.add_option("--count", options.row_count, "Number of rows to make")
      ->option_text("N")
      ->check(CLI::Range(std::int64_t{1}, kMaxRows));
  command
      .add_option("--from", options.python_files,
                  "Make rows from the kernels in these Python files instead of random kernels")
      ->option_text("FILE.py ...");
  command
      .add_option("--exclude", options.excluded_files,
                  "Make no row that is a near duplicate of a kernel in these Python files or folders, such as the "
                  "tasks of a benchmark")
      ->option_text("PATH ...");
  command.add_option("--families", options.families, "Families to draw kernels from; default: all except spatial")
      ->option_text("NAME,...")
      ->delimiter(',');
  command.add_option("--weights", options.weights, "Relative share of each family in the dataset; default: 1")
      ->option_text("NAME=W,...")
      ->delimiter(',');
  add_seed_option(command, options.seed, "Seed of the kernels, inputs and splits");
  command
      .add_option("--license", options.license,
                  "License of the rows, an SPDX identifier; with --from, the default is unknown, and with --import, "
                  "the license that the package of each kernel states")
      ->option_text("ID [CC-BY-4.0]");
  command
      .add_option("--with-ptx", options.ptx_architecture,
                  "Add to each row the PTX of its CUDA source for this architecture, such as 75; needs NVRTC")
      ->option_text("ARCH")
      ->transform(architecture_validator());
  command.add_option("--compression", options.compression, "Format of the data files")
      ->option_text("{gzip,zstd} [gzip]")
      ->check(CLI::IsMember({"gzip", "zstd"}));
}

void add_effort_options(CLI::App& command, dataset::ProductionOptions& options) {
  CLI::Option* const unverified = command.add_flag("--no-verify", options.skips_verification,
                                                   "Do not judge the rows; their member 'evidence' records this");
  CLI::Option* const quick =
      command
          .add_flag("--quick", options.uses_few_inputs,
                    "Judge each kernel on few inputs and, unless --device is given, only on the CPU")
          ->excludes(unverified);
  command.add_flag("--thorough", options.uses_many_inputs, "Judge each kernel on many inputs")
      ->excludes(quick)
      ->excludes(unverified);
  add_jobs_option(command, options.jobs, "Number of blocks of rows processed at once");
  add_compiler_option(command, options.compiler);
}

}  // namespace

void add_generate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<GenerateCommand>();
  CLI::App& command = *app.add_subcommand("generate", "Make a dataset of kernels that pass every check");
  add_choice_options(command, options->production);
  add_effort_options(command, options->production);
  add_import_options(command, options->import);
  command.add_option("--output", options->output, "Output folder for the dataset")->option_text("DIR")->required();
  command
      .add_option("--shard", options->production.shard,
                  "Make only shard I of N; 'assay dataset merge' merges the shards")
      ->option_text("I/N [0/1]");
  command.add_flag("--resume", options->resume, "Continue the interrupted run in the output folder");
  command.footer(
      "The same options produce identical files, whatever the value of --jobs. docs/guide/make_a_dataset.md describes\n"
      "the files.");
  command.callback([options, &invocation] { invocation.status = generate(*options); });
}

}  // namespace assay::cli
