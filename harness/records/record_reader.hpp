// Reads back DIR/records.jsonl.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

struct RunRecords {
  RunStart start;
  std::vector<CaseRecord> cases;  // one for each planned case, in the order of the plan
  std::optional<RunEnd> end;      // empty if the run did not finish
  bool truncated = false;         // the last line was incomplete, and was dropped

  [[nodiscard]] OutcomeCounts counts() const;
  // Computed from the cases, not from the last line; an unfinished run is never as expected.
  [[nodiscard]] ExitStatus exit_status() const;
};

// Reads a run. A planned case without a line becomes not_run(missing). A last line without its newline is dropped, and
// `truncated` is set. Anything else that violates the schema (another schema version, a line that is not JSON, a case
// that was not planned or is repeated) is an error with the line number.
Result<RunRecords> read_records(const std::filesystem::path& dir);

}  // namespace assay::harness
