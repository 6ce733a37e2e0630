// The list of all CUDA driver functions used: name, and parameters as declared in cuda.h. All return CUresult.
//
// The names are those exported by libcuda, in versions common to CUDA 12 and 13. Only primary contexts are used,
// because the function that creates other contexts changed between the two.
#pragma once

#include <cstddef>

#define ASSAY_CUDA_DRIVER_SYMBOLS(X)                                                                             \
  X(cuInit, (unsigned flags))                                                                                    \
  X(cuDriverGetVersion, (int* version))                                                                          \
  X(cuGetErrorName, (CUresult error, const char** text))                                                         \
  X(cuGetErrorString, (CUresult error, const char** text))                                                       \
  X(cuDeviceGetCount, (int* count))                                                                              \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                                                               \
  X(cuDeviceGetName, (char* name, int size, CUdevice device))                                                    \
  X(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice device))                                                 \
  X(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device))                           \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                            \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                             \
  X(cuCtxSetCurrent, (CUcontext context))                                                                        \
  X(cuCtxGetCurrent, (CUcontext * context))                                                                      \
  X(cuModuleLoadDataEx,                                                                                          \
    (CUmodule * module, const void* image, unsigned option_count, CUjit_option* options, void** values))         \
  X(cuModuleUnload, (CUmodule module))                                                                           \
  X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))                             \
  X(cuFuncGetAttribute, (int* value, CUfunction_attribute attribute, CUfunction function))                       \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                 \
    (int* blocks, CUfunction function, int block_size, std::size_t dynamic_shared_bytes))                        \
  X(cuLaunchKernel,                                                                                              \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments, void** extra))                  \
  X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                                  \
  X(cuMemAlloc_v2, (CUdeviceptr * address, std::size_t bytes))                                                   \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                         \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream))                \
  X(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream))                      \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream))                \
  X(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream))                  \
  X(cuStreamCreate, (CUstream * stream, unsigned flags))                                                         \
  X(cuStreamDestroy_v2, (CUstream stream))                                                                       \
  X(cuStreamSynchronize, (CUstream stream))                                                                      \
  X(cuEventCreate, (CUevent * event, unsigned flags))                                                            \
  X(cuEventDestroy_v2, (CUevent event))                                                                          \
  X(cuEventRecord, (CUevent event, CUstream stream))                                                             \
  X(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))

/// Optional functions that drivers before 12.4 lack.
#define ASSAY_CUDA_DRIVER_OPTIONAL_SYMBOLS(X) \
  X(cuFuncGetParamInfo, (CUfunction function, std::size_t index, std::size_t * offset, std::size_t * bytes))

namespace assay::cuda {

/// The types of cuda.h, declared here because the toolkit's headers are optional. A test compares them and the
/// signatures above with the headers if those are available.
using CUresult = int;
using CUdevice = int;
using CUdevice_attribute = int;
using CUfunction_attribute = int;
using CUjit_option = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;

// The result codes that the code distinguishes; error.hpp classifies the others.
inline constexpr CUresult CUDA_SUCCESS = 0;
inline constexpr CUresult CUDA_ERROR_INVALID_VALUE = 1;
inline constexpr CUresult CUDA_ERROR_OUT_OF_MEMORY = 2;
inline constexpr CUresult CUDA_ERROR_NOT_INITIALIZED = 3;
inline constexpr CUresult CUDA_ERROR_DEVICE_UNAVAILABLE = 46;
inline constexpr CUresult CUDA_ERROR_NO_DEVICE = 100;
inline constexpr CUresult CUDA_ERROR_INVALID_DEVICE = 101;
inline constexpr CUresult CUDA_ERROR_INVALID_IMAGE = 200;
inline constexpr CUresult CUDA_ERROR_INVALID_CONTEXT = 201;
inline constexpr CUresult CUDA_ERROR_NO_BINARY_FOR_GPU = 209;
inline constexpr CUresult CUDA_ERROR_ECC_UNCORRECTABLE = 214;
inline constexpr CUresult CUDA_ERROR_INVALID_PTX = 218;
inline constexpr CUresult CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222;
inline constexpr CUresult CUDA_ERROR_INVALID_HANDLE = 400;
inline constexpr CUresult CUDA_ERROR_NOT_FOUND = 500;
inline constexpr CUresult CUDA_ERROR_ILLEGAL_ADDRESS = 700;
inline constexpr CUresult CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701;
inline constexpr CUresult CUDA_ERROR_LAUNCH_TIMEOUT = 702;
inline constexpr CUresult CUDA_ERROR_ASSERT = 710;
inline constexpr CUresult CUDA_ERROR_HARDWARE_STACK_ERROR = 714;
inline constexpr CUresult CUDA_ERROR_ILLEGAL_INSTRUCTION = 715;
inline constexpr CUresult CUDA_ERROR_MISALIGNED_ADDRESS = 716;
inline constexpr CUresult CUDA_ERROR_INVALID_ADDRESS_SPACE = 717;
inline constexpr CUresult CUDA_ERROR_INVALID_PC = 718;
inline constexpr CUresult CUDA_ERROR_LAUNCH_FAILED = 719;
inline constexpr CUresult CUDA_ERROR_NOT_SUPPORTED = 801;
inline constexpr CUresult CUDA_ERROR_UNKNOWN = 999;

inline constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16;
inline constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38;
inline constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39;
inline constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
inline constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;

inline constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1;
inline constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3;
inline constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_NUM_REGS = 4;

}  // namespace assay::cuda
