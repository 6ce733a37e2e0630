// Compares what a foreign kernel computes without rounding with the oracle (docs/design/numerics.md, "The algorithm").
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/judge/input_set.hpp"

namespace assay::harness {

/// The allowed error of an unrounded value, in units of the oracle's bound for a kernel with f64 promotion. That bound
/// is a few times 2^-53 times the sum of the influences of all inputs, so the allowed error is about 1e-12 of this sum.
inline constexpr double kUnroundedErrorFactor = 0x1p13;
/// How many times half an ulp each constant in the code may be off. Correct kernels need 1.1. A constant that is off by
/// a factor of 1.00001 is off by more than 100 times half an ulp.
inline constexpr double kConstantErrorFactor = 2;
/// The additional error that polynomials of math libraries may cause, in units of the bound of the rounded value
/// without its own rounding. Correct kernels need 0.07.
inline constexpr double kPolynomialErrorFactor = 0.25;

/// The unrounded scalars of one array, and whether they agree with the oracle.
struct UnroundedComparison {
  std::vector<ComputedScalar> computed;  ///< by scalar: the unrounded value
  std::vector<ExpectedScalar>
      expected;             ///< by scalar: the oracle's value, and the allowed error of the unrounded value
  ComparisonResult result;  ///< comparison of the scalars that threads write
};

/// `bytes`: what the device wrote (UnroundedArrayHeader); `exact` and `rounded`: what the oracle expects with f64
/// promotion and with the kernel's own types; `layout`: type and shape of the array, whose scalars are floats of one
/// type. Returns nullopt if the device wrote nothing, or if a comparison in the launch would have another result
/// without rounding.
std::optional<UnroundedComparison> compare_unrounded_values(std::span<const std::byte> bytes, const ir::Module& module,
                                                            const ir::Argument& layout, const ExpectedArray& exact,
                                                            const ExpectedArray& rounded);

}  // namespace assay::harness
