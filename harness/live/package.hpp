// The files of the Python package that the program contains, so that it works with any interpreter and is never paired
// with another version.
#pragma once

#include <string_view>

namespace assay::live {

extern const std::string_view kErrorsModuleSource;
extern const std::string_view kExportModuleSource;
extern const std::string_view kLiveModuleSource;
extern const std::string_view kSpellingModuleSource;

}  // namespace assay::live
