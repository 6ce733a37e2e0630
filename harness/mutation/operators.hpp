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
  kAccumulation,  ///< how contributions are added to gradients
  kStore,         ///< how a store to an array is reversed
  kValue,         ///< which forward values the backward kernel uses
  kLocalRule,     ///< derivative rules of single operations
  kControl,       ///< loops and branches of the backward kernel
  kMemory,        ///< indices, strides and thread guards
  kReplay,        ///< repeated forward statements, barriers and shared memory
  kForward        ///< operators, comparisons, arrays and constants of the forward kernel
};

/// The part of the kernel that an operator changes.
enum class KernelPart : std::uint8_t {
  kBackward,  ///< the backward kernel (the adjoint)
  kForward,   ///< the forward kernel; its adjoint stays correct
  kPrimal,    ///< the kernel from which the adjoint is derived; the forward kernel that runs stays correct
  kText,      ///< the printed text of the backward kernel
};

enum class Operator : std::uint8_t {
  // accumulation
  kOverwriteGradient,   ///< += becomes =
  kDropContribution,    ///< a contribution is dropped
  kCountTwice,          ///< a contribution is counted twice
  kFlipAccumulation,    ///< += becomes -=
  kNegateContribution,  ///< a contribution is negated
  kPlainAddition,       ///< an atomic addition becomes a load and a store
  kStaleAdjoint,        ///< an adjoint keeps its value from the previous iteration
  kClearGradient,       ///< a gradient is cleared at the start of the kernel
  // stores
  kKeepCotangent,    ///< the output's adjoint is not cleared after a reversed store
  kClearBeforeRead,  ///< the output's adjoint is cleared before it is read
  kWrongCotangent,   ///< the adjoint of another array is read
  kClearOnAtomic,    ///< a reversed atomic addition clears the output's adjoint
  // values
  kOtherVersion,      ///< a different value of the same variable is used
  kInitialState,      ///< the initial state of a loop is used instead of the state saved for the iteration
  kFinalState,        ///< the final state of a loop is used instead of the state saved for the iteration
  kWrongOperand,      ///< operands are swapped, or another operand is used
  kResultForOperand,  ///< the result of an operation is used instead of its operand
  kLowerPrecision,    ///< a value is rounded to lower precision
  kOneSaveTooFew,     ///< a loop state is not saved
  // local rules
  kWrongFunction,    ///< sin and cos, sinh and cosh are exchanged
  kMissingFactor,    ///< a constant factor is missing
  kMissingChain,     ///< a factor of the chain rule is missing
  kWrongSign,        ///< a local derivative has an incorrect sign
  kMissingSquare,    ///< r * r becomes r
  kOffByOnePercent,  ///< a local derivative is off by 1 %
  kOffByBasisPoint,  ///< a local derivative is off by 0.01 %
  kConstantOff,      ///< a constant of a derivative rule is off by 1 %
  kUnitCotangent,    ///< the cotangent is replaced by 1
  kOtherBranch,      ///< the gradient of abs, min, max or where goes to the other branch
  kStepHasSlope,     ///< the derivative of floor, round or a cast is 1
  // control
  kLoopRunsForward,  ///< a reversed loop runs forward
  kOneTripMore,      ///< a loop runs one iteration more
  kOneTripFewer,     ///< a loop runs one iteration less
  kBranchOnChanged,  ///< a branch condition uses an earlier or later value of the same variable
  kBranchNegated,    ///< a recorded branch is negated
  kPathSkipped,      ///< the reverse sweep of a branch is skipped
  kContinueBreaks,   ///< continue is treated as break
  kCounterNotReset,  ///< an inner loop's counter is not reset
  // index and memory
  kIndexPlusOne,      ///< an index of a gradient is too large by one
  kIndexMinusOne,     ///< an index of a gradient is too small by one
  kPrimalStrides,     ///< a gradient has the strides of another array
  kThreadForIndex,    ///< the thread index is used instead of idx[i]
  kTransposedIndex,   ///< two indices are exchanged
  kInactiveGradient,  ///< a gradient that must stay zero is written
  kNoThreadGuard,     ///< a thread beyond the end also runs
  // replay and parallel
  kReplayedAtomic,   ///< the replay repeats an atomic with a side effect
  kReplayedStore,    ///< the replay writes a primal output again
  kMissingBarrier,   ///< a barrier is missing
  kUnclearedShared,  ///< a shared sum is not cleared
  kOneWarpOnly,      ///< only the first warp of a block participates
  // forward
  kWrongOperator,     ///< an operator is replaced by another one
  kWrongComparison,   ///< a comparison is replaced by another one
  kGuardOffByOne,     ///< a guard or a bound is off by one
  kWrongArray,        ///< an array access reads another array
  kDroppedStatement,  ///< a statement is dropped
  kFloatOff,          ///< a float constant is off by a thousandth
};

