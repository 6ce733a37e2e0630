// Recognizes Python files with Triton kernels. The file is parsed, not executed.
#pragma once

#include <string_view>

namespace assay::candidate {

/// Whether a Python file imports triton and decorates a function with `triton.jit`, under any name that an import gives
/// it. False for text that is not Python.
bool defines_triton_kernel(std::string_view python);

}  // namespace assay::candidate
