// The mutation operators: the mistakes that generated kernels have, one row each (conformance/mutants says why these).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::mutation {

/// What kind of mistake an operator makes.
enum class Group : std::uint8_t { kAccumulation, kStore, kValue, kLocalRule, kControl, kMemory, kReplay, kForward };

/// What an operator changes.
enum class Part : std::uint8_t {
  kBackward,  ///< the adjoint
  kForward,   ///< the kernel itself; its adjoint stays right
  kPrimal,    ///< the kernel that is differentiated; the forward that runs stays right
  kText,      ///< the printed backward kernel
};

enum class Operator : std::uint8_t {
  // accumulation
  kOverwriteGradient,
  kDropContribution,
  kCountTwice,
  kFlipAccumulation,
  kNegateContribution,
  kPlainAddition,
  kStaleAdjoint,
  kClearGradient,
  // stores
  kKeepSeed,
  kClearBeforeRead,
  kWrongSeed,
  kClearOnAtomic,
  // values
  kOtherVersion,
  kInitialState,
  kFinalState,
  kWrongOperand,
  kResultForOperand,
  kLowerPrecision,
  kOneSaveTooFew,
  // local rules
  kWrongFunction,
  kMissingFactor,
  kMissingChain,
  kWrongSign,
  kMissingSquare,
  kOffByOnePercent,
  kOffByBasisPoint,
  kConstantOff,
  kSeedOne,
  kOtherArm,
  kStepHasSlope,
  // control
  kLoopRunsForward,
  kOneTripMore,
  kOneTripFewer,
  kBranchOnChanged,
  kBranchNegated,
  kPathSkipped,
  kContinueBreaks,
  kCounterNotReset,
  // index and memory
  kIndexPlusOne,
  kIndexMinusOne,
  kPrimalStrides,
  kThreadForIndex,
  kTransposedIndex,
  kInactiveGradient,
  kNoThreadGuard,
  // replay and parallel
  kReplayedAtomic,
  kReplayedStore,
  kMissingBarrier,
  kUnclearedShared,
  kOneWarpOnly,
  // forward
  kWrongOperator,
  kWrongComparison,
  kGuardOffByOne,
  kWrongArray,
  kDroppedStatement,
  kFloatOff,
};

/// What it takes to tell a mutant from the right kernel.
enum class Counterexample : std::uint8_t {
  kAny,        ///< any device, in either lane
  kPrecision,  ///< the kernel's own types: in the double lift it is right
  kThreads,    ///< a device with threads of its own: it is right where they run one after another
};

struct OperatorRow {
  Operator op;
  std::string_view name;  ///< in names of mutants, options and reports
  Group group;
  Part part;
  Counterexample counterexample;
  std::string_view change;  ///< what it does, for people
};

