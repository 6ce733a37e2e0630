// How a kernel carries code that is built instead of the code that Warp generates from its Python, and how to compare
// what was built.
#pragma once

#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"

namespace assay::warp {

/// Returns the name of the helper (backends::EmittedKernel::helpers) that replaces generated code. Its text is built in
/// place of the complete file that Warp generates in this precision: C++ for `warp-cpu`, CUDA C++ for `warp-ptx`. The
/// text must keep the names of the entry points. A kernel without such a helper is built from Warp's own text.
inline std::string replacement_code_helper_name(backends::Precision precision) {
  return precision == backends::Precision::kNative ? "replaced code" : "replaced code of the promoted kernel";
}

/// The built code of a kernel: PTX, or a hash of the object file. Names that the compilers derive from the name of the
/// source file are left out, so that equal code gives equal texts.
std::vector<std::string> comparable_code(const backends::BuiltKernel& kernel);

}  // namespace assay::warp
