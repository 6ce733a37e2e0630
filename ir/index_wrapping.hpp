// Warp's rule for indices below zero: they count from the end, at run time, for arrays, vectors and matrices.
//
// In the kernel language an index below zero is out of bounds. A frontend for Warp expresses this with the
// operation wrap_index(i, n), which is i + n for i below zero. Most indices cannot be below zero, thread indices and
// loop variables among them; these stay as they are.
#pragma once

#include "ir/module.hpp"

namespace assay::ir {

/// Wraps every index of an element or component that may be below zero. Offsets of tiles stay as they are.
void wrap_indices(Function& function);
void wrap_indices(Module& module);

}  // namespace assay::ir
