#include "reports/model/summary.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "harness/records/record.hpp"
#include "reports/model/verdict.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

const std::string& text(const json& record, const char* member) {
  return record.at(member).get_ref<const std::string&>();
}

GridCell& cell_of(std::vector<GridCell>& grid, const json& record) {
  const auto found = std::find_if(grid.begin(), grid.end(), [&](const GridCell& cell) {
    return cell.family == text(record, "family") && cell.device == text(record, "device") &&
           cell.pass == text(record, "pass");
  });
  if (found != grid.end()) return *found;
  return grid.emplace_back(
      GridCell{.family = text(record, "family"), .device = text(record, "device"), .pass = text(record, "pass")});
}

// Length of the kernel source; cases without source come last.
std::size_t kernel_length(const json& record) {
  const auto artifact = record.find("artifact");
  if (artifact == record.end() || text(*artifact, "python").empty()) return std::string::npos;
  return text(*artifact, "python").size();
}

std::vector<FailureGroup> groups_of(const Run& run) {
  std::vector<FailureGroup> groups;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    const Tone tone = tone_of(record);
    if (!fails_run(tone)) continue;
    const std::string signature = fmt::format("{} in {}", outcome_text(record), text(record, "family"));
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const FailureGroup& other) { return other.heading == signature; });
    if (group == groups.end()) {
      groups.push_back({.heading = signature,
                        .outcome = text(record, "outcome"),
                        .outcome_detail = text(record, "kind"),
                        .family = text(record, "family"),
                        .tone = tone});
      group = groups.end() - 1;
    }
    group->cases.push_back(i);
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const FailureGroup& left, const FailureGroup& right) {
    return std::pair(severity_rank(left.outcome), -static_cast<std::ptrdiff_t>(left.cases.size())) <
           std::pair(severity_rank(right.outcome), -static_cast<std::ptrdiff_t>(right.cases.size()));
  });
  for (FailureGroup& group : groups) {
    std::stable_sort(group.cases.begin(), group.cases.end(), [&](std::size_t left, std::size_t right) {
      return kernel_length(run.cases[left]) < kernel_length(run.cases[right]);
    });
  }
  return groups;
}

CaseTotals denominators_of(const Run& run) {
  CaseTotals of{.planned = static_cast<std::int64_t>(run.cases.size())};
  std::set<std::string> devices;
  for (const json& record : run.cases) {
    const Tone tone = tone_of_outcome(text(record, "outcome"));
    if (tone == Tone::not_run) continue;
    ++of.run;
    if (tone == Tone::unsupported) continue;
    ++of.supported;
    of.cached_verdict_count += record.contains("cached");
    devices.insert(text(record, "device"));
    const auto values = record.at("values_compared").get<std::int64_t>();
    of.values_compared += values;
    if (values > 0) ++of.compared;
  }
  of.devices.assign(devices.begin(), devices.end());
  return of;
}

std::vector<UncoveredBranchLocation> uncovered_of(const Run& run) {
  std::vector<UncoveredBranchLocation> uncovered;
  std::set<std::tuple<std::string, std::string, std::string, std::int64_t, std::string>> seen;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    if (!record.contains("unreached")) continue;
    for (const json& way : record.at("unreached")) {
      UncoveredBranchLocation entry{.first_case_position = i,
                                    .file = file_of(record, way),
                                    .line = way.at("line"),
                                    .description = way.at("what")};
      if (seen.insert({text(record, "family"), text(record, "kernel"), entry.file, entry.line, entry.description})
              .second)
        uncovered.push_back(std::move(entry));
    }
  }
  return uncovered;
}

std::vector<AssumptionLocation> assumptions_of(const Run& run) {
  std::vector<AssumptionLocation> assumptions;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    if (!record.contains("assumptions")) continue;
    for (const json& assumption : record.at("assumptions")) {
      AssumptionLocation entry{.first_case_position = i,
                               .description = assumption.at("what"),
                               .domain_comment = assumption.value("comment", "")};
      if (seen.insert({text(record, "family"), text(record, "kernel"), entry.description}).second)
        assumptions.push_back(std::move(entry));
    }
  }
  return assumptions;
}

}  // namespace

std::string file_of(const json& record, const json& named) {
  return named.contains("file") ? text(named, "file") : text(record.at("source"), "file");
}

std::string line_text(const json& record, std::string_view file, std::int64_t line) {
  return file == text(record.at("source"), "file") ? fmt::format("line {}", line)
                                                   : fmt::format("line {} of {}", line, file);
}

