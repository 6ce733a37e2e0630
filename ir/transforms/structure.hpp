// Removes break, continue and return from a function: what follows a jump is guarded by a flag or moves into the branch
// that does not jump, and a loop that may be left early becomes a while loop over one bool variable.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::transforms {

struct Structured {
  ir::Function function;           ///< no Break, Continue or Return; every While's condition is a bool variable
  std::vector<ir::VarId> results;  ///< variables that hold the returned values at the end, zero where none returned
};

Structured structure(const ir::Module& module, const ir::Function& function);

}  // namespace assay::transforms
