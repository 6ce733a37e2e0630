// Small random programs for the adjoint: loops, branches, jumps, scalar and vector state, memory of the thread's own.
#pragma once

#include <cstdint>

#include "ir/module.hpp"

namespace assay::transforms::testing {

/// One kernel over one thread index. Arrays: x (f64, read), out (f64, cell i), cells (f64, four cells from 4 i on),
/// sums (f64, updated atomically), k (i32, read; values from 0 to 4); values: c (f64), n (i32, from 0 to 4). Every
/// loop ends, every access of at most four threads stays inside arrays of extent 30, values are tame.
ir::Module random_program(std::uint64_t seed);

}  // namespace assay::transforms::testing
