// Removes dead statements.
#pragma once

#include "ir/module.hpp"

namespace assay::reduce {

/// Removes from the kernel and from functions in the Python text every statement on which no changed array, result or
/// jump depends. Also removes loops with empty bodies, even endless ones.
void remove_dead_statements(ir::Module& module);

}  // namespace assay::reduce
