// The time that the compilers alone need for what a run builds: no run of it can be faster.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::benchmark {

/// Kernels that are compiled alike.
struct CompilerWork {
  backends::BuildFlags flags;
  std::vector<backends::EmittedKernel> kernels;
};

struct CompileLowerBound {
  std::size_t batch = 1;  ///< kernels in a unit, at most; 0: several sizes
  std::size_t units = 0;
  double seconds = 0;
};

/// Kernels in a unit of the C++ compiler that are tried.
inline constexpr std::array<std::size_t, 4> kLowerBoundBatches{16, 32, 64, 96};

/// Hands the sources to the C++ compiler, `jobs` at once and from files, for each of the batch sizes. The units that
/// take longest come first, so that no core waits for another's last one. `compiler` as --cxx. Fails without a
/// compiler, without a place for files, or where it refuses a unit.
Result<std::vector<CompileLowerBound>> cpp_lower_bound(const std::vector<CompilerWork>& work,
                                                       const std::string& compiler, unsigned jobs,
                                                       std::span<const std::size_t> batches);

/// Hands each kernel to NVRTC by itself, for both lanes and the architectures of the device ptx, `jobs` at once. Fails
/// without NVRTC, or where it refuses a kernel.
Result<CompileLowerBound> nvrtc_lower_bound(const std::vector<CompilerWork>& work, unsigned jobs);

/// By batch size the mean of all measurements of the same work.
std::vector<CompileLowerBound> means_of(const std::vector<CompileLowerBound>& measured);

}  // namespace assay::benchmark
