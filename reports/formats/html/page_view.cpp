#include "reports/formats/html/page_view.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "reports/model/compilers.hpp"
#include "reports/model/environment.hpp"
#include "reports/model/measurements.hpp"
#include "reports/model/profiles.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

constexpr std::size_t kSlowest = 8;

struct StatusWords {
  std::string_view status;
  std::string_view words;
  std::string_view tone;
  std::string_view mark;
};

constexpr StatusWords kStatusWords[] = {
    {"as_expected", "As expected", "passed", "✓"},       {"unexpected", "Not as expected", "unexpected", "✕"},
    {"incomplete", "Incomplete", "unexpected", "!"},     {"internal_error", "Internal error", "unexpected", "!"},
    {"nothing_ran", "No case ran", "inconclusive", "!"}, {"all_unsupported", "Unsupported", "unsupported", "–"},
};

// Link to the cases of a reason.
std::string reason_link(const std::string& what) {
  if (what == "xfail") return filter_link("is:waived");
  if (what == "unexpected pass") return filter_link("outcome:pass is:unexpected");
  return what.ends_with("expectation") ? "#expectations" : filter_link("outcome:" + what);
}

json verdict_view(const RunSummary& summary) {
  const Verdict& verdict = summary.verdict;
  const StatusWords& words = *std::find_if(std::begin(kStatusWords), std::end(kStatusWords),
                                           [&](const StatusWords& row) { return row.status == verdict.status; });
  json reasons = json::array();
  for (const std::string& reason : verdict.reasons) {
    const std::size_t space = reason.find(' ');
    const std::string what = reason.substr(space + 1);
    reasons.push_back({{"count", reason.substr(0, space)},
                       {"outcome", what},
                       {"tone", what == "xfail" ? "waived" : to_text(tone_of_outcome(what))},
                       {"href", reason_link(what)}});
  }
  return {{"verdict_tone", words.tone},   {"verdict_mark", words.mark},         {"verdict_status", words.words},
          {"headline", verdict.headline}, {"exit_status", verdict.exit_status}, {"reasons", reasons}};
}

std::string joined(const json& words) {
  std::string text;
  for (const json& word : words)
    text += (text.empty() ? "" : " ") + word.get<std::string>();
  return text;
}

// "2026-11-21 03:47:02 UTC" of "2026-11-21T03:47:02Z".
std::string moment_text(const std::string& utc) { return utc.substr(0, 10) + " " + utc.substr(11, 8) + " UTC"; }

json run_view(const Run& run) {
  const json& environment = run.start.at("environment");
  return {{"run_id", run.start.at("run_id")},
          {"started", moment_text(run.start.at("started"))},
          {"wall_time", run.end ? time_text(run.end->at("wall_time_s").get<double>() * 1e3) : "did not finish"},
          {"seed", run.start.at("seed")},
          {"command", joined(run.start.at("command_line"))},
          {"commit", environment.at("commit")},
          {"dirty", environment.at("dirty")},
          {"schema_version", run.start.at("schema_version")}};
}

json funnel_step(const char* label, std::int64_t value, std::int64_t before, std::int64_t planned, const char* lost) {
  const double share = planned == 0 ? 0.0 : 100.0 * static_cast<double>(value) / static_cast<double>(planned);
  return {{"label", label},
          {"value", count_text(value)},
          {"share", fmt::format("{:.2f}", share)},
          {"note", value == before ? "all" : fmt::format("{} {}", count_text(before - value), lost)}};
}

json funnel_view(const CaseTotals& of) {
  json funnel = {funnel_step("Planned", of.planned, of.planned, of.planned, ""),
                 funnel_step("Run", of.run, of.planned, of.planned, "not run"),
                 funnel_step("Supported here", of.supported, of.run, of.planned, "unsupported"),
                 funnel_step("Compared", of.compared, of.supported, of.planned, "without compared values")};
  funnel[0]["note"] = "cases";
  if (of.cached_verdict_count > 0)
    funnel[1]["note"] = fmt::format("{} judged by an earlier run", count_text(of.cached_verdict_count));
  return funnel;
}

