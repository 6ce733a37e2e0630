// Differences between two gradients that the oracle computed for one input set.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harness/judge/input_set.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// One component of two gradients that differ.
struct GradientDifference {
  std::size_t parameter = 0;  ///< index of the parameter in the kernel
  std::size_t component = 0;  ///< number of the component in the parameter
  long double first = 0;      ///< value in the first gradient
  long double second = 0;     ///< value in the second gradient
  double bound = 0;           ///< allowed difference, with f64 promotion

  /// The differing component, as component_notation writes it.
  std::string name(const KernelUnderTest& subject, const InputSet& set) const;
};

/// The largest difference relative to its bound between the gradients of two evaluations; empty if all components
/// agree. Components that are not finite are not compared. Both evaluations must report all elements.
std::optional<GradientDifference> find_gradient_difference(const reference::ReferenceResult& first,
                                                           const reference::ReferenceResult& second);

}  // namespace assay::harness
