// Computes instructions on unrounded values.
#pragma once

#include <cstdint>
#include <span>

#include "backends/ptx/unrounded/plan.hpp"

namespace assay::ptx {

/// Facts about a launch that limit what its unrounded values say.
struct UnroundedLosses {
  /// Comparisons that are true for the rounded values and false for the unrounded values, or vice versa. The kernel
  /// then took a path that it would not take without rounding.
  std::uint64_t ambiguous_decision_count = 0;
  const Op* first_ambiguous_decision = nullptr;  ///< null if there is none
  /// Results of operations on the bits of floats whose unrounded values differ from their rounded values, and that
  /// cannot be followed. Computation goes on with the rounded value.
  std::uint64_t lost_value_count = 0;
  const Op* first_lost_value = nullptr;  ///< null if there is none
  /// UnroundedArrayHeader::host_value_count; 0 for a launch.
  std::uint64_t host_value_count = 0;
  /// Whether the launch evaluated a polynomial with rounded coefficients. Math libraries approximate functions by such
  /// polynomials, whose error is part of the unrounded values.
  bool evaluates_polynomials = false;
  /// Whether an operation, other than a division or the like, had an infinite result.
  bool overflows = false;
  /// The functions of kApproximateFunctions (execute/approximation_errors.hpp) whose instructions the launch executed.
  /// Unrounded values do not contain their errors.
  std::uint32_t approximate_functions = 0;
};

/// Executes the instruction with `op.full_warp_handler` or `op.masked_warp_handler`, and computes the unrounded values
/// of its result. `index`: of the op in the kernel; `registers`: those of the warp; `lane_mask`: the lanes that execute
/// the instruction, at least one.
void execute_with_unrounded_values(WarpState& warp, std::span<UnroundedRegister> registers, const UnroundedPlan& plan,
                                   const Op& op, std::size_t index, std::uint32_t lane_mask, UnroundedLosses& losses);

/// The unrounded values of an operand in one lane.
UnroundedParts parts_of(std::span<const UnroundedRegister> registers, const UnroundedOperand& operand, unsigned lane);

/// The number of an operand in one lane: the unrounded value if it is known, otherwise the number that `bits`, the
/// rounded value, represents. For Part::kUpper of 32 bits, the upper half of `bits` counts.
UnroundedNumber number_of(std::span<const UnroundedRegister> registers, const UnroundedOperand& operand, unsigned lane,
                          Part part, Type type, std::uint64_t bits);

/// Computes the unrounded values of a * b + c for matrices whose elements are distributed over a warp. Must be called
/// before the rounded product is written. Integer products have no unrounded values.
void multiply_unrounded_matrices(const WarpState& warp, std::span<UnroundedRegister> registers,
                                 const UnroundedPlan& plan, const MatrixOp& matrix, std::uint32_t lane_mask);

}  // namespace assay::ptx
