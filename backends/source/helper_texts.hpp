// The texts of helpers/, embedded by the build.
#pragma once

#include <string_view>

namespace assay::source {

extern const std::string_view kCommonHelpers;     ///< Helpers for both targets.
extern const std::string_view kTileHelpers;       ///< Helpers for kernels with tiles, the same for both targets.
extern const std::string_view kCpuHelpers;        ///< Helpers for C++ on the CPU.
extern const std::string_view kCudaHelpers;       ///< Helpers for CUDA C++.
extern const std::string_view kHostProgram;       ///< The host program that runs an emitted CUDA kernel.
extern const std::string_view kHostProgramParts;  ///< Parts from which the host program is built for a kernel.

}  // namespace assay::source
