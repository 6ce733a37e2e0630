// CUPTI activity records of a period: each kernel, copy and launch call, with its duration.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/cupti/cupti.hpp"

namespace assay::cuda {

/// Durations in nanoseconds: of calls by the CPU's clock, otherwise by the GPU's.
struct TraceResult {
  std::vector<double> kernel_nanoseconds;
  std::vector<double> launch_call_nanoseconds;  ///< CPU time in cuLaunchKernel
  struct Copy {
    double bytes = 0;
    double nanoseconds = 0;
  };
  std::vector<Copy> copies;         ///< within the GPU's memory
  std::size_t dropped_records = 0;  ///< dropped records of any kind
};

/// Records from its construction on. CUPTI supports one client per process, so only one trace may exist at a time.
class Trace {
 public:
  /// Throws CallError, and then records nothing.
  explicit Trace(const Cupti& cupti);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  /// Stops recording and returns the records; the GPU must be idle. Throws CallError.
  TraceResult finish();

 private:
  void disable();

  const Cupti* cupti_;  ///< must outlive this object
  std::size_t enabled_activities_ = 0;
};

}  // namespace assay::cuda
