// Splits local arrays of compound elements, such as structs and matrices, into one local array for each number.
#pragma once

#include <optional>

#include "ir/module.hpp"

namespace assay::transforms {

/// The function with each local array of compound elements replaced by local arrays of scalars; a load makes the
/// element of its parts, and a store stores each part. Kept are arrays with bools, arrays that are passed to functions,
/// and short arrays of vectors, which replace_local_arrays() can replace as they are. Empty if no array is split.
std::optional<ir::Function> split_local_arrays(const ir::Module& module, const ir::Function& function);

}  // namespace assay::transforms
