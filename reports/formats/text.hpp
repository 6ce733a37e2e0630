// Text of a record made fit for another format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::reports {

// Without the characters that XML 1.0 admits in no form: controls but for tab and line ends, U+FFFE and U+FFFF. Takes
// and gives UTF-8.
std::string without_illegal_xml(std::string_view text);

// One line of Markdown that shows as `text`: no markup, HTML or table cell begins or ends in it.
std::string markdown_text(std::string_view text);

// Milliseconds since 1970 of "2026-11-21T03:47:02Z".
std::int64_t epoch_ms(std::string_view utc);

}  // namespace assay::reports
