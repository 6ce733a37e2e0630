// Which parameters influence what a kernel writes.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

/// The parameters that may influence the content of the array `output` after the launch, through values or through
/// conditions, in order of the parameters. The analysis follows the order of the statements: a stored value that is
/// always overwritten later has no influence. It recognizes this only for the element with the thread's own indices, as
/// in x[i].
std::vector<ir::VarId> parameters_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output);

}  // namespace assay::dataset
