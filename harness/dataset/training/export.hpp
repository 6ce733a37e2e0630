// Exports a dataset as examples for training: conversations, pairs of prompt and completion, or preference pairs of a
// correct kernel and a near miss. The examples keep the splits of the rows.
//
// A near miss is a mutant (harness/mutation) of the row's kernel that the judge rejects. Its example contains the
// launch on which it failed and the first value outside its bound, so that nobody has to trust the label.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// The members of an example.
enum class TrainingFormat : std::uint8_t {
  kSft,         ///< `messages`: a conversation that asks for the kernel or for its translation, and the answer
  kPairs,       ///< `prompt` and `completion`: the Python source and one pass in C++ or CUDA C++
  kPreference,  ///< `prompt`, `chosen` and `rejected`: one pass, and a near miss of it
};

/// The names of all formats, for options: "sft".
std::vector<std::string> training_format_names();
std::optional<TrainingFormat> find_training_format(std::string_view name);

/// What is exported, and how.
struct TrainingOptions {
  std::filesystem::path dataset;                 ///< folder of a dataset, or file of rows
  std::filesystem::path output;                  ///< folder for train.jsonl.gz, validation.jsonl.gz and test.jsonl.gz
  TrainingFormat format = TrainingFormat::kSft;  ///< the members of the examples
  std::size_t near_misses_per_row = 1;  ///< preference pairs for each row, if the judge rejects as many mutants
  std::uint64_t seed = 1;               ///< seed of the choice of mutants and of the inputs
  int jobs = 1;                         ///< number of threads
  /// Called with the numbers of rows read and of rows that gave no example, never concurrently; may be null.
  std::function<void(std::uint64_t rows, std::uint64_t without_example)> on_progress = nullptr;
};

/// The counts of an export.
struct TrainingExport {
  std::uint64_t rows = 0;                           ///< number of rows that were read
  std::uint64_t rows_without_example = 0;           ///< number of rows that gave no example
  std::map<std::string, std::uint64_t> examples{};  ///< number of examples by split
};

/// Writes the examples. The same dataset, options and device give the same bytes. `device` and `printer` make and judge
/// near misses; they are used, and `device` may be null, only for TrainingFormat::kPreference. Fails if a file cannot
/// be read or written, if a line is not a row with descriptions, if near misses are wanted of code that Warp generated,
/// or, before anything is written, if the output folder is the dataset's or inside of it.
Result<TrainingExport> export_for_training(const TrainingOptions& options, backends::Device* device,
                                           const harness::Printer& printer);

}  // namespace assay::dataset