/// What is needed to detect a mutant.
enum class DetectableBy : std::uint8_t {
  kAny,        ///< any device, in either precision variant
  kPrecision,  ///< a native-precision run; with f64 promotion the mutant is correct
  kThreads,    ///< a device with concurrent threads; with sequential threads the mutant is correct
};

struct OperatorRow {
  Operator op;
  std::string_view name;       ///< name in the names of mutants, in options and in reports
  OperatorGroup group;         ///< kind of mistake
  KernelPart part;             ///< what the operator changes
  DetectableBy detectable_by;  ///< what is needed to detect its mutants
  std::string_view change;     ///< what the operator does, for people
};

// clang-format off
inline constexpr OperatorRow kOperators[] = {
  {Operator::kOverwriteGradient, "overwrite_gradient", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "+= becomes ="},
  {Operator::kDropContribution, "drop_contribution", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "a contribution is dropped"},
  {Operator::kCountTwice, "count_twice", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "a contribution is counted twice"},
  {Operator::kFlipAccumulation, "flip_accumulation", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "+= becomes -="},
  {Operator::kNegateContribution, "negate_contribution", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "a contribution is negated"},
  {Operator::kPlainAddition, "plain_addition", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kThreads, "an atomic addition becomes a load and a store"},
  {Operator::kStaleAdjoint, "stale_adjoint", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "an adjoint keeps its value from the previous iteration"},
  {Operator::kClearGradient, "clear_gradient", OperatorGroup::kAccumulation, KernelPart::kBackward, DetectableBy::kAny, "a gradient is cleared at the start of the kernel"},
  {Operator::kKeepCotangent, "keep_seed", OperatorGroup::kStore, KernelPart::kBackward, DetectableBy::kAny, "the output's adjoint is not cleared after a reversed store"},
  {Operator::kClearBeforeRead, "clear_before_read", OperatorGroup::kStore, KernelPart::kBackward, DetectableBy::kAny, "the output's adjoint is cleared before it is read"},
  {Operator::kWrongCotangent, "wrong_seed", OperatorGroup::kStore, KernelPart::kBackward, DetectableBy::kAny, "the adjoint of another array is read"},
  {Operator::kClearOnAtomic, "clear_on_atomic", OperatorGroup::kStore, KernelPart::kBackward, DetectableBy::kAny, "a reversed atomic addition clears the output's adjoint"},
  {Operator::kOtherVersion, "other_version", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kAny, "a different value of the same variable is used"},
  {Operator::kInitialState, "initial_state", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kAny, "the initial state of a loop is used instead of the state saved for the iteration"},
  {Operator::kFinalState, "final_state", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kAny, "the final state of a loop is used instead of the state saved for the iteration"},
  {Operator::kWrongOperand, "wrong_operand", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kAny, "operands are swapped, or another operand is used"},
  {Operator::kResultForOperand, "result_for_operand", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kAny, "the result of an operation is used instead of its operand"},
  {Operator::kLowerPrecision, "lower_precision", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kPrecision, "a value is rounded to lower precision"},
  {Operator::kOneSaveTooFew, "one_save_too_few", OperatorGroup::kValue, KernelPart::kBackward, DetectableBy::kAny, "a loop state is not saved"},
  {Operator::kWrongFunction, "wrong_function", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "sin and cos, sinh and cosh are exchanged"},
  {Operator::kMissingFactor, "missing_factor", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "a constant factor is missing"},
  {Operator::kMissingChain, "missing_chain", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "a factor of the chain rule is missing"},
  {Operator::kWrongSign, "wrong_sign", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "a local derivative has an incorrect sign"},
  {Operator::kMissingSquare, "missing_square", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "r * r becomes r"},
  {Operator::kOffByOnePercent, "off_by_one_percent", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "a local derivative is off by 1 %"},
  {Operator::kOffByBasisPoint, "off_by_basis_point", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "a local derivative is off by 0.01 %"},
  {Operator::kConstantOff, "constant_off", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "a constant of a derivative rule is off by 1 %"},
  {Operator::kUnitCotangent, "seed_one", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "the cotangent is replaced by 1"},
  {Operator::kOtherBranch, "other_arm", OperatorGroup::kLocalRule, KernelPart::kBackward, DetectableBy::kAny, "the gradient of abs, min, max or where goes to the other branch"},
  {Operator::kStepHasSlope, "step_has_slope", OperatorGroup::kLocalRule, KernelPart::kPrimal, DetectableBy::kAny, "the derivative of floor, round or a cast is 1"},
  {Operator::kLoopRunsForward, "loop_runs_forward", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "a reversed loop runs forward"},
  {Operator::kOneTripMore, "one_trip_more", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "a loop runs one iteration more"},
  {Operator::kOneTripFewer, "one_trip_fewer", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "a loop runs one iteration less"},
  {Operator::kBranchOnChanged, "branch_on_changed", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "a branch condition uses an earlier or later value of the same variable"},
  {Operator::kBranchNegated, "branch_negated", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "a recorded branch is negated"},
  {Operator::kPathSkipped, "path_skipped", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "the reverse sweep of a branch is skipped"},
  {Operator::kContinueBreaks, "continue_breaks", OperatorGroup::kControl, KernelPart::kPrimal, DetectableBy::kAny, "continue is treated as break"},
  {Operator::kCounterNotReset, "counter_not_reset", OperatorGroup::kControl, KernelPart::kBackward, DetectableBy::kAny, "an inner loop's counter is not reset"},
  {Operator::kIndexPlusOne, "index_plus_one", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAny, "an index of a gradient is too large by one"},
  {Operator::kIndexMinusOne, "index_minus_one", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAny, "an index of a gradient is too small by one"},
  {Operator::kPrimalStrides, "primal_strides", OperatorGroup::kMemory, KernelPart::kText, DetectableBy::kAny, "a gradient has the strides of another array"},
  {Operator::kThreadForIndex, "thread_for_index", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAny, "the thread index is used instead of idx[i]"},
  {Operator::kTransposedIndex, "transposed_index", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAny, "two indices are exchanged"},
  {Operator::kInactiveGradient, "inactive_gradient", OperatorGroup::kMemory, KernelPart::kBackward, DetectableBy::kAny, "a gradient that must stay zero is written"},
  {Operator::kNoThreadGuard, "no_thread_guard", OperatorGroup::kMemory, KernelPart::kText, DetectableBy::kAny, "a thread beyond the end also runs"},
  {Operator::kReplayedAtomic, "replayed_atomic", OperatorGroup::kReplay, KernelPart::kBackward, DetectableBy::kAny, "the replay repeats an atomic with a side effect"},
  {Operator::kReplayedStore, "replayed_store", OperatorGroup::kReplay, KernelPart::kBackward, DetectableBy::kAny, "the replay writes a primal output again"},
  {Operator::kMissingBarrier, "missing_barrier", OperatorGroup::kReplay, KernelPart::kText, DetectableBy::kThreads, "a barrier is missing"},
  {Operator::kUnclearedShared, "uncleared_shared", OperatorGroup::kReplay, KernelPart::kText, DetectableBy::kThreads, "a shared sum is not cleared"},
  {Operator::kOneWarpOnly, "one_warp_only", OperatorGroup::kReplay, KernelPart::kText, DetectableBy::kThreads, "only the first warp of a block participates"},
  {Operator::kWrongOperator, "wrong_operator", OperatorGroup::kForward, KernelPart::kForward, DetectableBy::kAny, "an operator is replaced by another one"},
  {Operator::kWrongComparison, "wrong_comparison", OperatorGroup::kForward, KernelPart::kForward, DetectableBy::kAny, "a comparison is replaced by another one"},
  {Operator::kGuardOffByOne, "guard_off_by_one", OperatorGroup::kForward, KernelPart::kForward, DetectableBy::kAny, "a guard or a bound is off by one"},
  {Operator::kWrongArray, "wrong_array", OperatorGroup::kForward, KernelPart::kForward, DetectableBy::kAny, "an array access reads another array"},
  {Operator::kDroppedStatement, "dropped_statement", OperatorGroup::kForward, KernelPart::kForward, DetectableBy::kAny, "a statement is dropped"},
  {Operator::kFloatOff, "float_off", OperatorGroup::kForward, KernelPart::kForward, DetectableBy::kAny, "a float constant is off by a thousandth"},
};
// clang-format on
inline constexpr std::size_t kOperatorCount = std::size(kOperators);

constexpr const OperatorRow& row(Operator op) { return kOperators[static_cast<std::size_t>(op)]; }

constexpr std::optional<Operator> operator_named(std::string_view name) {
  for (const OperatorRow& one : kOperators) {
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
static_assert(detail::operators_are_in_order() && kOperatorCount == static_cast<std::size_t>(Operator::kFloatOff) + 1,
              "a row of the operator table is missing or out of order");

}  // namespace assay::mutation