// clang-format off
inline constexpr OperatorRow kOperators[] = {
  {Operator::kOverwriteGradient, "overwrite_gradient", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "+= becomes ="},
  {Operator::kDropContribution, "drop_contribution", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "a contribution is dropped"},
  {Operator::kCountTwice, "count_twice", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "a contribution is counted twice"},
  {Operator::kFlipAccumulation, "flip_accumulation", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "+= becomes -="},
  {Operator::kNegateContribution, "negate_contribution", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "a contribution is negated"},
  {Operator::kPlainAddition, "plain_addition", Group::kAccumulation, Part::kBackward, Counterexample::kThreads, "an atomic addition becomes a load and a store"},
  {Operator::kStaleAdjoint, "stale_adjoint", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "an adjoint keeps what the iteration before left"},
  {Operator::kClearGradient, "clear_gradient", Group::kAccumulation, Part::kBackward, Counterexample::kAny, "a gradient is cleared at the kernel's start"},
  {Operator::kKeepSeed, "keep_seed", Group::kStore, Part::kBackward, Counterexample::kAny, "the output's adjoint is not cleared after a reversed store"},
  {Operator::kClearBeforeRead, "clear_before_read", Group::kStore, Part::kBackward, Counterexample::kAny, "the output's adjoint is cleared before it is read"},
  {Operator::kWrongSeed, "wrong_seed", Group::kStore, Part::kBackward, Counterexample::kAny, "the adjoint of another array is read"},
  {Operator::kClearOnAtomic, "clear_on_atomic", Group::kStore, Part::kBackward, Counterexample::kAny, "a reversed atomic addition clears the output's adjoint"},
  {Operator::kOtherVersion, "other_version", Group::kValue, Part::kBackward, Counterexample::kAny, "another value of the same variable is taken"},
  {Operator::kInitialState, "initial_state", Group::kValue, Part::kBackward, Counterexample::kAny, "a loop's first state is taken for the saved one"},
  {Operator::kFinalState, "final_state", Group::kValue, Part::kBackward, Counterexample::kAny, "a loop's final state is taken for the saved one"},
  {Operator::kWrongOperand, "wrong_operand", Group::kValue, Part::kBackward, Counterexample::kAny, "operands are swapped, or another operand is taken"},
  {Operator::kResultForOperand, "result_for_operand", Group::kValue, Part::kBackward, Counterexample::kAny, "the result of an operation is taken for its operand"},
  {Operator::kLowerPrecision, "lower_precision", Group::kValue, Part::kBackward, Counterexample::kPrecision, "a value is taken at lower precision"},
  {Operator::kOneSaveTooFew, "one_save_too_few", Group::kValue, Part::kBackward, Counterexample::kAny, "a state is not saved"},
  {Operator::kWrongFunction, "wrong_function", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "sin and cos, sinh and cosh are exchanged"},
  {Operator::kMissingFactor, "missing_factor", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "a constant factor is missing"},
  {Operator::kMissingChain, "missing_chain", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "a factor of the chain rule is missing"},
  {Operator::kWrongSign, "wrong_sign", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "a local derivative has the wrong sign"},
  {Operator::kMissingSquare, "missing_square", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "r * r becomes r"},
  {Operator::kOffByOnePercent, "off_by_one_percent", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "a local derivative is off by 1 %"},
  {Operator::kOffByBasisPoint, "off_by_basis_point", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "a local derivative is off by 0.01 %"},
  {Operator::kConstantOff, "constant_off", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "a constant of a rule is off by 1 %"},
  {Operator::kSeedOne, "seed_one", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "the seed is replaced by 1"},
  {Operator::kOtherArm, "other_arm", Group::kLocalRule, Part::kBackward, Counterexample::kAny, "abs, min, max or where is routed to the other arm"},
  {Operator::kStepHasSlope, "step_has_slope", Group::kLocalRule, Part::kPrimal, Counterexample::kAny, "the derivative of floor, round or a cast is 1"},
  {Operator::kLoopRunsForward, "loop_runs_forward", Group::kControl, Part::kBackward, Counterexample::kAny, "a reversed loop runs forward"},
  {Operator::kOneTripMore, "one_trip_more", Group::kControl, Part::kBackward, Counterexample::kAny, "a loop runs once more"},
  {Operator::kOneTripFewer, "one_trip_fewer", Group::kControl, Part::kBackward, Counterexample::kAny, "a loop runs once less"},
  {Operator::kBranchOnChanged, "branch_on_changed", Group::kControl, Part::kBackward, Counterexample::kAny, "a branch is decided on another value of the same variable"},
  {Operator::kBranchNegated, "branch_negated", Group::kControl, Part::kBackward, Counterexample::kAny, "a recorded branch is negated"},
  {Operator::kPathSkipped, "path_skipped", Group::kControl, Part::kBackward, Counterexample::kAny, "the reverse of a path is skipped"},
  {Operator::kContinueBreaks, "continue_breaks", Group::kControl, Part::kPrimal, Counterexample::kAny, "continue is treated as break"},
  {Operator::kCounterNotReset, "counter_not_reset", Group::kControl, Part::kBackward, Counterexample::kAny, "an inner loop's counter is not reset"},
  {Operator::kIndexPlusOne, "index_plus_one", Group::kMemory, Part::kBackward, Counterexample::kAny, "an index of a gradient is one too large"},
  {Operator::kIndexMinusOne, "index_minus_one", Group::kMemory, Part::kBackward, Counterexample::kAny, "an index of a gradient is one too small"},
  {Operator::kPrimalStrides, "primal_strides", Group::kMemory, Part::kText, Counterexample::kAny, "a gradient is laid out as another array"},
  {Operator::kThreadForIndex, "thread_for_index", Group::kMemory, Part::kBackward, Counterexample::kAny, "the thread's number is taken for idx[i]"},
  {Operator::kTransposedIndex, "transposed_index", Group::kMemory, Part::kBackward, Counterexample::kAny, "two indices are exchanged"},
  {Operator::kInactiveGradient, "inactive_gradient", Group::kMemory, Part::kBackward, Counterexample::kAny, "a gradient is written on which nothing depends"},
  {Operator::kNoThreadGuard, "no_thread_guard", Group::kMemory, Part::kText, Counterexample::kAny, "a thread beyond the end runs too"},
  {Operator::kReplayedAtomic, "replayed_atomic", Group::kReplay, Part::kBackward, Counterexample::kAny, "the replay repeats an atomic with a side effect"},
  {Operator::kReplayedStore, "replayed_store", Group::kReplay, Part::kBackward, Counterexample::kAny, "the replay writes a primal output again"},
  {Operator::kMissingBarrier, "missing_barrier", Group::kReplay, Part::kText, Counterexample::kThreads, "a barrier is missing"},
  {Operator::kUnclearedShared, "uncleared_shared", Group::kReplay, Part::kText, Counterexample::kThreads, "a shared sum is not cleared"},
  {Operator::kOneWarpOnly, "one_warp_only", Group::kReplay, Part::kText, Counterexample::kThreads, "only the first warp takes part"},
  {Operator::kWrongOperator, "wrong_operator", Group::kForward, Part::kForward, Counterexample::kAny, "another operator is computed"},
  {Operator::kWrongComparison, "wrong_comparison", Group::kForward, Part::kForward, Counterexample::kAny, "another comparison is made"},
  {Operator::kGuardOffByOne, "guard_off_by_one", Group::kForward, Part::kForward, Counterexample::kAny, "a guard or a bound is off by one"},
  {Operator::kWrongArray, "wrong_array", Group::kForward, Part::kForward, Counterexample::kAny, "another array is read"},
  {Operator::kDroppedStatement, "dropped_statement", Group::kForward, Part::kForward, Counterexample::kAny, "a statement is dropped"},
  {Operator::kFloatOff, "float_off", Group::kForward, Part::kForward, Counterexample::kAny, "a float constant is off by a thousandth"},
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

constexpr std::string_view to_text(Group group) {
  constexpr std::array<std::string_view, 8> kTexts = {"accumulation", "store",  "value",  "local rule",
                                                      "control",      "memory", "replay", "forward"};
  return kTexts[static_cast<std::size_t>(group)];
}

constexpr std::string_view to_text(Counterexample counterexample) {
  constexpr std::array<std::string_view, 3> kTexts = {"any", "precision", "threads"};
  return kTexts[static_cast<std::size_t>(counterexample)];
}

namespace detail {
constexpr bool in_order() {
  for (std::size_t i = 0; i < kOperatorCount; ++i) {
    if (static_cast<std::size_t>(kOperators[i].op) != i) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::in_order() && kOperatorCount == static_cast<std::size_t>(Operator::kFloatOff) + 1,
              "a row of the mutation operators is missing or out of order");

}  // namespace assay::mutation
