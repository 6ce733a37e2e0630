#include "reports/formats/formats.hpp"
#include "schemas/validator.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

json verdict_json(const Verdict& verdict) {
  return {{"status", verdict.status},
          {"exit_status", verdict.exit_status},
          {"headline", verdict.headline},
          {"reasons", verdict.reasons}};
}

json run_json(const Run& run) {
  return {{"run_id", run.start.at("run_id")},
          {"started", run.start.at("started")},
          {"finished", run.end ? run.end->at("finished") : json()},
          {"command_line", run.start.at("command_line")},
          {"seed", run.start.at("seed")},
          {"wall_time_s", run.end ? run.end->at("wall_time_s") : json()},
          {"complete", run.complete()},
          {"truncated", run.is_truncated}};
}

json denominators_json(const CaseTotals& of) {
  return {{"planned", of.planned},
          {"run", of.run},
          {"supported", of.supported},
          {"compared", of.compared},
          {"values_compared", of.values_compared},
          {"cached", of.cached_verdict_count},
          {"devices", of.devices}};
}

json cell_json(const GridCell& cell) {
  return {{"family", cell.family},
          {"device", cell.device},
          {"pass", cell.pass},
          {"total", cell.counts.total()},
          {"passed", cell.counts.passed},
          {"unexpected", cell.counts.unexpected},
          {"inconclusive", cell.counts.inconclusive},
          {"unsupported", cell.counts.unsupported},
          {"not_run", cell.counts.not_run},
          {"waived", cell.counts.expected_failures}};
}

json group_json(const Run& run, const FailureGroup& group) {
  json names = json::array();
  for (const std::size_t i : group.cases)
    names.push_back(run.cases[i].at("case"));
  return {{"signature", group.heading}, {"outcome", group.outcome}, {"kind", group.outcome_detail}, {"cases", names}};
}

json finding_json(const json& record) {
  const json& finding = record.at("finding");
  return {{"case", record.at("case")},  {"kind", record.at("kind")},      {"file", file_of(record, finding)},
          {"line", finding.at("line")}, {"access", finding.at("access")}, {"threads", finding.at("threads")}};
}

json uncovered_json(const Run& run, const UncoveredBranchLocation& way) {
  const json& record = run.cases[way.first_case_position];
  return {{"case", record.at("case")}, {"file", way.file}, {"line", way.line}, {"what", way.description}};
}

json assumption_json(const Run& run, const AssumptionLocation& assumption) {
  json entry = {{"case", run.cases[assumption.first_case_position].at("case")}, {"what", assumption.description}};
  if (!assumption.domain_comment.empty()) entry["comment"] = assumption.domain_comment;
  return entry;
}

json expectation_json(const ExpectationTally& line) {
  json row = line.expectation;
  row.update({{"state", line.state()},
              {"waived", line.expected_failures},
              {"changed", line.changed_failures},
              {"better", line.passed},
              {"unjudged", line.unjudged}});
  return row;
}

json case_json(const json& record) {
  json line = json::object();
  for (const char* member :
       {"case", "outcome", "kind", "message", "rho_max", "values_compared", "attempts", "reproduce"}) {
    line[member] = record.at(member);
  }
  line["time_ms"] = total_ms(record);
  if (record.contains("expectation")) line["expectation"] = record.at("expectation");
  return line;
}

}  // namespace

json report_json(const Run& run, const RunSummary& summary, const RunChanges* changes) {
  json report = {{"schema_version", schemas::kReportSchemaVersion},
                 {"verdict", verdict_json(summary.verdict)},
                 {"changes", changes == nullptr ? json() : changes_json(*changes)},
                 {"run", run_json(run)},
                 {"denominators", denominators_json(summary.case_totals)},
                 {"counts", summary.counts},
                 {"environment", run.start.at("environment")}};
  for (const char* list :
       {"grid", "groups", "findings", "unreached", "assumptions", "expectations", "schema_errors", "cases"})
    report[list] = json::array();
  for (const GridCell& cell : summary.grid)
    report["grid"].push_back(cell_json(cell));
  for (const FailureGroup& group : summary.failure_groups)
    report["groups"].push_back(group_json(run, group));
  for (const std::size_t i : summary.cases_with_findings)
    report["findings"].push_back(finding_json(run.cases[i]));
  for (const UncoveredBranchLocation& way : summary.uncovered_branches)
    report["unreached"].push_back(uncovered_json(run, way));
  for (const AssumptionLocation& assumption : summary.assumptions)
    report["assumptions"].push_back(assumption_json(run, assumption));
  for (const ExpectationTally& line : run.expectations)
    report["expectations"].push_back(expectation_json(line));
  for (const json& record : run.cases)
    report["cases"].push_back(case_json(record));
  for (const InvalidLine& line : run.damaged_lines)
    report["schema_errors"].push_back(
        {{"line", line.line_number}, {"pointer", line.json_pointer}, {"message", line.message}});
  report["flaky"] = json::array();
  for (const FlakyCase& flaky : summary.flaky_cases) {
    report["flaky"].push_back({{"case", run.cases[flaky.case_position].at("case")},
                               {"passed", flaky.passed},
                               {"attempts", flaky.attempt_count}});
  }
  report["time_ms"] = json::object();
  for (const auto& [stage, time] : summary.stage_times_ms)
    report["time_ms"][stage] = time;
  return report;
}

}  // namespace assay::reports
