// The bytes of a user's source file.
#pragma once

#include <string>

#include "frontend/interface/frontend.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The file's bytes, at most one more than the frontend accepts, so that the frontend rejects a larger file. Fails,
/// with the path, if the file cannot be opened or read.
Result<std::string> source_file_contents(const std::string& path, const frontend::FrontendRow& language);

}  // namespace assay::harness
