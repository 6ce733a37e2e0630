// Finds statements that affect the result of a launch.
#pragma once

#include <vector>

#include "harness/mutation/editor.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// By statement (numbered as in statements_of): whether it changes an array that outlives the launch, or computes a
/// value for such a statement. `dead` statements have no effect. A statement without effect may be changed arbitrarily,
/// as long as it terminates and accesses only the kernel's memory.
std::vector<bool> effective_statements(const ir::Function& function, const std::vector<ListedStatement>& statements,
                                       const std::vector<bool>& dead);

}  // namespace assay::mutation
