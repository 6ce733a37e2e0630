// Which parameters influence what a kernel writes.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

/// The parameters of which values or conditions may influence what the kernel finally leaves in the array `output`, in
/// order. The analysis follows the order of the statements: a value that is always overwritten has no influence. It
/// knows which elements are overwritten only for the element with the thread's own indices, as in x[i].
std::vector<ir::VarId> parameters_behind(const ir::Function& kernel, ir::VarId output);

}  // namespace assay::dataset
