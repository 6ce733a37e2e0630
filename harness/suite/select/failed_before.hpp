// Selection by "failed last time".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/records/record.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The cases of the run in `dir` on that device that were not as expected, by what was found and whatever was borne.
/// Fails where there is no such run, and where its records are too old to name their selectors.
Result<std::vector<CaseRecord>> failed_before(const std::filesystem::path& dir, const std::string& device);

/// What the command line calls their kernels, each once.
std::vector<std::string> selectors_of(const std::vector<CaseRecord>& failed);

/// Of each kernel keeps the passes and the modes in which it failed.
void keep_failed(Selection& selection, const std::vector<CaseRecord>& failed);

}  // namespace assay::harness
