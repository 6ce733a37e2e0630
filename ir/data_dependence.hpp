// Finds the arrays that a kernel accesses only for some contents of its arrays.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// By parameter of the kernel: whether the content of an array may decide which elements of the parameter are accessed,
/// as in `if x[i] > 0.0: y[i] = 1.0` and `y[index[i]]`. Conservative: true where the analysis cannot tell. The module
/// must be valid.
std::vector<bool> has_data_dependent_accesses(const Module& module, const Function& kernel);

}  // namespace assay::ir
