// Mutants that are equivalent to the correct kernel by a written proof, if no analysis of the program shows it.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/mutation/operators.hpp"

namespace assay::mutation {

/// A proof for one mutant, identified by its patch. An incorrect proof would hide a gap in the suite.
struct EquivalenceProof {
  std::string_view kernel;                     ///< family and name of the kernel: "loop/dynamic_product"
  Operator op = Operator::kOverwriteGradient;  ///< operator that made the mutant
  std::uint64_t patch_hash = 0;                ///< identifies the mutant; see MutantRecord::patch_hash
  std::string_view proof;                      ///< the argument, for people
};

inline constexpr EquivalenceProof kEquivalenceProofs[] = {
    {"array_access/views_with_offset", Operator::kNonAtomicAddition, 0x6831439acfaecebe,
     "The mutant adds to the element (i + 2, i) of x. The other accesses to x are at (i + 1, i + 2), (i + j, i + j) "
     "and (i, i + j). No other thread accesses the element of the mutant, which lies two rows below the diagonal."},
    {"atomic/slots_by_own_counter", Operator::kLoopRunsForward, 0x9671169fdc6549b4,
     "The loop has at most five iterations and saves every count. Each iteration reads the cotangent of a slot that no "
     "other iteration uses, and adds to its own element of x, so the order of the iterations does not matter."},
    {"atomic/effects_in_conditions", Operator::kLoopRunsForward, 0x68aaea4cbee0a5a8,
     "The last iteration only finds that the condition is false, so its reverse changes nothing. All other iterations "
     "have the same reverse: it adds to the same two elements and halves the adjoint of s."},
    {"atomic/effects_in_conditions", Operator::kOneIterationFewer, 0xbbb09affb5458015,
     "The mutant omits the reverse of the last iteration. That iteration only finds that the condition is false, so "
     "its reverse changes nothing."},
    {"combined/attention_row", Operator::kFinalLoopState, 0x250ebd8b6abd2bdd,
     "In reverse order, the adjoint of the maximum goes to the first iteration whose s is not below the previous "
     "maximum. That is the last iteration whose s is the overall maximum. So it is also, in reverse order, the first "
     "iteration whose s is not below the final value. After that iteration the adjoint is zero."},
    {"combined/attention_row", Operator::kFinalLoopState, 0xf5c812d28042b5c0,
     "In each recomputed iteration, the maximum of s and the final value is the final value, so the argument for the "
     "previous mutant applies."},
    {"control_flow/newton_root", Operator::kBranchOnOtherVersion, 0xe6a6f4ff249a3fa2,
     "For inputs between 0.2 and 9, Newton's method converges from its start value 1 within four iterations, so every "
     "value of the count is below 30, whichever of them a comparison uses."},
    {"control_flow/newton_root", Operator::kBranchOnOtherVersion, 0x8d6e97852e7388f2,
     "For inputs between 0.2 and 9, Newton's method converges from its start value 1 within four iterations, so every "
     "value of the count is below 30, whichever of them a comparison uses."},
    {"control_flow/newton_root", Operator::kGuardOffByOne, 0xf14e29c522837316,
     "For inputs between 0.2 and 9, Newton's method converges from its start value 1 within four iterations, so the "
     "loop never reaches its limit, whether that is 30 or 31."},
    {"control_flow/newton_root", Operator::kWrongOperator, 0xd364829115d16326,
     "The count is used only in the comparison with 30. The count stays below 30 when the loop counts down, and is at "
     "most four when the loop counts up."},
    {"control_flow/return_inside_loop", Operator::kOtherVariableVersion, 0x9ca1520817178443,
     "The product is in the branch that returns, and only the last iteration takes this branch. That iteration does "
     "not change the state, so the state after the loop equals the recomputed state."},
    {"integer/interleaved_bits", Operator::kWrongOperator, 0x17d92aa514af654d,
     "Before this line, a has 1 bits only at positions 0 and 1 modulo 4. So a and a << 1 both have 1 bits only at "
     "positions 1 modulo 4. Only there can 'or' and 'xor' differ, and the mask 0x55555555 clears these positions."},
    {"math/classification", Operator::kFloatConstantOff, 0x394ffbcb4c1aba18,
     "The constant is the result only if x is infinite or NaN, but all inputs are finite."},
    {"matrix/constructors", Operator::kResultInsteadOfOperand, 0x0f7a7e8c2ffe6851,
     "The value is the adjoint of a component that is a constant, so nothing uses it."},
    {"matrix/inverse_of_singular", Operator::kLoopRunsForward, 0xc03204e8afe3de24,
     "Each of the three iterations clears at most one element of the adjoint. No two iterations clear the same "
     "element, and none reads an element that another one clears, so the order of the iterations does not matter."},
    {"reduction/centroid", Operator::kWrongOperand, 0xa66ae745fecb5882,
     "With p instead of p - c, the adjoint of each point is 2 a p, and the adjoint of the centroid is -2 a n c instead "
     "of zero. Each point also receives one n-th of the centroid's adjoint. The total is 2 a (p - c), which is "
     "correct."},
    {"reduction/compensated_sum", Operator::kLoopRunsForward, 0xe64ce9743a10c45c,
     "After every iteration, the adjoints of (lost, s) are exactly (-c, c), where c is the cotangent. With these "
     "adjoints, and also with the initial ones (0, c), the adjoint of y is c. So every iteration adds the same "
     "contribution to its own element."},
    {"reduction/mean_and_variance", Operator::kWrongSign, 0x7c47bb2d3add1830,
     "The variance contributes the sum of -2 (x - m) / n to the adjoint of the mean m. This sum is zero, because m is "
     "the mean of x, so its sign does not matter."},
    {"transform/spatial_vectors", Operator::kWrongOperand, 0x1320c0a47c168703,
     "The top half of 'swapped' is the bottom half of a, so both operands are equal."},
    {"vector/closest_points_of_segments", Operator::kSkippedBranchReversal, 0xbb8c2312c2a3e747,
     "On this path the first segment is a point, so the closest point is its start, and the adjoint of its end is "
     "zero."},
    {"vector/length_five", Operator::kFloatConstantOff, 0xcd201cb0f8b8b4d7,
     "The constant changes component 4 of v, which the next line assigns before anything reads it."},
    {"vector/length_of_short_vector", Operator::kDropContribution, 0x5f1e788fb0867190,
     "The mutant drops what the second component contributes to the gradient of y. This contribution is zero: the "
     "component is y multiplied by the constant zero."},
    {"vector/normalize_at_zero", Operator::kOffByOnePercent, 0xa55d27c8cdb61ad6,
     "On this path u is v multiplied by the constant zero, so the adjoint of u is multiplied by zero."},
    {"vector/normalize_at_zero", Operator::kOtherVariableVersion, 0x7f290ded2a036d83,
     "The mutant uses the other version of the vector. The versions differ only if the vector is zero or NaN. Its "
     "length "
     "is then not above zero, and the adjoint of the normalization does not divide by it."},
    {"vector/vectors_of_bool", Operator::kLoopRunsForward, 0xf43ea763ba807430,
     "No iteration changes the adjoint of s, and each iteration adds to its own component of the gradient of x."},
};

/// Proofs for mutants of the C++ that Warp generates.
inline constexpr EquivalenceProof kWarpEquivalenceProofs[] = {
    {"array_access/stencil_interior", Operator::kNoThreadGuard, 0xbdaab8caaba90dbe,
     "The last index of the additional thread is zero, so that thread returns before it accesses an array."},
    {"conditional/huber", Operator::kWrongComparison, 0xdb8ab001ff49fe4c,
     "The comparisons differ only if r is 0.5; both branches then give exactly 0.125."},
    {"conditional/where_evaluates_both", Operator::kWrongComparison, 0xb318ef345511a032,
     "The comparisons differ only if a equals b; the operands of where are then the same number."},
};

}  // namespace assay::mutation
