// The mutation operators: typical mistakes in generated kernels, one row each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::mutation {

/// The kind of mistake that an operator makes.
enum class OperatorGroup : std::uint8_t {
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
enum class KernelPart : std::uint8_t {
  kBackward,     ///< the backward kernel (the adjoint)
  kForward,      ///< the forward kernel; its adjoint stays correct
  kPrimal,       ///< the kernel from which the adjoint is derived; the forward kernel that runs stays correct
  kPrintedText,  ///< the printed text of the backward kernel
};

enum class Operator : std::uint8_t {
  // accumulation
  kOverwriteGradient,       ///< += becomes =
  kDropContribution,        ///< a contribution is dropped
  kCountContributionTwice,  ///< a contribution is counted twice
  kFlipAccumulation,        ///< += becomes -=
  kNegateContribution,      ///< a contribution is negated
  kNonAtomicAddition,       ///< an atomic addition becomes a load and a store
  kStaleAdjoint,            ///< an adjoint keeps its value from the previous iteration
  kClearGradientAtStart,    ///< a gradient is cleared at the start of the kernel
  // stores
  kUnclearedOutputAdjoint,  ///< the output's adjoint is not cleared after a reversed store
  kClearAdjointBeforeRead,  ///< the output's adjoint is cleared before it is read
  kCotangentOfOtherArray,   ///< the adjoint of another array is read
  kAtomicClearsAdjoint,     ///< a reversed atomic addition clears the output's adjoint
  // values
  kOtherVariableVersion,    ///< a different value of the same variable is used
  kInitialLoopState,        ///< the initial state of a loop is used instead of the state saved for the iteration
  kFinalLoopState,          ///< the final state of a loop is used instead of the state saved for the iteration
  kWrongOperand,            ///< operands are swapped, or another operand is used
  kResultInsteadOfOperand,  ///< the result of an operation is used instead of its operand
  kLowerPrecision,          ///< a value is rounded to lower precision
  kUnsavedLoopState,        ///< a loop state is not saved
  // local rules
  kWrongFunction,            ///< sin and cos, sinh and cosh are exchanged
  kMissingConstantFactor,    ///< a constant factor is missing
  kMissingChainRuleFactor,   ///< a factor of the chain rule is missing
  kWrongSign,                ///< a local derivative has an incorrect sign
  kMissingSquare,            ///< r * r becomes r
  kOffByOnePercent,          ///< a local derivative is off by 1 %
  kOffByBasisPoint,          ///< a local derivative is off by 0.01 %
  kConstantOffByOnePercent,  ///< a constant of a derivative rule is off by 1 %
  kUnitCotangent,            ///< the cotangent is replaced by 1
  kGradientToOtherBranch,    ///< the gradient of abs, min, max or where goes to the other branch
  kStepFunctionHasSlope,     ///< the derivative of floor, round or a cast is 1
  // control
  kLoopRunsForward,        ///< a reversed loop runs forward
  kOneIterationMore,       ///< a loop runs one iteration more
  kOneIterationFewer,      ///< a loop runs one iteration less
  kBranchOnOtherVersion,   ///< a branch condition uses an earlier or later value of the same variable
  kBranchNegated,          ///< a recorded branch is negated
  kSkippedBranchReversal,  ///< the reverse sweep of a branch is skipped
  kContinueActsAsBreak,    ///< continue is treated as break
  kInnerCounterNotReset,   ///< an inner loop's counter is not reset
  // index and memory
  kIndexPlusOne,               ///< an index of a gradient is too large by one
  kIndexMinusOne,              ///< an index of a gradient is too small by one
  kWrongGradientStrides,       ///< a gradient has the strides of another array
  kThreadIndexForLoadedIndex,  ///< the thread index is used instead of idx[i]
  kTransposedIndex,            ///< two indices are exchanged
  kWriteToInactiveGradient,    ///< a gradient that must stay zero is written
  kNoThreadGuard,              ///< a thread beyond the end also runs
  // replay and parallel
  kReplayedAtomic,             ///< the replay repeats an atomic with a side effect
  kReplayedStore,              ///< the replay writes a primal output again
  kMissingBarrier,             ///< a barrier is missing
  kUnclearedSharedSum,         ///< a shared sum is not cleared
  kOnlyFirstWarpParticipates,  ///< only the first warp of a block participates
  // forward
  kWrongOperator,     ///< an operator is replaced by another one
  kWrongComparison,   ///< a comparison is replaced by another one
  kGuardOffByOne,     ///< a guard or a bound is off by one
  kReadOfOtherArray,  ///< an array access reads another array
  kDroppedStatement,  ///< a statement is dropped
  kFloatConstantOff,  ///< a float constant is off by a thousandth
};

/// What is needed to detect a mutant.
enum class DetectableBy : std::uint8_t {
  kAnyDevice,          ///< any device, in either precision variant
  kNativePrecision,    ///< a native-precision run; with f64 promotion the mutant is correct
  kConcurrentThreads,  ///< a device with concurrent threads; with sequential threads the mutant is correct
};

struct OperatorEntry {
  Operator op;
  std::string_view name;       ///< name in the names of mutants, in options and in reports
  OperatorGroup group;         ///< kind of mistake
  KernelPart changed_part;     ///< what the operator changes
  DetectableBy detectable_by;  ///< what is needed to detect its mutants
  std::string_view change;     ///< what the operator does, for people
};

// clang-format off
inline constexpr OperatorEntry kOperators[] = {
  {Operator::kOverwriteGradient, "overwrite_gradient", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "+= becomes ="},
  {Operator::kDropContribution, "drop_contribution", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "a contribution is dropped"},
  {Operator::kCountContributionTwice, "count_twice", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "a contribution is counted twice"},
  {Operator::kFlipAccumulation, "flip_accumulation", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "+= becomes -="},
  {Operator::kNegateContribution, "negate_contribution", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "a contribution is negated"},
  {Operator::kNonAtomicAddition, "plain_addition", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kConcurrentThreads, "an atomic addition becomes a load and a store"},
  {Operator::kStaleAdjoint, "stale_adjoint", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "an adjoint keeps its value from the previous iteration"},
  {Operator::kClearGradientAtStart, "clear_gradient", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAnyDevice, "a gradient is cleared at the start of the kernel"},
  {Operator::kUnclearedOutputAdjoint, "keep_seed", OperatorGroup::kReversedStore, KernelPart::kBackward, DetectableBy::kAnyDevice, "the output's adjoint is not cleared after a reversed store"},
  {Operator::kClearAdjointBeforeRead, "clear_before_read", OperatorGroup::kReversedStore, KernelPart::kBackward, DetectableBy::kAnyDevice, "the output's adjoint is cleared before it is read"},
  {Operator::kCotangentOfOtherArray, "wrong_seed", OperatorGroup::kReversedStore, KernelPart::kBackward, DetectableBy::kAnyDevice, "the adjoint of another array is read"},
  {Operator::kAtomicClearsAdjoint, "clear_on_atomic", OperatorGroup::kReversedStore, KernelPart::kBackward, DetectableBy::kAnyDevice, "a reversed atomic addition clears the output's adjoint"},
  {Operator::kOtherVariableVersion, "other_version", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kAnyDevice, "a different value of the same variable is used"},
  {Operator::kInitialLoopState, "initial_state", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kAnyDevice, "the initial state of a loop is used instead of the state saved for the iteration"},
  {Operator::kFinalLoopState, "final_state", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kAnyDevice, "the final state of a loop is used instead of the state saved for the iteration"},
  {Operator::kWrongOperand, "wrong_operand", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kAnyDevice, "operands are swapped, or another operand is used"},
  {Operator::kResultInsteadOfOperand, "result_for_operand", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kAnyDevice, "the result of an operation is used instead of its operand"},
  {Operator::kLowerPrecision, "lower_precision", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kNativePrecision, "a value is rounded to lower precision"},
  {Operator::kUnsavedLoopState, "one_save_too_few", OperatorGroup::kForwardValue, KernelPart::kBackward, DetectableBy::kAnyDevice, "a loop state is not saved"},
  {Operator::kWrongFunction, "wrong_function", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "sin and cos, sinh and cosh are exchanged"},
  {Operator::kMissingConstantFactor, "missing_factor", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "a constant factor is missing"},
  {Operator::kMissingChainRuleFactor, "missing_chain", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "a factor of the chain rule is missing"},
  {Operator::kWrongSign, "wrong_sign", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "a local derivative has an incorrect sign"},
  {Operator::kMissingSquare, "missing_square", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "r * r becomes r"},
  {Operator::kOffByOnePercent, "off_by_one_percent", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "a local derivative is off by 1 %"},
  {Operator::kOffByBasisPoint, "off_by_basis_point", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "a local derivative is off by 0.01 %"},
  {Operator::kConstantOffByOnePercent, "constant_off", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "a constant of a derivative rule is off by 1 %"},
  {Operator::kUnitCotangent, "seed_one", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "the cotangent is replaced by 1"},
  {Operator::kGradientToOtherBranch, "other_arm", OperatorGroup::kDerivativeRule, KernelPart::kBackward, DetectableBy::kAnyDevice, "the gradient of abs, min, max or where goes to the other branch"},
  {Operator::kStepFunctionHasSlope, "step_has_slope", OperatorGroup::kDerivativeRule, KernelPart::kPrimal, DetectableBy::kAnyDevice, "the derivative of floor, round or a cast is 1"},
  {Operator::kLoopRunsForward, "loop_runs_forward", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "a reversed loop runs forward"},
  {Operator::kOneIterationMore, "one_trip_more", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "a loop runs one iteration more"},
  {Operator::kOneIterationFewer, "one_trip_fewer", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "a loop runs one iteration less"},
  {Operator::kBranchOnOtherVersion, "branch_on_changed", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "a branch condition uses an earlier or later value of the same variable"},
  {Operator::kBranchNegated, "branch_negated", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "a recorded branch is negated"},
  {Operator::kSkippedBranchReversal, "path_skipped", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "the reverse sweep of a branch is skipped"},
  {Operator::kContinueActsAsBreak, "continue_breaks", OperatorGroup::kControlFlow, KernelPart::kPrimal, DetectableBy::kAnyDevice, "continue is treated as break"},
  {Operator::kInnerCounterNotReset, "counter_not_reset", OperatorGroup::kControlFlow, KernelPart::kBackward, DetectableBy::kAnyDevice, "an inner loop's counter is not reset"},
  {Operator::kIndexPlusOne, "index_plus_one", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAnyDevice, "an index of a gradient is too large by one"},
  {Operator::kIndexMinusOne, "index_minus_one", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAnyDevice, "an index of a gradient is too small by one"},
  {Operator::kWrongGradientStrides, "primal_strides", OperatorGroup::kMemory, KernelPart::kPrintedText, DetectableBy::kAnyDevice, "a gradient has the strides of another array"},
  {Operator::kThreadIndexForLoadedIndex, "thread_for_index", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAnyDevice, "the thread index is used instead of idx[i]"},
  {Operator::kTransposedIndex, "transposed_index", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAnyDevice, "two indices are exchanged"},
  {Operator::kWriteToInactiveGradient, "inactive_gradient", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAnyDevice, "a gradient that must stay zero is written"},
  {Operator::kNoThreadGuard, "no_thread_guard", OperatorGroup::kMemory, KernelPart::kPrintedText, DetectableBy::kAnyDevice, "a thread beyond the end also runs"},
  {Operator::kReplayedAtomic, "replayed_atomic", OperatorGroup::kReplayAndBarriers, KernelPart::kBackward, DetectableBy::kAnyDevice, "the replay repeats an atomic with a side effect"},
  {Operator::kReplayedStore, "replayed_store", OperatorGroup::kReplayAndBarriers, KernelPart::kBackward, DetectableBy::kAnyDevice, "the replay writes a primal output again"},
  {Operator::kMissingBarrier, "missing_barrier", OperatorGroup::kReplayAndBarriers, KernelPart::kPrintedText, DetectableBy::kConcurrentThreads, "a barrier is missing"},
  {Operator::kUnclearedSharedSum, "uncleared_shared", OperatorGroup::kReplayAndBarriers, KernelPart::kPrintedText, DetectableBy::kConcurrentThreads, "a shared sum is not cleared"},
  {Operator::kOnlyFirstWarpParticipates, "one_warp_only", OperatorGroup::kReplayAndBarriers, KernelPart::kPrintedText, DetectableBy::kConcurrentThreads, "only the first warp of a block participates"},
  {Operator::kWrongOperator, "wrong_operator", OperatorGroup::kForwardKernel, KernelPart::kForward, DetectableBy::kAnyDevice, "an operator is replaced by another one"},
  {Operator::kWrongComparison, "wrong_comparison", OperatorGroup::kForwardKernel, KernelPart::kForward, DetectableBy::kAnyDevice, "a comparison is replaced by another one"},
  {Operator::kGuardOffByOne, "guard_off_by_one", OperatorGroup::kForwardKernel, KernelPart::kForward, DetectableBy::kAnyDevice, "a guard or a bound is off by one"},
  {Operator::kReadOfOtherArray, "wrong_array", OperatorGroup::kForwardKernel, KernelPart::kForward, DetectableBy::kAnyDevice, "an array access reads another array"},
  {Operator::kDroppedStatement, "dropped_statement", OperatorGroup::kForwardKernel, KernelPart::kForward, DetectableBy::kAnyDevice, "a statement is dropped"},
  {Operator::kFloatConstantOff, "float_off", OperatorGroup::kForwardKernel, KernelPart::kForward, DetectableBy::kAnyDevice, "a float constant is off by a thousandth"},
};
// clang-format on
inline constexpr std::size_t kOperatorCount = std::size(kOperators);

constexpr const OperatorEntry& row(Operator op) { return kOperators[static_cast<std::size_t>(op)]; }

constexpr std::optional<Operator> operator_named(std::string_view name) {
  for (const OperatorEntry& one : kOperators) {
    if (one.name == name) return one.op;
  }
  return std::nullopt;
}

constexpr std::string_view to_text(OperatorGroup group) {
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
                  kOperatorCount == static_cast<std::size_t>(Operator::kFloatConstantOff) + 1,
              "a row of the operator table is missing or out of order");

}  // namespace assay::mutation
