// A run as its records tell it: DIR/records.jsonl, read by its schema.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reports/model/expectations.hpp"
#include "support/result.hpp"

namespace assay::reports {

inline constexpr std::string_view kRecordsFile = "records.jsonl";

// A line of the records that cannot be used.
struct DamagedLine {
  int number = 0;       // from 1
  std::string pointer;  // JSON pointer to what the schema does not admit; empty for the line as a whole
  std::string message;  // "found "fine", expected one of ..."
};

// The lines, as schemas/record.schema.json describes them; cases that an expectation names have the member
// `expectation` besides (expectations.hpp).
struct Run {
  nlohmann::json start;
  std::vector<nlohmann::json> cases;  // one for each planned case, in the order of the plan
  std::vector<ExpectationLine> expectations;
  std::optional<nlohmann::json> end;  // nothing where the run did not finish
  bool truncated = false;             // the last line was cut short, and left out
  std::vector<DamagedLine> damaged;   // left out too

  [[nodiscard]] bool complete() const { return end.has_value() && !truncated && damaged.empty(); }
};

// "/outcome: found "fine", expected one of ...".
std::string damage_text(const DamagedLine& line);

// What becomes of a run with lines that the schema or the plan does not admit, behind its first one.
enum class Damage : std::uint8_t { rejected, listed };

// Reads a run. A planned case without a line comes back as not_run(missing); a last line without its newline is left
// out. A damaged line is an error that names its number, or, where damage is listed, left out.
Result<Run> read_run(const std::filesystem::path& dir, Damage damage = Damage::rejected);

// Holds a run to other expectations than those of its start, which they replace.
void hold_to(Run& run, const nlohmann::json& expectations);

}  // namespace assay::reports
