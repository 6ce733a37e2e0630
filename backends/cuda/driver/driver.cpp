#include "backends/cuda/driver/driver.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "backends/device/shared_object.hpp"

namespace assay::cuda {

namespace {

std::string library_name() {
  const char* const chosen = std::getenv("ASSAY_CUDA_DRIVER");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1";
}

}  // namespace

Result<Driver> Driver::load() {
  const Result<backends::SharedObject> library =
      backends::SharedObject::open(std::array<std::string, 1>{library_name()});
  if (!library) {
    return Error{"no CUDA driver", library.error().message};
  }
  Driver driver;
#define ASSAY_LOAD(symbol, parameters)                                     \
  if (!library->find(driver.symbol.name, driver.symbol.address)) {         \
    return Error{"no CUDA driver", library->name() + " lacks " + #symbol}; \
  }
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_LOAD)
#undef ASSAY_LOAD
#define ASSAY_TRY(symbol, parameters) static_cast<void>(library->find(driver.symbol.name, driver.symbol.address));
  ASSAY_CUDA_DRIVER_OPTIONAL_SYMBOLS(ASSAY_TRY)
#undef ASSAY_TRY

  try {
    driver.call(driver.cuInit, "the driver", 0U);
    driver.call(driver.cuDeviceGetCount, "the driver", &driver.device_count_);
    driver.call(driver.cuDriverGetVersion, "the driver", &driver.version_);
  } catch (const CallError& error) {
    return Error{"no CUDA device", error.what()};
  }
  if (driver.device_count_ == 0) {
    return Error{"no CUDA device", "cuDeviceGetCount: 0"};
  }
  return driver;
}

std::string Driver::version() const { return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10); }

void Driver::fail(std::string_view call, const CallContext& subject, CUresult code) const {
  const char* name = nullptr;
  const char* meaning = nullptr;
  cuGetErrorName.address(code, &name);
  cuGetErrorString.address(code, &meaning);
  throw CallError(call, subject, code, name == nullptr ? "unknown result" : name,
                  meaning == nullptr ? "unknown error" : meaning);
}

std::string GpuProperties::architecture() const {
  return fmt::format("sm_{}{}", compute_capability_major, compute_capability_minor);
}

std::string GpuProperties::description() const {
  return fmt::format("{}, {}, {:.1f} GiB", name, architecture(),
                     static_cast<double>(memory_bytes) / static_cast<double>(std::size_t{1} << 30));
}

Result<GpuProperties> find_gpu(const Driver& driver, int ordinal) {
  if (ordinal < 0 || ordinal >= driver.device_count())
    return Error{fmt::format("unknown GPU {}: this machine has {}, numbered from 0", ordinal, driver.device_count())};
  try {
    return query_gpu(driver, ordinal);
  } catch (const CallError& error) {
    return Error{error.what()};
  }
}

Result<std::optional<int>> parse_gpu_number(const std::string& text) {
  if (text == "all") return std::optional<int>();
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0)
    return Error{fmt::format("--gpu must be a number or 'all', got '{}'", text)};
  return std::optional<int>(number);
}

GpuProperties query_gpu(const Driver& driver, int ordinal) {
  const std::string text = fmt::format("GPU {}", ordinal);
  CUdevice device = 0;
  driver.call(driver.cuDeviceGet, text, &device, ordinal);
  std::array<char, 256> name{};
  driver.call(driver.cuDeviceGetName, text, name.data(), static_cast<int>(name.size() - 1), device);
  GpuProperties gpu{.gpu_ordinal = ordinal, .name = name.data()};
  driver.call(driver.cuDeviceTotalMem_v2, text, &gpu.memory_bytes, device);
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver.call(driver.cuDeviceGetAttribute, text, &value, which, device);
    return value;
  };
  gpu.compute_capability_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  gpu.compute_capability_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  gpu.l2_cache_bytes = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  gpu.multiprocessor_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  gpu.threads_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  return gpu;
}

}  // namespace assay::cuda
