// Compares Warp's gradients with the oracle's. Finite differences decide which one is correct if they differ.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

/// Which gradient finite differences contradict.
enum class FiniteDifferenceVerdict : std::uint8_t {
  kWarpIncorrect,   ///< the finite difference agrees with Assay's gradient, but not with Warp's
  kAssayIncorrect,  ///< the finite difference does not agree with Assay's gradient
  kUndecided,       ///< no finite difference converged: at a pole, or with a non-differentiable point within every step
};

/// An array for which Warp's gradient differs from Assay's.
struct GradientDifference {
  std::size_t parameter_index = 0;  ///< index of the array's parameter
  /// Number of scalars that differ, and of scalars that were compared.
  std::size_t differing_scalar_count = 0, compared_scalar_count = 0;
  // The following members describe the scalar with the most significant difference.
  std::string element_notation;                    ///< the scalar in Python notation: "x[3, 2]"
  long double oracle_value = 0;                    ///< the oracle's derivative
  double warp_value = 0;                           ///< Warp's derivative
  std::optional<long double> difference_quotient;  ///< finite difference; empty if none converged
  /// Which of the two derivatives is incorrect.
  FiniteDifferenceVerdict finite_difference_verdict = FiniteDifferenceVerdict::kUndecided;
};

/// The result of comparing the gradients of one launch.
struct GradientComparison {
  std::size_t agreeing_arrays = 0;              ///< number of arrays whose gradients agree
  std::size_t unbounded_arrays = 0;             ///< number of arrays without a scalar with a finite bound
  std::vector<GradientDifference> differences;  ///< one for each array whose gradients differ
};

/// Compares the gradients of all float arrays, except arrays that the kernel only overwrites: the content of their
/// gradients after a backward pass is not a derivative. Agreement is |Warp's - Assay's| <= 4 bound + 1e-5 magnitude.
/// The status of `answer` must be kDone.
GradientComparison compare_gradients(const ComparedKernel& subject, std::size_t launch, const WarpPassResult& answer);

}  // namespace assay::warp
