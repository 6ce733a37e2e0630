// Warp treats `a[i] += v` as an atomic addition. If every access to the array uses the thread's private element, the
// update need not be atomic: it becomes a load, an addition and a store, and the kernel may also read the element.
#pragma once

#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// Turns atomic additions and subtractions into load, operation and store for arrays that the kernel also reads. Every
/// access to the array must have all thread indices among its indices, each always in the same dimension, so that no
/// other thread accesses the element.
void lower_private_atomics(const ir::Function& kernel, SsaKernel& ssa);

}  // namespace assay::transforms
