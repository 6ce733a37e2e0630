// Whether each thread of a launch has cells of an array to itself.
#pragma once

#include "harness/mutation/mutation.hpp"

namespace assay::mutation {

/// Whether the cell of a gradient that the statement adds to is accessed by no other thread of any launch: a proof, so
/// that "no" may also mean "not known". In every access to the array some index tells the threads apart. It is a i + b,
/// with a thread index i and a number a, and all that is not known of it is a multiple of a number that no difference
/// of two threads comes to. Tiles must be the same in every access, so that each of their elements is one thread's, and
/// may not overlap. No index is taken to wrap around.
bool adds_to_own_cell(const Setting& setting, const ir::Atomic& addition);

}  // namespace assay::mutation
