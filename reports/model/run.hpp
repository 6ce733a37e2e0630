// A run for reports: its records, compared with the expectations.
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
using harness::InvalidLine;
using harness::kRecordsFileName;

/// The records of a run, compared with the expected failures. Cases that match an expectation also have the member
/// `expectation` (expectations.hpp).
struct Run : harness::RecordLines {
  std::vector<ExpectationTally> expectations;  ///< expected failures with the outcomes of their cases
};

Result<Run> read_run(const std::filesystem::path& dir, Damage damage = Damage::rejected);

/// Replaces the expectations of the run's start record and compares the run with them.
void apply_expectations(Run& run, const nlohmann::json& expectations);

}  // namespace assay::reports
