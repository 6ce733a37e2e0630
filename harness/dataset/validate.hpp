// Checks datasets and trusts nothing in them: form, schema, checksums, that each row follows from its Python, ids,
// splits, duplicates, stats, and with `rebuild` that rows build, run and pass again. Folders of the older layout, JSON
// files with python_source and generated sources, are checked as far as they go.
//
// One bad row never hides another, and hostile input costs neither a crash nor memory: lines, texts and nesting have
// limits (json_scan.hpp), and a file is read in pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "harness/dataset/finding.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"
#include "harness/dataset/row_checker.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// Judges the kernels of a plan: each one's row, or why it is rejected.
using Rejudge = std::function<Result<Produced>(const Plan& plan)>;

struct ValidateOptions {
  harness::PairPrinter printer;
  int jobs = 1;
  std::uint64_t rebuild = 0;  ///< rows to judge again, spread over the dataset; more than it has: all
  Rejudge rejudge = nullptr;  ///< needed with `rebuild`
};

struct Validation {
  std::uint64_t rows = 0;
  std::uint64_t files = 0;
  std::uint64_t rebuilt = 0;
  std::vector<RowError> diagnostics;  ///< in the order of files and lines
  [[nodiscard]] bool valid() const;   ///< nothing but warnings
};

/// A folder of either layout, a file of rows (.jsonl, .jsonl.zst) or one older row (.json). Fails only where the path
/// is not there or nothing in it is of a dataset.
Result<Validation> validate(const std::filesystem::path& path, const ValidateOptions& options);

}  // namespace assay::dataset
