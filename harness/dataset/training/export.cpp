#include "harness/dataset/training/export.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/emitter.hpp"
#include "harness/dataset/row.hpp"
#include "harness/dataset/row_file.hpp"
#include "harness/dataset/training/near_miss.hpp"
#include "support/files.hpp"
#include "support/parallel.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Json = nlohmann::ordered_json;

struct FormatRow {
  TrainingFormat format;
  std::string_view name;
};
constexpr FormatRow kFormats[] = {
    {TrainingFormat::kSft, "sft"}, {TrainingFormat::kPairs, "pairs"}, {TrainingFormat::kPreference, "preference"}};

/// Rows whose examples are made together, in several threads.
constexpr std::size_t kRowsTogether = 64;

std::string fenced(std::string_view language, const std::string& code) {
  return fmt::format("```{}\n{}{}```", language, code, code.ends_with('\n') ? "" : "\n");
}

std::string_view language_name(std::string_view language) { return language == "cuda" ? "CUDA C++" : "C++"; }

/// Asks for one pass of a kernel in a language.
std::string translation_prompt(const DatasetRow& row, std::string_view language, std::string_view pass) {
  return fmt::format("Translate this NVIDIA Warp kernel to {}: write the function `{}_{}` of its {} pass.\n\n{}\n",
                     language_name(language), row.kernel_name, pass, pass, fenced("python", row.python_source));
}

Json start_of(const DatasetRow& row) { return {{"id", row.id}, {"kernel_name", row.kernel_name}}; }

Json conversation(const DatasetRow& row, std::string_view task, std::string question, std::string answer) {
  Json example = start_of(row);
  example["task"] = task;
  example["messages"] = {{{"role", "user"}, {"content", std::move(question)}},
                         {{"role", "assistant"}, {"content", std::move(answer)}}};
  return example;
}

std::vector<Json> conversations(const DatasetRow& row) {
  return {conversation(row, "write", row.description.instruction, fenced("python", row.python_source)),
          conversation(row, "translate",
                       fmt::format("Translate this NVIDIA Warp kernel to a standalone CUDA C++ file with its forward "
                                   "and backward pass.\n\n{}",
                                   fenced("python", row.python_source)),
                       fenced("cuda", row.cuda_source))};
}

std::vector<Json> pairs(const DatasetRow& row) {
  struct Translation {
    std::string_view language, pass;
    const std::string& code;
  };
  std::vector<Json> examples;
  for (const Translation& one : std::array<Translation, 4>{{{"c++", "forward", row.cpu_forward},
                                                            {"c++", "backward", row.cpu_backward},
                                                            {"cuda", "forward", row.cuda_forward},
                                                            {"cuda", "backward", row.cuda_backward}}}) {
    if (one.code.empty()) continue;
    Json example = start_of(row);
    example["language"] = one.language;
    example["pass"] = one.pass;
    example["prompt"] = translation_prompt(row, one.language, one.pass);
    example["completion"] = one.code;
    examples.push_back(std::move(example));
  }
  return examples;
}

Result<std::vector<Json>> preferences(const DatasetRow& row, const TrainingOptions& options, backends::Device& device,
                                      const harness::Printer& printer) {
  Result<std::vector<Json>> found = near_misses_of(row, options.near_misses_per_row, options.seed, device, printer);
  if (!found.ok()) return found;
  std::vector<Json> examples;
  for (const Json& near_miss : *found) {
    Json example = start_of(row);
    example["prompt"] =
        translation_prompt(row, near_miss.at("language").get<std::string>(), near_miss.at("pass").get<std::string>());
    example.update(near_miss);
    examples.push_back(std::move(example));
  }
  return examples;
}

struct SourceRow {
  DatasetRow row;
  std::string split;
  std::string place;  ///< file and line, for messages
};

Result<SourceRow> read_row(const std::string& line, const fs::path& file, std::uint64_t number) {
  const std::string place = fmt::format("{}:{}", file.string(), number);
  const Error invalid{"invalid dataset row; run 'assay validate' for details", place};
  const json parsed = json::parse(line, nullptr, false);
  if (parsed.is_discarded()) return invalid;
  try {
    SourceRow source{.row = row_from(parsed), .split = split_of(file), .place = place};
    if (source.row.description.instruction.empty())
      return Error{"row has no instruction; generate the dataset again with this version", place};
    return source;
  } catch (const json::exception&) {
    return invalid;
  }
}

