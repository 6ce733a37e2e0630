#include "reports/model/verdict.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace assay::reports {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 17> kBySeverity{
    "internal_error",    "memory_fault",        "crashed",        "fail",         "defect",  "timed_out",
    "build_failed",      "launch_failed",       "resource_error", "inconclusive", "not_run", "unexpected pass",
    "stale expectation", "expired expectation", "xfail",          "unsupported",  "pass"};

// Lines of expectations that no longer hold.
struct ExpectationFaults {
  std::int64_t stale = 0;
  std::int64_t expired = 0;
};

// Whether the counts in the last record match the cases.
bool end_agrees(const Run& run, const std::map<std::string, std::int64_t>& counts) {
  std::map<std::string, std::int64_t> claimed = run.end->at("counts").get<std::map<std::string, std::int64_t>>();
  std::erase_if(claimed, [](const auto& entry) { return entry.second == 0; });
  return claimed == counts;
}

ExpectationFaults faults_of(const Run& run) {
  ExpectationFaults faults;
  for (const ExpectationTally& line : run.expectations) {
    if (line.is_expired) ++faults.expired;
    else if (line.is_stale()) ++faults.stale;
  }
  return faults;
}

// "2 fail", "1 unexpected pass", "3 xfail", "1 stale expectation".
std::vector<std::string> reasons_of(const Run& run) {
  std::map<std::string, std::int64_t> counts;
  for (const json& record : run.cases) {
    const std::string_view standing = standing_of(record);
    ++counts[standing == kExpectedFailureStanding ? "xfail"
             : standing == "better"               ? "unexpected pass"
                                                  : record.at("outcome").get_ref<const std::string&>()];
  }
  const ExpectationFaults faults = faults_of(run);
  counts["stale expectation"] = faults.stale;
  counts["expired expectation"] = faults.expired;
  std::vector<std::string> reasons;
  for (const std::string_view reason : kBySeverity) {
    const auto found = counts.find(std::string(reason));
    if (found != counts.end() && found->second > 0) reasons.push_back(fmt::format("{} {}", found->second, reason));
  }
  return reasons;
}

std::int64_t missing_cases(const Run& run) {
  return std::count_if(run.cases.begin(), run.cases.end(), [](const json& record) {
    return record.at("outcome").get_ref<const std::string&>() == "not_run" &&
           record.at("kind").get_ref<const std::string&>() == "missing";
  });
}

// Number of kernels of which no case could run on any device because of a feature that Assay does not support. A kernel
// that only cannot be differentiated does not count, unless no case of any kernel could run.
std::int64_t unsupported_kernels(const Run& run) {
  std::set<std::string> unsupported;
  std::set<std::string> without_adjoint;
  std::set<std::string> others;
  for (const json& record : run.cases) {
    const std::string kernel = record.at("family").get<std::string>() + "/" + record.at("kernel").get<std::string>();
    const bool has_no_adjoint = record.at("kind").get_ref<const std::string&>() == "adjoint";
    if (is_unsupported_kernel(record)) (has_no_adjoint ? without_adjoint : unsupported).insert(kernel);
    else if (record.at("outcome").get_ref<const std::string&>() != "unsupported") others.insert(kernel);
  }
  if (others.empty()) unsupported.merge(without_adjoint);
  return std::ranges::count_if(unsupported, [&](const std::string& kernel) { return !others.contains(kernel); });
}

