// Checks untrusted datasets: syntax, schema, checksums, that each row follows from its Python source, evidence, ids,
// order, splits, duplicates, stats and the dataset card, which must not claim more than the evidence; with
// `rejudge_count` also that rows build, run and pass again. Folders in the older layout (JSON files with python_source
// and generated sources) are checked as far as possible.
//
// Code that Warp generated is generated again if the same version of Warp is installed; otherwise a warning says that
// it was not compared.
//
// One invalid row never hides another. Hostile input can neither crash the program nor exhaust memory: lines, strings
// and nesting are limited (json_scan.hpp), and files are read in pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "harness/dataset/emitter.hpp"
#include "harness/dataset/finding.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"
#include "harness/dataset/row_checker.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// Judges the kernels of a plan; gives a row for each kernel, or the reason why it is rejected.
using Rejudge = std::function<Result<ProducedBlock>(const DatasetPlan& plan)>;

/// How a dataset is validated.
struct ValidateOptions {
  harness::PairPrinter printer;  ///< prints the sources that rows are compared with
  /// Version of the installed Warp; called only for rows with code of Warp. Null: there is none.
  std::function<Result<std::string>()> warp_version = nullptr;
  WarpCodegen warp_codegen = nullptr;  ///< generates the code that rows with code of Warp are compared with
  int jobs = 1;                        ///< number of threads
  std::uint64_t rejudge_count = 0;     ///< number of rows to judge again, spread over the dataset; at most all rows
  Rejudge rejudge_rows = nullptr;      ///< judges these rows; required if `rejudge_count` is not 0
};

/// The result of a validation.
struct ValidationResult {
  std::uint64_t rows = 0;             ///< number of rows found
  std::uint64_t files = 0;            ///< number of files read
  std::uint64_t rejudged_count = 0;   ///< number of rows that were judged again
  std::vector<RowError> diagnostics;  ///< errors and warnings, in the order of files and lines
  [[nodiscard]] bool valid() const;   ///< whether there are no errors
};

/// Validates a folder in either layout, a file of rows (.jsonl, .jsonl.gz, .jsonl.zst) or one row in the older layout
/// (.json). Fails only if the path does not exist or contains no dataset.
Result<ValidationResult> validate(const std::filesystem::path& path, const ValidateOptions& options);

}  // namespace assay::dataset