json devices_view(const Run& run, const CaseTotals& of) {
  json devices = json::array();
  for (const json& device : run.start.at("environment").at("devices")) {
    const std::string name = device.at("name");
    const bool available = device.at("available");
    const bool used = std::find(of.devices.begin(), of.devices.end(), name) != of.devices.end();
    std::string detail = device.at("description");
    const std::string toolkit = device.at("toolkit");
    if (!toolkit.empty()) detail += (detail.empty() ? "" : ", ") + toolkit;
    devices.push_back({{"name", name},
                       {"tone", used ? "passed" : "unsupported"},
                       {"state", used        ? "used"
                                 : available ? "available but not used"
                                             : device.at("reason").get<std::string>()},
                       {"detail", detail}});
  }
  return devices;
}

json findings_view(const Run& run, const RunSummary& summary) {
  json findings = json::array();
  for (const std::size_t i : summary.cases_with_findings) {
    const json& record = run.cases[i];
    const json& finding = record.at("finding");
    std::string threads;
    for (const json& thread : finding.at("threads"))
      threads += (threads.empty() ? "" : " and ") + thread.get<std::string>();
    findings.push_back(
        {{"kind", record.at("kind")},
         {"place", fmt::format("{}:{}", file_of(record, finding), finding.at("line").get<std::int64_t>())},
         {"access", finding.at("access")},
         {"threads", threads},
         {"name", record.at("case")},
         {"href", case_link(record.at("case").get<std::string>())}});
  }
  return findings;
}

// Limit on listed rows; report.json lists all.
constexpr std::size_t kUncoveredShown = 200;

json uncovered_view(const Run& run, const RunSummary& summary) {
  json rows = json::array();
  for (const UncoveredBranchLocation& way : summary.uncovered_branches) {
    if (rows.size() == kUncoveredShown) break;
    const json& record = run.cases[way.first_case_position];
    rows.push_back({{"place", fmt::format("{}:{}", way.file, way.line)},
                    {"what", way.description},
                    {"name", record.at("case")},
                    {"href", case_link(record.at("case").get<std::string>())}});
  }
  return rows;
}

json assumptions_view(const Run& run, const RunSummary& summary) {
  json rows = json::array();
  for (const AssumptionLocation& assumption : summary.assumptions) {
    if (rows.size() == kUncoveredShown) break;
    const json& record = run.cases[assumption.first_case_position];
    rows.push_back({{"what", assumption.description},
                    {"comment", assumption.domain_comment},
                    {"name", record.at("case")},
                    {"href", case_link(record.at("case").get<std::string>())}});
  }
  return rows;
}

json stages_view(const RunSummary& summary) {
  double longest = 0.0;
  for (const auto& [stage, time] : summary.stage_times_ms)
    longest = std::max(longest, time);
  json stages = json::array();
  for (const auto& [stage, time] : summary.stage_times_ms) {
    stages.push_back({{"name", stage},
                      {"time", time_text(time)},
                      {"share", fmt::format("{:.2f}", longest > 0 ? 100.0 * time / longest : 0.0)}});
  }
  return stages;
}

json slowest_view(const Run& run) {
  std::vector<std::size_t> order(run.cases.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t kept = std::min(kSlowest, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](std::size_t left, std::size_t right) { return total_ms(run.cases[left]) > total_ms(run.cases[right]); });
  json slowest = json::array();
  for (std::size_t i = 0; i < kept; ++i) {
    const json& record = run.cases[order[i]];
    if (total_ms(record) <= 0) break;
    const std::string name = record.at("case");
    slowest.push_back({{"name", name}, {"href", case_link(name)}, {"time", time_text(total_ms(record))}});
  }
  return slowest;
}

