// A cell that only one thread touches, and always by the same indices, is a variable of that thread that happens to lie
// in memory. A loop may then change it and read it: the reverse sweep keeps variables, not memory.
#pragma once

#include <optional>

#include "ir/module.hpp"

namespace assay::transforms {

/// The kernel with a variable for each array of which it reads and changes one cell in a loop: all thread indices are
/// among the cell's indices, every other index is a constant, and all accesses name this cell. The variable is loaded
/// before the first statement, where the cell lies inside the array, and every change is stored. Nothing where there is
/// no such array.
std::optional<ir::Function> keep_own_cells(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
