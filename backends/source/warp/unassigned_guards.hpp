// The code that a frontend adds for variables that may be read before they are assigned (ir/guard_array.hpp): flags,
// guard arrays and the declaration of the variable in an enclosing block. Python needs none of it, and Warp would
// differentiate it: a variable that a branch in a dynamic loop assigns has another gradient if it is declared before.
#pragma once

#include <set>

#include "ir/module.hpp"

namespace assay::source::warp {

struct UnassignedGuards {
  std::set<ir::VarId> variables;          ///< the flags and the guard arrays
  std::set<const ir::Let*> declarations;  ///< the declarations that exist only because of an assignment further inside
};

UnassignedGuards find_unassigned_guards(const ir::Function& function);

/// The value of a read that also reads a guard array; kNone if the expression is not such a read.
ir::ExprId guarded_value(const ir::Function& function, const ir::Expr& expr);

}  // namespace assay::source::warp
