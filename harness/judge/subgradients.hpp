// Gradients at inputs on a threshold, where a kernel has no derivative and its generator chooses one. Private to the
// judge.
#pragma once

#include <cstddef>
#include <span>

#include "harness/judge/context.hpp"

namespace assay::harness {

/// The scalars of one gradient after a launch that differ from the oracle's.
struct DifferingScalars {
  std::size_t gradient_index;                ///< index of the gradient
  double gradient_factor;                    ///< how often the launches added the gradient to its buffer
  std::span<const ComputedScalar> got;       ///< all scalars of the buffer
  std::span<const ExpectedScalar> expected;  ///< their expected values; as many as `got`
  std::span<const std::size_t> positions;    ///< positions of those that differ
};

/// Whether each of these scalars is a subgradient: the input behind it lies on a threshold, such as 0 for abs, and the
/// gradient lies between the limits of the derivative from both sides. Stops at the first scalar that is none.
bool are_subgradients(const PassContext& pass_context, const TestLaunch& test_launch, const DifferingScalars& scalars);

}  // namespace assay::harness
