// Text as a JSON string, fast: rows are mostly source code.
#pragma once

#include <string>
#include <string_view>

namespace assay::dataset {

/// Appends the text between quotes, escaped as RFC 8259 asks and no more. The text must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace assay::dataset
