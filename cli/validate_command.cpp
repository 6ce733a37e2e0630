// assay validate: reports every error in a dataset.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/foreign_import.hpp"
#include "cli/options.hpp"
#include "harness/dataset/emitter.hpp"
#include "harness/dataset/production.hpp"
#include "harness/dataset/validate.hpp"
#include "harness/suite/emission.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
  std::vector<std::string> paths;
  std::string rebuild;
  std::vector<std::string> devices;  ///< empty: the default devices of the emitter of the rows
  std::string format = "text";
  std::string compiler;
  int jobs = 0;
  ForeignImportOptions foreign;
};

Result<std::uint64_t> rows_to_rebuild(const std::string& text) {
  if (text.empty()) return std::uint64_t{0};
  if (text == "all") return ~std::uint64_t{0};
  if (text.find_first_not_of("0123456789") == std::string::npos && text.size() < 19) return std::stoull(text);
  return Error{fmt::format("--rebuild must be a number of rows or 'all', got '{}'", text)};
}

/// Judges the plan's kernels on the chosen devices, as `assay generate` does.
Result<dataset::ProducedBlock> rejudge(dataset::DatasetPlan plan, const ValidateOptions& options) {
  plan.generator_version = kVersion;
  if (const auto added = add_devices(plan, options.devices, options.compiler); !added.ok()) return added.error();
  const Result<dataset::ProducerSetup> production = dataset::ProducerSetup::make(plan, options.compiler);
  if (!production.ok()) return production.error();
  if (const std::string reason = production->device_unavailable_reason(); !reason.empty()) {
    return Error{fmt::format("cannot judge rows on this machine: {}", reason)};
  }
  std::vector<dataset::SlotTask> tasks;
  for (const dataset::DatasetSlot& slot : slots_of(plan))
    tasks.push_back({.slot = slot});
  return production->producer().produce(tasks);
}

/// The number with the noun: "1 error", "2 errors".
std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string text_of(const std::vector<dataset::RowError>& diagnostics, const dataset::ValidationResult& sum) {
  std::string text;
  std::size_t warnings = 0;
  for (const dataset::RowError& diagnostic : diagnostics) {
    text += to_text(diagnostic) + "\n";
    warnings += diagnostic.is_warning ? 1U : 0U;
  }
  text += fmt::format("{} in {}: {}, {}", counted(sum.rows, "row"), counted(sum.files, "file"),
                      counted(diagnostics.size() - warnings, "error"), counted(warnings, "warning"));
  if (sum.rejudged_count > 0) text += fmt::format("; {} judged again", counted(sum.rejudged_count, "row"));
  return text + "\n";
}

std::string json_of(const std::vector<dataset::RowError>& diagnostics, const dataset::ValidationResult& sum) {
  Json list = Json::array();
  for (const dataset::RowError& diagnostic : diagnostics)
    list.push_back(to_json(diagnostic));
  const Json whole = {{"rows", sum.rows}, {"files", sum.files}, {"rebuilt", sum.rejudged_count}, {"complaints", list}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Judges rows of Warp code that another program wrote.
int validate_foreign(const ValidateOptions& options, bool has_devices) {
  ForeignImportOptions foreign = options.foreign;
  if (has_devices) foreign.devices = options.devices;
  foreign.jobs = options.jobs;
  return import_foreign(foreign, options.format == "json", ExitStatus::unexpected);
}

int validate(const ValidateOptions& options) {
  const Result<std::uint64_t> rebuild = rows_to_rebuild(options.rebuild);
  if (!rebuild.ok()) return fail(rebuild.error());
  dataset::ValidateOptions how{.printer = harness::pair_printer(),
                               .warp_version = [] { return dataset::version_of_emitter(dataset::kWarpEmitter); },
                               .warp_codegen = dataset::installed_warp(),
                               .jobs = dataset::jobs_of(options.jobs),
                               .rejudge_count = *rebuild};
  how.rejudge_rows = [&](const dataset::DatasetPlan& plan) { return rejudge(plan, options); };
  dataset::ValidationResult sum;
  for (const std::string& path : options.paths) {
    Result<dataset::ValidationResult> one = dataset::validate(path, how);
    if (!one.ok()) return fail(one.error());
    sum.rows += one->rows;
    sum.files += one->files;
    sum.rejudged_count += one->rejudged_count;
    for (dataset::RowError& diagnostic : one->diagnostics) {
      if (options.paths.size() > 1 && diagnostic.file != path) diagnostic.file = path + "/" + diagnostic.file;
      sum.diagnostics.push_back(std::move(diagnostic));
    }
  }
  std::string text = options.format == "json" ? json_of(sum.diagnostics, sum) : text_of(sum.diagnostics, sum);
  if (options.format == "sarif")
    text = sarif_json(sum.diagnostics, kVersion).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (const auto printed = print(text); !printed.ok()) return fail(printed.error(), ExitStatus::internal);
  return to_int(sum.valid() ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_validate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App& command =
      *app.add_subcommand("validate", "Check datasets: rows, checksums, duplicates, splits and statistics");
  CLI::Option* const paths =
      command.add_option("PATH", options->paths, "Dataset folder, file of rows, or dataset folder in the older layout")
          ->option_text(" ");
  CLI::Option* const foreign = command
                                   .add_option("--foreign", options->foreign.dataset,
                                               "Judge rows that another program made from code generated by Warp")
                                   ->option_text("DIR")
                                   ->excludes(paths);
  CLI::Option* const map =
      command
          .add_option(
              "--map", options->foreign.mapping,
              "With --foreign: JSON file that states which fields of a row contain the source and the generated code")
          ->option_text("FILE.json")
          ->needs(foreign);
  foreign->needs(map);
  command
      .add_option("--output", options->foreign.output,
                  "With --foreign: output folder, as for 'assay dataset import'; default: only print the report")
      ->option_text("DIR")
      ->needs(foreign);
  command.add_flag("--resume", options->foreign.resume, "With --foreign: continue the interrupted run")->needs(foreign);
  add_foreign_effort_options(command, options->foreign);
  CLI::Option* const rebuild =
      command.add_option("--rebuild", options->rebuild, "Build, run and judge N rows again")->option_text("{N,all}");
  rebuild->excludes(foreign);
  CLI::Option* const devices =
      add_device_list_option(command, options->devices, "With --rebuild or --foreign: devices that judge the rows",
                             "those that run here; with --foreign: warp-cpu");
  command.add_option("--format", options->format, "Output format of the errors")
      ->option_text("{text,json,sarif} [text]")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  add_jobs_option(command, options->jobs, "Number of rows processed at once");
  add_compiler_option(command, options->compiler);
  command.footer("Exit status: 0 valid, 1 invalid, 2 usage error.");
  command.callback([options, foreign, devices, &invocation] {
    if (foreign->count() > 0) {
      invocation.status = validate_foreign(*options, devices->count() > 0);
    } else if (options->paths.empty()) {
      invocation.status = fail({"PATH or --foreign is required; see 'assay validate --help'"});
    } else {
      invocation.status = validate(*options);
    }
  });
}

}  // namespace assay::cli
