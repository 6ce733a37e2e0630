// CUPTI activity records of a period: each kernel, copy and launch call, with its duration.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/cupti/cupti.hpp"

namespace assay::cuda {

/// The durations of the traced activities in nanoseconds. Kernels and copies are timed with the GPU's clock, launch
/// calls with the CPU's clock.
struct CuptiTraceResult {
  std::vector<double> kernel_nanoseconds;       ///< duration of each kernel on the GPU
  std::vector<double> launch_call_nanoseconds;  ///< duration of each call of cuLaunchKernel on the CPU
  /// One traced memory copy.
  struct Copy {
    double bytes = 0;        ///< number of bytes copied
    double nanoseconds = 0;  ///< duration of the copy on the GPU
  };
  std::vector<Copy> copies;              ///< copies from GPU memory to GPU memory
  std::size_t dropped_record_count = 0;  ///< number of records, of any kind, that CUPTI dropped
};

/// A trace of GPU activity that starts with the construction of this object. Only one may exist at a time, because
/// CUPTI supports one client per process.
class CuptiTrace {
 public:
  /// Throws CallError, and then records nothing.
  explicit CuptiTrace(const Cupti& cupti);
  CuptiTrace(const CuptiTrace&) = delete;
  CuptiTrace& operator=(const CuptiTrace&) = delete;
  ~CuptiTrace();

  /// Stops recording and returns the records; the GPU must be idle. Throws CallError.
  CuptiTraceResult finish();

 private:
  void disable();

  const Cupti* cupti_;                      ///< loaded CUPTI library; must outlive this object
  std::size_t enabled_activity_count_ = 0;  ///< number of activity kinds enabled so far; the destructor disables them
};

}  // namespace assay::cuda
