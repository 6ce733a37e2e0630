// Tests whether NVRTC generates the same code for two kernels.
#pragma once

#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// Whether NVRTC generates the same PTX for both kernels, in both precisions. Both must be CUDA sources with the same
/// symbols. Fails if NVRTC is missing or rejects a kernel.
Result<bool> same_compiled_code(const backends::EmittedKernel& a, const backends::EmittedKernel& b);

}  // namespace assay::cuda
