// Whether barriers of a kernel order any accesses to memory.
#pragma once

#include <cstdint>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Whether the kernel is as right without its barriers `bar.sync number`: whatever a thread accesses before such a
/// barrier, and another thread behind it, with no other barrier of the block in between, is never the same memory with
/// one of them writing to it. Takes for granted that all threads of a block come to the same barriers, one after
/// another. A proof, so that "false" may also mean "not known": shared variables are told apart by name, global memory
/// is one.
bool barriers_order_nothing(const Module& module, const Function& kernel, std::uint64_t number);

}  // namespace assay::ptx
