// The bytes of a user's Python file.
#pragma once

#include <string>

#include "support/result.hpp"

namespace assay::harness {

/// The file's bytes, one more than the reader takes at most. Fails with the path on what cannot be opened or read.
Result<std::string> python_file_contents(const std::string& path);

}  // namespace assay::harness
