// Whether the iterations of a loop of the adjoint may run in any order.
#pragma once

#include "harness/mutation/mutation.hpp"

namespace assay::mutation {

/// Whether no iteration writes a value that another one reads. Conservative: false may mean that it is not known. True
/// if one of these holds:
/// - the body does not use the loop variable, so that all iterations are identical;
/// - each outer adjoint that the body assigns is a sum that nothing else in the loop reads, a copy of itself, or a
/// value
///   of which each iteration reads and changes only its own component; and each gradient that the body reads and
///   changes, or clears, is accessed only in the iteration's own slice.
bool is_order_independent(const MutationContext& context, const ir::For& loop);

}  // namespace assay::mutation
