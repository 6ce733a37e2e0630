// The texts of helpers/, embedded by the build.
#pragma once

#include <string_view>

namespace assay::source {

extern const std::string_view kCommonHelpers;     ///< helpers for both targets
extern const std::string_view kTileHelpers;       ///< helpers for kernels with tiles, the same for both targets
extern const std::string_view kCpuHelpers;        ///< helpers for C++ on the CPU
extern const std::string_view kCudaHelpers;       ///< helpers for CUDA C++
extern const std::string_view kHostProgram;       ///< the host program that runs an emitted CUDA kernel
extern const std::string_view kHostProgramParts;  ///< parts from which the host program is built for a kernel

}  // namespace assay::source
