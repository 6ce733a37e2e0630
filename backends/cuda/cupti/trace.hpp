// What CUPTI records of the work between two moments: each kernel, copy and call of a launch, with its time.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/cupti/cupti.hpp"

namespace assay::cuda {

/// In nanoseconds of the GPU's clock, of calls the processor's.
struct Traced {
  std::vector<double> kernels;
  std::vector<double> launch_calls;  ///< what the processor spent in cuLaunchKernel
  struct Copy {
    double bytes = 0;
    double nanoseconds = 0;
  };
  std::vector<Copy> copies;  ///< within the GPU's memory
  std::size_t dropped = 0;   ///< records that were lost, of whatever kind
};

/// Records from its making on. CUPTI knows one client in a process: there is one trace at a time.
class Trace {
 public:
  /// Throws CallError; nothing is recorded then.
  explicit Trace(const Cupti& cupti);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  /// Ends it and gives what was recorded; the GPU must be idle. Throws CallError.
  Traced finish();

 private:
  void disable();

  const Cupti* cupti_;  ///< outlives this
  std::size_t enabled_ = 0;
};

}  // namespace assay::cuda
