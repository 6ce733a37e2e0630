// The files of the Python package that the program contains, so that it works with any interpreter and is never paired
// with another version.
#pragma once

#include <string_view>

namespace assay::live {

extern const std::string_view kErrorsText;
extern const std::string_view kExportText;
extern const std::string_view kLiveText;
extern const std::string_view kSpellingText;

}  // namespace assay::live
