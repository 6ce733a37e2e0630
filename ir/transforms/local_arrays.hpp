// Local arrays as values: what the adjoint differentiates.
#pragma once

#include <optional>

#include "ir/module.hpp"

namespace assay::transforms {

/// The function with each local array of numbers, or of vectors of them, as one vector or matrix variable, of which
/// loads take and stores replace a part. Arrays of more than 256 numbers or 16 vectors, and of other elements, stay.
/// Nothing where all stay.
std::optional<ir::Function> without_local_arrays(const ir::Module& module, const ir::Function& function);

/// The module with the same done to all its functions; nothing where none has such an array.
std::optional<ir::Module> without_local_arrays(const ir::Module& module);

}  // namespace assay::transforms
