// The CUDA runtime of a candidate's library: allocation, copies and launches go to the simulated GPU. Streams have no
// effect, because each call runs to its end. A function that is missing here makes the library fail to load.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "device_memory.h"

namespace assay::candidate {
const DeviceFunctions* device = nullptr;
}

namespace {

using assay::candidate::device;

/// The code and the symbols of the library, in the order of registration. Static constructors register them before the
/// worker sets `device`.
struct Kernel {
  int module;
  std::string name;
};
struct Library {
  std::vector<const void*> fat_binaries;
  std::vector<std::int32_t> modules;  ///< numbers of the fat binaries in the simulated GPU
  std::map<const void*, Kernel> kernels;
  std::map<const void*, Kernel> variables;
};
Library& library() {
  static Library* const instance = new Library;
  return *instance;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
std::vector<Configuration> configurations;
cudaError_t last_error = cudaSuccess;

cudaError_t result(std::int32_t error) {
  if (error != cudaSuccess) last_error = static_cast<cudaError_t>(error);
  return static_cast<cudaError_t>(error);
}

void* bytes_of(const void* address, std::size_t size, bool writes) {
  return device->bytes(reinterpret_cast<std::uint64_t>(address), size, writes ? 1 : 0);
}

/// Whether an address belongs to the simulated GPU.
bool is_device_memory(const void* address) { return bytes_of(address, 0, false) != nullptr; }

cudaError_t copy(void* target, const void* source, std::size_t size, cudaMemcpyKind kind) {
  if (size == 0) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyDefault ? is_device_memory(target)
                                                   : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDefault
                               ? is_device_memory(source)
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const void* const from = from_device ? bytes_of(source, size, false) : source;
  void* const to = to_device ? bytes_of(target, size, true) : target;
  if (from == nullptr || to == nullptr) return result(cudaErrorInvalidValue);
  std::memmove(to, from, size);
  return cudaSuccess;
}

std::uint64_t address_of(const void* symbol) {
  const auto found = library().variables.find(symbol);
  if (found == library().variables.end()) return 0;
  return device->variable(library().modules[static_cast<std::size_t>(found->second.module)], found->second.name.c_str());
}

cudaError_t allocate(void** pointer, std::size_t size) {
  *pointer = reinterpret_cast<void*>(device->allocate(size));
  return *pointer == nullptr ? result(cudaErrorMemoryAllocation) : cudaSuccess;
}

const Kernel* kernel_of(const void* function) {
  const auto found = library().kernels.find(function);
  return found == library().kernels.end() ? nullptr : &found->second;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes) {
  const Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return result(cudaErrorInvalidDeviceFunction);
  const std::uint32_t grid_extents[3] = {grid.x, grid.y, grid.z};
  const std::uint32_t block_extents[3] = {block.x, block.y, block.z};
  return result(device->launch(library().modules[static_cast<std::size_t>(kernel->module)], kernel->name.c_str(),
                               grid_extents, block_extents, shared_bytes, arguments));
}

/// The properties that candidates ask for, of a GPU with 108 multiprocessors.
void set_properties(cudaDeviceProp& properties) {
  std::memset(&properties, 0, sizeof(properties));
  std::strcpy(properties.name, "simulated GPU");
  properties.major = 8;
  properties.minor = 0;
  properties.multiProcessorCount = 108;
  properties.warpSize = 32;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiProcessor = 2048;
  properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = 1024;
  properties.maxThreadsDim[2] = 64;
  properties.maxGridSize[0] = 2147483647;
  properties.maxGridSize[1] = properties.maxGridSize[2] = 65535;
  properties.sharedMemPerBlock = 48 * 1024;
  properties.sharedMemPerBlockOptin = 163 * 1024;
  properties.sharedMemPerMultiprocessor = 164 * 1024;
  properties.regsPerBlock = properties.regsPerMultiprocessor = 65536;
  properties.totalGlobalMem = std::size_t{1} << 32;
  properties.l2CacheSize = 40 << 20;
}

int attribute(cudaDeviceAttr attribute) {
  cudaDeviceProp properties;
  set_properties(properties);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return properties.maxThreadsPerBlock;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return properties.maxThreadsPerMultiProcessor;
    case cudaDevAttrMultiProcessorCount: return properties.multiProcessorCount;
    case cudaDevAttrWarpSize: return properties.warpSize;
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(properties.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(properties.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return static_cast<int>(properties.sharedMemPerMultiprocessor);
    case cudaDevAttrComputeCapabilityMajor: return properties.major;
    case cudaDevAttrComputeCapabilityMinor: return properties.minor;
    case cudaDevAttrMaxGridDimX: return properties.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return properties.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return properties.maxGridSize[2];
    case cudaDevAttrCooperativeLaunch: return 1;
    default: return 0;
  }
}

}  // namespace

extern "C" {

void assay_attach(const assay::candidate::DeviceFunctions* functions) {
  device = functions;
  for (const void* fat_binary : library().fat_binaries)
    library().modules.push_back(functions->add_module(fat_binary));
}

// Called by the code that nvcc and clang generate for each source file.
struct FatBinaryWrapper {
  int magic, version;
  const void* data;
  void* file;
};
void** __cudaRegisterFatBinary(void* wrapper) {
  library().fat_binaries.push_back(static_cast<const FatBinaryWrapper*>(wrapper)->data);
  return reinterpret_cast<void**>(library().fat_binaries.size());
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* name, int, void*, void*, void*,
                            void*, int*) {
  library().kernels[host_function] = {static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1, name};
}
void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int, std::size_t, int, int) {
  library().variables[host_variable] = {static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1, name};
}
char __cudaInitModule(void**) { return 0; }
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t) {
  return launch(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared_bytes);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t) {
  return launch(function, grid, block, arguments, shared_bytes);
}

cudaError_t cudaMalloc(void** pointer, std::size_t size) { return allocate(pointer, size); }
cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t) { return allocate(pointer, size); }
cudaError_t cudaFree(void*) { return cudaSuccess; }
cudaError_t cudaFreeAsync(void*, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  *pointer = std::malloc(size);
  return *pointer == nullptr ? result(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned) { return cudaMallocHost(pointer, size); }
cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* target, const void* source, std::size_t size, cudaMemcpyKind kind) {
  return copy(target, source, size, kind);
}
cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t size, cudaMemcpyKind kind, cudaStream_t) {
  return copy(target, source, size, kind);
}
cudaError_t cudaMemset(void* target, int value, std::size_t size) {
  if (size == 0) return cudaSuccess;
  void* const bytes = bytes_of(target, size, true);
  if (bytes == nullptr) return result(cudaErrorInvalidValue);
  std::memset(bytes, value, size);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* target, int value, std::size_t size, cudaStream_t) {
  return cudaMemset(target, value, size);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t size, std::size_t offset,
                               cudaMemcpyKind kind) {
  const std::uint64_t address = address_of(symbol);
  if (address == 0) return result(cudaErrorInvalidSymbol);
  return copy(reinterpret_cast<void*>(address + offset), source, size,
              kind == cudaMemcpyDeviceToDevice ? kind : cudaMemcpyHostToDevice);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t size, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyToSymbol(symbol, source, size, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, std::size_t size, std::size_t offset,
                                 cudaMemcpyKind kind) {
  const std::uint64_t address = address_of(symbol);
  if (address == 0) return result(cudaErrorInvalidSymbol);
  return copy(target, reinterpret_cast<const void*>(address + offset), size,
              kind == cudaMemcpyDeviceToDevice ? kind : cudaMemcpyDeviceToHost);
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  *pointer = reinterpret_cast<void*>(address_of(symbol));
  return *pointer == nullptr ? result(cudaErrorInvalidSymbol) : cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  const Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr || value < 0) return result(cudaErrorInvalidValue);
  return result(device->allow_shared_bytes(library().modules[static_cast<std::size_t>(kernel->module)],
                                           kernel->name.c_str(), static_cast<std::uint64_t>(value)));
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size, std::size_t) {
  *blocks = block_size > 0 ? 2048 / block_size : 0;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_size,
                                                                   std::size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidSymbol: return "cudaErrorInvalidSymbol";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    default: return "unknown CUDA error";
  }
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int number) { return number == 0 ? cudaSuccess : result(cudaErrorInvalidDevice); }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  set_properties(*properties);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  *value = attribute(which);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return last_error; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = *total = std::size_t{1} << 32;
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return last_error; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}

}  // extern "C"
