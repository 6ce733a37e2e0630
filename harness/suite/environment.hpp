// What this machine is and can do, as runs record it and `assay doctor` shows it.
#pragma once

#include "backends/device/registry.hpp"
#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Describes the system, the compilers and every device. Fails only if an option is invalid.
Result<RunEnvironment> find_environment(const backends::DeviceOptions& options);

}  // namespace assay::harness
