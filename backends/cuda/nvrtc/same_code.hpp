// Whether two kernels are the same program to NVRTC.
#pragma once

#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// Whether NVRTC makes the same PTX of both, in both lanes. Both are sources for CUDA with the same symbols. Fails
/// where there is no NVRTC, or it refuses one of them.
Result<bool> same_compiled_code(const backends::EmittedKernel& a, const backends::EmittedKernel& b);

}  // namespace assay::cuda
