// Random kernels that stress an optimizer: a loop of unknown length with nested branches on one variable, whose arms
// change one or two states. The reverse loop of their gradients has the same branches again, next to checkpoints.
#pragma once

#include <cstdint>
#include <string>

namespace assay::compilers {

/// The Python text of the kernel with this seed, named "stress_SEED". The same seed gives the same text forever.
std::string stress_kernel(std::uint64_t seed);

}  // namespace assay::compilers
