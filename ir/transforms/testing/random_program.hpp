// Small random programs for tests of the adjoint: loops, branches, jumps, scalar and vector state, thread-private
// memory.
#pragma once

#include <cstdint>

#include "ir/module.hpp"

namespace assay::transforms::testing {

/// A kernel with one thread index. Arrays: x (f64, read), out (f64, element i), cells (f64, four elements from 4 i),
/// sums (f64, updated atomically), k (i32, read; values from 0 to 4); values: c (f64), n (i32, from 0 to 4). Every loop
/// terminates, accesses of up to four threads stay inside arrays of extent 30, and values stay bounded.
ir::Module random_program(std::uint64_t seed);

}  // namespace assay::transforms::testing
