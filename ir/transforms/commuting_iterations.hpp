// Loops whose iterations the reverse sweep may visit in any order, such as sums over the results of a query.
#pragma once

#include "ir/transforms/activity.hpp"
#include "ir/transforms/part_updates.hpp"
#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// Whether the reverse sweep may visit the iterations of the loop in any order. This is so if every active carried
/// value is a sum that nothing else in the loop uses, or a vector or matrix to whose parts the loop only adds: its
/// adjoint is then the same before and after each iteration. The loop must also not store floats, or update them
/// atomically other than by sums.
bool has_commuting_iterations(const ir::Module& module, const ir::Function& kernel, const Loop& loop,
                              const Activity& activity, const PartUpdates& part_updates);

}  // namespace assay::transforms
