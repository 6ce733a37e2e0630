// Comparison with tolerances, as most tests of kernels make it. Reported next to the verdict of a foreign kernel, to
// show what such a test would have said; never part of the verdict.
#pragma once

#include <array>
#include <span>

#include "harness/judge/compare/comparator.hpp"

namespace assay::harness {

/// The tolerances that are tried, each as absolute and as relative tolerance.
inline constexpr std::array kComparedTolerances{1e-2, 1e-4};
/// Number of uniformly drawn input sets that are compared with tolerances, at most.
inline constexpr std::int64_t kInputSetsComparedWithTolerances = 5;

/// Whether |got - expected| <= tolerance + tolerance * |expected| for each scalar, as numpy.allclose with equal_nan
/// compares. Infinities must be equal. `got` and `expected` have the same size.
bool are_close(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected, double tolerance);

}  // namespace assay::harness
