// Compares Warp's gradients with the oracle's. Finite differences decide which one is correct if they differ.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

enum class FiniteDifferenceVerdict : std::uint8_t {
  kWarpIncorrect,   ///< the difference quotient agrees with our gradient and not with Warp's
  kAssayIncorrect,  ///< the difference quotient does not agree with our gradient
  kUndecided,       ///< no difference quotient: a non-differentiable point within every step, or a pole
};

/// An array for which Warp's gradient differs from ours.
struct GradientDifference {
  std::size_t parameter_index = 0;  ///< index of the array's parameter
  std::size_t differing_scalar_count = 0,
              compared_scalar_count = 0;  ///< number of scalars that differ, of those compared
  // The most significant scalar.
  std::string element_notation;                    ///< the scalar in Python notation: "x[3, 2]"
  long double oracle_value = 0;                    ///< the oracle's derivative
  double warp_value = 0;                           ///< Warp's derivative
  std::optional<long double> difference_quotient;  ///< finite difference; empty if none converged
  FiniteDifferenceVerdict finite_difference_verdict = FiniteDifferenceVerdict::kUndecided;
};

struct GradientComparison {
  std::size_t agreeing_arrays = 0;              ///< number of arrays whose gradients agree
  std::size_t unbounded_arrays = 0;             ///< number of arrays without a scalar with a finite bound
  std::vector<GradientDifference> differences;  ///< one for each array whose gradients differ
};

/// Compares the gradients of all float arrays, except arrays that the kernel only overwrites: the content of their
/// gradients after a backward pass is not a derivative. Agreement is |warp - ours| <= 4 bound + 1e-5 magnitude. The
/// answer must be kDone.
GradientComparison compare_gradients(const ComparedKernel& subject, std::size_t launch, const WarpPassResult& answer);

}  // namespace assay::warp
