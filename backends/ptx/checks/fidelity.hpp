// Whether an approximation can have reached what a run stored. Private to the machine.
#pragma once

#include <cstdint>
#include <span>

#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// True when a value that an approximate instruction gave without a table that knew it, or that was computed from one,
/// was stored to global memory, decided an address of it or chose whether something was stored. `executed` counts each
/// op of the kernel, and `approximated` what of it was approximate.
///
/// It follows values through registers, and through shared and local memory each as a whole, without regard to the
/// order of instructions: an upper bound. Which way a branch went does not count.
[[nodiscard]] bool approximation_reaches_result(const Kernel& kernel, std::span<const std::uint64_t> executed,
                                                std::span<const std::uint64_t> approximated);

}  // namespace assay::ptx
