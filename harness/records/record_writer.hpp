// The one writer of DIR/records.jsonl.
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

// The file's name inside of the run's folder.
inline constexpr std::string_view kRecordsFile = "records.jsonl";

// Appends one line at a time, as AppendedLines does: a crash of Assay loses nothing that was recorded, and after a
// failed write every later call fails, so that no run end is ever written: a damaged run cannot look complete.
class RecordWriter {
 public:
  // Makes `dir` where it is missing, replaces an older run's records, removes the reports that were made of them, and
  // writes the run's first line. Fails with one line that names the path and the cause: no permission, a file in the
  // folder's place, a full disk.
  static Result<RecordWriter> create(const std::filesystem::path& dir, RunStart start);

  // Goes on with the records in `dir` of a run that was cut off: a half line at its end goes, cases that have a line
  // are done, and the reports that were made of them are removed. Where not even the first line is whole, it is
  // `create`. Fails where the records are of another run (same_run.hpp) or have another plan. A run that has its end is
  // left as it is: nothing is pending, and `finish` gives that end.
  static Result<RecordWriter> resume(const std::filesystem::path& dir, const RunStart& start);

  // Writes one case. It must be in the plan and not have been written before; anything else is a bug of the caller and
  // is refused.
  Result<void> append(const CaseRecord& record);

  // Whether the case is planned and has no line yet.
  [[nodiscard]] bool is_pending(const std::string& name) const { return pending_.contains(name); }
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

  // Writes the last line: counts over the plan (a case without a line is not_run), the exit status by policy, the wall
  // time since create, of a resumed run with the time up to its last record. Returns what it wrote.
  Result<RunEnd> finish();
  // The same for records that were made elsewhere, with the moment and the wall time as they were there.
  Result<RunEnd> finish(const std::string& finished, double wall_time_s);

  // Milliseconds since create; of a resumed run with the time up to its last record.
  [[nodiscard]] double elapsed_ms() const { return (monotonic_s() - started_s_) * 1e3; }
  [[nodiscard]] const std::filesystem::path& file() const { return lines_.file(); }
  [[nodiscard]] const OutcomeCounts& counts() const { return counts_; }

 private:
  explicit RecordWriter(AppendedLines lines) : lines_(std::move(lines)) {}
  static double monotonic_s();

  AppendedLines lines_;
  double started_s_ = 0.0;                   // monotonic clock
  std::unordered_set<std::string> pending_;  // planned cases that have no line yet
  OutcomeCounts counts_;
  std::optional<RunEnd> end_;  // of a run that was resumed and had one
};

}  // namespace assay::harness
