// The files of the Python package that the program contains, so that it works with any interpreter and is never paired
// with another version.
#pragma once

#include <array>
#include <string_view>

namespace assay::live {

extern const std::string_view kErrorsModuleSource;    ///< text of python/assay/_errors.py
extern const std::string_view kExportModuleSource;    ///< text of python/assay/_export.py
extern const std::string_view kLiveModuleSource;      ///< text of python/assay/_live.py
extern const std::string_view kNotebookModuleSource;  ///< text of python/assay/_notebook.py
extern const std::string_view kOriginModuleSource;    ///< text of python/assay/_origin.py
extern const std::string_view kSpellingModuleSource;  ///< text of python/assay/_spelling.py

/// A file of the Python package.
struct PackageFile {
  std::string_view name;  ///< file name in the package: "_export.py"
  std::string_view text;  ///< content of the file
};

/// The files to write, for a process that imports modules.
inline std::array<PackageFile, 7> list_package_files() {
  return {{{"__init__.py", ""},
           {"_errors.py", kErrorsModuleSource},
           {"_export.py", kExportModuleSource},
           {"_live.py", kLiveModuleSource},
           {"_notebook.py", kNotebookModuleSource},
           {"_origin.py", kOriginModuleSource},
           {"_spelling.py", kSpellingModuleSource}}};
}

}  // namespace assay::live
