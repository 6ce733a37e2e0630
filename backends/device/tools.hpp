// The libraries and folders of this machine that devices use.
#pragma once

#include <string>
#include <vector>

namespace assay::backends {

/// Something that a device uses and that may be missing.
struct Tool {
  std::string name;  ///< "NVRTC"
  bool available = false;
  std::string detail;  ///< version and location, or the reason
};

/// NVRTC, the CUDA driver, CUPTI and the build cache.
std::vector<Tool> find_tools();

}  // namespace assay::backends
