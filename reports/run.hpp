// A run as its records tell it: DIR/records.jsonl, read by its schema.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "ir/support/result.hpp"
#include "reports/expectations.hpp"

namespace assay::reports {

inline constexpr std::string_view kRecordsFile = "records.jsonl";

// The lines, as schemas/record.schema.json describes them; cases that an expectation names have the member
// `expectation` besides (expectations.hpp).
struct Run {
  nlohmann::json start;
  std::vector<nlohmann::json> cases;  // one for each planned case, in the order of the plan
  std::vector<ExpectationLine> expectations;
  std::optional<nlohmann::json> end;  // nothing where the run did not finish
  bool truncated = false;             // the last line was cut short, and left out

  [[nodiscard]] bool complete() const { return end.has_value() && !truncated; }
};

// Reads a run. A planned case without a line comes back as not_run(missing); a last line without its newline is left
// out; a line that the schema or the plan does not admit is an error that names its number.
Result<Run> read_run(const std::filesystem::path& dir);

// Holds a run to other expectations than those of its start, which they replace.
void hold_to(Run& run, const nlohmann::json& expectations);

}  // namespace assay::reports
