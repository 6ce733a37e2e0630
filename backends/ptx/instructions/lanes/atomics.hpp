// What atomic operations do to a cell. Private to the machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/ptx/parse/modifier.hpp"
#include "backends/ptx/parse/type.hpp"

namespace assay::ptx {

/// Applies an operation to the cell at `cell` and returns what it held; `b` is the new value of a compare-and-swap.
using AtomicFunction = std::uint64_t (*)(std::byte* cell, std::uint64_t a, std::uint64_t b);

/// Null for a combination that PTX does not have or the lane does not know. On global memory additions of f32 flush
/// subnormals, on shared memory they do not.
AtomicFunction find_atomic(Modifier operation, Type type, bool is_global);

}  // namespace assay::ptx
