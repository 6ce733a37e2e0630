// Whether a kernel that was built does without a barrier.
#pragma once

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// The barriers that are asked about are `bar.sync 1` in the source. Whether every entry of the lane, in the PTX for
/// each architecture, is as right without them (barrier_use.hpp); false where the kernel has no PTX. Fails where the
/// PTX cannot be read.
Result<bool> barrier_1_is_needless(const backends::BuiltKernel& kernel, backends::Precision precision);

}  // namespace assay::ptx
