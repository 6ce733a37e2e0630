// The source files that a selection depends on.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace assay::harness {

/// The files that the selectors name, one by one, as folders or as globs, and the files that these import. Without
/// duplicates, in the order in which they are found. A file that cannot be parsed is included; of its imports, those up
/// to the error may be missing. Selectors that name no file add none.
std::vector<std::string> selected_files(std::span<const std::string> selectors);

}  // namespace assay::harness
