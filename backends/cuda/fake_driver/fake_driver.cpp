// The libcuda functions for the fake GPU; those of CUPTI are in fake_cupti.cpp.
//
// Built as a separate shared library; set $ASSAY_CUDA_DRIVER to it to use it as libcuda. It exercises every path of the
// CUDA device without a GPU, including failures. The PTX emulator computes the results, so they say nothing about
// hardware.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "backends/cuda/fake_driver/control.hpp"
#include "backends/cuda/fake_driver/process.hpp"

namespace assay::cuda::fake {

namespace {

constexpr int kDriverVersion = 13000;
constexpr int kMultiprocessors = 1;
constexpr int kThreadsOfMultiprocessor = 1024;
constexpr int kCacheBytes = 1 << 20;
constexpr int kRegisters = 32;

constexpr std::string_view kName = "fake GPU (PTX executed on the CPU)";

struct ResultName {
  CUresult code;
  const char* name;
  const char* meaning;
};
constexpr std::array kResults = {
    ResultName{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    ResultName{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    ResultName{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    ResultName{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    ResultName{CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
               "CUDA-capable device(s) is/are busy or unavailable"},
    ResultName{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    ResultName{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    ResultName{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    ResultName{CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
               "no kernel image is available for execution on the device"},
    ResultName{CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    ResultName{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    ResultName{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    ResultName{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    ResultName{CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    ResultName{CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    ResultName{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

FakeDriverState& process() { return FakeDriverState::get(); }

CUresult copied(std::byte* to, const void* from, std::size_t bytes) {
  if (to == nullptr || from == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CUDA_SUCCESS;
}

int attribute(CUdevice_attribute which, int compute_capability) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return kMultiprocessors;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return kCacheBytes;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return kThreadsOfMultiprocessor;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return compute_capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return compute_capability % 10;
    default: return 0;
  }
}

template <auto Member>
CUresult text_of(CUresult code, const char** text) {
  const auto row = std::ranges::find(kResults, code, &ResultName::code);
  *text = row == kResults.end() ? nullptr : row->*Member;
  return row == kResults.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

// ------------------------------------------------------------------------------------------- the driver's functions

/// Defines a driver function with the given body, in which `gpu` is the fake GPU.
#define ASSAY_FAKE(name, parameters, ...)                                                      \
  extern "C" CUresult name parameters {                                                        \
    return process().call(#name, [&]([[maybe_unused]] FakeGpu & gpu) -> CUresult __VA_ARGS__); \
  }

extern "C" CUresult cuGetErrorName(CUresult error, const char** text) {
  return text_of<&ResultName::name>(error, text);
}
extern "C" CUresult cuGetErrorString(CUresult error, const char** text) {
  return text_of<&ResultName::meaning>(error, text);
}

ASSAY_FAKE(cuInit, (unsigned), { return CUDA_SUCCESS; })
ASSAY_FAKE(cuDriverGetVersion, (int* version), { return *version = kDriverVersion, CUDA_SUCCESS; })
ASSAY_FAKE(cuDeviceGetCount, (int* count), { return *count = process().plan().gpus(), CUDA_SUCCESS; })
ASSAY_FAKE(cuDeviceGet, (CUdevice * device, int ordinal), {
  *device = ordinal;
  return ordinal >= 0 && ordinal < process().plan().gpus() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
})
ASSAY_FAKE(cuDeviceGetName, (char* name, int size, CUdevice), {
  name[kName.copy(name, static_cast<std::size_t>(size) - 1)] = '\0';
  return CUDA_SUCCESS;
})
ASSAY_FAKE(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice),
           { return *bytes = process().plan().memory_bytes(), CUDA_SUCCESS; })
ASSAY_FAKE(cuDeviceGetAttribute, (int* value, CUdevice_attribute which, CUdevice),
           { return *value = attribute(which, process().plan().compute_capability()), CUDA_SUCCESS; })

ASSAY_FAKE(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), {
  if (process().plan().has_lost_gpu(device)) return CUDA_ERROR_DEVICE_UNAVAILABLE;
  gpu.count_context(1);
  *context = reinterpret_cast<CUcontext>(static_cast<std::intptr_t>(device) + 1);
  return CUDA_SUCCESS;
})
ASSAY_FAKE(cuDevicePrimaryCtxRelease_v2, (CUdevice), { return gpu.count_context(-1), CUDA_SUCCESS; })
ASSAY_FAKE(cuCtxSetCurrent, (CUcontext context),
           { return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS; })

ASSAY_FAKE(cuCtxGetCurrent, (CUcontext * context), {
  *context = reinterpret_cast<CUcontext>(std::intptr_t{1});
  return CUDA_SUCCESS;
})

ASSAY_FAKE(cuModuleLoadDataEx, (CUmodule * module, const void* image, unsigned, CUjit_option*, void**), {
  return gpu.load_module(process().plan().with_replaced_instructions(static_cast<const char*>(image)), module);
})
ASSAY_FAKE(cuModuleUnload, (CUmodule module), { return gpu.unload_module(module); })
ASSAY_FAKE(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name),
           { return gpu.get_function(module, name, function); })
ASSAY_FAKE(cuFuncGetParamInfo, (CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes),
           { return gpu.parameter(function, index, offset, bytes); })
ASSAY_FAKE(cuFuncGetAttribute, (int* value, CUfunction_attribute which, CUfunction),
           { return *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? kRegisters : 0, CUDA_SUCCESS; })
ASSAY_FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, CUfunction, int threads, std::size_t),
           { return *blocks = kThreadsOfMultiprocessor / std::max(threads, 1), CUDA_SUCCESS; })
ASSAY_FAKE(
    cuLaunchKernel,
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
     unsigned block_z, unsigned shared_bytes, CUstream, void** arguments, void**),
    {
      return process().run_and_record(RecordedActivity::Kind::kKernel, 0, [&] {
        return gpu.launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, arguments);
      });
    })

ASSAY_FAKE(cuMemGetInfo_v2, (std::size_t * free, std::size_t* total), {
  *total = process().plan().memory_bytes();
  *free = *total - gpu.used_bytes();
  return CUDA_SUCCESS;
})
ASSAY_FAKE(cuMemAlloc_v2, (CUdeviceptr * address, std::size_t bytes), { return gpu.allocate(bytes, address); })
ASSAY_FAKE(cuMemFree_v2, (CUdeviceptr address), { return gpu.free(address); })
ASSAY_FAKE(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream),
           { return copied(gpu.host(to, bytes), from, bytes); })
ASSAY_FAKE(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes, CUstream),
           { return copied(static_cast<std::byte*>(to), gpu.host(from, bytes), bytes); })
ASSAY_FAKE(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream), {
  return process().run_and_record(RecordedActivity::Kind::kCopy, bytes,
                                  [&] { return copied(gpu.host(to, bytes), gpu.host(from, bytes), bytes); });
})
ASSAY_FAKE(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream), {
  std::byte* const memory = gpu.host(to, bytes);
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memset(memory, value, bytes);
  return CUDA_SUCCESS;
})

ASSAY_FAKE(cuStreamCreate, (CUstream * stream, unsigned), { return *stream = gpu.make_stream(), CUDA_SUCCESS; })
ASSAY_FAKE(cuStreamDestroy_v2, (CUstream), { return gpu.end_stream(), CUDA_SUCCESS; })
ASSAY_FAKE(cuStreamSynchronize, (CUstream), { return gpu.wait(); })
ASSAY_FAKE(cuEventCreate, (CUevent * event, unsigned), { return *event = gpu.make_event(), CUDA_SUCCESS; })
ASSAY_FAKE(cuEventDestroy_v2, (CUevent event), { return gpu.end_event(event); })
ASSAY_FAKE(cuEventRecord, (CUevent event, CUstream), { return gpu.record(event); })
ASSAY_FAKE(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end),
           { return gpu.elapsed(start, end, milliseconds); })

#undef ASSAY_FAKE

extern "C" int assay_fake_gpu_reset(const char* plan) { return process().reset(plan) ? 0 : 1; }
extern "C" int assay_fake_gpu_live() { return process().gpu().live().total(); }

}  // namespace assay::cuda::fake
