// Atomic operations on a memory element. Private to the machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/ptx/parse/modifier.hpp"
#include "backends/ptx/parse/type.hpp"

namespace assay::ptx {

/// Applies an operation to the element at `cell` and returns its previous value; `b` is the new value of a
/// compare-and-swap.
using AtomicFunction = std::uint64_t (*)(std::byte* cell, std::uint64_t a, std::uint64_t b);

/// Null for a combination that PTX does not define or the interpreter does not support. Additions of f32 flush
/// subnormals on global memory, but not on shared memory.
AtomicFunction find_atomic(Modifier operation, Type type, bool is_global);

}  // namespace assay::ptx
