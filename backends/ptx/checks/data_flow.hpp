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

/// Returns whether a store to global memory depends on the result of an approximate instruction that no table covers:
/// whether the stored value, the address or the guard is that result or was computed from it. `executed` is the number
/// of executions of each op of the kernel, and `approximated` the number of those that were approximate. The analysis
/// follows values through registers. It treats shared memory and local memory each as one variable and ignores the
/// order of instructions, so it may return true too often. It ignores effects on the direction of branches.
[[nodiscard]] bool approximation_reaches_result(const Kernel& kernel, std::span<const std::uint64_t> executed,
                                                std::span<const std::uint64_t> approximated);

}  // namespace assay::ptx
