// Tests whether approximations may have affected stored values. Private to the machine.
#pragma once

#include <cstdint>
#include <span>

#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// True if the result of an approximate instruction that no table covers, or a value computed from it, was stored to
/// global memory, or determined the address or the guard of a global store. `executed` contains the execution count of
/// each op of the kernel, and `approximated` how many of these were approximate.
///
/// Values are tracked through registers, and through shared and local memory each as a whole, ignoring the order of
/// instructions, so the result is conservative. Effects on the direction of branches are ignored.
[[nodiscard]] bool approximation_reaches_result(const Kernel& kernel, std::span<const std::uint64_t> executed,
                                                std::span<const std::uint64_t> approximated);

}  // namespace assay::ptx
