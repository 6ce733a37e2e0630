// The user's source files: their bytes, and the modules that they import.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/interface/frontend.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The file's bytes, at most one more than the frontend accepts, so that the frontend rejects a larger file. Fails,
/// with the path, if the file cannot be opened or read.
Result<std::string> source_file_contents(const std::string& path, const frontend::LanguageFrontend& language);

/// The files, named by comments "# file: FILE sha256 HASH" at the top of an exported text, that exist with a different
/// content.
std::vector<std::string> changed_origins(std::string_view text);

/// Finds modules as Python would if the package of the importing file were installed, or if the file were run as a
/// script. Relative names start at the file's folder. Other names start at the folder that contains its outermost
/// package (or the file itself, if it is not in a package); failing that, at the parent of an enclosing folder with the
/// name of the imported package. A package is found as its __init__.py. Installed packages are not searched.
frontend::ModuleFinder module_finder();

}  // namespace assay::harness
