// The libraries and directories of this machine that devices use.
#pragma once

#include <string>
#include <vector>

namespace assay::backends {

/// A library or directory that a device uses and that this machine may lack.
struct Tool {
  std::string name;               ///< name of the tool: "NVRTC"
  bool is_available = false;      ///< whether this machine has it
  std::string version_or_reason;  ///< version and location if it is available; otherwise why it is not
};

/// NVRTC, nvcc, clang, Triton, the CUDA driver, CUPTI and the build cache.
std::vector<Tool> find_tools();

}  // namespace assay::backends
