// Replaces local arrays by values, which the adjoint can differentiate.
#pragma once

#include <optional>

#include "ir/module.hpp"

namespace assay::transforms {

/// Whether a local array can be replaced by one vector or matrix: up to 256 scalars except bools, or 16 vectors.
bool is_held(ir::Type array);

/// The function with each such local array replaced by one vector or matrix variable; loads extract and stores insert a
/// part. Arrays of other elements are first split (split_arrays.hpp). Longer arrays are kept. Empty if no array is
/// replaced.
std::optional<ir::Function> replace_local_arrays(const ir::Module& module, const ir::Function& function);

/// The module with local arrays of all its functions replaced; empty if no array is replaced.
std::optional<ir::Module> replace_local_arrays(const ir::Module& module);

}  // namespace assay::transforms
