// T0 on one kernel and its inputs: whether the oracle agrees with itself.
#pragma once

#include <cstdint>
#include <string>

#include "reference/cpu/reference.hpp"

namespace assay::reference {

struct SelfCheck {
  bool agrees = true;
  bool conclusive = true;    ///< false: no finite differences, the inputs are too close to a kink
  std::string message = {};  ///< where it disagrees
};

/// Checks `swept`, the oracle's own result of `run` with gradients, along random directions: the sweep against
/// dual numbers (2^-45 of the contributions' mass), and dual numbers against extrapolated differences (1e-8 plus their
/// own error estimate, or closer and closer as the steps shrink), these along the first direction whose points stay on
/// the path: they cost most, and a wrong partial shows along any. Without `differences` the latter is left out: a
/// derivative that the source gives itself need not be that of the values.
SelfCheck self_check(const Oracle& oracle, const Run& run, const Reference& swept, std::uint64_t seed,
                     int directions = 2, bool differences = true);

}  // namespace assay::reference
