// Tests whether an optimising compiler generates the same code for two kernels.
#pragma once

#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cpu {

/// Whether the compiler (a command; empty: $CXX, then c++) generates the same code for both kernels at -O2, in both
/// precisions. Both must be CPU sources with the same symbols. Fails if the compiler cannot be run or rejects a kernel.
Result<bool> same_optimised_code(const std::string& compiler, const backends::EmittedKernel& a,
                                 const backends::EmittedKernel& b);

}  // namespace assay::cpu
