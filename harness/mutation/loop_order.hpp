// Whether the iterations of a loop of the adjoint may come in any order.
#pragma once

#include "harness/mutation/mutation.hpp"

namespace assay::mutation {

/// Whether no iteration leaves to another what it then reads: a proof, so that "no" may also mean "not known". One of
/// these must hold of the loop:
/// - its body does not mention its variable, so that each iteration does the same;
/// - each adjoint from outside that it assigns is a sum that nothing else in it reads, a copy of itself, or a value of
///   which an iteration reads and changes its own component alone; and each gradient that it reads and changes, or
///   clears, it accesses in the iteration's own slice alone.
bool may_run_in_any_order(const Setting& setting, const ir::For& loop);

}  // namespace assay::mutation
