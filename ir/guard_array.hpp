// Reads of variables that may be unassigned. A frontend gives such a variable a flag and a local array of one element,
// and each such read also reads this array, at index 1 if the variable is not assigned. The launch is then invalid.
#pragma once

#include <string_view>

#include "ir/types/type.hpp"

namespace assay::ir {

/// Type of the guard array: one i32.
inline constexpr Type kUnassignedGuardArrayType = kI32.local_array_of(1);
/// The suffix in the name of the guard array, which follows the variable's name.
inline constexpr std::string_view kUnassignedGuardArraySuffix = "_before_assignment";

}  // namespace assay::ir
