// Finds values that a lower precision represents exactly, so that rounding them changes nothing.
#pragma once

#include <cstdint>

#include "ir/module.hpp"

namespace assay::mutation {

/// Whether the lower precision `low` represents exactly every number that the field of a struct can have, in all
/// functions and kernels of the module: the module assigns only constants, signs and choices between them to the field,
/// and no kernel gets structs of the type from its arguments. For example, the sign of a mesh query is 1 or -1.
bool has_exact_field(const ir::Module& module, ir::Type struct_type, std::int32_t field, ir::Scalar low);

}  // namespace assay::mutation
