// Selects the cases that failed in an earlier run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/records/record.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The cases of the run in `dir` on that device whose outcome was not as expected, including expected failures. Fails
/// if the run does not exist, or if its records are too old to contain selectors.
Result<std::vector<CaseRecord>> failed_cases(const std::filesystem::path& dir, const std::string& device);

/// The selectors of their kernels, each once.
std::vector<std::string> selectors_of(const std::vector<CaseRecord>& failed);

/// Keeps, for each kernel, only the passes and modes in which it failed.
void keep_failed(Selection& selection, const std::vector<CaseRecord>& failed);

}  // namespace assay::harness
