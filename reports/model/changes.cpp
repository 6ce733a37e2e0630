#include "reports/model/changes.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "reports/model/summary.hpp"
#include "support/csv.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// The result of a case, without its expectation.
json finding_of(const json& record) {
  return {{"case", record.at("case")},
          {"outcome", record.at("outcome")},
          {"kind", record.at("kind")},
          {"message", record.at("message")}};
}

Tone tone_of_finding(const json& finding) { return tone_of_outcome(finding.at("outcome").get<std::string>()); }

// Reads the table that failures_csv writes.
Result<Baseline> read_failures(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Result<std::vector<CsvRow>> rows = read_csv(text);
  const std::vector<std::string> head{"case", "outcome", "kind", "message"};
  if (!rows.ok() || rows->empty() || rows->front().fields != head)
    return Error{"expected the folder of a run or its failures.csv", file.string()};
  Baseline baseline{.label = file.string()};
  for (const CsvRow& row : *rows) {
    if (&row == &rows->front()) continue;
    if (row.fields.size() != head.size()) {
      return Error{fmt::format("row has {} fields, expected {}", row.fields.size(), head.size()),
                   fmt::format("{}:{}", file.string(), row.line)};
    }
    json& finding = baseline.cases[row.fields.front()];
    for (std::size_t i = 0; i < head.size(); ++i)
      finding[head[i]] = row.fields[i];
  }
  return baseline;
}

CaseChange change_of(const json* before, const json* after) {
  const json& last = after == nullptr ? *before : *after;
  return {.name = last.at("case"),
          .earlier_value = before == nullptr ? "" : outcome_text(*before),
          .later_value = after == nullptr ? "" : outcome_text(*after),
          .message = last.at("message")};
}

void sort_in(RunChanges& changes, const json& before, const json& after) {
  const Tone was = tone_of_finding(before);
  const Tone is = tone_of_finding(after);
  const bool both_red = fails_run(was) && fails_run(is);
  if (both_red ? before == after : was == is) ++changes.unchanged_case_count;
  else if (both_red) changes.changed_cases.push_back(change_of(&before, &after));
  else if (fails_run(is)) changes.broken_cases.push_back(change_of(&before, &after));
  else if (fails_run(was) && is == Tone::passed) changes.fixed_cases.push_back(change_of(&before, &after));
  else changes.changed_cases.push_back(change_of(&before, &after));
}

}  // namespace

Baseline baseline_of(const Run& run, std::string label) {
  Baseline baseline{.label = std::move(label), .environment = run.start.at("environment")};
  for (const json& record : run.cases)
    baseline.cases.emplace(record.at("case"), finding_of(record));
  return baseline;
}

Result<Baseline> read_baseline(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return read_failures(path);
  const Result<Run> run = read_run(path);
  if (!run.ok()) return run.error();
  return baseline_of(*run, path.string());
}

bool RunChanges::is_no_worse() const {
  return broken_cases.empty() && changed_cases.empty() && removed_cases.empty() && failing_added_case_count == 0;
}

RunChanges changes_since(const Baseline& baseline, const Run& run) {
  RunChanges changes{.baseline_label = baseline.label};
  std::map<std::string, const json*> gone;
  for (const auto& [name, finding] : baseline.cases)
    gone.emplace(name, &finding);
  for (const json& record : run.cases) {
    const json after = finding_of(record);
    const auto before = gone.find(record.at("case"));
    if (before != gone.end()) {
      sort_in(changes, *before->second, after);
      gone.erase(before);
    } else if (baseline.environment) {
      changes.added_cases.push_back(change_of(nullptr, &after));
      if (fails_run(tone_of_finding(after))) ++changes.failing_added_case_count;
    } else if (fails_run(tone_of_finding(after))) {
      changes.broken_cases.push_back(change_of(nullptr, &after));
    } else {
      ++changes.unchanged_case_count;
    }
  }
  for (const auto& [name, finding] : gone)
    changes.removed_cases.push_back(change_of(finding, nullptr));
  if (baseline.environment)
    changes.environment = environment_differences(*baseline.environment, run.start.at("environment"));
  return changes;
}

std::vector<ChangeList> lists_of(const RunChanges& changes) {
  return {{"broken", &changes.broken_cases},
          {"changed", &changes.changed_cases},
          {"gone", &changes.removed_cases},
          {"added", &changes.added_cases},
          {"fixed", &changes.fixed_cases}};
}

json changes_json(const RunChanges& changes) {
  json document = {
      {"since", changes.baseline_label}, {"no_worse", changes.is_no_worse()}, {"same", changes.unchanged_case_count}};
  for (const auto& [name, list] : lists_of(changes)) {
    json& rows = document[name] = json::array();
    for (const CaseChange& change : *list) {
      rows.push_back({{"case", change.name},
                      {"before", change.earlier_value},
                      {"after", change.later_value},
                      {"message", change.message}});
    }
  }
  json& rows = document["environment"] = json::array();
  for (const EnvironmentDifference& row : changes.environment)
    rows.push_back({{"what", row.label}, {"before", row.earlier_value}, {"after", row.later_value}});
  return document;
}

std::string changes_text(const RunChanges& changes) {
  std::string text;
  for (const auto& [name, list] : lists_of(changes)) {
    if (!list->empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", list->size(), name);
  }
  return fmt::format("{}{}{} the same", text, text.empty() ? "" : "; ", changes.unchanged_case_count);
}

}  // namespace assay::reports