// `changes` is null without a baseline.
json environment_view(const Run& run, const RunChanges* changes) {
  json rows = json::array();
  for (const EnvironmentRow& row : environment_rows(run.start.at("environment")))
    rows.push_back({{"label", row.label}, {"text", row.value}, {"before", ""}});
  if (changes == nullptr) return rows;
  for (const EnvironmentDifference& difference : changes->environment) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const json& row) { return row.at("label") == difference.label; });
    if (found != rows.end()) (*found)["before"] = difference.earlier_value;
    else rows.push_back({{"label", difference.label}, {"text", "none"}, {"before", difference.earlier_value}});
  }
  return rows;
}

// Cases with passing and failing attempts.
json flaky_view(const Run& run, const RunSummary& summary) {
  json rows = json::array();
  for (const FlakyCase& flaky : summary.flaky_cases) {
    const json& record = run.cases[flaky.case_position];
    std::string attempts;
    for (const json& attempt : record.at("attempts"))
      attempts += (attempts.empty() ? "" : ", ") + attempt.get<std::string>();
    rows.push_back({{"name", record.at("case")},
                    {"href", case_link(record.at("case").get<std::string>())},
                    {"device", record.at("device")},
                    {"passed", fmt::format("{} of {}", flaky.passed, flaky.attempt_count)},
                    {"attempts", attempts}});
  }
  return rows;
}

// The count for a section; null if it is 0, so that the section is omitted.
json shown_count(std::size_t count) { return count == 0 ? json() : json(count_text(static_cast<std::int64_t>(count))); }

// The first damaged lines; null if there are none.
json schema_errors_view(const Run& run) {
  constexpr std::size_t kShown = 50;
  json rows = json::array();
  for (const InvalidLine& line : run.damaged_lines) {
    if (rows.size() == kShown) break;
    rows.push_back({{"number", line.line_number}, {"pointer", line.json_pointer}, {"message", line.message}});
  }
  if (rows.empty()) return nullptr;
  return {{"more", shown_count(run.damaged_lines.size() - rows.size())}, {"rows", std::move(rows)}};
}

}  // namespace

json page_view(const Run& run, const RunSummary& summary, const RunChanges* changes) {
  std::size_t red = 0;
  for (const FailureGroup& group : summary.failure_groups)
    red += group.cases.size();
  json view = verdict_view(summary);
  view.update(run_view(run));
  view.update(grid_view(summary));
  view["title"] = fmt::format("{} · Assay", summary.verdict.headline);
  view["funnel"] = funnel_view(summary.case_totals);
  view["values_compared"] = count_text(summary.case_totals.values_compared);
  view["devices"] = devices_view(run, summary.case_totals);
  view["schema_errors"] = schema_errors_view(run);
  view["groups"] = groups_view(run, summary);
  view["groups_count"] = shown_count(red);
  view["findings"] = findings_view(run, summary);
  view["findings_count"] = shown_count(summary.cases_with_findings.size());
  view["unreached"] = uncovered_view(run, summary);
  view["unreached_count"] = shown_count(summary.uncovered_branches.size());
  view["assumptions"] = assumptions_view(run, summary);
  view["assumptions_count"] = shown_count(summary.assumptions.size());
  view["assumptions_more"] = shown_count(summary.assumptions.size() - view["assumptions"].size());
  view["unreached_more"] = shown_count(summary.uncovered_branches.size() - view["unreached"].size());
  view["cases_count"] = count_text(static_cast<std::int64_t>(run.cases.size()));
  view["expectations"] = expectations_view(run);
  view["expectations_count"] = shown_count(run.expectations.size());
  view["compilers"] = build_view(build_matrix(run));
  view["profiles"] = profiles_view(run);
  view["measurements"] = measurements_view(run);
  view["stages"] = stages_view(summary);
  view["slowest"] = slowest_view(run);
  view["environment"] = environment_view(run, changes);
  view["changes"] = changes == nullptr ? json() : changes_view(*changes);
  view["margins"] = margins_view(run);
  view["flaky"] = flaky_view(run, summary);
  view["flaky_count"] = shown_count(summary.flaky_cases.size());
  return view;
}

}  // namespace assay::reports
