// The Python file that compiles Triton kernels, embedded in the program.
#pragma once

#include <string_view>

namespace assay::candidate {

extern const std::string_view kCompileTritonScript;  // compile_triton.py

}  // namespace assay::candidate
