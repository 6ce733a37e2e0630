// The list of all NVRTC functions used: name, result and parameters as declared in nvrtc.h.
#pragma once

#include <cstddef>

#define ASSAY_NVRTC_SYMBOLS(X)                                                                                   \
  X(nvrtcVersion, NvrtcResult, (int* major, int* minor))                                                         \
  X(nvrtcGetErrorString, const char*, (NvrtcResult result))                                                      \
  X(nvrtcGetNumSupportedArchs, NvrtcResult, (int* count))                                                        \
  X(nvrtcGetSupportedArchs, NvrtcResult, (int* architectures))                                                   \
  X(nvrtcCreateProgram, NvrtcResult,                                                                             \
    (NvrtcProgram * program, const char* source, const char* name, int header_count, const char* const* headers, \
     const char* const* include_names))                                                                          \
  X(nvrtcDestroyProgram, NvrtcResult, (NvrtcProgram * program))                                                  \
  X(nvrtcCompileProgram, NvrtcResult, (NvrtcProgram program, int option_count, const char* const* options))      \
  X(nvrtcGetProgramLogSize, NvrtcResult, (NvrtcProgram program, std::size_t * size))                             \
  X(nvrtcGetProgramLog, NvrtcResult, (NvrtcProgram program, char* log))                                          \
  X(nvrtcGetPTXSize, NvrtcResult, (NvrtcProgram program, std::size_t * size))                                    \
  X(nvrtcGetPTX, NvrtcResult, (NvrtcProgram program, char* ptx))                                                 \
  X(nvrtcGetCUBINSize, NvrtcResult, (NvrtcProgram program, std::size_t * size))                                  \
  X(nvrtcGetCUBIN, NvrtcResult, (NvrtcProgram program, char* cubin))

namespace assay::cuda {

/// nvrtc.h's nvrtcResult and nvrtcProgram. Declared here, because the toolkit's headers are optional.
using NvrtcResult = int;
using NvrtcProgram = struct NvrtcProgramObject*;
inline constexpr NvrtcResult kNvrtcSuccess = 0;           ///< result code of a successful call
inline constexpr NvrtcResult kNvrtcErrorCompilation = 6;  ///< result code of a compilation that the source made fail

}  // namespace assay::cuda
