// The Python file that records the sources that a file passes to PyTorch, embedded in the program.
#pragma once

#include <string_view>

namespace assay::candidate {

extern const std::string_view kRecordLoadInlineScript;  // record_load_inline.py

}  // namespace assay::candidate
