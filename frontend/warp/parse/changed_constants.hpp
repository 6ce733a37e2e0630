// Rejects dynamic loops that change a name which Warp treats as a constant.
//
// In Warp, a name whose value is a literal or a constant expression stands for the constant itself, not for a variable
// with this value. At the end of each iteration of a loop that Warp does not unroll, and at `break` and `continue`, the
// new values of names must go where the old ones were; Warp rejects the loop if one of them was such a constant.
#pragma once

#include "frontend/warp/parse/function_context.hpp"

namespace assay::frontend {

/// Rejects the function, after its body was parsed, if a dynamic loop changes a name that stands for a constant.
void reject_changed_constants(FunctionContext& context);

}  // namespace assay::frontend
