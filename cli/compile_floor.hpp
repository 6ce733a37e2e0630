// The time that the compilers alone need for what a run builds: no run of it can be faster.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backends/emitted_kernel.hpp"
#include "harness/run/run.hpp"
#include "ir/support/result.hpp"

namespace assay::cli {

/// Kernels that are compiled alike.
struct CompilerWork {
  backends::BuildFlags flags;
  std::vector<backends::EmittedKernel> kernels;
};

struct CompileFloor {
  double seconds = 0;
  std::size_t batch = 1;  ///< kernels in a unit: of the sizes that were tried the fastest; 0: several
  std::size_t units = 0;  ///< of that size
  std::vector<std::pair<std::size_t, double>> tried;  ///< batch and seconds
};

/// Hands the sources to the C++ compiler, `jobs` at once and from files, for each of a few batch sizes. `compiler` as
/// --cxx. Fails without a compiler, without a place for files, or where it refuses a unit.
Result<CompileFloor> cpp_floor(const std::vector<CompilerWork>& work, const std::string& compiler, unsigned jobs);

/// Hands each kernel to NVRTC by itself, for both lanes and the architectures of the device ptx, `jobs` at once. Fails
/// without NVRTC, or where it refuses a kernel.
Result<CompileFloor> nvrtc_floor(const std::vector<CompilerWork>& work, unsigned jobs);

}  // namespace assay::cli
