// Reduces CUDA C++ that a compiler translates incorrectly, as far as the incorrect translation remains.
//
// The source first becomes one function of plain pointers and numbers that one thread runs. A smaller source is
// accepted if the optimized build computes other values than the unoptimized build of the same text, and an optimized
// build of another compiler or target agrees with the unoptimized one. No build may access memory incorrectly or read a
// value that nothing has written.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace assay::compilers {

/// One NVRTC and its target.
struct CudaBuild {
  std::string nvrtc_version_or_path;    ///< path or installed version of NVRTC; empty: the default
  std::string architecture;             ///< target: "compute_100"
  bool contracts_multiply_add = false;  ///< whether the compiler may contract a * b + c to an FMA
};

/// A source that a build compiles incorrectly.
struct MiscompiledCuda {
  std::string source;         ///< text that Assay emitted
  std::string function_name;  ///< name of the function that is compiled incorrectly
  CudaBuild incorrect_build;  ///< the build that is incorrect
  std::vector<CudaBuild>
      reference_builds;  ///< builds that may agree with the unoptimized one; the first that does is used
};

/// The reduced source, and the evidence that a build is incorrect.
struct CudaReduction {
  std::string source;                   ///< the reduced text
  std::size_t line_count = 0;           ///< number of lines of `source`
  std::size_t original_line_count = 0;  ///< number of lines before the reduction
  std::string incorrect_ptx;            ///< PTX of `incorrect_build`
  std::string correct_ptx;              ///< PTX of `reference_build`
  CudaBuild incorrect_build;            ///< the build that is incorrect
  CudaBuild reference_build;            ///< the build that agrees with the unoptimized one
  std::string inputs;                   ///< values of the inputs, as C++: "x = {-1.5, 0.5}, n = 3"
  std::string result_difference;        ///< an incorrect value: "grad_x[0] is -1.7 and must be 0.38"
  std::string host_program;             ///< CUDA C++ that runs the reduced function on a GPU and prints the results
  std::size_t compilation_count = 0;    ///< number of texts that were compiled
  bool is_minimal = false;              ///< whether no further step makes it smaller; false if the time was not enough
};

/// Reduces the source within `time`, with `jobs` compilations at the same time. Fails if the function has a parameter
/// that is neither a number nor an array of numbers with one dimension, or if no inputs show the incorrect result.
Result<CudaReduction> reduce_cuda(const MiscompiledCuda& failure, std::chrono::milliseconds time, unsigned jobs);

}  // namespace assay::compilers
