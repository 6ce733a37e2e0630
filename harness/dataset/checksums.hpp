// The file checksums.sha256 of a dataset, in the format of sha256sum.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "harness/dataset/finding.hpp"

namespace assay::dataset {

inline constexpr std::string_view kChecksumFileName = "checksums.sha256";  ///< path of the checksums in the dataset

/// Appends an error for each invalid line, for each file whose content differs from its checksum, and for each file of
/// a finished dataset that has no line, or more than one. stats.json, whose timings differ from run to run, has no
/// line.
void check_checksums(const std::filesystem::path& dir, std::vector<RowError>& diagnostics);

}  // namespace assay::dataset
