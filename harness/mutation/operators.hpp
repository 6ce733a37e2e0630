// The mutation operators: typical mistakes in generated kernels, one row each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::mutation {

/// The kind of mistake that an operator makes.
enum class MutationOperatorGroup : std::uint8_t {
  kAccumulation,       ///< how contributions are added to gradients
  kReversedStore,      ///< how a store to an array is reversed
  kForwardValue,       ///< which forward values the backward kernel uses
  kDerivativeRule,     ///< derivative rules of single operations
  kControlFlow,        ///< loops and branches of the backward kernel
  kMemory,             ///< indices, strides and thread guards
  kReplayAndBarriers,  ///< repeated forward statements, barriers and shared memory
  kForwardKernel       ///< operators, comparisons, arrays and constants of the forward kernel
};

/// The part of the kernel that an operator changes.
enum class MutatedKernelPart : std::uint8_t {
  kBackward,     ///< the backward kernel (the adjoint)
  kForward,      ///< the forward kernel; its adjoint stays correct
  kPrimal,       ///< the kernel from which the adjoint is derived; the forward kernel that runs stays correct
  kPrintedText,  ///< the printed text of the backward kernel
};

/// What a mutation operator changes.
enum class MutationOperator : std::uint8_t {
  // accumulation
  kOverwriteGradient,       ///< += becomes =
  kDropContribution,        ///< an addition to a gradient is dropped
  kCountContributionTwice,  ///< an addition to a gradient is made twice
  kFlipAccumulation,        ///< += becomes -=
  kNegateContribution,      ///< the value added to a gradient is negated
  kNonAtomicAddition,       ///< an atomic addition becomes a load and a store
  kStaleAdjoint,            ///< an adjoint keeps its value from the previous iteration
  kClearGradientAtStart,    ///< a gradient is set to zero at the start of the kernel
  // stores
  kUnclearedOutputAdjoint,  ///< the output's adjoint is not set to zero after a reversed store
  kClearAdjointBeforeRead,  ///< the output's adjoint is cleared before it is read
  kCotangentOfOtherArray,   ///< the adjoint of another array is read
  kAtomicClearsAdjoint,     ///< a reversed atomic addition clears the output's adjoint
  // values
  kOtherVariableVersion,            ///< a different value of the same variable is used
  kInitialInsteadOfSavedLoopState,  ///< the initial state of a loop is used instead of that saved for the iteration
  kFinalInsteadOfSavedLoopState,    ///< the final state of a loop is used instead of the state saved for the iteration
  kWrongOperand,                    ///< operands are swapped, or another operand is used
  kResultInsteadOfOperand,          ///< the result of an operation is used instead of its operand
  kLowerPrecision,                  ///< a value is rounded to lower precision
  kUnsavedLoopState,                ///< a loop state is not saved
  // local rules
  kWrongFunction,                ///< sin and cos, or sinh and cosh, are exchanged
  kMissingConstantFactor,        ///< a constant factor is missing
  kMissingChainRuleFactor,       ///< a factor of the chain rule is missing
  kWrongSign,                    ///< a local derivative has an incorrect sign
  kMissingSquare,                ///< r * r becomes r
  kDerivativeOffByOnePercent,    ///< a local derivative is off by 1 %
  kDerivativeOffByBasisPoint,    ///< a local derivative is off by 0.01 %
  kRuleConstantOffByOnePercent,  ///< a constant of a derivative rule is off by 1 %
  kUnitCotangent,                ///< the cotangent is replaced by 1
  kGradientToOtherBranch,        ///< the gradient of abs, min, max or where goes to the other branch
  kStepFunctionHasSlope,         ///< the derivative of floor, round or a cast is 1
  // control
  kLoopRunsForward,        ///< a loop of the reverse sweep runs forward
  kOneIterationMore,       ///< a loop runs one iteration more
  kOneIterationFewer,      ///< a loop runs one iteration fewer
  kBranchOnOtherVersion,   ///< a branch condition uses an earlier or later value of the same variable
  kBranchNegated,          ///< the condition of a branch is negated
  kSkippedBranchReversal,  ///< the reverse sweep of a branch is skipped
  kContinueActsAsBreak,    ///< continue is treated as break
  kInnerCounterNotReset,   ///< an inner loop's counter is not reset
  // index and memory
  kIndexPlusOne,               ///< an index of a gradient is too large by one
  kIndexMinusOne,              ///< an index of a gradient is too small by one
  kWrongGradientStrides,       ///< a gradient has the strides of another array
  kThreadIndexForLoadedIndex,  ///< the thread index is used instead of an index loaded from an array
  kTransposedIndex,            ///< two indices are exchanged
  kWriteToInactiveGradient,    ///< a gradient that must stay zero is written
  kNoThreadGuard,              ///< a thread beyond the launch size also runs
  // replay and parallel
  kReplayedAtomic,             ///< the backward pass repeats an atomic operation that has a side effect
  kReplayedStore,              ///< the backward pass writes an output of the forward pass again
  kMissingBarrier,             ///< a barrier is missing
  kUnclearedSharedSum,         ///< a sum in shared memory is not cleared
  kOnlyFirstWarpParticipates,  ///< only the first warp of a block participates
  // forward
  kWrongOperator,                 ///< an operator is replaced by another one
  kWrongComparison,               ///< a comparison is replaced by another one
  kGuardOffByOne,                 ///< a loop bound or a comparison is off by one
  kReadOfOtherArray,              ///< an array access reads another array
  kDroppedStatement,              ///< a statement is dropped
  kFloatConstantOffByThousandth,  ///< a float constant is off by a thousandth
};

