// Plain loads that only supply the first guess of a compare-and-swap.
//
// The CUDA C++ Programming Guide implements other atomics by a loop of compare-and-swaps, whose first read is plain:
//
//     old = *address;
//     do {
//       assumed = old;
//       old = atomicCAS(address, assumed, value_computed_from(assumed));
//     } while (assumed != old);
//
// If another thread has changed the word in the meantime, the compare-and-swap fails and returns the current value.
// The plain read is therefore harmless, although nothing orders it with the atomics of other threads.
#pragma once

#include <set>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Returns the plain loads of a function whose value is only a guess. Such a load and a compare-and-swap access the
/// same address with the same width. On each path from the load, the value reaches only
///
/// - the value that this instruction compares with the memory, by copies;
/// - the new value of the same compare-and-swap;
/// - comparisons that decide a branch; and
/// - any instruction after the compare-and-swap has succeeded, so that the guess was the content of the memory.
///
/// The analysis follows registers, not memory, and is conservative: it may miss loads.
[[nodiscard]] std::set<const Instruction*> find_guess_loads(const Function& function);

}  // namespace assay::ptx
