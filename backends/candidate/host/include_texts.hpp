// The files that are compiled with a candidate with host code.
#pragma once

#include <string_view>

namespace assay::candidate {

extern const std::string_view kCallHeader;            ///< call.hpp
extern const std::string_view kDeviceMemoryHeader;    ///< device_memory.h
extern const std::string_view kTensorHeader;          ///< tensor.h
extern const std::string_view kCallFunctionHeader;    ///< call_function.h
extern const std::string_view kCudaRuntimeFunctions;  ///< cuda_runtime_functions.cpp
extern const std::string_view kProgramHeader;         ///< program.h
extern const std::string_view kRunProgram;            ///< run_program.cpp

}  // namespace assay::candidate
