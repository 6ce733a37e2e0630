// The functions and devices of the CUDA driver, loaded at run time. Start reading here; handles.hpp has the owners of
// driver objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/driver/error.hpp"
#include "backends/cuda/driver/loaded_function.hpp"
#include "backends/cuda/driver/symbols.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// Addresses of the driver's functions, one member for each function and named like it.
struct DriverSymbols {
#define ASSAY_DECLARE(name, parameters) LoadedFunction<CUresult parameters> name{#name};
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_DECLARE)
  ASSAY_CUDA_DRIVER_OPTIONAL_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
};

/// A loaded and initialized driver with at least one device; cheap to copy. Usage:
///
///     driver.call(driver.cuMemAlloc_v2, "device memory", &address, bytes);
class Driver : public DriverSymbols {
 public:
  /// Loads the library named by $ASSAY_CUDA_DRIVER, or else libcuda.so.1. The error message is suitable for a verdict:
  /// "no CUDA driver" or "no CUDA device". Its location is the library and the reason.
  static Result<Driver> load();

  [[nodiscard]] int device_count() const { return device_count_; }
  /// The newest CUDA that the driver supports: "13.0".
  [[nodiscard]] std::string version() const;

  /// Calls the function; throws CallError if it fails.
  template <typename... Parameters, typename... Arguments>
  void call(const LoadedFunction<CUresult(Parameters...)>& function, const CallContext& subject,
            Arguments... arguments) const {
    if (const CUresult code = function.address(arguments...); code != CUDA_SUCCESS) fail(function.name, subject, code);
  }

 private:
  Driver() = default;
  [[noreturn]] void fail(std::string_view call, const CallContext& subject, CUresult code) const;

  int device_count_ = 0;  ///< number of GPUs that the driver reports
  int version_ = 0;       ///< newest CUDA that the driver supports: 13000 for 13.0
};

/// The properties of a GPU that determine how to build for it and its peak speed.
struct GpuProperties {
  int gpu_ordinal = 0;                 ///< number of the GPU in the driver's order
  std::string name;                    ///< name of the GPU: "NVIDIA H200"
  int compute_capability_major = 0;    ///< major number of the compute capability
  int compute_capability_minor = 0;    ///< minor number of the compute capability
  std::size_t memory_bytes = 0;        ///< size of the GPU memory
  std::size_t l2_cache_bytes = 0;      ///< size of the L2 cache
  int multiprocessor_count = 0;        ///< number of streaming multiprocessors
  int threads_per_multiprocessor = 0;  ///< maximum number of resident threads per multiprocessor

  /// "sm_90".
  [[nodiscard]] std::string architecture() const;
  /// "NVIDIA H200, sm_90, 139.8 GiB".
  [[nodiscard]] std::string description() const;
};

/// Throws CallError.
[[nodiscard]] GpuProperties query_gpu(const Driver& driver, int ordinal);

/// The GPU with this number. Fails if the driver has no such GPU or cannot describe it.
Result<GpuProperties> find_gpu(const Driver& driver, int ordinal);

/// Parses the value of --gpu: the number of a GPU; nullopt for "all". Fails if it is neither.
Result<std::optional<int>> parse_gpu_number(const std::string& text);

}  // namespace assay::cuda
