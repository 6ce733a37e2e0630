// assay generate: a dataset of proven rows.
#include <memory>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/production.hpp"
#include "cli/progress.hpp"
#include "harness/dataset/generate.hpp"

namespace assay::cli {
namespace {

struct GenerateCommand {
  ProductionOptions production;
  std::string output;
  bool resume = false;
};

/// A dataset that lacks rows is not what was asked for.
int status_of(const dataset::Finished& finished) {
  if (finished.was_complete || finished.rows == finished.wanted) return 0;
  print_error(fmt::format("{} of {} rows are missing: none of their candidates passed; see quarantine/",
                          finished.wanted - finished.rows, finished.wanted));
  return to_int(ExitStatus::unexpected);
}

std::uint64_t rows_of_shard(const dataset::Plan& plan) {
  std::uint64_t rows = 0;
  for (const std::uint64_t block : blocks_of_shard(plan))
    rows += std::min<std::uint64_t>(plan.block_rows, plan.count - block * plan.block_rows);
  return rows;
}

int generate(const GenerateCommand& command) {
  const Result<dataset::Plan> plan = plan_of(command.production);
  if (!plan.ok()) return fail(plan.error());
  const Production production(*plan, command.production.compiler);
  if (const std::string reason = production.why_not(); !reason.empty()) {
    return fail({fmt::format("no row can be proved here: {}", reason)}, ExitStatus::all_unsupported);
  }
  Progress progress(rows_of_shard(*plan), false, {.things = "rows", .bad = "quarantined"});
  const Result<dataset::Finished> finished =
      dataset::generate(*plan, production.producer(),
                        {.output = command.output,
                         .resume = command.resume,
                         .jobs = jobs_of(command.production.jobs),
                         .progress = [&](std::uint64_t rows, std::uint64_t bad) { progress.set(rows, bad); }});
  progress.stop();
  if (!finished.ok()) return fail(finished.error());
  if (const auto printed = print(closing_text(*finished, command.output)); !printed.ok()) {
    return fail(printed.error(), ExitStatus::internal);
  }
  return status_of(*finished);
}

void add_choice_options(CLI::App& command, ProductionOptions& options) {
  command.add_option("--device", options.devices, "The devices that prove each row, forward and backward")
      ->option_text("{cpu,cuda,ptx},... [cpu]")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(kDeviceNames.begin(), kDeviceNames.end())));
  command.add_option("--count", options.count, "Rows to make")->option_text("N");
  command.add_option("--from", options.from, "Rows of the kernels of these Python files, instead of random ones")
      ->option_text("FILE.py ...")
      ->allow_extra_args(false);
  command.add_option("--families", options.families, "Families to draw kernels from; default: all")
      ->option_text("NAME,...")
      ->delimiter(',');
  command.add_option("--weights", options.weights, "How much of the dataset a family is, beside 1 for the others")
      ->option_text("NAME=W,...")
      ->delimiter(',');
  command.add_option("--seed", options.seed, "Seed of kernels, inputs and splits")->option_text("S [1]");
  command.add_option("--licence", options.licence, "The rows' licence, as the dataset card names it")
      ->option_text("ID [unknown]");
}

void add_effort_options(CLI::App& command, ProductionOptions& options) {
  CLI::Option* const unverified = command.add_flag("--no-verify", options.no_verify,
                                                   "Generate only: rows are not judged, and their evidence says so");
  CLI::Option* const quick =
      command.add_flag("--quick", options.quick, "Few inputs for each kernel")->excludes(unverified);
  command.add_flag("--thorough", options.thorough, "Many inputs for each kernel")
      ->excludes(quick)
      ->excludes(unverified);
  command.add_option("--jobs", options.jobs, "Blocks of rows at once; 0: one for each core")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1024));
  command.add_option("--cxx", options.compiler, "The C++ compiler of the device cpu; default: $CXX, else c++")
      ->option_text("COMMAND");
}

}  // namespace

void add_generate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<GenerateCommand>();
  CLI::App& command = *app.add_subcommand("generate", "Make a dataset of kernels that pass every check");
  add_choice_options(command, options->production);
  add_effort_options(command, options->production);
  command.add_option("--output", options->output, "The folder for the dataset")->option_text("DIR")->required();
  command.add_option("--shard", options->production.shard, "Make this part only; assay dataset merge joins the parts")
      ->option_text("I/N [0/1]");
  command.add_flag("--resume", options->resume, "Go on with what an interrupted run has left in the folder");
  command.footer("The same options give the same bytes, whatever --jobs is; docs/datasets.md tells what is written.");
  command.callback([options, &invocation] { invocation.status = generate(*options); });
}

}  // namespace assay::cli
