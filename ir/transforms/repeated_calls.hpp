// Which functions the adjoint pass differentiates once, instead of inlining each of their calls.
#pragma once

#include <cstdint>
#include <set>

#include "ir/module.hpp"

namespace assay::transforms {

/// Returns the indices of the functions that `kernel` and the functions it calls call at more than one place, if they
/// are long enough and their adjoints can be functions: they return values, their parameters are values or arrays that
/// they only read, no values are tiles, no arrays have structs, and no called function has a custom gradient or replay.
std::set<std::int32_t> repeatedly_called_functions(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
