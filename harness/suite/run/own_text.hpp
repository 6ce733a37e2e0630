// The user's own text of a kernel, for devices that give Python to Warp. Private to run.
#pragma once

#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// Adds the user's file to a kernel that was emitted as Python, so that Warp gets the user's own text. Returns why this
/// is not possible; empty if the file was added.
std::string add_own_text(const KernelSource& source, backends::EmittedKernel& emitted);

}  // namespace assay::harness
