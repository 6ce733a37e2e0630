// A run as reports show it: its records, compared with what was expected.
#pragma once

#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/records/record_lines.hpp"
#include "harness/records/record_writer.hpp"
#include "reports/model/expectations.hpp"
#include "support/result.hpp"

namespace assay::reports {

using harness::Damage;
using harness::damage_text;
using harness::DamagedLine;
using harness::kRecordsFile;

// Cases that an expectation matches have in addition the member `expectation` (expectations.hpp).
struct Run : harness::RecordLines {
  std::vector<ExpectationLine> expectations;
};

Result<Run> read_run(const std::filesystem::path& dir, Damage damage = Damage::rejected);

// Compares a run with other expectations than those of its start, which they replace.
void hold_to(Run& run, const nlohmann::json& expectations);

}  // namespace assay::reports
