// Removes break, continue and return from a function: the code after a jump is guarded by a flag or moved into the
// branch that does not jump, and a loop with an early exit becomes a while loop over one bool variable.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::transforms {

/// A function without break, continue and return.
struct JumpFreeFunction {
  /// Function without Break, Continue and Return, in which the condition of every While is a bool variable.
  ir::Function function;
  std::vector<ir::VarId>
      results;  ///< variables that hold the results at the end of the body; zero if no return was reached
};

JumpFreeFunction structure(const ir::Module& module, const ir::Function& function);

}  // namespace assay::transforms
