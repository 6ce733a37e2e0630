#include "reports/summary.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace assay::reports {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kStages{"read", "adjoint", "emit", "build", "reference", "run", "compare"};

// Outcomes in the order in which a reader wants to hear of them.
constexpr std::array<std::string_view, 13> kGravestFirst{
    "internal_error", "memory_fault", "crashed", "fail",        "timed_out",     "build_failed", "launch_failed",
    "resource_error", "inconclusive", "not_run", "unsupported", "pass_marginal", "pass"};

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

// How long the kernel is for a reader; a case without its source comes last.
std::size_t kernel_length(const json& record) {
  const auto artifact = record.find("artifact");
  if (artifact == record.end() || text(*artifact, "python").empty()) return std::string::npos;
  return text(*artifact, "python").size();
}

std::vector<FailureGroup> groups_of(const Run& run) {
  std::vector<FailureGroup> groups;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    const Tone tone = tone_of(text(record, "outcome"));
    if (tone == Tone::passed || tone == Tone::unsupported) continue;
    const std::string signature = fmt::format("{} in {}", outcome_text(record), text(record, "family"));
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const FailureGroup& other) { return other.signature == signature; });
    if (group == groups.end()) {
      groups.push_back({.signature = signature,
                        .outcome = text(record, "outcome"),
                        .kind = text(record, "kind"),
                        .family = text(record, "family")});
      group = groups.end() - 1;
    }
    group->cases.push_back(i);
  }
  const auto gravity = [](const FailureGroup& group) {
    return std::find(kGravestFirst.begin(), kGravestFirst.end(), group.outcome) - kGravestFirst.begin();
  };
  std::stable_sort(groups.begin(), groups.end(), [&](const FailureGroup& left, const FailureGroup& right) {
    return std::pair(gravity(left), -static_cast<std::ptrdiff_t>(left.cases.size())) <
           std::pair(gravity(right), -static_cast<std::ptrdiff_t>(right.cases.size()));
  });
  for (FailureGroup& group : groups) {
    std::stable_sort(group.cases.begin(), group.cases.end(), [&](std::size_t left, std::size_t right) {
      return kernel_length(run.cases[left]) < kernel_length(run.cases[right]);
    });
  }
  return groups;
}

Denominators denominators_of(const Run& run) {
  Denominators of{.planned = static_cast<std::int64_t>(run.cases.size())};
  std::set<std::string> devices;
  for (const json& record : run.cases) {
    const Tone tone = tone_of(text(record, "outcome"));
    if (tone == Tone::not_run) continue;
    ++of.run;
    if (tone == Tone::unsupported) continue;
    ++of.supported;
    devices.insert(text(record, "device"));
    const auto values = record.at("values_compared").get<std::int64_t>();
    of.values_compared += values;
    if (values > 0) ++of.compared;
  }
  of.devices.assign(devices.begin(), devices.end());
  return of;
}

// The last line must say what the others say.
bool end_agrees(const Run& run, const std::map<std::string, std::int64_t>& counts) {
  std::map<std::string, std::int64_t> claimed = run.end->at("counts").get<std::map<std::string, std::int64_t>>();
  std::erase_if(claimed, [](const auto& entry) { return entry.second == 0; });
  return claimed == counts;
}

std::vector<std::string> reasons_of(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::string> reasons;
  for (const std::string_view outcome : kGravestFirst) {
    const auto found = counts.find(std::string(outcome));
    if (found != counts.end()) reasons.push_back(fmt::format("{} {}", found->second, outcome));
  }
  return reasons;
}

std::int64_t missing_cases(const Run& run) {
  return std::count_if(run.cases.begin(), run.cases.end(), [](const json& record) {
    return text(record, "outcome") == "not_run" && text(record, "kind") == "missing";
  });
}

std::string cases_text(std::int64_t cases) { return fmt::format("{} {}", cases, cases == 1 ? "case" : "cases"); }

