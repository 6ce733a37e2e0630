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
  std::optional<RunEnd> end;      // nothing where the run did not finish
  bool truncated = false;         // the last line was cut short, and left out

  [[nodiscard]] OutcomeCounts counts() const;
  // By policy from the cases, whatever the last line claims; an unfinished run is never as expected.
  [[nodiscard]] ExitStatus exit_status() const;
};

// Reads a run. A planned case without a line comes back as not_run(missing). A last line without its newline is left
// out and noted. Everything else that the schema does not admit (another schema version, a line that is no JSON, a case
// that was not planned or comes twice) is an error with the line's number.
Result<RunRecords> read_records(const std::filesystem::path& dir);

}  // namespace assay::harness
