// docs/generated/operations.md: the operation table and Warp's library as a page.
#pragma once

#include <string>

namespace assay::ir {

/// The page's whole text. A test compares it with the file.
std::string operation_document();

}  // namespace assay::ir
