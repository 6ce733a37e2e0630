#include "harness/records/record_writer.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include <fmt/format.h>

#include "harness/records/record_json.hpp"
#include "schemas/validator.hpp"

namespace assay::harness {
double RecordWriter::monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<RecordWriter> RecordWriter::create(const std::filesystem::path& dir, RunStart start) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Error{fmt::format("cannot create the output folder: {}", error.message()), dir.string()};

  Result<LineAppender> lines = LineAppender::create(dir / kRecordsFileName);
  if (!lines.ok()) return lines.error();
  RecordWriter writer(lines.take());

  writer.start_time_seconds_ = monotonic_seconds();
  writer.pending_case_names_.insert(start.planned_case_names.begin(), start.planned_case_names.end());
  if (writer.pending_case_names_.size() != start.planned_case_names.size())
    return Error{"the plan contains a case twice", dir.string()};
  start.schema_version = schemas::kRecordSchemaVersion;
  if (Result<void> written = writer.records_file_.append(to_line(start)); !written.ok()) return written.error();
  return writer;
}

Result<void> RecordWriter::append(const CaseRecord& record) {
  if (!pending_case_names_.contains(record.name)) {
    return Error{"the case is not planned, or was already recorded", record.name};
  }
  if (Result<void> written = records_file_.append(to_line(record)); !written.ok()) return written;
  pending_case_names_.erase(record.name);
  counts_.add(record.outcome);
  return {};
}

Result<RunEnd> RecordWriter::finish() { return finish(utc_now(), monotonic_seconds() - start_time_seconds_); }

Result<RunEnd> RecordWriter::finish(const std::string& finished, double wall_time_seconds) {
  if (existing_run_end_) return *existing_run_end_;
  RunEnd end{.end_time = finished, .counts = counts_, .wall_time_seconds = wall_time_seconds};
  end.counts.add(Outcome::not_run, static_cast<std::int64_t>(pending_case_names_.size()));
  end.exit_status = harness::exit_status(end.counts);
  if (Result<void> written = records_file_.append(to_line(end)); !written.ok()) return written.error();
  return end;
}

}  // namespace assay::harness
