// CUPTI activity records of a period: each kernel, copy and launch call, with its duration.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/cupti/cupti.hpp"

namespace assay::cuda {

/// Durations in nanoseconds: of calls by the CPU's clock, otherwise by the GPU's.
struct CuptiTraceResult {
  std::vector<double> kernel_nanoseconds;       ///< GPU time of each kernel
  std::vector<double> launch_call_nanoseconds;  ///< CPU time in cuLaunchKernel
  struct Copy {
    double bytes = 0;        ///< number of bytes copied
    double nanoseconds = 0;  ///< GPU time of the copy
  };
  std::vector<Copy> copies;              ///< copies within the GPU's memory
  std::size_t dropped_record_count = 0;  ///< number of records of any kind that CUPTI dropped
};

/// Records from its construction on. CUPTI supports one client per process, so only one trace may exist at a time.
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

  const Cupti* cupti_;                      ///< must outlive this object
  std::size_t enabled_activity_count_ = 0;  ///< number of activity kinds enabled so far, which the destructor disables
};

}  // namespace assay::cuda
