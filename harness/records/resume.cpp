// RecordWriter::resume: continues the records of an interrupted run.
#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/records/merge.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/records/record_writer.hpp"
#include "support/files.hpp"

namespace assay::harness {
namespace {

/// Bytes up to the end of the last whole line; 0 if there is none, or no file.
std::int64_t whole_lines(const std::filesystem::path& file) {
  const Result<std::string> text = read_file_text(file);
  return text.ok() ? static_cast<std::int64_t>(text->rfind('\n') + 1) : 0;
}

/// Seconds from the start of the run, "2026-11-21T03:47:02Z", to the last record.
double seconds_worked(const std::string& started, const std::filesystem::path& file) {
  struct stat status {};
  if (epoch_seconds(started) == 0 || ::stat(file.c_str(), &status) != 0) return 0;
  return std::max(0.0, static_cast<double>(status.st_mtime) - epoch_seconds(started));
}

Error rejection(const std::string& why, const std::filesystem::path& dir) {
  return {fmt::format("cannot be resumed: {}; omit --resume or choose another folder with --output", why),
          dir.string()};
}

}  // namespace

Result<RecordWriter> RecordWriter::resume(const std::filesystem::path& dir, const RunStart& start) {
  const std::filesystem::path file = dir / kRecordsFileName;
  const std::int64_t complete_bytes = whole_lines(file);
  if (complete_bytes == 0) return create(dir, start);  // interrupted before its first line was complete
  const Result<RunRecords> run = read_records(dir);
  if (!run.ok()) return run.error();
  if (const auto differs = difference(run->start, start)) return rejection(*differs, dir);
  if (run->start.planned_case_names != start.planned_case_names) return rejection("the planned cases differ", dir);

  const double worked_s = seconds_worked(run->start.start_time, file);  // before the file is modified
  Result<LineAppender> lines = LineAppender::reopen(file, complete_bytes);
  if (!lines.ok()) return lines.error();
  RecordWriter writer(lines.take());
  writer.start_time_seconds_ = monotonic_seconds() - worked_s;
  writer.existing_run_end_ = run->end;
  for (const CaseRecord& record : run->cases) {
    if (record.outcome == Outcome::not_run) writer.pending_case_names_.insert(record.name);
    else writer.counts_.add(record.outcome);
  }
  return writer;
}

}  // namespace assay::harness
