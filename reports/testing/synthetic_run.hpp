// Records of a run that never was, for the tests of reports and for looking at them: realistic in shape and size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace assay::reports::testing {

struct SyntheticRun {
  int kernels_per_family = 14;  // of nine families; each kernel is a forward and a backward case on each device
  bool cuda = true;             // plan the device cuda too, unsupported for want of a driver
  bool failures = true;         // plant one of each kind of case that is not as expected
  bool finished = true;         // write the last line
  std::string hostile;          // text put into every free text of the failures, as a kernel's author might
};

// The text of records.jsonl; the same for the same options.
std::string synthetic_records(const SyntheticRun& options);

// Makes `dir` and writes records.jsonl into it.
void write_synthetic_run(const std::filesystem::path& dir, const SyntheticRun& options);

}  // namespace assay::reports::testing
