// What this machine is and can do, as runs record it and `assay doctor` shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/devices.hpp"
#include "harness/records/record.hpp"

namespace assay::cli {

/// Looks at the system, the compilers and every device.
harness::Environment look_at_environment(const DeviceOptions& options);

/// One thing that Assay uses and may lack.
struct Tool {
  std::string name;  ///< "NVRTC"
  bool available = false;
  std::string detail;  ///< version and place, or the reason
};

/// NVRTC, the CUDA driver, CUPTI and the build cache.
std::vector<Tool> look_at_tools();

}  // namespace assay::cli
