// Records of a synthetic run with realistic shape and size, for tests of reports and for sample reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "reports/model/run.hpp"

namespace assay::reports::testing {

struct SyntheticRun {
  int kernels_per_family = 14;  ///< kernels in each of nine families, with a forward and a backward case on each device
  bool cuda = true;             ///< whether to also plan the device cuda, unsupported for lack of a driver
  bool failures = true;         ///< whether to include one case of each kind that is not as expected
  bool finished = true;         ///< whether to write the last line
  std::string hostile;          ///< text to insert into every free text of the failures; empty: none
};

/// The text of records.jsonl; the same for the same options.
std::string synthetic_records(const SyntheticRun& options);

/// Creates `dir` and writes records.jsonl to it.
void write_synthetic_run(const std::filesystem::path& dir, const SyntheticRun& options);

/// The synthetic run, written to a temporary folder and read from it. Throws std::runtime_error if it cannot be read.
Run synthetic_run(const SyntheticRun& options);

}  // namespace assay::reports::testing
