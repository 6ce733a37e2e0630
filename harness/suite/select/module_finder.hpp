// Where the modules are that a Python file imports from.
#pragma once

#include "frontend/interface/frontend.hpp"

namespace assay::harness {

/// Finds what Python would, were the package of the importing file installed, or the file run where it stands: relative
/// names from its own folder, others from the folder that holds its outermost package, which is its own folder where
/// that is no package, or else from the folder around the package of the name's first part, if the file lies in that.
/// Of a package that is its __init__.py. What is installed elsewhere is not looked for.
frontend::ModuleFinder module_finder();

}  // namespace assay::harness
