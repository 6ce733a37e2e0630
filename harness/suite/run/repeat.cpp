#include "harness/suite/run/repeat.hpp"

#include <utility>
#include <vector>

namespace assay::harness {
namespace {

bool decides(Outcome later, Outcome earlier) {
  if (earlier == Outcome::internal_error) return false;
  return later == Outcome::internal_error || (is_as_expected(earlier) && !is_as_expected(later));
}

StageTimes sum(const StageTimes& a, const StageTimes& b) {
  return {.parse_ms = a.parse_ms,  // once, regardless of the attempts
          .adjoint_ms = a.adjoint_ms + b.adjoint_ms,
          .emit_ms = a.emit_ms + b.emit_ms,
          .build_ms = a.build_ms + b.build_ms,
          .oracle_ms = a.oracle_ms + b.oracle_ms,
          .launch_ms = a.launch_ms + b.launch_ms,
          .compare_ms = a.compare_ms + b.compare_ms};
}

}  // namespace

void add_attempt(CaseRecord& record, CaseRecord later) {
  std::vector<Outcome> attempts = std::move(record.attempt_outcomes);
  attempts.insert(attempts.end(), later.attempt_outcomes.begin(), later.attempt_outcomes.end());
  const StageTimes times = sum(record.stage_times, later.stage_times);
  if (decides(later.outcome, record.outcome)) record = std::move(later);
  record.attempt_outcomes = std::move(attempts);
  record.stage_times = times;
}

void run_repeatedly(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
                    const RunOptions& options, const TakeRecord& take) {
  if (options.repetition_count <= 1) return run_batch(sources, device, printer, options, take);
  std::vector<CaseRecord> records;
  for (int attempt = 0; attempt < options.repetition_count; ++attempt) {
    std::size_t next = 0;  // each attempt gives the same cases in the same order
    run_batch(sources, device, printer, options, [&](CaseRecord record) {
      if (attempt == 0) records.push_back(std::move(record));
      else add_attempt(records.at(next++), std::move(record));
    });
  }
  for (CaseRecord& record : records)
    take(std::move(record));
}

}  // namespace assay::harness
