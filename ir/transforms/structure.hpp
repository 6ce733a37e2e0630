// Removes break, continue and return from a function: the code after a jump is guarded by a flag or moved into the
// branch that does not jump, and a loop with an early exit becomes a while loop over one bool variable.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::transforms {

/// A function without jumps.
struct JumpFreeFunction {
  ir::Function function;  ///< has no Break, Continue or Return; the condition of every While is a bool variable
  std::vector<ir::VarId>
      results;  ///< variables that hold the returned values at the end; zero if no return was reached
};

JumpFreeFunction structure(const ir::Module& module, const ir::Function& function);

}  // namespace assay::transforms
