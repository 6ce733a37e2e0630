// Imports a foreign dataset: judges every row and writes verified, rejected and undecided rows to separate files. Rows
// are processed in blocks that are flushed to disk before the journal counts them, so that a killed run can be resumed
// and gives the same bytes. docs/guide/make_a_dataset.md describes the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/dataset/foreign/judgement.hpp"
#include "harness/dataset/foreign/mapping.hpp"
#include "support/result.hpp"

namespace assay::foreign {

inline constexpr const char* kVerifiedRowsFileName = "rows.jsonl.zst";      ///< verified rows with their evidence
inline constexpr const char* kQuarantineFileName = "quarantine.jsonl.zst";  ///< rejected rows with the reason
inline constexpr const char* kUndecidedRowsFileName =
    "undecided.jsonl.zst";                                               ///< rows without a verdict, with the reason
inline constexpr const char* kImportReportJsonFileName = "report.json";  ///< the report, for programs
inline constexpr const char* kImportReportTextFileName = "report.txt";   ///< the report, for people

/// Called with the numbers of rows judged and rejected so far, from any thread but never concurrently.
using RowsJudged = std::function<void(std::uint64_t rows, std::uint64_t rejected)>;

/// What to import, and how.
struct ImportOptions {
  std::filesystem::path dataset;             ///< folder or file of rows
  std::uint64_t row_count = 0;               ///< number of rows in the dataset: count_rows
  FieldMapping mapping;                      ///< which fields of a row contain what
  RowJudgeOptions judge_options;             ///< how the rows are judged
  std::filesystem::path python_interpreter;  ///< Python with Warp
  std::string warp_version;                  ///< version of that Warp
  std::filesystem::path output;              ///< folder for the result
  bool resume = false;                       ///< continue the unfinished import in `output`
  int jobs = 1;                              ///< number of blocks processed concurrently
  RowsJudged on_progress = nullptr;          ///< may be null
};

/// The rows with one outcome and cause.
struct CauseCount {
  RowOutcome outcome = RowOutcome::kRejected;  ///< outcome of the rows
  std::string cause;                           ///< name of the damage, or outcome and kind of a case
  std::string explanation;                     ///< one line for people; empty if there is none
  std::uint64_t rows = 0;                      ///< number of rows
  std::vector<std::string> examples;           ///< id and message of the first rows
};

/// The result of an import.
struct ImportReport {
  std::uint64_t rows = 0;                 ///< number of rows of the dataset
  std::uint64_t verified_row_count = 0;   ///< number of verified rows
  std::uint64_t rejected_row_count = 0;   ///< number of rejected rows
  std::uint64_t undecided_row_count = 0;  ///< number of undecided rows
  std::vector<CauseCount> cause_counts;   ///< rejected before undecided; the most frequent first
  bool was_already_complete = false;      ///< whether the folder already held the finished import
};

/// Imports the dataset. Fails if `output` contains an import and `resume` is not set, if it contains an import of other
/// rows or options, if a file cannot be read or written, or if Warp cannot be started; flushed blocks then remain.
Result<ImportReport> import_rows(const ImportOptions& options);

/// The report for people, and as JSON. The same rows give the same report.
std::string to_text(const ImportReport& report);
nlohmann::ordered_json to_json(const ImportReport& report);

}  // namespace assay::foreign
