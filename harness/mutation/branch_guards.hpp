// Which branches and loops contain each statement. Private to this folder.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "ir/module.hpp"

namespace assay::mutation {

/// The branches that contain a statement: the variable that decides each of them, and the value that selects it. Bodies
/// of loops, and branches that no variable decides, have negative numbers instead of a variable.
using BranchGuards = std::set<std::pair<ir::VarId, bool>>;

/// By statement of the block, in program order and including nested ones.
std::vector<BranchGuards> guards_of(const ir::Function& function, const ir::Block& block);

}  // namespace assay::mutation
