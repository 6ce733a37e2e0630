// The CUDA driver, loaded at run time: its functions, and what devices there are. Start reading here; who owns what the
// functions make is said in handles.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/driver/error.hpp"
#include "backends/cuda/driver/loaded_function.hpp"
#include "backends/cuda/driver/symbols.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// Every function by its name.
struct DriverSymbols {
#define ASSAY_DECLARE(name, parameters) LoadedFunction<CUresult parameters> name{#name};
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_DECLARE)
  ASSAY_CUDA_DRIVER_OPTIONAL_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
};

/// A driver that was loaded and initialised, with at least one device; cheap to copy. Used as
///
///     driver.call(driver.cuMemAlloc_v2, "device memory", &address, bytes);
class Driver : public DriverSymbols {
 public:
  /// Looks for the library named by $ASSAY_CUDA_DRIVER, else for libcuda.so.1. The error's message is fit for a
  /// verdict, "no CUDA driver" or "no CUDA device"; its place is the library and what it said.
  static Result<Driver> load();

  [[nodiscard]] int device_count() const { return device_count_; }
  /// The newest CUDA that the driver supports: "13.0".
  [[nodiscard]] std::string version() const;

  /// Calls the function; throws CallError if it fails.
  template <typename... Parameters, typename... Arguments>
  void call(const LoadedFunction<CUresult(Parameters...)>& function, const Subject& subject,
            Arguments... arguments) const {
    if (const CUresult code = function.address(arguments...); code != CUDA_SUCCESS) fail(function.name, subject, code);
  }

 private:
  Driver() = default;
  [[noreturn]] void fail(std::string_view call, const Subject& subject, CUresult code) const;

  int device_count_ = 0;
  int version_ = 0;
};

/// What a GPU is, as far as building for it and judging its speed need to know.
struct Gpu {
  int ordinal = 0;
  std::string name;
  int major = 0;  ///< of the compute capability
  int minor = 0;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  ///< of the last level
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;

  /// "sm_90".
  [[nodiscard]] std::string architecture() const;
  /// "NVIDIA H200, sm_90, 139.8 GiB".
  [[nodiscard]] std::string description() const;
};

/// Throws CallError.
[[nodiscard]] Gpu look_at_gpu(const Driver& driver, int ordinal);

}  // namespace assay::cuda
