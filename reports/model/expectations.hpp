// Compares a run with its expected failures: finds cases that fail as a line of the expectations says, and lines that
// no longer match. The lines are in the run's start record (schemas/record.schema.json, `expectation`).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::reports {

/// The value of the member `standing` for a case that fails as expected.
inline constexpr const char* kExpectedFailureStanding = "waived";

/// An expected failure (one line of the expectations), with the outcomes of the cases that match its pattern.
struct ExpectationTally {
  nlohmann::json expectation;          ///< the expected failure, as in the run's start record
  bool covers_whole_selection = true;  ///< whether the run judged the whole selection, not only a shard
  bool is_expired = false;             ///< whether the expiry date is before the start of the run
  std::int64_t expected_failures = 0;  ///< number of cases that failed as expected
  std::int64_t passed = 0;             ///< number of cases that passed
  std::int64_t changed_failures = 0;   ///< number of cases that failed in a way that no line allows
  std::int64_t unjudged = 0;           ///< number of cases that are unsupported, not run or built by another compiler

  /// Whether the line matches no case, because its pattern names none or earlier lines match all of them. Always false
  /// in a shard, because there a line for cases of another shard also matches no case.
  [[nodiscard]] bool is_stale() const {
    return covers_whole_selection && expected_failures + passed + changed_failures + unjudged == 0;
  }
  /// "in force", or the most severe problem: "expired", "stale", "unexpected pass", "changed"; "not judged" if its
  /// cases were not judged.
  [[nodiscard]] std::string_view state() const;
};

/// Compares the cases of a run with the expected failures, one by one.
class ExpectationMatcher {
 public:
  /// `start` is the first record of the run. A line is expired if its expiry date is before the start date of the run.
  explicit ExpectationMatcher(const nlohmann::json& start);

  /// Sets the member `expectation` of the case if a line names it: `standing` is kExpectedFailureStanding (it fails as
  /// expected), "better" (it passes) or "changed" (it fails differently, or the line has expired); `place` is the
  /// location of the line, and `note` an explanation. Replaces an earlier member.
  void annotate(nlohmann::json& record);

  /// The lines in order; complete after all cases were compared.
  [[nodiscard]] const std::vector<ExpectationTally>& lines() const { return lines_; }

 private:
  void note_failure(nlohmann::json& record, const std::vector<ExpectationTally*>& naming);
  /// The compiler of the case, with its version: "NVRTC 13.0.88 compute_100", "g++ 12.2.0".
  [[nodiscard]] std::string compiler_of(const nlohmann::json& record) const;

  std::map<std::string, std::string> compiler_by_device_;  ///< compiler of each device, for runs with one build
  std::vector<ExpectationTally> lines_;                    ///< the lines in order; tallied so far
};

/// Whether the components of the pattern match those of the name or of a prefix of it.
bool matches_case(const std::string& pattern, const std::string& name);

/// Whether one of the patterns, separated by |, matches the compiler. An empty text matches every compiler.
bool names_compiler(std::string_view patterns, const std::string& compiler);

/// Whether the text matches the pattern, in which * matches any text.
bool matches_text(std::string_view pattern, const std::string& text);

}  // namespace assay::reports
