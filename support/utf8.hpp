// The encoding of text that comes from outside, such as names of files.
#pragma once

#include <string_view>

namespace assay {

/// Whether the text is well-formed UTF-8 (Unicode 15, table 3-7).
bool is_utf8(std::string_view text);

}  // namespace assay
