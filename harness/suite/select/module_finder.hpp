// Finds the modules that a Python file imports.
#pragma once

#include "frontend/interface/frontend.hpp"

namespace assay::harness {

/// Finds modules as Python would if the package of the importing file were installed, or if the file were run as a
/// script. Relative names start at the file's folder. Other names start at the folder that contains its outermost
/// package (or the file itself, if it is not in a package); failing that, at the parent of an enclosing folder with the
/// name of the imported package. A package is found as its __init__.py. Installed packages are not searched.
frontend::ModuleFinder module_finder();

}  // namespace assay::harness
