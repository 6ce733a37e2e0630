// The one list of what is used of the CUDA driver: name, and parameters as cuda.h declares them. All return CUresult.
#pragma once

#define ASSAY_CUDA_DRIVER_SYMBOLS(X)    \
  X(cuInit, (unsigned flags))           \
  X(cuDriverGetVersion, (int* version)) \
  X(cuDeviceGetCount, (int* count))     \
  X(cuGetErrorString, (CudaResult error, const char** text))

namespace assay::cuda {

/// cuda.h's CUresult. Declared here, because the toolkit's headers are optional.
using CudaResult = int;
inline constexpr CudaResult kCudaSuccess = 0;

}  // namespace assay::cuda
