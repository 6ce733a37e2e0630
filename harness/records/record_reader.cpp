#include "harness/records/record_reader.hpp"

#include "harness/records/record_json.hpp"
#include "harness/records/record_lines.hpp"

namespace assay::harness {
OutcomeCounts RunRecords::counts() const {
  OutcomeCounts counts;
  for (const CaseRecord& record : cases)
    counts.add(record.outcome);
  return counts;
}

ExitStatus RunRecords::exit_status() const {
  const ExitStatus status = harness::exit_status(counts());
  const bool complete = end.has_value() && !is_truncated;
  return status == ExitStatus::as_expected && !complete ? ExitStatus::unexpected : status;
}

Result<RunRecords> read_records(const std::filesystem::path& dir) {
  const Result<RecordLines> lines = read_record_lines(dir);
  if (!lines.ok()) return lines.error();
  RunRecords run{.start = run_start_from(lines->start), .is_truncated = lines->is_truncated};
  for (const nlohmann::json& line : lines->cases)
    run.cases.push_back(case_from(line));
  if (lines->end) run.end = run_end_from(*lines->end);
  return run;
}

}  // namespace assay::harness
