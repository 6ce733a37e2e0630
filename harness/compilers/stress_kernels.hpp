// Random kernels that stress an optimizer: a loop of unknown length with nested branches on one variable, or a chain of
// tests as in a switch, whose arms change one or two states, integers of two widths or a local vector. Some arms are
// dead. The reverse loop of their gradients has the same branches again, next to checkpoints.
#pragma once

#include <cstdint>
#include <string>

namespace assay::compilers {

/// The Python text of the kernel with this seed, named "stress_SEED". The same seed gives the same text in one version
/// of Assay; a hunt keeps the texts.
std::string stress_kernel(std::uint64_t seed);

}  // namespace assay::compilers
