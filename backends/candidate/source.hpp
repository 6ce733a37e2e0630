// CUDA sources that NVRTC compiles without the files of the CUDA Toolkit.
#pragma once

#include <string>
#include <string_view>

namespace assay::candidate {

/// The source without the includes of headers whose declarations NVRTC has built in (cuda_runtime.h, math.h and the
/// like) or that only host code needs, after the macros and types of these headers. Line numbers in messages refer to
/// `source`; `name` is its file name. `has_toolkit`: whether NVRTC gets the headers of the CUDA Toolkit.
std::string for_nvrtc(std::string_view source, std::string_view name, bool has_toolkit);

}  // namespace assay::candidate
