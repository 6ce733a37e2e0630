// Tests whether a barrier of a built kernel is redundant.
#pragma once

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// Whether the barriers `bar.sync 1` are redundant (barrier_use.hpp) in every entry of the given precision, in the PTX
/// for each architecture; false if the kernel has no PTX. Fails if the PTX cannot be parsed.
Result<bool> is_barrier_1_redundant(const backends::BuiltKernel& kernel, backends::Precision precision);

}  // namespace assay::ptx
