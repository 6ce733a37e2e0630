// assay dataset: merges, splits, shows, compares, exports and imports datasets.
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backends/device/registry.hpp"
#include "cli/commands.hpp"
#include "cli/foreign_import.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "harness/dataset/emitter.hpp"
#include "harness/dataset/finish.hpp"
#include "harness/dataset/generate.hpp"
#include "harness/dataset/journal.hpp"
#include "harness/dataset/overview.hpp"
#include "harness/dataset/production.hpp"
#include "harness/dataset/row.hpp"
#include "harness/dataset/row_file.hpp"
#include "harness/dataset/training/export.hpp"
#include "harness/suite/emission.hpp"
#include "reports/formats/html/dataset_html.hpp"
#include "reports/formats/side_by_side.hpp"
#include "support/files.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Result<json> row_of(const std::string& line, const fs::path& file, std::uint64_t number) {
  json row = json::parse(line, nullptr, false);
  if (row.is_object() && row.contains("id") && row.at("id").is_string()) return row;
  return Error{"invalid dataset row; run 'assay validate' for details", fmt::format("{}:{}", file.string(), number)};
}

// ---- merge

struct MergeOptions {
  std::vector<std::string> shards;
  std::string output;
  std::string compiler;
};

int merge_shards(const MergeOptions& options) {
  const std::vector<fs::path> shards(options.shards.begin(), options.shards.end());
  const Result<dataset::DatasetPlan> plan = dataset::whole_plan(shards);
  if (!plan.ok()) return fail(plan.error());
  const Result<dataset::ProducerSetup> production = dataset::ProducerSetup::make(*plan, options.compiler);
  if (!production.ok()) return fail(production.error());
  const auto finished = dataset::merge_shards(shards, production->producer(), {.output = options.output});
  if (!finished.ok()) return fail(finished.error());
  return print_or_fail(closing_text(*plan, *finished, options.output));
}

void add_merge(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App& command = *app.add_subcommand(
      "merge", "Merge the shards of a dataset; the result is identical to that of a run without shards");
  command.add_option("SHARD", options->shards, "Folders of all shards")->option_text(" ")->required();
  command.add_option("--output", options->output, "Output folder for the merged dataset")
      ->option_text("DIR")
      ->required();
  command.add_option("--cxx", options->compiler, "C++ compiler, used if a duplicate row must be replaced")
      ->option_text("COMMAND");
  command.callback([options, &invocation] { invocation.status = merge_shards(*options); });
}

// ---- split

struct SplitOptions {
  std::string path;
  std::string output;
  std::string by = "family";
};

