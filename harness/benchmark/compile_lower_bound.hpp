// The compile-time lower bound: the time that the compilers alone need for the kernels of a run.
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

/// Kernels that are compiled with the same flags.
struct CompileInput {
  backends::BuildFlags flags;                    ///< flags of the numeric mode
  std::vector<backends::EmittedKernel> kernels;  ///< the sources to compile
};

/// The time that the compiler alone needs for the sources of a run.
struct CompileLowerBound {
  std::size_t batch_size = 1;  ///< maximum number of kernels in a translation unit; 0: sum over several batch sizes
  std::size_t translation_unit_count = 0;  ///< number of translation units compiled
  double wall_seconds = 0;                 ///< wall time of compiling them all
};

/// The numbers of kernels per C++ translation unit for which compile times are measured.
inline constexpr std::array<std::size_t, 4> kMeasuredKernelsPerTranslationUnit{16, 32, 64, 96};

/// Compiles the sources with the C++ compiler, from files and `jobs` at once, for each of the batch sizes. The slowest
/// units come first, so that no core is idle at the end. `compiler` is a value of --cxx. Fails without a compiler,
/// if files cannot be written, or if a unit does not compile.
Result<std::vector<CompileLowerBound>> measure_cpp_lower_bounds(const std::vector<CompileInput>& work,
                                                                const std::string& compiler, unsigned jobs,
                                                                std::span<const std::size_t> batches);

/// Compiles each kernel with NVRTC, for both precisions and the architectures of the `ptx` device, `jobs` at once.
/// Fails without NVRTC, or if a kernel does not compile.
Result<CompileLowerBound> measure_nvrtc_lower_bound(const std::vector<CompileInput>& work, unsigned jobs);

/// The mean of all measurements of the same work, by batch size.
std::vector<CompileLowerBound> means_of(const std::vector<CompileLowerBound>& measured);

}  // namespace assay::benchmark
