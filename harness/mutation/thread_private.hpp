// Detects thread-private elements of arrays.
#pragma once

#include "harness/mutation/mutation.hpp"

namespace assay::mutation {

/// Whether no other thread of any launch accesses the gradient element to which the statement adds. Conservative: false
/// may mean that it is not known. In every access to the array, some index must differ between threads: it has the form
/// a i + b with a thread index i and a constant a, and its unknown part is a multiple of a number that does not divide
/// the difference of two threads. Tiles must be equal in every access, so that each element belongs to one thread, and
/// must not overlap. Indices are assumed not to wrap around.
bool adds_to_private_element(const MutationContext& context, const ir::Atomic& addition);

}  // namespace assay::mutation
