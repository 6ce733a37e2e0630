// Warp reads `a[i] += v` as an atomic addition. Where every access to the array names the thread's own cell, nothing
// about it is atomic: it is a load, an addition and a store, and the kernel may also read the cell.
#pragma once

#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// Turns atomic additions and subtractions into load, operation and store, for arrays that the kernel also loads
/// from and whose every access has all thread indices among its indices, each always in the
/// same place: no other thread then touches the cell.
void lower_private_atomics(const ir::Function& kernel, SsaKernel& ssa);

}  // namespace assay::transforms
