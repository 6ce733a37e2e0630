// The Python file that compiles Triton kernels, embedded in the program.
#pragma once

#include <string_view>

namespace assay::candidate {

/// Text of compile_triton.py, which compiles a Triton kernel to PTX.
extern const std::string_view kCompileTritonScript;

}  // namespace assay::candidate
