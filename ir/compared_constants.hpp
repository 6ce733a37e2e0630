// Finds the integers, the extents and the special floats that may decide which branch a kernel takes.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// Integers that the kernel, or a function that it calls, compares with a value or combines with one bit by bit, and
/// for comparisons of order their neighbours: 2 for `kind == 2`; -2, -1 and 0 for `state < -1`; 4 for `flags & 4`.
/// Ascending, each once. The module must be valid.
std::vector<std::int64_t> compared_constants(const Module& module, const Function& kernel);

/// Whether the kernel, or a function that it calls, computes with the extent of an array or compares it, other than to
/// wrap an index. The module must be valid.
bool uses_extents(const Module& module, const Function& kernel);

/// Whether the kernel, or a function that it calls, tests whether a float is NaN, infinite or finite. The module must
/// be valid.
bool tests_finiteness(const Module& module, const Function& kernel);

}  // namespace assay::ir
