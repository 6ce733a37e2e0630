#include "backends/cuda/driver/handles.hpp"

#include <fmt/format.h>

namespace assay::cuda {

namespace {
/// CU_STREAM_NON_BLOCKING; an event's flags are none.
constexpr unsigned kNonBlocking = 1;
constexpr double kNanosecondsInMillisecond = 1e6;
}  // namespace

Context enter_context(const Driver& driver, int ordinal) {
  const std::string text = fmt::format("GPU {}", ordinal);
  CUdevice device = 0;
  driver.call(driver.cuDeviceGet, text, &device, ordinal);
  CUcontext context = nullptr;
  driver.call(driver.cuDevicePrimaryCtxRetain, text, &context, device);
  Context owner(driver, device);
  driver.call(driver.cuCtxSetCurrent, text, context);
  return owner;
}

Module load_module(const Driver& driver, const std::string& image, const std::string& name) {
  CUmodule module = nullptr;
  driver.call(driver.cuModuleLoadDataEx, name, &module, static_cast<const void*>(image.c_str()), 0U,
              static_cast<CUjit_option*>(nullptr), static_cast<void**>(nullptr));
  return {driver, module};
}

CUfunction find_function(const Driver& driver, const Module& module, const std::string& name) {
  CUfunction function = nullptr;
  driver.call(driver.cuModuleGetFunction, name, &function, module.get(), name.c_str());
  return function;
}

Stream make_stream(const Driver& driver) {
  CUstream stream = nullptr;
  driver.call(driver.cuStreamCreate, "a stream", &stream, kNonBlocking);
  return {driver, stream};
}

Event make_event(const Driver& driver) {
  CUevent event = nullptr;
  driver.call(driver.cuEventCreate, "an event", &event, 0U);
  return {driver, event};
}

std::size_t free_bytes(const Driver& driver) {
  std::size_t free = 0;
  std::size_t total = 0;
  driver.call(driver.cuMemGetInfo_v2, "querying the free device memory", &free, &total);
  return free;
}

DeviceMemory allocate(const Driver& driver, std::size_t bytes) {
  CUdeviceptr address = 0;
  driver.call(driver.cuMemAlloc_v2, fmt::format("device memory of {} bytes", bytes), &address, bytes);
  return {driver, address};
}

double nanoseconds_between(const Driver& driver, const Event& start, const Event& end) {
  float milliseconds = 0;
  driver.call(driver.cuEventElapsedTime, "two events", &milliseconds, start.get(), end.get());
  return static_cast<double>(milliseconds) * kNanosecondsInMillisecond;
}

}  // namespace assay::cuda