// "1 case", "2 kernels".
std::string count_text(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string cases_text(std::int64_t cases) { return count_text(cases, "case"); }

// "All 4 cases pass", "The only case passes".
std::string all_pass_text(std::int64_t cases, std::string_view restriction) {
  return cases == 1 ? fmt::format("The only case {}passes", restriction)
                    : fmt::format("All {} {}pass", cases_text(cases), restriction);
}

// The verdict on a finished run with consistent records. `unsupported` kernels fail a run that is otherwise as
// expected, because nobody verified them.
Verdict finished_verdict(const CaseCounts& tally, const ExpectationFaults& faults, std::int64_t unsupported) {
  const std::int64_t red = tally.unexpected + tally.inconclusive + tally.not_run;
  const std::int64_t total = tally.total();
  if (total > 0 && tally.unsupported == total && unsupported == 0)
    return {.status = "all_unsupported", .headline = "No case could run: all planned cases are unsupported here"};
  if (tally.unsupported + tally.not_run == total && (tally.not_run > 0 || total == 0))
    return {.status = "nothing_ran", .headline = "No case ran"};
  if (red > 0) {
    return {
        .status = "unexpected",
        .headline = fmt::format(fmt::runtime(red == 1 ? "{} of {} is not as expected" : "{} of {} are not as expected"),
                                red, cases_text(total))};
  }
  if (const std::int64_t lines = faults.stale + faults.expired; lines > 0) {
    return {
        .status = "unexpected",
        .headline = fmt::format("{} no longer {}", count_text(lines, "expectation"), lines == 1 ? "holds" : "hold")};
  }
  if (unsupported > 0) {
    return {.status = "unexpected",
            .headline = fmt::format("{} not supported; {} of {} pass",
                                    count_text(unsupported, "kernel") + (unsupported == 1 ? " is" : " are"),
                                    tally.passed, cases_text(total))};
  }
  if (tally.expected_failures > 0) {
    return {.status = "as_expected",
            .headline = fmt::format("{} of {} pass, {} fail as expected", tally.passed, cases_text(total),
                                    tally.expected_failures)};
  }
  return {.status = "as_expected",
          .headline =
              tally.unsupported == 0 ? all_pass_text(total, "") : all_pass_text(tally.passed, "that could run here ")};
}

// The recorded status depends on outcomes only. Expectations can make a run with failures pass. Expectations and
// unsupported kernels can fail a run in which all other cases pass or are unsupported.
int exit_status_of(const Run& run, const Verdict& verdict) {
  const int recorded = run.end->at("exit_status");
  if (recorded > 1 && verdict.status != "unexpected") return recorded;
  return verdict.status == "as_expected" ? 0 : 1;
}

}  // namespace

std::size_t severity_rank(std::string_view reason) {
  return static_cast<std::size_t>(std::ranges::find(kBySeverity, reason) - kBySeverity.begin());
}

bool is_unsupported_kernel(const json& record) {
  // The kinds that run_batch() gives such cases.
  constexpr std::array<std::string_view, 5> kKinds{"reader", "launch", "printer", "oracle", "adjoint"};
  return record.at("outcome").get_ref<const std::string&>() == "unsupported" &&
         std::ranges::find(kKinds, record.at("kind").get_ref<const std::string&>()) != kKinds.end();
}

Verdict verdict_of(const Run& run, const std::map<std::string, std::int64_t>& counts, const CaseCounts& tally) {
  Verdict verdict{.status = "incomplete", .exit_status = 1};
  const std::int64_t missing = missing_cases(run);
  if (!run.damaged_lines.empty()) {
    verdict.headline =
        fmt::format("{} of records.jsonl cannot be used", count_text(std::ssize(run.damaged_lines), "line"));
  } else if (!run.complete()) {
    verdict.headline =
        fmt::format("The run did not finish: no record for {} of {}", missing, cases_text(tally.total()));
  } else if (!end_agrees(run, counts)) {
    verdict.headline = "The counts in the last record contradict the case records";
  } else {
    if (counts.contains("internal_error")) {
      verdict = {.status = "internal_error",
                 .headline = "Internal error in Assay: the verdicts of this run are not reliable"};
    } else if (missing > 0) {
      verdict.headline = fmt::format("No record for {} of {}", missing, cases_text(tally.total()));
    } else {
      verdict = finished_verdict(tally, faults_of(run), unsupported_kernels(run));
    }
    verdict.exit_status = exit_status_of(run, verdict);
  }
  verdict.reasons = reasons_of(run);
  return verdict;
}

}  // namespace assay::reports
