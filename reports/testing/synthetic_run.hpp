// Records of a synthetic run with realistic shape and size, for tests of reports and for sample reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace assay::reports::testing {

struct SyntheticRun {
  int kernels_per_family = 14;  // of nine families; each kernel is a forward and a backward case on each device
  bool cuda = true;             // also plan the device cuda, unsupported for lack of a driver
  bool failures = true;         // include one case of each kind that is not as expected
  bool finished = true;         // write the last line
  std::string hostile;          // hostile text to insert into every free text of the failures
};

// The text of records.jsonl; the same for the same options.
std::string synthetic_records(const SyntheticRun& options);

// Creates `dir` and writes records.jsonl to it.
void write_synthetic_run(const std::filesystem::path& dir, const SyntheticRun& options);

}  // namespace assay::reports::testing
