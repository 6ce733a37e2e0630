// The lines of DIR/records.jsonl, validated by their schema. Everything that reads records goes through here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/result.hpp"

namespace assay::harness {

/// An invalid line of the records.
struct InvalidLine {
  int line_number = 0;       ///< line number, from 1
  std::string json_pointer;  ///< JSON pointer to the invalid part; empty for the line as a whole
  std::string message;       ///< what is invalid: "found "fine", expected one of ..."
};

/// The lines of a run, as schemas/record.schema.json describes them.
struct RecordLines {
  nlohmann::json start;                    ///< the first line
  std::vector<nlohmann::json> cases;       ///< one for each planned case, in the order of the plan
  std::optional<nlohmann::json> end;       ///< the last line; empty if the run did not finish
  bool is_truncated = false;               ///< whether the last line was incomplete, and was dropped
  std::vector<InvalidLine> damaged_lines;  ///< other invalid lines, which were also dropped

  [[nodiscard]] bool complete() const { return end.has_value() && !is_truncated && damaged_lines.empty(); }
};

/// The fault as text: "/outcome: found "fine", expected one of ...".
std::string damage_text(const InvalidLine& line);

/// How to handle lines after the first that are invalid or contradict earlier ones.
enum class Damage : std::uint8_t { rejected, listed };

/// Reads the records of a run. A planned case without a line becomes not_run(missing); a last line without its newline
/// is dropped. A damaged line is an error that contains its number or, if damage is listed, dropped. Old names of
/// outcomes are replaced by the current ones.
Result<RecordLines> read_record_lines(const std::filesystem::path& dir, Damage damage = Damage::rejected);

}  // namespace assay::harness
