// Whether two kernels are the same program to an optimising compiler.
#pragma once

#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cpu {

/// Whether the compiler (a command; empty: $CXX, else c++) makes the same code of both at -O2, in both lanes. Both are
/// sources for the CPU with the same symbols. Fails when the compiler cannot be run or refuses one of them.
Result<bool> same_optimised_code(const std::string& compiler, const backends::EmittedKernel& a,
                                 const backends::EmittedKernel& b);

}  // namespace assay::cpu
