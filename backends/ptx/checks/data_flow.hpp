// Conservative analyses of the data flow in a kernel.
#pragma once

#include <cstdint>
#include <span>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Whether the barriers `bar.sync number` are redundant: no memory that a thread accesses before such a barrier is
/// accessed by another thread after it, with one of the two writing and no other barrier of the block in between.
/// Assumes that all threads of a block execute the same sequence of barriers. The analysis is conservative, so "false"
/// may mean "unknown": shared variables are distinguished by name, and all global memory counts as one variable.
bool are_barriers_redundant(const Module& module, const Function& kernel, std::uint64_t number);

/// True if the result of an approximate instruction that no table covers, or a value computed from it, was stored to
/// global memory, or determined the address or the guard of a global store. `executed` contains the execution count of
/// each op of the kernel, and `approximated` how many of these were approximate.
///
/// Values are tracked through registers, and through shared and local memory each as a whole, ignoring the order of
/// instructions, so the result is conservative. Effects on the direction of branches are ignored.
[[nodiscard]] bool approximation_reaches_result(const Kernel& kernel, std::span<const std::uint64_t> executed,
                                                std::span<const std::uint64_t> approximated);

}  // namespace assay::ptx
