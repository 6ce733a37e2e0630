// The oracle_self_check of one kernel and its inputs: whether the derivatives of the oracle are consistent.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// The result of self_check().
struct OracleSelfCheckResult {
  bool agrees = true;  ///< whether all compared derivatives agree
  /// Whether finite differences were possible; false if the inputs are too close to a non-differentiable point.
  bool is_conclusive = true;
  std::string message = {};  ///< description of the disagreement; empty if there is none
};

/// Checks `from_reverse_sweep`, the oracle's result of `run` with gradients, along random directions. The reverse sweep
/// must match dual numbers (within 2^-45 of the sum of magnitudes of the contributions). Dual numbers must match
/// extrapolated finite differences (within 1e-8 plus the estimated error, or converging as the steps shrink). Finite
/// differences are the most expensive part and use only the first direction whose points stay on the path, since an
/// incorrect partial derivative shows along any direction. Pass `differences` = false for kernels with custom
/// gradients, which need not match the values.
OracleSelfCheckResult self_check(const Oracle& oracle, const OracleRun& run, const ReferenceResult& from_reverse_sweep,
                                 std::uint64_t seed, int direction_count = 2, bool differences = true);

/// The steps, as shares of the greatest step of a stencil, at which DerivativeSamples looks for oscillations.
inline constexpr std::array<long double, 4> kSampledFractions = {0.171L, 0.382L, 0.618L, 0.853L};

/// A derivative at the center of a stencil, and at kSampledFractions before and after it. They reveal a term of small
/// amplitude that oscillates faster than the stencil resolves: it changes the derivative, but hardly the differences.
struct DerivativeSamples {
  long double derivative_at_center = 0;                           ///< derivative at the center of the stencil
  std::array<long double, kSampledFractions.size()> before = {};  ///< derivatives at steps of -kSampledFractions
  std::array<long double, kSampledFractions.size()> after = {};   ///< derivatives at steps of kSampledFractions

  /// Whether the derivative changes within the stencil, other than linearly, by at least half of `difference`. For a
  /// smooth function it does not, because the step is small.
  bool explain(long double difference) const;
};

}  // namespace assay::reference
