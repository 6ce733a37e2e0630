// Which statements have a part in what a launch leaves behind.
#pragma once

#include <vector>

#include "harness/mutation/editor.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// By statement (the numbers of statements_of): whether it changes an array that outlives the launch, or gives a value
/// to a statement that does. `dead` statements count for nothing. What is left out may be changed at will, as long as
/// it ends and reads no memory that is not the kernel's.
std::vector<bool> effective_statements(const ir::Function& function, const std::vector<Listed>& statements,
                                       const std::vector<bool>& dead);

}  // namespace assay::mutation
