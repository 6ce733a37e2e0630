// Replaces local arrays by values, which the adjoint can differentiate.
#pragma once

#include <optional>

#include "ir/module.hpp"

namespace assay::transforms {

/// The function with each local array of scalars or vectors replaced by one vector or matrix variable; loads extract
/// and stores insert a part. Arrays of more than 256 scalars or 16 vectors, and arrays of other elements, are kept.
/// Empty if no array is replaced.
std::optional<ir::Function> replace_local_arrays(const ir::Module& module, const ir::Function& function);

/// The module with local arrays of all its functions replaced; empty if no array is replaced.
std::optional<ir::Module> replace_local_arrays(const ir::Module& module);

}  // namespace assay::transforms