/// What is needed to detect a mutant.
enum class DetectableBy : std::uint8_t {
  kAnyDevice,          ///< any device, in either precision variant
  kNativePrecision,    ///< a native-precision run; with f64 promotion the mutant is correct
  kConcurrentThreads,  ///< a device with concurrent threads; with sequential threads the mutant is correct
};

/// A mutation operator with its properties.
struct MutationOperatorEntry {
  MutationOperator op;             ///< the operator
  std::string_view name;           ///< name in the names of mutants, in options and in reports
  MutationOperatorGroup group;     ///< kind of mistake that the operator makes
  MutatedKernelPart changed_part;  ///< what the operator changes
  DetectableBy detectable_by;      ///< what is needed to detect its mutants
  std::string_view change;         ///< what the operator does, for people
};

// clang-format off
inline constexpr MutationOperatorEntry kOperators[] = {
  {MutationOperator::kOverwriteGradient, "overwrite_gradient", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "+= becomes ="},
  {MutationOperator::kDropContribution, "drop_contribution", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a contribution is dropped"},
  {MutationOperator::kCountContributionTwice, "count_twice", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a contribution is counted twice"},
  {MutationOperator::kFlipAccumulation, "flip_accumulation", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "+= becomes -="},
  {MutationOperator::kNegateContribution, "negate_contribution", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a contribution is negated"},
  {MutationOperator::kNonAtomicAddition, "plain_addition", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kConcurrentThreads, "an atomic addition becomes a load and a store"},
  {MutationOperator::kStaleAdjoint, "stale_adjoint", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "an adjoint keeps its value from the previous iteration"},
  {MutationOperator::kClearGradientAtStart, "clear_gradient", MutationOperatorGroup::kAccumulation, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a gradient is cleared at the start of the kernel"},
  {MutationOperator::kUnclearedOutputAdjoint, "keep_seed", MutationOperatorGroup::kReversedStore, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the output's adjoint is not cleared after a reversed store"},
  {MutationOperator::kClearAdjointBeforeRead, "clear_before_read", MutationOperatorGroup::kReversedStore, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the output's adjoint is cleared before it is read"},
  {MutationOperator::kCotangentOfOtherArray, "wrong_seed", MutationOperatorGroup::kReversedStore, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the adjoint of another array is read"},
  {MutationOperator::kAtomicClearsAdjoint, "clear_on_atomic", MutationOperatorGroup::kReversedStore, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a reversed atomic addition clears the output's adjoint"},
  {MutationOperator::kOtherVariableVersion, "other_version", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a different value of the same variable is used"},
  {MutationOperator::kInitialInsteadOfSavedLoopState, "initial_state", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the initial state of a loop is used instead of the state saved for the iteration"},
  {MutationOperator::kFinalInsteadOfSavedLoopState, "final_state", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the final state of a loop is used instead of the state saved for the iteration"},
  {MutationOperator::kWrongOperand, "wrong_operand", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "operands are swapped, or another operand is used"},
  {MutationOperator::kResultInsteadOfOperand, "result_for_operand", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the result of an operation is used instead of its operand"},
  {MutationOperator::kLowerPrecision, "lower_precision", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kNativePrecision, "a value is rounded to lower precision"},
  {MutationOperator::kUnsavedLoopState, "one_save_too_few", MutationOperatorGroup::kForwardValue, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a loop state is not saved"},
  {MutationOperator::kWrongFunction, "wrong_function", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "sin and cos, or sinh and cosh, are exchanged"},
  {MutationOperator::kMissingConstantFactor, "missing_factor", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a constant factor is missing"},
  {MutationOperator::kMissingChainRuleFactor, "missing_chain", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a factor of the chain rule is missing"},
  {MutationOperator::kWrongSign, "wrong_sign", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a local derivative has an incorrect sign"},
  {MutationOperator::kMissingSquare, "missing_square", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "r * r becomes r"},
  {MutationOperator::kDerivativeOffByOnePercent, "off_by_one_percent", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a local derivative is off by 1 %"},
  {MutationOperator::kDerivativeOffByBasisPoint, "off_by_basis_point", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a local derivative is off by 0.01 %"},
  {MutationOperator::kRuleConstantOffByOnePercent, "constant_off", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a constant of a derivative rule is off by 1 %"},
  {MutationOperator::kUnitCotangent, "seed_one", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the cotangent is replaced by 1"},
  {MutationOperator::kGradientToOtherBranch, "other_arm", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the gradient of abs, min, max or where goes to the other branch"},
  {MutationOperator::kStepFunctionHasSlope, "step_has_slope", MutationOperatorGroup::kDerivativeRule, MutatedKernelPart::kPrimal, DetectableBy::kAnyDevice, "the derivative of floor, round or a cast is 1"},
  {MutationOperator::kLoopRunsForward, "loop_runs_forward", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a loop of the reverse sweep runs forward"},
  {MutationOperator::kOneIterationMore, "one_trip_more", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a loop runs one iteration more"},
  {MutationOperator::kOneIterationFewer, "one_trip_fewer", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a loop runs one iteration fewer"},
  {MutationOperator::kBranchOnOtherVersion, "branch_on_changed", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a branch condition uses an earlier or later value of the same variable"},
  {MutationOperator::kBranchNegated, "branch_negated", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the condition of a branch is negated"},
  {MutationOperator::kSkippedBranchReversal, "path_skipped", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the reverse sweep of a branch is skipped"},
  {MutationOperator::kContinueActsAsBreak, "continue_breaks", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kPrimal, DetectableBy::kAnyDevice, "continue is treated as break"},
  {MutationOperator::kInnerCounterNotReset, "counter_not_reset", MutationOperatorGroup::kControlFlow, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "an inner loop's counter is not reset"},
  {MutationOperator::kIndexPlusOne, "index_plus_one", MutationOperatorGroup::kMemory, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "an index of a gradient is too large by one"},
  {MutationOperator::kIndexMinusOne, "index_minus_one", MutationOperatorGroup::kMemory, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "an index of a gradient is too small by one"},
  {MutationOperator::kWrongGradientStrides, "primal_strides", MutationOperatorGroup::kMemory, MutatedKernelPart::kPrintedText, DetectableBy::kAnyDevice, "a gradient has the strides of another array"},
  {MutationOperator::kThreadIndexForLoadedIndex, "thread_for_index", MutationOperatorGroup::kMemory, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the thread index is used instead of an index loaded from an array"},
  {MutationOperator::kTransposedIndex, "transposed_index", MutationOperatorGroup::kMemory, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "two indices are exchanged"},
  {MutationOperator::kWriteToInactiveGradient, "inactive_gradient", MutationOperatorGroup::kMemory, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "a gradient that must stay zero is written"},
  {MutationOperator::kNoThreadGuard, "no_thread_guard", MutationOperatorGroup::kMemory, MutatedKernelPart::kPrintedText, DetectableBy::kAnyDevice, "a thread beyond the launch size also runs"},
  {MutationOperator::kReplayedAtomic, "replayed_atomic", MutationOperatorGroup::kReplayAndBarriers, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the backward pass repeats an atomic operation that has a side effect"},
  {MutationOperator::kReplayedStore, "replayed_store", MutationOperatorGroup::kReplayAndBarriers, MutatedKernelPart::kBackward, DetectableBy::kAnyDevice, "the backward pass writes an output of the forward pass again"},
  {MutationOperator::kMissingBarrier, "missing_barrier", MutationOperatorGroup::kReplayAndBarriers, MutatedKernelPart::kPrintedText, DetectableBy::kConcurrentThreads, "a barrier is missing"},
  {MutationOperator::kUnclearedSharedSum, "uncleared_shared", MutationOperatorGroup::kReplayAndBarriers, MutatedKernelPart::kPrintedText, DetectableBy::kConcurrentThreads, "a sum in shared memory is not cleared"},
  {MutationOperator::kOnlyFirstWarpParticipates, "one_warp_only", MutationOperatorGroup::kReplayAndBarriers, MutatedKernelPart::kPrintedText, DetectableBy::kConcurrentThreads, "only the first warp of a block participates"},
  {MutationOperator::kWrongOperator, "wrong_operator", MutationOperatorGroup::kForwardKernel, MutatedKernelPart::kForward, DetectableBy::kAnyDevice, "an operator is replaced by another one"},
  {MutationOperator::kWrongComparison, "wrong_comparison", MutationOperatorGroup::kForwardKernel, MutatedKernelPart::kForward, DetectableBy::kAnyDevice, "a comparison is replaced by another one"},
  {MutationOperator::kGuardOffByOne, "guard_off_by_one", MutationOperatorGroup::kForwardKernel, MutatedKernelPart::kForward, DetectableBy::kAnyDevice, "a loop bound or a comparison is off by one"},
  {MutationOperator::kReadOfOtherArray, "wrong_array", MutationOperatorGroup::kForwardKernel, MutatedKernelPart::kForward, DetectableBy::kAnyDevice, "an array access reads another array"},
  {MutationOperator::kDroppedStatement, "dropped_statement", MutationOperatorGroup::kForwardKernel, MutatedKernelPart::kForward, DetectableBy::kAnyDevice, "a statement is dropped"},
  {MutationOperator::kFloatConstantOffByThousandth, "float_off", MutationOperatorGroup::kForwardKernel, MutatedKernelPart::kForward, DetectableBy::kAnyDevice, "a float constant is off by a thousandth"},
};
// clang-format on
inline constexpr std::size_t kOperatorCount = std::size(kOperators);

constexpr const MutationOperatorEntry& row(MutationOperator op) { return kOperators[static_cast<std::size_t>(op)]; }

constexpr std::optional<MutationOperator> find_operator_by_name(std::string_view name) {
  for (const MutationOperatorEntry& one : kOperators) {
    if (one.name == name) return one.op;
  }
  return std::nullopt;
}

constexpr std::string_view to_text(MutationOperatorGroup group) {
  constexpr std::array<std::string_view, 8> kTexts = {"accumulation", "store",  "value",  "local rule",
                                                      "control",      "memory", "replay", "forward"};
  return kTexts[static_cast<std::size_t>(group)];
}

constexpr std::string_view to_text(DetectableBy detectable_by) {
  constexpr std::array<std::string_view, 3> kTexts = {"any", "precision", "threads"};
  return kTexts[static_cast<std::size_t>(detectable_by)];
}

namespace detail {
constexpr bool operators_are_in_order() {
  for (std::size_t i = 0; i < kOperatorCount; ++i) {
    if (static_cast<std::size_t>(kOperators[i].op) != i) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::operators_are_in_order() &&
                  kOperatorCount == static_cast<std::size_t>(MutationOperator::kFloatConstantOffByThousandth) + 1,
              "kOperators must have one entry for each Operator, in the order of the enumeration");

}  // namespace assay::mutation
