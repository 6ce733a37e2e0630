#include "reports/model/run.hpp"

#include <utility>

namespace assay::reports {
namespace {

void hold(Run& run) {
  ExpectationMatcher expectations(run.start);
  for (nlohmann::json& record : run.cases)
    expectations.annotate(record);
  run.expectations = expectations.lines();
}

}  // namespace

void apply_expectations(Run& run, const nlohmann::json& expectations) {
  run.start["expectations"] = expectations;
  hold(run);
}

Result<Run> read_run(const std::filesystem::path& dir, Damage damage) {
  Result<harness::RecordLines> lines = harness::read_record_lines(dir, damage);
  if (!lines.ok()) return lines.error();
  Run run{lines.take(), {}};
  hold(run);
  return run;
}

}  // namespace assay::reports
