// assay validate: says everything that is wrong with a dataset.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/modes.hpp"
#include "cli/production.hpp"
#include "harness/dataset/validate.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
  std::vector<std::string> paths;
  std::string rebuild;
  std::vector<std::string> devices{"cpu"};
  std::string format = "text";
  std::string compiler;
  int jobs = 0;
};

Result<std::uint64_t> rows_to_rebuild(const std::string& text) {
  if (text.empty()) return std::uint64_t{0};
  if (text == "all") return ~std::uint64_t{0};
  if (text.find_first_not_of("0123456789") == std::string::npos && text.size() < 19) return std::stoull(text);
  return Error{fmt::format("--rebuild is '{}', expected a number of rows or all", text)};
}

/// Judges the plan's kernels on the chosen devices, as `assay generate` does.
Result<dataset::Produced> rejudge(dataset::Plan plan, const ValidateOptions& options) {
  plan.generator_version = kVersion;
  add_devices(plan, options.devices, options.compiler);
  const Production production(plan, options.compiler);
  if (const std::string reason = production.why_not(); !reason.empty()) {
    return Error{fmt::format("no row can be judged here: {}", reason)};
  }
  std::vector<dataset::Task> tasks;
  for (const dataset::Slot& slot : slots_of(plan))
    tasks.push_back({.slot = slot});
  return production.producer().produce(tasks);
}

std::string text_of(const std::vector<dataset::RowError>& diagnostics, const dataset::Validation& sum) {
  std::string text;
  std::size_t warnings = 0;
  for (const dataset::RowError& diagnostic : diagnostics) {
    text += to_text(diagnostic) + "\n";
    warnings += diagnostic.warning ? 1U : 0U;
  }
  text += fmt::format("{} rows in {} files: {} errors, {} warnings", sum.rows, sum.files, diagnostics.size() - warnings,
                      warnings);
  if (sum.rebuilt > 0) text += fmt::format("; {} rows judged again", sum.rebuilt);
  return text + "\n";
}

std::string json_of(const std::vector<dataset::RowError>& diagnostics, const dataset::Validation& sum) {
  Json list = Json::array();
  for (const dataset::RowError& diagnostic : diagnostics)
    list.push_back(to_json(diagnostic));
  const Json whole = {{"rows", sum.rows}, {"files", sum.files}, {"rebuilt", sum.rebuilt}, {"complaints", list}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int validate(const ValidateOptions& options) {
  const Result<std::uint64_t> rebuild = rows_to_rebuild(options.rebuild);
  if (!rebuild.ok()) return fail(rebuild.error());
  dataset::ValidateOptions how{.printer = pair_printer(), .jobs = jobs_of(options.jobs), .rebuild = *rebuild};
  how.rejudge = [&](const dataset::Plan& plan) { return rejudge(plan, options); };
  dataset::Validation sum;
  for (const std::string& path : options.paths) {
    Result<dataset::Validation> one = dataset::validate(path, how);
    if (!one.ok()) return fail(one.error());
    sum.rows += one->rows;
    sum.files += one->files;
    sum.rebuilt += one->rebuilt;
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
  CLI::App& command = *app.add_subcommand("validate", "Check datasets: rows, checksums, duplicates, splits, figures");
  command.add_option("PATH", options->paths, "A dataset's folder, a file of rows, or a folder of the older layout")
      ->option_text(" ")
      ->required();
  command.add_option("--rebuild", options->rebuild, "Build, run and judge so many rows again")->option_text("{N,all}");
  command.add_option("--device", options->devices, "With --rebuild: where to judge")
      ->option_text("{cpu,cuda,ptx},... [cpu]")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(kDeviceNames.begin(), kDeviceNames.end())));
  command.add_option("--format", options->format, "How to tell what is wrong")
      ->option_text("{text,json,sarif} [text]")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  command.add_option("--jobs", options->jobs, "Rows at once; 0: one for each core")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1024));
  command.add_option("--cxx", options->compiler, "The C++ compiler of the device cpu; default: $CXX, else c++")
      ->option_text("COMMAND");
  command.footer("Exit status: 0 valid, 1 not valid, 2 a path that cannot be used.");
  command.callback([options, &invocation] { invocation.status = validate(*options); });
}

}  // namespace assay::cli
