// A run held to the failures that are known: which cases fail as a line of the expectations says, and which lines no
// longer say what is so. The lines are those of the run's start (schemas/record.schema.json, `expectation`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::reports {

// One line, and what became of the cases that its pattern names.
struct ExpectationLine {
  nlohmann::json text;   // as in the schema
  bool is_whole = true;  // all of the selection was judged, and not a shard of it
  bool expired = false;
  std::int64_t expected_failures = 0;  // failed as the line says, and are borne
  std::int64_t better = 0;             // passed
  std::int64_t changed = 0;            // failed in a way that no line tells of
  std::int64_t unjudged = 0;           // unsupported, or not run

  // No case is what the line says: its pattern names none, or other lines tell of all of them. In a shard a line of
  // another shard's cases looks the same, and so none is stale.
  [[nodiscard]] bool stale() const { return is_whole && expected_failures + better + changed + unjudged == 0; }
  // "in force", or the gravest that is wrong with it: "expired", "stale", "unexpected pass", "changed"; "not judged"
  // where its cases were not.
  [[nodiscard]] std::string_view state() const;
};

// Takes the cases of a run one by one.
class Expectations {
 public:
  // `start` is the run's first line; a line that expires before the day on which the run started has expired.
  explicit Expectations(const nlohmann::json& start);

  // Gives the case, where a line names it, the member `expectation`: `standing` is "waived" (it fails as that line
  // says), "better" (it passes) or "changed" (it fails otherwise, or its line has expired); `place` names the line, and
  // `note` is a sentence. An earlier one is replaced.
  void hold(nlohmann::json& record);

  // In their order. Complete once every case was taken.
  [[nodiscard]] const std::vector<ExpectationLine>& lines() const { return lines_; }

 private:
  void note_failure(nlohmann::json& record, const std::vector<ExpectationLine*>& naming);

  std::vector<ExpectationLine> lines_;
};

// Whether the pattern's parts fit those of the name, or of its beginning.
bool names_case(const std::string& pattern, const std::string& name);

// Whether the text is the pattern's, in which * stands for any text.
bool fits_text(std::string_view pattern, const std::string& text);

}  // namespace assay::reports
