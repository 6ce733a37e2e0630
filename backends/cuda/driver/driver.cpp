#include "backends/cuda/driver/driver.hpp"

#include <array>

#include <fmt/format.h>

#include "backends/shared_object.hpp"

namespace assay::cuda {

Result<Driver> Driver::load() {
  const Result<backends::SharedObject> library =
      backends::SharedObject::open(std::array<std::string, 1>{"libcuda.so.1"});
  if (!library) {
    return Error{"no CUDA driver", library.error().message};
  }
  Driver driver;
#define ASSAY_LOAD(symbol, parameters)                                     \
  if (!library->find(#symbol, driver.symbol##_)) {                         \
    return Error{"no CUDA driver", library->name() + " lacks " + #symbol}; \
  }
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_LOAD)
#undef ASSAY_LOAD

  const auto failure = [&](const char* message, const char* call, CudaResult code) {
    const char* text = nullptr;
    driver.cuGetErrorString_(code, &text);
    return Error{message, fmt::format("{}: {} ({})", call, text == nullptr ? "unknown error" : text, code)};
  };
  if (const CudaResult code = driver.cuInit_(0); code != kCudaSuccess) {
    return failure("no CUDA device", "cuInit", code);
  }
  if (const CudaResult code = driver.cuDeviceGetCount_(&driver.device_count_); code != kCudaSuccess) {
    return failure("no CUDA device", "cuDeviceGetCount", code);
  }
  if (driver.device_count_ == 0) {
    return Error{"no CUDA device", "cuDeviceGetCount: 0"};
  }
  if (const CudaResult code = driver.cuDriverGetVersion_(&driver.version_); code != kCudaSuccess) {
    return failure("no CUDA driver", "cuDriverGetVersion", code);
  }
  return driver;
}

std::string Driver::version() const { return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10); }

}  // namespace assay::cuda