/// One file of rows for each value of a member; the name is made of letters, digits and underscores alone.
int split(const SplitOptions& options) {
  if (const auto outside = dataset::check_output_folder(options.path, options.output); !outside.ok())
    return fail(outside.error());
  std::map<std::string, LineWriter> files;
  const auto take = [&](const std::string& line, const fs::path& file, std::uint64_t number) -> Result<bool> {
    const Result<json> row = row_of(line, file, number);
    if (!row.ok()) return row.error();
    const std::string split = dataset::split_of(file);
    std::string value = options.by == "split" ? split : row->value(options.by, "");
    std::ranges::replace_if(
        value, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
    auto at = files.find(value);
    if (at == files.end()) {
      Result<LineWriter> created = LineWriter::create(fs::path(options.output) / (value + ".jsonl.gz"));
      if (!created.ok()) return created.error();
      at = files.emplace(value, created.take()).first;
    }
    if (Result<void> added = at->second.add(line); !added.ok()) return added.error();
    return true;
  };
  if (const Result<void> read = dataset::for_each_row(options.path, take); !read.ok()) return fail(read.error());
  std::string text;
  for (auto& [value, file] : files) {
    if (Result<void> committed = file.commit(); !committed.ok()) return fail(committed.error());
    text += fmt::format("{}/{}.jsonl.gz\n", options.output, value);
  }
  return print_or_fail(text);
}

void add_split(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<SplitOptions>();
  CLI::App& command = *app.add_subcommand("split", "Write the rows to one file per family or per split");
  command.add_option("DATASET", options->path, "Dataset folder or file of rows")->option_text(" ")->required();
  command.add_option("--by", options->by, "Write one file per family, or one per split")
      ->option_text("{family,split} [family]")
      ->check(CLI::IsMember({"family", "split"}));
  command.add_option("--output", options->output, "Output folder for the files")->option_text("DIR")->required();
  command.callback([options, &invocation] { invocation.status = split(*options); });
}

// ---- show

struct ShowOptions {
  std::string path;
  std::string row;
  bool backward = false;
  std::size_t width = 0;
  ColorChoice color = ColorChoice::automatic;
};

std::string text_or_none(const json& row, const char* member) {
  const auto text = row.find(member);
  return text != row.end() && text->is_string() ? text->get<std::string>() : "(none)\n";
}

std::string shown(const json& row, const ShowOptions& options) {
  std::string text =
      fmt::format("{}  {}\n", row.at("id").get<std::string>(), row.value("/metadata/name"_json_pointer, ""));
  for (const char* const member : {"docstring", "instruction"}) {
    if (const std::string about = row.value(member, ""); !about.empty()) text += fmt::format("{}: {}\n", member, about);
  }
  if (const auto difficulty = row.find("difficulty"); difficulty != row.end())
    text += fmt::format("difficulty: {}\n", difficulty->dump());
  text += fmt::format("\n{}\n", text_or_none(row, "python_source"));
  const std::size_t width = options.width > 0 ? options.width : terminal_width();
  const char* const pass = options.backward ? "backward" : "forward";
  text += reports::side_by_side(text_or_none(row, fmt::format("cpu_{}", pass).c_str()),
                                text_or_none(row, fmt::format("cuda_{}", pass).c_str()), width,
                                use_color_on_stdout(options.color));
  text += "\n";
  for (const json& one : row.value("evidence", json::array())) {
    text += fmt::format("{}/{}{}{}: {}", one.value("device", ""), one.value("pass", ""),
                        one.value("mode", "").empty() ? "" : "/", one.value("mode", ""), one.value("verdict", ""));
    const std::string reason = one.value("reason", "");
    if (!reason.empty()) text += ", " + reason;
    if (one.contains("rho_max") && one.at("rho_max").is_number())
      text += fmt::format(", rho {:.3g}, {} values", one.at("rho_max").get<double>(), one.value("values_compared", 0));
    text += "\n";
  }
  return text;
}

int show(const ShowOptions& options) {
  const bool is_number = options.row.size() < 10 && options.row.find_first_not_of("0123456789") == std::string::npos;
  std::uint64_t left = is_number ? std::stoull(options.row) : 0;
  std::optional<json> found;
  const auto take = [&](const std::string& line, const fs::path& file, std::uint64_t number) -> Result<bool> {
    if (is_number && left-- != 0) return true;
    Result<json> row = row_of(line, file, number);
    if (!row.ok()) return row.error();
    const bool is_it = is_number || row->at("id").get<std::string>().starts_with(options.row) ||
                       row->value("/metadata/name"_json_pointer, "") == options.row;
    if (is_it) found = row.take();
    return !is_it;
  };
  if (const Result<void> read = dataset::for_each_row(options.path, take); !read.ok()) return fail(read.error());
  if (!found) {
    return fail({fmt::format("has no row '{}'; give the number of a row (from 0), the beginning of its id, or its name",
                             options.row),
                 options.path});
  }
  return print_or_fail(shown(*found, options));
}

void add_show(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App& command = *app.add_subcommand("show", "Print a row with its CPU and CUDA source side by side");
  command.add_option("DATASET", options->path, "Dataset folder or file of rows")->option_text(" ")->required();
  command
      .add_option("ROW", options->row,
                  "Number of the row (from 0), the beginning of its id, or its name, such as loop/r2_42")
      ->option_text("[0]");
  command.add_flag("--backward", options->backward, "Print the backward functions");
  command.add_option("--width", options->width, "Width of the output in columns; default: the width of the terminal")
      ->option_text("N")
      ->check(CLI::Range(40, 1000));
  add_color_option(command, options->color);
  command.callback([options, &invocation] {
    if (options->row.empty()) options->row = "0";
    invocation.status = show(*options);
  });
}

// ---- page

struct PageOptions {
  dataset::OverviewOptions overview;
  std::string output = "dataset.html";
};

int write_page(const PageOptions& options) {
  const Result<dataset::DatasetOverview> overview = dataset::overview_of(options.overview);
  if (!overview.ok()) return fail(overview.error());
  const Result<void> written = put_file(options.output, reports::dataset_html(*overview, std::string(kVersion)));
  if (!written.ok()) return fail(written.error());
  return print_or_fail(fmt::format("{}: {} rows\n", options.output, overview->row_count));
}

void add_page(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<PageOptions>();
  CLI::App& command = *app.add_subcommand(
      "page", "Write an HTML page about a dataset: distributions, evidence, samples and rejected kernels");
  command.add_option("DATASET", options->overview.dataset, "Dataset folder or file of rows")
      ->option_text(" ")
      ->required();
  command
      .add_option("--near-misses", options->overview.near_misses,
                  "Also show near misses: a folder written by 'assay dataset export --format preference'")
      ->option_text("DIR");
  command.add_option("--samples", options->overview.sample_count, "Number of rows shown with their sources")
      ->option_text("N [12]")
      ->check(CLI::Range(0, 1000));
  command.add_option("--output", options->output, "File of the page")->option_text("FILE.html [dataset.html]");
  command.callback([options, &invocation] { invocation.status = write_page(*options); });
}

// ---- stats

void add_stats(CLI::App& app, Invocation& invocation) {
  const auto path = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("stats", "Print the statistics of a dataset");
  command.add_option("DATASET", *path, "Dataset folder")->option_text(" ")->required();
  command.callback([path, &invocation] {
    const Result<std::string> text = read_file_text(fs::path(*path) / "stats.json");
    invocation.status = text.ok() ? print_or_fail(*text) : fail(text.error());
  });
}

// ---- diff

struct DatasetDiff {
  std::string left;
  std::string right;
};

/// By id: rows that only one dataset has, and the members in which rows of both differ.
int diff(const DatasetDiff& options) {
  std::map<std::string, std::string> left;
  std::string text;
  const auto remember = [&](const std::string& line, const fs::path& file, std::uint64_t number) -> Result<bool> {
    const Result<json> row = row_of(line, file, number);
    if (!row.ok()) return row.error();
    left[row->at("id").get<std::string>()] = line;
    return true;
  };
  const auto compare = [&](const std::string& line, const fs::path& file, std::uint64_t number) -> Result<bool> {
    const Result<json> row = row_of(line, file, number);
    if (!row.ok()) return row.error();
    const std::string id = row->at("id");
    const auto other = left.find(id);
    if (other == left.end()) {
      text += fmt::format("> {} {}\n", id.substr(0, 16), row->value("/metadata/name"_json_pointer, ""));
      return true;
    }
    for (const json& change : json::diff(json::parse(other->second), *row))
      text += fmt::format("| {} {}\n", id.substr(0, 16), change.at("path").get<std::string>());
    left.erase(other);
    return true;
  };
  if (const Result<void> read = dataset::for_each_row(options.left, remember); !read.ok()) return fail(read.error());
  if (const Result<void> read = dataset::for_each_row(options.right, compare); !read.ok()) return fail(read.error());
  for (const auto& [id, line] : left)
    text += fmt::format("< {} {}\n", id.substr(0, 16), json::parse(line).value("/metadata/name"_json_pointer, ""));
  const int printed = print_or_fail(text);
  return printed != 0 ? printed : to_int(text.empty() ? ExitStatus::as_expected : ExitStatus::unexpected);
}

void add_dataset_diff(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DatasetDiff>();
  CLI::App& command = *app.add_subcommand("diff", "Compare the rows of two datasets; exit status 1 if they differ");
  command.add_option("LEFT", options->left, "Dataset folder or file of rows")->option_text(" ")->required();
  command.add_option("RIGHT", options->right, "Dataset folder or file of rows to compare with")
      ->option_text(" ")
      ->required();
  command.footer(
      "< and > mark rows that only the left or right dataset contains; | marks a member in which a row differs.");
  command.callback([options, &invocation] { invocation.status = diff(*options); });
}

// ---- export

struct ExportOptions {
  dataset::TrainingOptions training;
  std::string path;
  std::string output;
  std::string format;
  std::string device;  ///< empty: default_judge()
  std::string compiler;
};

/// The device that judges near misses unless the user chooses one: one that runs CUDA code, if there is one.
std::string default_judge() {
  const std::vector<std::string> names = dataset::default_devices_of(dataset::kAssayEmitter);
  const auto runs_cuda = [](const std::string& name) {
    return backends::device_descriptor(name).target == backends::SourceTarget::kCuda;
  };
  const auto found = std::ranges::find_if(names.rbegin(), names.rend(), runs_cuda);
  return found == names.rend() ? names.front() : *found;
}

int export_examples(ExportOptions options) {
  options.training.dataset = options.path;
  options.training.output = options.output;
  options.training.format = *dataset::find_training_format(options.format);
  options.training.jobs = dataset::jobs_of(options.training.jobs);
  const bool judges = options.training.format == dataset::TrainingFormat::kPreference;
  std::unique_ptr<backends::Device> device;
  if (judges) {
    const std::string name = options.device.empty() ? default_judge() : options.device;
    auto made = backends::make_device(name, {.compiler = options.compiler});
    if (!made.ok()) return fail(made.error());
    device = made.take();
    if (const backends::Capability run = device->can_run(); !run.is_available)
      return fail_unsupported(name, run.tool_or_reason);
  }
  std::uint64_t rows = 0;
  const Result<void> counted = dataset::for_each_row(options.path, [&](const auto&, const auto&, auto) {
    ++rows;
    return Result<bool>(true);
  });
  if (!counted.ok()) return fail(counted.error());
  ProgressDisplay progress(rows, false, {.item_noun = "rows", .unexpected_label = "without example"});
  options.training.on_progress = [&](std::uint64_t read, std::uint64_t without) { progress.set(read, without); };
  const Result<dataset::TrainingExport> done =
      dataset::export_for_training(options.training, device.get(), harness::printer());
  progress.stop();
  if (!done.ok()) return fail(done.error());
  std::string text;
  for (const auto& [split, count] : done->examples)
    text += fmt::format("{}/{}.jsonl.gz: {} examples\n", options.output, split, count);
  if (done->rows_without_example > 0)
    text += fmt::format("{} of {} rows have no example\n", done->rows_without_example, done->rows);
  return print_or_fail(text);
}

void add_export(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& command = *app.add_subcommand("export", "Write the rows as examples for training a language model");
  command.add_option("DATASET", options->path, "Dataset folder or file of rows")->option_text(" ")->required();
  command
      .add_option("--format", options->format,
                  "Conversations, pairs of prompt and completion, or pairs of a correct kernel and a near miss")
      ->option_text(fmt::format("{{{}}}", fmt::join(dataset::training_format_names(), ",")))
      ->check(CLI::IsMember(dataset::training_format_names()))
      ->required();
  command.add_option("--output", options->output, "Output folder, one file for each split")
      ->option_text("DIR")
      ->required();
  const std::vector<std::string> devices = dataset::devices_of_emitter(dataset::kAssayEmitter);
  command.add_option("--device", options->device, "With --format preference: device that rejects the near misses")
      ->option_text(fmt::format("{{{}}} [CUDA if it can run]", fmt::join(devices, ",")))
      ->check(CLI::IsMember(devices));
  command
      .add_option("--near-misses", options->training.near_misses_per_row,
                  "With --format preference: number of near misses for each row")
      ->option_text("N [1]")
      ->check(CLI::Range(1, 16));
  add_seed_option(command, options->training.seed,
                  "With --format preference: seed of the near misses and of their inputs");
  add_jobs_option(command, options->training.jobs, "Number of rows processed at once");
  add_compiler_option(command, options->compiler);
  command.footer("docs/guide/make_a_dataset.md describes the formats.");
  command.callback([options, &invocation] { invocation.status = export_examples(*options); });
}

// ---- import

void add_import(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ForeignImportOptions>();
  CLI::App& command = *app.add_subcommand("import", "Judge rows that another program made from code generated by Warp");
  command.add_option("DIR", options->dataset, "Folder or file of rows: .jsonl, .jsonl.gz, .jsonl.zst or .json")
      ->option_text(" ")
      ->required();
  command
      .add_option("--map", options->mapping,
                  "JSON file that states which fields of a row contain the source and the generated code")
      ->option_text("FILE.json")
      ->required();
  command.add_option("--output", options->output, "Output folder for verified, rejected and undecided rows")
      ->option_text("DIR")
      ->required();
  add_device_list_option(command, options->devices, "Devices that judge each row, forward and backward", "warp-cpu");
  add_foreign_effort_options(command, *options);
  add_seed_option(command, options->seed, "Seed of the inputs");
  add_jobs_option(command, options->jobs, "Number of blocks of rows processed at once");
  command.add_flag("--resume", options->resume, "Continue the interrupted import in the output folder");
  command.footer(
      "'assay generate --import --module PACKAGE' makes rows of the kernels of a Python package.\nExit status: 0 the "
      "import finished, whatever the verdicts; 2 usage error; 77 Warp is missing.");
  command.callback(
      [options, &invocation] { invocation.status = import_foreign(*options, false, ExitStatus::as_expected); });
}

}  // namespace

void add_dataset(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand("dataset", "Merge, split, show, compare, export and import datasets");
  command.require_subcommand(1);
  for (const auto add : {add_merge, add_split, add_show, add_page, add_stats, add_dataset_diff, add_export, add_import})
    add(command, invocation);
}

}  // namespace assay::cli
