// The C++ and CUDA C++ code that Warp generates for a kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/warp/interpreter.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// A kernel for which to generate code.
struct GeneratedCodeRequest {
  std::string python_source;  ///< text of a Python file, which is executed
  std::string kernel_name;    ///< name of the kernel in the file
  /// Number of threads of the block that processes each index of the launch together; 0: each thread processes one.
  int threads_per_tile_block = 0;
};

/// The code that Warp generates for a kernel. Comments in it that name the Python file name it `<kernel>.py`, so that
/// equal Python gives equal text.
struct GeneratedSources {
  std::string cpu_forward;    ///< function of the forward pass in C++
  std::string cpu_backward;   ///< function of the backward pass; empty if the kernel has none
  std::string cuda_forward;   ///< kernel of the forward pass in CUDA C++
  std::string cuda_backward;  ///< kernel of the backward pass; empty if the kernel has none
  std::string cpu_source;     ///< complete file for the CPU; it includes Warp's headers
  std::string cuda_source;    ///< complete file for CUDA, with both passes
};

/// Generates the code of each kernel in one Python process, without compiling it. A kernel that Warp rejects, or that
/// crashes the process, gives an error with Warp's message. Fails if the process cannot be run. Thread-safe.
Result<std::vector<Result<GeneratedSources>>> generate_sources(const WarpInterpreter& interpreter,
                                                               std::span<const GeneratedCodeRequest> requests);

}  // namespace assay::warp
