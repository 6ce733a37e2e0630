// Conversions of record texts to other formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::reports {

/// Removes the characters that XML 1.0 cannot represent: control characters except tab and line ends, U+FFFE and
/// U+FFFF. Input and output are UTF-8.
std::string without_illegal_xml(std::string_view text);

/// One line of Markdown that renders as `text`, without markup, HTML or table cells.
std::string markdown_text(std::string_view text);

/// Milliseconds since 1970 of "2026-11-21T03:47:02Z".
std::int64_t epoch_ms(std::string_view utc);

}  // namespace assay::reports
