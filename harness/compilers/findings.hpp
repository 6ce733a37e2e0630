// The page of findings: kernels that compilers translate incorrectly, written from the folders of a hunt.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace assay::compilers {

/// Writes a page in Markdown about the findings below the folders: those that archive_compiler_failures() wrote,
/// grouped by pass and missing instructions, each with its versions, its source and the difference of the PTX. A folder
/// of a hunt also states how many kernels were judged. Fails if a file cannot be read.
Result<std::string> findings_page(const std::vector<std::filesystem::path>& folders);

}  // namespace assay::compilers
