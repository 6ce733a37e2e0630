// Kernels whose caller passes one array for several parameters.
#pragma once

#include <span>

#include "ir/module.hpp"

namespace assay::transforms {

/// The kernel with each parameter p replaced by parameter same_as[p] <= p, and removed if that is another one.
/// `same_as` has one entry for each parameter; replaced parameters have the same type. Comments above the kernel
/// mention the remaining parameter.
ir::Function merge_parameters(ir::Function kernel, std::span<const ir::VarId> same_as);

}  // namespace assay::transforms
