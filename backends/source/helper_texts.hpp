// The texts of helpers/, embedded by the build.
#pragma once

#include <string_view>

namespace assay::source {

extern const std::string_view kCommonHelpers;
extern const std::string_view kTileHelpers;
extern const std::string_view kCpuHelpers;
extern const std::string_view kCudaHelpers;
extern const std::string_view kHostProgram;
extern const std::string_view kHostProgramParts;

}  // namespace assay::source
