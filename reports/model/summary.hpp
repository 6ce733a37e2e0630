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

// The `standing` of a case with an expectation (expectations.hpp), else "".
std::string_view standing_of(const nlohmann::json& record);

// The file of a finding or of an uncovered branch of the record: the kernel's file, or a file that it imports.
std::string file_of(const nlohmann::json& record, const nlohmann::json& named);
// "line 12" for the kernel's own file, "line 12 of physics.py" for another file.
std::string line_text(const nlohmann::json& record, std::string_view file, std::int64_t line);

// How a case is presented.
enum class Tone : std::uint8_t { passed, unexpected, inconclusive, unsupported, not_run, expected_failures };

// The tone of an outcome; outcomes without a tone of their own are unexpected.
Tone tone_of_outcome(std::string_view outcome);
// The tone of a case, considering its expectation: an unexpected pass is unexpected.
Tone tone_of(const nlohmann::json& record);
std::string_view to_text(Tone tone);

// Whether a case of this tone fails the run.
bool is_red(Tone tone);

// "fail(mismatch)", "pass"; "unexpected pass" if the case was expected to fail.
std::string outcome_text(const nlohmann::json& record);

// The message of the case, and the note of its expectation, on one line.
std::string message_text(const nlohmann::json& record);

// Cases by tone; total is the sum.
struct CaseCounts {
  std::int64_t passed = 0;
  std::int64_t unexpected = 0;
  std::int64_t inconclusive = 0;
  std::int64_t unsupported = 0;
  std::int64_t not_run = 0;
  std::int64_t expected_failures = 0;

  void add(Tone tone);
  void add(const CaseCounts& other);
  [[nodiscard]] std::int64_t total() const;
  // The most severe tone that occurs; unsupported only if all cases are unsupported.
  [[nodiscard]] Tone tone() const;
};

struct GridCell {
  std::string family;
  std::string device;
  std::string pass;
  CaseCounts counts;
};

// Similar cases that are not as expected.
struct FailureGroup {
  std::string signature;  // "fail(mismatch) in loop"
  std::string outcome;
  std::string kind;
  std::string family;
  Tone tone = Tone::unexpected;
  std::vector<std::size_t> cases;  // positions in Run::cases, the shortest kernel first
};

struct Verdict {
  std::string status;  // as in report.schema.json
  int exit_status = 0;
  std::string headline;              // one sentence
  std::vector<std::string> reasons;  // the most severe first
};

// Each of the four case counts is a subset of the previous one.
struct Denominators {
  std::int64_t planned = 0;
  std::int64_t run = 0;        // judged, or found unsupported
  std::int64_t supported = 0;  // device and capabilities are available
  std::int64_t compared = 0;   // with at least one value compared
  std::int64_t values_compared = 0;
  std::int64_t cached = 0;           // supported cases with cached verdicts of an earlier run of the same program
  std::vector<std::string> devices;  // devices on which at least one case ran
};

// A branch of a kernel that is not covered by the inputs of at least one of its cases.
struct UncoveredLine {
  std::size_t first_case;  // position of the first one
  std::string file;
  std::int64_t line;
  std::string what;
};

// A case that was judged several times with different results.
struct FlakyCase {
  std::size_t position;  // in Run::cases
  std::int64_t passed;
  std::int64_t attempts;
};

struct Summary {
  Verdict verdict;
  Denominators denominators;
  std::map<std::string, std::int64_t> counts;           // by outcome
  std::vector<GridCell> grid;                           // in the order of the plan
  std::vector<FailureGroup> groups;                     // the largest first
  std::vector<std::size_t> findings;                    // positions of cases with a finding
  std::vector<UncoveredLine> uncovered;                 // in the order of the run
  std::vector<FlakyCase> flaky;                         // in the order of the run
  std::vector<std::pair<std::string, double>> time_ms;  // by stage, in the order of the flow
};

Summary summarise(const Run& run);

// The attempts of a case if some passed and some did not.
std::optional<FlakyCase> flaky_of(const nlohmann::json& record);

// Total time of a case over all stages, in milliseconds.
double total_ms(const nlohmann::json& record);

}  // namespace assay::reports
