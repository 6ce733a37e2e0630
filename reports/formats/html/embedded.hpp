// The parts of the page, compiled into the program from the files in reports/formats/html.
#pragma once

#include <string_view>

namespace assay::reports {

extern const std::string_view kPageHtml;    ///< html/page.html, a template
extern const std::string_view kPageCss;     ///< html/report.css
extern const std::string_view kPageScript;  ///< html/report.js

}  // namespace assay::reports
