// The writer of DIR/records.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "harness/records/appended_lines.hpp"
#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Name of the records in the run's folder.
inline constexpr std::string_view kRecordsFileName = "records.jsonl";

/// Appends one line at a time, as LineAppender does: a crash of Assay loses no recorded line. After a failed write
/// every later call fails, and no run end is written, so that a damaged run cannot look complete.
class RecordWriter {
 public:
  /// Creates `dir` if it is missing, replaces an older run's records, removes the reports made from them, and writes
  /// the run's first line. Errors name the path and the cause: no permission, a file instead of a folder, a full disk.
  static Result<RecordWriter> create(const std::filesystem::path& dir, RunStart start);

  /// Continues the records in `dir` of an interrupted run: drops an incomplete last line, treats cases that have a line
  /// as done, and removes the reports made from the records. If the first line is incomplete, behaves as `create`.
  /// Fails if the records belong to another run (merge.hpp) or have another plan. A finished run stays unchanged: no
  /// case is pending, and `finish` returns the existing end.
  static Result<RecordWriter> resume(const std::filesystem::path& dir, const RunStart& start);

  /// Writes one case. It must be in the plan and not have been written before; otherwise the call fails.
  Result<void> append(const CaseRecord& record);

  /// Whether the case is planned and has no line yet.
  [[nodiscard]] bool is_pending(const std::string& name) const { return pending_case_names_.contains(name); }
  [[nodiscard]] std::size_t pending() const { return pending_case_names_.size(); }

  /// Writes the last line and returns it: counts over the plan (a case without a line is not_run), the exit status, and
  /// the wall time since create; for a resumed run, the time up to its last record is added.
  Result<RunEnd> finish();
  /// As finish(), for records of another process, with its end time and wall time.
  Result<RunEnd> finish(const std::string& finished, double wall_time_seconds);

  /// Milliseconds since create; for a resumed run, plus the time up to its last record.
  [[nodiscard]] double elapsed_ms() const { return (monotonic_seconds() - start_time_seconds_) * 1e3; }
  [[nodiscard]] const std::filesystem::path& file() const { return records_file_.file(); }
  [[nodiscard]] const OutcomeCounts& counts() const { return counts_; }

 private:
  explicit RecordWriter(LineAppender lines) : records_file_(std::move(lines)) {}
  static double monotonic_seconds();

  LineAppender records_file_;                           ///< the open file
  double start_time_seconds_ = 0.0;                     ///< start on the monotonic clock, in seconds
  std::unordered_set<std::string> pending_case_names_;  ///< planned cases that have no line yet
  OutcomeCounts counts_;                                ///< recorded cases, by outcome
  std::optional<RunEnd> existing_run_end_;              ///< last line of a resumed run that was already finished
};

}  // namespace assay::harness
