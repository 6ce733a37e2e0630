// Mutants that are equivalent to the correct kernel by a written proof, if no analysis of the program shows it.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/mutation/operators.hpp"

namespace assay::mutation {

/// A proof for one mutant, identified by its patch. An incorrect proof would hide a gap in the suite.
struct EquivalenceProof {
  std::string_view kernel;  ///< family and name of the kernel: "loop/dynamic_product"
  MutationOperator op = MutationOperator::kOverwriteGradient;  ///< operator that made the mutant
  std::uint64_t patch_hash = 0;                                ///< identifies the mutant; see MutantRecord::patch_hash
  std::string_view proof_text;                                 ///< the argument, for people
};

inline constexpr EquivalenceProof kEquivalenceProofs[] = {
    {"array_access/views_with_offset", MutationOperator::kNonAtomicAddition, 0x6831439acfaecebe,
     "The mutant adds to the element (i + 2, i) of x. The other accesses to x are at (i + 1, i + 2), (i + j, i + j) "
     "and (i, i + j). No other thread accesses the element of the mutant, which lies two rows below the diagonal."},
    {"atomic/block_strided_sums", MutationOperator::kNonAtomicAddition, 0x2d8107ec5122b20e,
     "The thread (row, column) adds to the elements (row, column + k b) of x, where b is the number of threads in a "
     "block, which is the extent of the columns: the kernel is launched with (_, block_dim). So no two threads have "
     "an element in common."},
    {"atomic/block_strided_sums", MutationOperator::kNonAtomicAddition, 0x7df3f56338099fad,
     "The thread (row, column) adds to the elements (row, column + k b) of x, where b is the number of threads in a "
     "block, which is the extent of the columns: the kernel is launched with (_, block_dim). So no two threads have "
     "an element in common."},
    {"atomic/slots_by_own_counter", MutationOperator::kLoopRunsForward, 0x9671169fdc6549b4,
     "The loop has at most five iterations and saves every count. Each iteration reads the cotangent of a slot that no "
     "other iteration uses, and adds to its own element of x, so the order of the iterations does not matter."},
    {"atomic/effects_in_conditions", MutationOperator::kLoopRunsForward, 0x68aaea4cbee0a5a8,
     "The last iteration only finds that the condition is false, so its reverse changes nothing. All other iterations "
     "have the same reverse: it adds to the same two elements and halves the adjoint of s."},
    {"atomic/effects_in_conditions", MutationOperator::kOneIterationFewer, 0xbbb09affb5458015,
     "The mutant omits the reverse of the last iteration. That iteration only finds that the condition is false, so "
     "its reverse changes nothing."},
    {"combined/attention_row", MutationOperator::kFinalInsteadOfSavedLoopState, 0x250ebd8b6abd2bdd,
     "The reverse loop passes the adjoint of the maximum to the first iteration whose s is not below the previous "
     "maximum. This is the last iteration whose s is the overall maximum. The mutant compares s with the final maximum "
     "instead, which selects the same iteration. After that iteration the adjoint is zero."},
    {"combined/attention_row", MutationOperator::kFinalInsteadOfSavedLoopState, 0xf5c812d28042b5c0,
     "The mutant recomputes each iteration from the final maximum. The maximum of s and the final maximum is the final "
     "maximum, so the adjoint still goes to the last iteration whose s equals it."},
    {"control_flow/newton_root", MutationOperator::kBranchOnOtherVersion, 0xe6a6f4ff249a3fa2,
     "For inputs between 0.2 and 9, Newton's method converges from its start value 1 within four iterations. So the "
     "count is always below 30, and comparing an earlier or later count with 30 gives the same result."},
    {"control_flow/newton_root", MutationOperator::kBranchOnOtherVersion, 0x8d6e97852e7388f2,
     "For inputs between 0.2 and 9, Newton's method converges from its start value 1 within four iterations. So the "
     "count is always below 30, and comparing an earlier or later count with 30 gives the same result."},
    {"control_flow/newton_root", MutationOperator::kGuardOffByOne, 0xf14e29c522837316,
     "For inputs between 0.2 and 9, Newton's method converges from its start value 1 within four iterations, so the "
     "loop never reaches its limit, whether that is 30 or 31."},
    {"control_flow/newton_root", MutationOperator::kWrongOperator, 0xd364829115d16326,
     "The mutant counts iterations down instead of up. The count is used only in the comparison with 30. It is below "
     "30 in both cases, because the loop has at most four iterations."},
    {"control_flow/return_from_nested_loops", MutationOperator::kBranchOnOtherVersion, 0x38e72abb4a5d7cf2,
     "The mutant compares the final s with 1 in every reversed iteration. If the kernel returns early, the final "
     "s is above 1. The first reversed iteration then reads the cotangent, as it must, and sets it to zero, so "
     "the others add zero. Otherwise no reversed iteration must read it, and the final s is at most 1, because w "
     "is not negative."},
    {"control_flow/return_inside_loop", MutationOperator::kOtherVariableVersion, 0x693a978ccc2f42db,
     "The mutant computes one product with another version of the loop state. Only the last iteration, which returns, "
     "computes this product. It does not change the state, so the state after the loop equals the recomputed state."},
    {"function/custom_gradient_in_loop", MutationOperator::kDropContribution, 0x4e038d8e64a4bad4,
     "The custom gradient adds nothing to the adjoint of the angle, so the dropped contribution is zero."},
    {"function/return_inside_loop", MutationOperator::kOverwriteGradient, 0x32bdf6c48f54168f,
     "The mutant overwrites the adjoint of s in the iteration that returns. This iteration is reversed first, and "
     "nothing uses s after it, so the adjoint that the mutant overwrites is zero."},
    {"integer/interleaved_bits", MutationOperator::kWrongOperator, 0x17d92aa514af654d,
     "Before the changed line, a has 1 bits only at positions 0 and 1 modulo 4. So a and a << 1 both have 1 bits only "
     "at positions 1 modulo 4. Only there can 'or' and 'xor' differ, and the mask 0x55555555 clears these positions."},
    {"math/classification", MutationOperator::kFloatConstantOffByThousandth, 0x394ffbcb4c1aba18,
     "The changed constant is used only if x is infinite or NaN, but all inputs are finite."},
    {"matrix/determinant_of_singular", MutationOperator::kResultInsteadOfOperand, 0x84f8bc79475c32b1,
     "All rows of the matrix are multiples of u. The changed cross product is zero in both kernels, apart from "
     "rounding errors: in the correct kernel, both operands are multiples of u; in the mutant, one operand is the "
     "cross product of two rows, which is zero."},
    {"matrix/determinant_of_singular", MutationOperator::kResultInsteadOfOperand, 0x23bd2dc4e42dc420,
     "All rows of the matrix are multiples of u. The changed cross product is zero in both kernels, apart from "
     "rounding errors: in the correct kernel, both operands are multiples of u; in the mutant, one operand is the "
     "cross product of two rows, which is zero."},
    {"matrix/inverse_of_singular", MutationOperator::kLoopRunsForward, 0xc03204e8afe3de24,
     "Each of the three iterations clears at most one element of the adjoint. No two iterations clear the same "
     "element, and none reads an element that another one clears, so the order of the iterations does not matter."},
    {"reduction/centroid", MutationOperator::kWrongOperand, 0x81aef854d0e19924,
     "If p replaces p - c, the adjoint of each point is 2 a p, and the adjoint of the centroid is -2 a n c instead "
     "of zero. Each point also receives one n-th of the centroid's adjoint. The total is 2 a (p - c), which is "
     "correct."},
    {"reduction/compensated_sum", MutationOperator::kLoopRunsForward, 0xe64ce9743a10c45c,
     "After every iteration, the adjoints of (lost, s) are exactly (-c, c), where c is the cotangent. With these "
     "adjoints, and also with the initial ones (0, c), the adjoint of y is c. So every iteration adds the same "
     "contribution to its own element."},
    {"reduction/compensated_sum", MutationOperator::kWrongSign, 0xbe7ec865186815bc,
     "Let a be the adjoint of lost and c that of s after an iteration. In the iteration, t receives c + a, and y "
     "and the previous s each receive that sum minus a, which is c. So the sign of a does not matter."},
    {"reduction/mean_and_variance", MutationOperator::kWrongSign, 0x7c47bb2d3add1830,
     "The variance contributes the sum of -2 (x - m) / n to the adjoint of the mean m. This sum is zero, because m is "
     "the mean of x, so its sign does not matter."},
    {"spatial/bvh_rays", MutationOperator::kFloatConstantOffByThousandth, 0x46fc488ba7f0dbaa,
     "The mutant scales the direction (1, 0, 0) of a ray of unlimited length. The products with the reciprocal of the "
     "component keep their signs and their order, so the same boxes are found."},
    {"spatial/faces_of_block", MutationOperator::kOneIterationFewer, 0xbbb09affb5458015,
     "The mutant omits the reverse of the last iteration. That iteration only finds that the query has no more "
     "faces, so its reverse changes nothing."},
    {"spatial/mesh_furthest_points", MutationOperator::kWrongOperator, 0xc7e0a4bcb54fd1d0,
     "The query does not determine on which side of the mesh the point lies, so the sign is always zero. It does not "
     "matter whether zero is added or subtracted."},
    {"spatial/mesh_groups", MutationOperator::kUnclearedOutputAdjoint, 0xdd36404a790ee75,
     "The mutant does not clear the cotangent of times[i] after it reversed the assignment in the branch. The reverse "
     "of the assignment before the branch clears the same element, and nothing reads it in between."},
    {"tile/cholesky_solve", MutationOperator::kFinalInsteadOfSavedLoopState, 0xabaf0b2ee5f29ce,
     "The kernel stores each element of the factor once. An iteration reads only elements that earlier iterations "
     "stored, and these are the same in the final factor."},
    {"tile/cholesky_solve", MutationOperator::kFinalInsteadOfSavedLoopState, 0x3d4be3f8669b93c3,
     "The kernel stores each element of the factor once. An iteration reads only elements that earlier iterations "
     "stored, and these are the same in the final factor."},
    {"tile/scattered_values", MutationOperator::kLoopRunsForward, 0x51c090918f0a6b1c,
     "Each iteration adds to one element of the tile. Its reverse reads the adjoint of this element, replaces it by "
     "zero and adds it again. The adjoint of the tile stays the same, so the order of the iterations does not matter."},
    {"tile/stack_of_block", MutationOperator::kLoopRunsForward, 0x51c090918f0a6b1c,
     "The reverse of an iteration that pushes a value takes the adjoint of the place of that value and clears it. No "
     "other iteration uses this place, because the count of values only grows in this loop. So the order of the "
     "iterations does not matter."},
    {"tile/stack_of_block", MutationOperator::kBranchOnOtherVersion, 0x148a7ce30e4a4942,
     "The mutant also pops from an empty stack, whose slot is then -1. The kernel does not use a value with a "
     "negative slot, so the adjoint of the popped value is zero, and the slot is the same in both kernels."},
    {"tile/stack_of_block", MutationOperator::kBranchOnOtherVersion, 0x844aedbe9dbee827,
     "The mutant goes on counting when the recomputed stack is full. The count is then at least the capacity in both "
     "kernels, and it is used only in comparisons with the capacity and as the slot of a value that is pushed, which "
     "happens only below the capacity."},
    {"tile/stack_of_block", MutationOperator::kBranchOnOtherVersion, 0x57744893dc102247,
     "The mutant compares the count after the last pop with the capacity. That count is at most 1, so the mutant also "
     "takes the adjoint of place 40 of a full stack and clears it. No value is stored at place 40, so its adjoint is "
     "zero."},
    {"tile/stack_of_block", MutationOperator::kWrongComparison, 0xe4b75f5c40e5d5c6,
     "The mutant also pops from an empty stack, but only once, because the count is negative afterwards. The slot is "
     "-1 "
     "then, as in the correct kernel, so the popped value is not used. Nothing reads the count before the stack is "
     "cleared, except for the comparisons of further pops, which are false."},
    {"transform/spatial_vectors", MutationOperator::kWrongOperand, 0x9baad90bd0057b83,
     "The mutant replaces an operand by one with the same value: the first half of the vector 'swapped' is a copy of "
     "the second half of the vector a."},
    {"vector/length_five", MutationOperator::kFloatConstantOffByThousandth, 0xcd201cb0f8b8b4d7,
     "The changed constant affects only component 4 of v, which the next line overwrites before anything reads it."},
    {"vector/length_of_short_vector", MutationOperator::kDropContribution, 0x5f1e788fb0867190,
     "The mutant drops what the second component contributes to the gradient of y. This contribution is zero: the "
     "component is y multiplied by the constant zero."},
    {"vector/length_of_short_vector", MutationOperator::kNegateContribution, 0x906bfe4b62a547e2,
     "The component is zero, so its adjoint, which is proportional to it, is zero, too."},
};

/// Proofs for mutants of the C++ that Warp generates.
inline constexpr EquivalenceProof kWarpEquivalenceProofs[] = {
    {"array_access/stencil_interior", MutationOperator::kNoThreadGuard, 0xbdaab8caaba90dbe,
     "The mutant runs one additional thread. Its last index is zero, so it returns before it accesses an array."},
    {"conditional/huber", MutationOperator::kWrongComparison, 0xdb8ab001ff49fe4c,
     "The original and the changed comparison differ only if r is 0.5. Both branches then give exactly 0.125."},
    {"conditional/where_evaluates_both", MutationOperator::kWrongComparison, 0xb318ef345511a032,
     "The original and the changed comparison differ only if a equals b. Both operands of wp.where are then the same "
     "number."},
};

}  // namespace assay::mutation
