#include "harness/record/record_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/record/record_json.hpp"
#include "schemas/validator.hpp"

namespace assay::harness {
namespace {

// Files that are made of the records of a run: beside another run's records they would mislead.
constexpr std::array<std::string_view, 8> kDerivedFiles{"report.json",    "report.html", "junit.xml",    "ctrf.json",
                                                        "findings.sarif", "summary.md",  "failures.csv", "trace.json"};

std::string cause(int error_number) { return std::generic_category().message(error_number); }

// Writes all of `text`; 0, or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

double RecordWriter::monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<RecordWriter> RecordWriter::create(const std::filesystem::path& dir, RunStart start) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Error{fmt::format("cannot make the output folder: {}", error.message()), dir.string()};

  RecordWriter writer;
  writer.file_ = dir / kRecordsFile;
  writer.descriptor_ = ::open(writer.file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.descriptor_ < 0) {
    return Error{fmt::format("cannot write records: {}", cause(errno)), writer.file_.string()};
  }
  remove_reports(dir);

  writer.started_s_ = monotonic_s();
  writer.pending_.insert(start.plan.begin(), start.plan.end());
  if (writer.pending_.size() != start.plan.size()) return Error{"the plan names a case twice", dir.string()};
  start.schema_version = schemas::kRecordSchemaVersion;
  if (Result<void> written = writer.write_line(to_line(start)); !written.ok()) return written.error();
  return writer;
}

void RecordWriter::remove_reports(const std::filesystem::path& dir) {
  std::error_code ignored;
  for (const std::string_view name : kDerivedFiles)
    std::filesystem::remove(dir / name, ignored);
}

RecordWriter::RecordWriter(RecordWriter&& other) noexcept { *this = std::move(other); }

RecordWriter& RecordWriter::operator=(RecordWriter&& other) noexcept {
  if (this == &other) return *this;
  if (descriptor_ >= 0) ::close(descriptor_);
  file_ = std::move(other.file_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  whole_bytes_ = other.whole_bytes_;
  started_s_ = other.started_s_;
  pending_ = std::move(other.pending_);
  counts_ = other.counts_;
  end_ = std::move(other.end_);
  failure_ = std::move(other.failure_);
  return *this;
}

RecordWriter::~RecordWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> RecordWriter::write_line(const std::string& line) {
  if (!failure_.empty()) return Error{failure_, file_.string()};
  const int error_number = write_all(descriptor_, line + "\n");
  if (error_number != 0) {
    // Where the file cannot be cut back either (a device, a lost mount), readers leave out the half line.
    const int truncated = ::ftruncate(descriptor_, whole_bytes_);
    failure_ = fmt::format("cannot write records: {}; the run's record is incomplete{}", cause(error_number),
                           truncated == 0 ? "" : " and its last line is cut short");
    return Error{failure_, file_.string()};
  }
  whole_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
  return {};
}

Result<void> RecordWriter::append(const CaseRecord& record) {
  if (!pending_.contains(record.name)) {
    return Error{"the case is not planned, or was already recorded", record.name};
  }
  if (Result<void> written = write_line(to_line(record)); !written.ok()) return written;
  pending_.erase(record.name);
  counts_.add(record.outcome);
  return {};
}

Result<RunEnd> RecordWriter::finish() { return finish(utc_now(), monotonic_s() - started_s_); }

Result<RunEnd> RecordWriter::finish(const std::string& finished, double wall_time_s) {
  if (end_) return *end_;
  RunEnd end{.finished = finished, .counts = counts_, .wall_time_s = wall_time_s};
  end.counts.add(Outcome::not_run, static_cast<std::int64_t>(pending_.size()));
  end.exit_status = harness::exit_status(end.counts);
  if (Result<void> written = write_line(to_line(end)); !written.ok()) return written.error();
  return end;
}

}  // namespace assay::harness
