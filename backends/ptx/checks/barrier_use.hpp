// Tests whether a kernel's barriers order any memory accesses.
#pragma once

#include <cstdint>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Whether the barriers `bar.sync number` are redundant: no memory that a thread accesses before such a barrier is
/// accessed by another thread after it, with one of the two writing and no other barrier of the block in between.
/// Assumes that all threads of a block execute the same sequence of barriers. The analysis is conservative, so "false"
/// may mean "unknown": shared variables are distinguished by name, and all global memory counts as one variable.
bool are_barriers_redundant(const Module& module, const Function& kernel, std::uint64_t number);

}  // namespace assay::ptx
