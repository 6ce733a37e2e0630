// Transforms of array elements that only one thread accesses.
#pragma once

#include <optional>

#include "ir/module.hpp"
#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// A thread-private element that is always accessed by the same indices can be kept in a variable of its thread. A loop
/// may then change and read it: the reverse sweep can restore variables, but not memory.
///
/// The kernel with a variable for each array of which it reads and changes only one thread-private element, in a loop:
/// all accesses use the same indices, which include all thread indices and are otherwise constants. The variable is
/// loaded before the first statement if the element is inside the array, and every change is stored. Empty if there is
/// no such array.
std::optional<ir::Function> promote_private_elements(const ir::Module& module, const ir::Function& kernel);

/// Warp treats `a[i] += v` as an atomic addition. If every access to the array uses the thread's private element, the
/// update need not be atomic, and the kernel may also read the element.
///
/// Turns atomic additions and subtractions into load, operation and store for arrays that the kernel also reads. Every
/// access to the array must have all thread indices among its indices, each always in the same dimension, so that no
/// other thread accesses the element.
void lower_private_atomics(const ir::Function& kernel, SsaKernel& ssa);

}  // namespace assay::transforms
