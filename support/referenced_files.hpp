// The files that a source reads: the headers that CUDA and C++ sources include, and the modules that Python files
// import.
//
// Both functions look at the text only. They list all files that may be read, which may be more than are read, for
// example because of #if. Files of compilers, toolkits and installed Python packages are not listed.
#pragma once

#include <filesystem>
#include <vector>

namespace assay {

/// The files that `source` includes, directly or indirectly, sorted. They are found in the folder of the including file
/// or in that of `source`. Names that macros compute are not found.
std::vector<std::filesystem::path> included_files(const std::filesystem::path& source);

/// The files of the modules and packages that a Python file imports, directly or indirectly, sorted. They are found in
/// the folder of the importing file or in a folder that contains it.
std::vector<std::filesystem::path> imported_files(const std::filesystem::path& python_file);

}  // namespace assay
