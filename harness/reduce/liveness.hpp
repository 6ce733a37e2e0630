// Which statements matter to what a kernel leaves behind.
#pragma once

#include "ir/module.hpp"

namespace assay::reduce {

/// Removes from the functions that stand in the Python text, and from the kernel, every statement on which no array
/// that it changes, no result and no jump depends. Loops whose bodies become empty go, also endless ones.
void remove_dead_statements(ir::Module& module);

}  // namespace assay::reduce