std::string_view standing_of(const json& record) {
  const auto expectation = record.find("expectation");
  return expectation == record.end() ? std::string_view{} : text(*expectation, "standing");
}

Tone tone_of_outcome(std::string_view outcome) {
  if (outcome == "pass") return Tone::passed;
  if (outcome == "inconclusive") return Tone::inconclusive;
  if (outcome == "unsupported") return Tone::unsupported;
  if (outcome == "not_run") return Tone::not_run;
  return Tone::unexpected;
}

Tone tone_of(const json& record) {
  const std::string_view standing = standing_of(record);
  if (standing == kExpectedFailureStanding) return Tone::expected_failures;
  if (standing == "better") return Tone::unexpected;
  return tone_of_outcome(text(record, "outcome"));
}

std::string_view to_text(Tone tone) {
  constexpr std::array<std::string_view, 6> kNames{"passed",      "unexpected", "inconclusive",
                                                   "unsupported", "not_run",    "waived"};
  return kNames.at(static_cast<std::size_t>(tone));
}

bool fails_run(Tone tone) { return tone == Tone::unexpected || tone == Tone::inconclusive || tone == Tone::not_run; }

std::string message_text(const json& record) {
  const std::string& message = text(record, "message");
  if (!record.contains("expectation")) return message;
  const std::string& note = text(record.at("expectation"), "note");
  return message + (message.empty() || note.empty() ? "" : "; ") + note;
}

std::string outcome_text(const json& record) {
  if (standing_of(record) == "better") return "unexpected pass";
  const std::string& kind = text(record, "kind");
  return kind.empty() ? text(record, "outcome") : fmt::format("{}({})", text(record, "outcome"), kind);
}

void CaseCounts::add(Tone tone) {
  constexpr std::array<std::int64_t CaseCounts::*, 6> kMembers{
      &CaseCounts::passed,      &CaseCounts::unexpected, &CaseCounts::inconclusive,
      &CaseCounts::unsupported, &CaseCounts::not_run,    &CaseCounts::expected_failures};
  ++(this->*kMembers.at(static_cast<std::size_t>(tone)));
}

void CaseCounts::add(const CaseCounts& other) {
  passed += other.passed;
  unexpected += other.unexpected;
  inconclusive += other.inconclusive;
  unsupported += other.unsupported;
  not_run += other.not_run;
  expected_failures += other.expected_failures;
}

std::int64_t CaseCounts::total() const {
  return passed + unexpected + inconclusive + unsupported + not_run + expected_failures;
}

Tone CaseCounts::tone() const {
  if (unexpected > 0) return Tone::unexpected;
  if (inconclusive > 0) return Tone::inconclusive;
  if (not_run > 0) return Tone::not_run;
  if (expected_failures > 0) return Tone::expected_failures;
  return passed > 0 ? Tone::passed : Tone::unsupported;
}

std::optional<FlakyCase> flaky_of(const json& record) {
  FlakyCase flaky{.case_position = 0, .passed = 0, .attempt_count = 0};
  for (const json& attempt : record.at("attempts")) {
    ++flaky.attempt_count;
    if (tone_of_outcome(attempt.get<std::string>()) == Tone::passed) ++flaky.passed;
  }
  if (flaky.passed == 0 || flaky.passed == flaky.attempt_count) return std::nullopt;
  return flaky;
}

double total_ms(const json& record) {
  double sum = 0.0;
  for (const auto& [stage, time] : record.at("time_ms").items())
    sum += time.get<double>();
  return sum;
}

RunSummary summarize(const Run& run) {
  RunSummary summary;
  CaseCounts tally;
  for (const harness::StageTimeField& stage : harness::kStages)
    summary.stage_times_ms.emplace_back(stage.name, 0.0);
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    const Tone tone = tone_of(record);
    ++summary.counts[text(record, "outcome")];
    tally.add(tone);
    cell_of(summary.grid, record).counts.add(tone);
    if (std::optional<FlakyCase> flaky = flaky_of(record)) {
      flaky->case_position = i;
      summary.flaky_cases.push_back(*flaky);
    }
    if (record.contains("finding")) summary.cases_with_findings.push_back(i);
    for (auto& [stage, time] : summary.stage_times_ms)
      time += record.at("time_ms").at(stage).get<double>();
  }
  summary.uncovered_branches = uncovered_of(run);
  summary.assumptions = assumptions_of(run);
  summary.case_totals = denominators_of(run);
  summary.failure_groups = groups_of(run);
  summary.verdict = verdict_of(run, summary.counts, tally);
  return summary;
}

}  // namespace assay::reports
