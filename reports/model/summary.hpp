// Summary of a run, shared by all reports: verdict with reasons, denominators, grid, failures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/run.hpp"

namespace assay::reports {

/// The `standing` of a case with an expectation (expectations.hpp), else "".
std::string_view standing_of(const nlohmann::json& record);

/// The file of a finding or of an uncovered branch of the record: the kernel's file, or a file that it imports.
std::string file_of(const nlohmann::json& record, const nlohmann::json& named);
/// A line as text: "line 12" for the kernel's own file, "line 12 of physics.py" for another file.
std::string line_text(const nlohmann::json& record, std::string_view file, std::int64_t line);

/// How a case is presented.
enum class Tone : std::uint8_t { passed, unexpected, inconclusive, unsupported, not_run, expected_failures };

/// The tone of an outcome; outcomes without a tone of their own are unexpected.
Tone tone_of_outcome(std::string_view outcome);
/// The tone of a case, considering its expectation: an unexpected pass is unexpected.
Tone tone_of(const nlohmann::json& record);
std::string_view to_text(Tone tone);

/// Whether a case of this tone fails the run.
bool fails_run(Tone tone);

/// The outcome with its kind: "fail(mismatch)", "pass"; "unexpected pass" if the case was expected to fail.
std::string outcome_text(const nlohmann::json& record);

/// The message of the case, and the note of its expectation, on one line.
std::string message_text(const nlohmann::json& record);

/// Number of cases, by tone.
struct CaseCounts {
  std::int64_t passed = 0;  ///< cases that passed
  /// Cases that failed unexpectedly, or passed although a failure was expected.
  std::int64_t unexpected = 0;
  std::int64_t inconclusive = 0;       ///< cases without a verdict
  std::int64_t unsupported = 0;        ///< cases whose device or a capability is missing
  std::int64_t not_run = 0;            ///< planned cases that were not judged
  std::int64_t expected_failures = 0;  ///< cases that failed as expected

  void add(Tone tone);
  void add(const CaseCounts& other);
  [[nodiscard]] std::int64_t total() const;
  /// The most severe tone that occurs; unsupported only if all cases are unsupported.
  [[nodiscard]] Tone tone() const;
};

/// The cases of one family on one device in one pass.
struct GridCell {
  std::string family;  ///< family of the cases
  std::string device;  ///< name of the device
  std::string pass;    ///< "forward" or "backward"
  CaseCounts counts;   ///< number of these cases, by tone
};

/// Similar cases that are not as expected.
struct FailureGroup {
  std::string heading;             ///< heading of the group: "fail(mismatch) in loop"
  std::string outcome;             ///< common outcome of the cases
  std::string outcome_detail;      ///< common kind of the outcome: "mismatch"
  std::string family;              ///< common family of the cases
  Tone tone = Tone::unexpected;    ///< how the group is presented
  std::vector<std::size_t> cases;  ///< positions in Run::cases; the case with the shortest kernel comes first
};

/// The verdict on a run.
struct Verdict {
  std::string status;                ///< status as in report.schema.json: "as_expected"
  int exit_status = 0;               ///< exit status of the run
  std::string headline;              ///< one sentence for people
  std::vector<std::string> reasons;  ///< reasons for it, one sentence each, the most severe first
};

/// Numbers of cases and values of a run. Of `planned`, `run`, `supported` and `compared`, each counts a subset of the
/// cases of the previous one.
struct CaseTotals {
  std::int64_t planned = 0;          ///< number of planned cases
  std::int64_t run = 0;              ///< planned cases that were judged or found unsupported
  std::int64_t supported = 0;        ///< of these, cases whose device and required capabilities are available
  std::int64_t compared = 0;         ///< of these, cases with at least one compared value
  std::int64_t values_compared = 0;  ///< number of compared values, over all cases
  /// Number of supported cases whose verdicts are those of an earlier run of the same program.
  std::int64_t cached_verdict_count = 0;
  std::vector<std::string> devices;  ///< names of the devices on which at least one case ran
};

/// A branch of a kernel that the inputs of at least one of its cases do not cover.
struct UncoveredBranchLocation {
  std::size_t first_case_position;  ///< position in Run::cases of the first such case
  std::string file;                 ///< path of the file that contains the branch
  std::int64_t line;                ///< line of the branch
  std::string description;          ///< what no input did: "the condition is never true"
};

/// Something that Assay assumed about the inputs of a kernel.
struct AssumptionLocation {
  std::size_t first_case_position;  ///< position in Run::cases of the kernel's first case with this assumption
  std::string description;          ///< what was assumed: "the elements of 'idx' are a permutation of its indices"
  std::string domain_comment;       ///< the comment that states it; empty if there is none
};

/// A case that was judged several times with different results.
struct FlakyCase {
  std::size_t case_position;   ///< position of the case in Run::cases
  std::int64_t passed;         ///< number of attempts that passed
  std::int64_t attempt_count;  ///< number of all attempts
};

/// The summary of a run.
struct RunSummary {
  Verdict verdict;                               ///< the verdict on the run
  CaseTotals case_totals;                        ///< numbers of cases and values
  std::map<std::string, std::int64_t> counts;    ///< number of cases, by outcome
  std::vector<GridCell> grid;                    ///< counts by family, device and pass, in the order of the plan
  std::vector<FailureGroup> failure_groups;      ///< the cases that are not as expected; the largest group first
  std::vector<std::size_t> cases_with_findings;  ///< positions in Run::cases of cases with a finding
  std::vector<UncoveredBranchLocation> uncovered_branches;     ///< uncovered branches, in the order of the run
  std::vector<AssumptionLocation> assumptions;                 ///< assumptions about inputs, in the order of the run
  std::vector<FlakyCase> flaky_cases;                          ///< flaky cases, in the order of the run
  std::vector<std::pair<std::string, double>> stage_times_ms;  ///< name and total time of each stage, in order
};

RunSummary summarize(const Run& run);

/// The attempts of a case if some passed and some did not.
std::optional<FlakyCase> flaky_of(const nlohmann::json& record);

/// Total time of a case over all stages, in milliseconds.
double total_ms(const nlohmann::json& record);

}  // namespace assay::reports
