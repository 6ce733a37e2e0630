// The parts of the pages, compiled into the program from the files in reports/formats/html.
#pragma once

#include <string_view>

namespace assay::reports {

extern const std::string_view kPageHtml;    ///< html/page.html, a template
extern const std::string_view kPageCss;     ///< html/report.css
extern const std::string_view kPageScript;  ///< html/report.js

extern const std::string_view kDatasetHtml;  ///< html/dataset.html, a template
extern const std::string_view kDatasetCss;   ///< html/dataset.css, which extends kPageCss

}  // namespace assay::reports
