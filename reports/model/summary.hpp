// What every report says first: the verdict and why, of how many, the grid, what did not pass.
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

// The standing of a case that an expectation names (expectations.hpp), else "".
std::string_view standing_of(const nlohmann::json& record);

// The file of a line that the record's finding, or one of its unreached ways, names: the kernel's own, or one that it
// imports from.
std::string file_of(const nlohmann::json& record, const nlohmann::json& named);
// "line 12" of the kernel's own file, "line 12 of physics.py" of another.
std::string line_text(const nlohmann::json& record, std::string_view file, std::int64_t line);

// How a reader takes a case: waived is a failure that an expectation bears.
enum class Tone : std::uint8_t { passed, unexpected, inconclusive, unsupported, not_run, expected_failures };

// Every outcome that is not named otherwise is unexpected.
Tone tone_of_outcome(std::string_view outcome);
// The same for a case, held to the run's expectations: one that passes against them is unexpected.
Tone tone_of(const nlohmann::json& record);
std::string_view to_text(Tone tone);

// Whether a case of this tone is not as expected.
bool is_red(Tone tone);

// "fail(mismatch)", "pass"; "unexpected pass" for one that passes against its expectation.
std::string outcome_text(const nlohmann::json& record);

// The case's message and what its expectation says of it, in one line.
std::string message_text(const nlohmann::json& record);

// Cases by tone; total is the sum.
struct Tally {
  std::int64_t passed = 0;
  std::int64_t unexpected = 0;
  std::int64_t inconclusive = 0;
  std::int64_t unsupported = 0;
  std::int64_t not_run = 0;
  std::int64_t expected_failures = 0;

  void add(Tone tone);
  void add(const Tally& other);
  [[nodiscard]] std::int64_t total() const;
  // The gravest tone that occurs; unsupported only where nothing else does.
  [[nodiscard]] Tone tone() const;
};

struct GridCell {
  std::string family;
  std::string device;
  std::string pass;
  Tally tally;
};

// Cases that are not as expected and look alike.
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
  std::vector<std::string> reasons;  // the gravest first
};

// Each of the four counts of cases is part of the one before it.
struct Denominators {
  std::int64_t planned = 0;
  std::int64_t run = 0;        // the run came to it
  std::int64_t supported = 0;  // its device and capabilities are there
  std::int64_t compared = 0;   // with at least one value compared
  std::int64_t values_compared = 0;
  std::int64_t cached = 0;           // of the supported ones: an earlier run of the same program judged them
  std::vector<std::string> devices;  // on which at least one case ran
};

// Code that too few judged inputs reached: one way of one choice of a kernel, whichever of its cases lack it.
struct Uncovered {
  std::size_t first_case;  // position of the first one
  std::string file;
  std::int64_t line;
  std::string what;
};

// A case that was judged several times and did not always pass.
struct Flaky {
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
  std::vector<Uncovered> uncovered;                     // in the order of the run
  std::vector<Flaky> flaky;                             // in the order of the run
  std::vector<std::pair<std::string, double>> time_ms;  // by stage, in the order of the flow
};

Summary summarise(const Run& run);

// Whether some of the case's attempts passed and some did not: how many of how many.
std::optional<Flaky> flaky_of(const nlohmann::json& record);

// A case's time over all stages, in milliseconds.
double total_ms(const nlohmann::json& record);

}  // namespace assay::reports
