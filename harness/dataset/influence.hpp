// Which parameters and functions influence what a kernel writes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

/// The parameters that may influence the content of the array `output` after the launch, through values or through
/// conditions, in order of the parameters. The analysis follows the order of the statements: a stored value that is
/// always overwritten later has no influence. It recognizes this only for the element with the thread's own indices, as
/// in x[i].
std::vector<ir::VarId> parameters_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output);

/// The names of the functions whose results may influence it, a part of `functions_called` in difficulty.hpp. Atomics
/// are not among them.
std::set<std::string> functions_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output);

}  // namespace assay::dataset