Verdict verdict_of(const Run& run, const std::map<std::string, std::int64_t>& counts, const Tally& tally) {
  Verdict verdict{.status = "incomplete", .exit_status = 1, .reasons = reasons_of(counts)};
  const std::int64_t missing = missing_cases(run);
  if (!run.complete()) {
    verdict.headline =
        fmt::format("The run did not finish: {} of {} left no record", missing, cases_text(tally.total()));
    return verdict;
  }
  if (!end_agrees(run, counts)) {
    verdict.headline = "The run's last line contradicts the lines of its cases";
    return verdict;
  }
  verdict.exit_status = run.end->at("exit_status");
  const std::int64_t red = tally.unexpected + tally.inconclusive + tally.not_run;
  if (counts.contains("internal_error")) {
    verdict.status = "internal_error";
    verdict.headline = "Assay contradicted itself: no verdict of this run can be relied on";
  } else if (missing > 0) {
    verdict.headline = fmt::format("{} of {} left no record", cases_text(missing), tally.total());
  } else if (tally.total() > 0 && tally.unsupported == tally.total()) {
    verdict.status = "all_unsupported";
    verdict.headline = "Nothing could run: every planned case is unsupported here";
  } else if (tally.unsupported + tally.not_run == tally.total()) {
    verdict.status = "nothing_ran";
    verdict.headline = "Nothing ran";
  } else if (red > 0) {
    verdict.status = "unexpected";
    verdict.headline =
        fmt::format("{} of {} {} not as expected", cases_text(red), tally.total(), red == 1 ? "is" : "are");
  } else {
    verdict.status = "as_expected";
    verdict.headline = tally.unsupported == 0
                           ? fmt::format("All {} pass", cases_text(tally.total()))
                           : fmt::format("All {} that could run here pass", cases_text(tally.passed));
  }
  return verdict;
}

std::vector<Unreached> unreached_of(const Run& run) {
  std::vector<Unreached> unreached;
  std::set<std::tuple<std::string, std::string, std::int64_t, std::string>> seen;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    if (!record.contains("unreached")) continue;
    for (const json& way : record.at("unreached")) {
      Unreached entry{.first_case = i, .line = way.at("line"), .what = way.at("what")};
      if (seen.insert({text(record, "family"), text(record, "kernel"), entry.line, entry.what}).second)
        unreached.push_back(std::move(entry));
    }
  }
  return unreached;
}

}  // namespace

Tone tone_of(std::string_view outcome) {
  if (outcome == "pass" || outcome == "pass_marginal") return Tone::passed;
  if (outcome == "inconclusive") return Tone::inconclusive;
  if (outcome == "unsupported") return Tone::unsupported;
  if (outcome == "not_run") return Tone::not_run;
  return Tone::unexpected;
}

std::string_view to_text(Tone tone) {
  constexpr std::array<std::string_view, 5> kNames{"passed", "unexpected", "inconclusive", "unsupported", "not_run"};
  return kNames.at(static_cast<std::size_t>(tone));
}

std::string outcome_text(const json& record) {
  const std::string& kind = text(record, "kind");
  return kind.empty() ? text(record, "outcome") : fmt::format("{}({})", text(record, "outcome"), kind);
}

void Tally::add(Tone tone) {
  constexpr std::array<std::int64_t Tally::*, 5> kMembers{&Tally::passed, &Tally::unexpected, &Tally::inconclusive,
                                                          &Tally::unsupported, &Tally::not_run};
  ++(this->*kMembers.at(static_cast<std::size_t>(tone)));
}

void Tally::add(const Tally& other) {
  passed += other.passed;
  unexpected += other.unexpected;
  inconclusive += other.inconclusive;
  unsupported += other.unsupported;
  not_run += other.not_run;
}

std::int64_t Tally::total() const { return passed + unexpected + inconclusive + unsupported + not_run; }

Tone Tally::tone() const {
  if (unexpected > 0) return Tone::unexpected;
  if (inconclusive > 0) return Tone::inconclusive;
  if (not_run > 0) return Tone::not_run;
  return passed > 0 ? Tone::passed : Tone::unsupported;
}

double total_ms(const json& record) {
  double sum = 0.0;
  for (const auto& [stage, time] : record.at("time_ms").items())
    sum += time.get<double>();
  return sum;
}

Summary summarise(const Run& run) {
  Summary summary;
  Tally tally;
  for (const std::string_view stage : kStages)
    summary.time_ms.emplace_back(stage, 0.0);
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const json& record = run.cases[i];
    const Tone tone = tone_of(text(record, "outcome"));
    ++summary.counts[text(record, "outcome")];
    tally.add(tone);
    cell_of(summary.grid, record).tally.add(tone);
    if (record.contains("finding")) summary.findings.push_back(i);
    for (auto& [stage, time] : summary.time_ms)
      time += record.at("time_ms").at(stage).get<double>();
  }
  summary.unreached = unreached_of(run);
  summary.denominators = denominators_of(run);
  summary.groups = groups_of(run);
  summary.verdict = verdict_of(run, summary.counts, tally);
  return summary;
}

}  // namespace assay::reports
