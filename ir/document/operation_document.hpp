// Generates docs/generated/operations.md: the operation table and Warp's library.
#pragma once

#include <string>

namespace assay::ir {

/// The text of the page. A test compares it with the committed file.
std::string operation_document();

}  // namespace assay::ir
