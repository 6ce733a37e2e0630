// CUDA sources that NVRTC compiles without the files of the CUDA Toolkit, and the names of their kernels.
#pragma once

#include <string>
#include <string_view>

namespace assay::candidate {

/// The source without the includes of headers whose declarations NVRTC has built in (cuda_runtime.h, math.h and the
/// like) or that only host code needs, after the macros and types of these headers. Line numbers in messages refer to
/// `source`; `name` is its file name.
std::string for_nvrtc(std::string_view source, std::string_view name);

/// The name of the C++ function with this symbol, without its parameters: "softmax", "reduce<float>"; the symbol itself
/// if it is not mangled.
std::string plain_name(const std::string& symbol);

}  // namespace assay::candidate
