// The readers of DIR/records.jsonl and of files of expected failures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The records of a run.
struct RunRecords {
  RunStart start;                 ///< the first line
  std::vector<CaseRecord> cases;  ///< one for each planned case, in the order of the plan
  std::optional<RunEnd> end;      ///< the last line; empty if the run did not finish
  bool is_truncated = false;      ///< whether the last line was incomplete, and was dropped

  [[nodiscard]] OutcomeCounts counts() const;
  /// Computed from the cases, not from the last line; an unfinished run is never as expected.
  [[nodiscard]] ExitStatus exit_status() const;
};

/// Reads a run. A planned case without a line becomes not_run(missing). A last line without its newline is dropped, and
/// `is_truncated` is set. Anything else that violates the schema (another schema version, a line that is not JSON, a
/// case that was not planned or is repeated) is an error with the line number.
Result<RunRecords> read_records(const std::filesystem::path& dir);

/// Reads a file of expected failures: a CSV table with a header, one expectation per line.
///
///     case,outcome,kind,message,reason,issue,since,expires
///     atomic/*/f64/cuda,fail,mismatch,grad_* is *,ties of minima,#17,2026-11-21,2027-01-31
///
/// Columns may be in any order; case, outcome and message are required. A run's failures.csv is a valid expectations
/// file.
///
/// Fails with the file and line on an unknown column, a row of another length, an empty pattern, an invalid date, and
/// an outcome that cannot be expected (pass, unsupported, not_run and internal_error).
Result<std::vector<ExpectedFailure>> read_expectations(const std::filesystem::path& file);

}  // namespace assay::harness