class Exporter {
 public:
  Exporter(const TrainingOptions& options, backends::Device* device, const harness::Printer& printer)
      : options_(options), device_(device), printer_(printer) {}

  Result<TrainingExport> run() {
    if (Result<void> outside = check_output_folder(options_.dataset, options_.output); !outside.ok())
      return outside.error();
    const Result<void> read = for_each_row(
        options_.dataset, [&](const std::string& line, const fs::path& file, std::uint64_t number) -> Result<bool> {
          Result<SourceRow> row = read_row(line, file, number);
          if (!row.ok()) return row.error();
          if (options_.format == TrainingFormat::kPreference && row->row.metadata.emitter != kAssayEmitter)
            return Error{
                "near misses (almost correct kernels) can be made only of rows whose code Assay emitted, with the "
                "emitter 'assay'",
                row->place};
          rows_.push_back(row.take());
          if (rows_.size() < kRowsTogether) return true;
          const Result<void> written = write();
          return written.ok() ? Result<bool>(true) : Result<bool>(written.error());
        });
    if (!read.ok()) return read.error();
    if (Result<void> written = write(); !written.ok()) return written.error();
    for (auto& [split, file] : files_) {
      if (Result<void> committed = file.commit(); !committed.ok()) return committed.error();
    }
    return std::move(result_);
  }

 private:
  Result<std::vector<Json>> examples_of(const DatasetRow& row) const {
    switch (options_.format) {
      case TrainingFormat::kSft: return conversations(row);
      case TrainingFormat::kPairs: return pairs(row);
      case TrainingFormat::kPreference: return preferences(row, options_, *device_, printer_);
    }
    return std::vector<Json>{};
  }

  /// Makes and writes the examples of the rows that were read.
  Result<void> write() {
    std::vector<std::optional<Result<std::vector<Json>>>> examples(rows_.size());
    for_each_index_in_parallel(rows_.size(), static_cast<unsigned>(std::max(1, options_.jobs)),
                               [&](std::size_t i) { examples[i] = examples_of(rows_[i].row); });
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!examples[i]->ok()) return Error{examples[i]->error().message, rows_[i].place};
      ++result_.rows;
      result_.rows_without_example += (*examples[i])->empty() ? 1U : 0U;
      for (const Json& example : **examples[i]) {
        if (Result<void> added = add(rows_[i].split, example); !added.ok()) return added;
      }
    }
    rows_.clear();
    if (options_.on_progress) options_.on_progress(result_.rows, result_.rows_without_example);
    return {};
  }

  Result<void> add(const std::string& split, const Json& example) {
    auto file = files_.find(split);
    if (file == files_.end()) {
      Result<LineWriter> created = LineWriter::create(options_.output / (split + ".jsonl.gz"));
      if (!created.ok()) return created.error();
      file = files_.emplace(split, created.take()).first;
    }
    ++result_.examples[split];
    return file->second.add(example.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const TrainingOptions& options_;
  backends::Device* device_;
  const harness::Printer& printer_;
  std::vector<SourceRow> rows_;  ///< rows that were read and not yet written
  std::map<std::string, LineWriter> files_;
  TrainingExport result_;
};

}  // namespace

std::vector<std::string> training_format_names() {
  std::vector<std::string> names;
  for (const FormatRow& row : kFormats)
    names.emplace_back(row.name);
  return names;
}

std::optional<TrainingFormat> find_training_format(std::string_view name) {
  const auto row = std::ranges::find(kFormats, name, &FormatRow::name);
  return row == std::end(kFormats) ? std::nullopt : std::optional(row->format);
}

Result<TrainingExport> export_for_training(const TrainingOptions& options, backends::Device* device,
                                           const harness::Printer& printer) {
  return Exporter(options, device, printer).run();
}

}  // namespace assay::dataset
