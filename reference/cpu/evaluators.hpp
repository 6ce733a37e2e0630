// The oracle's implementation of each operation: one Evaluator per row of ir/operations/operation_table.inc.
//
// To add an operation, add its functions and its row to one of the evaluators_*.cpp. The derivatives here are derived
// independently of the rules of ir/transforms: a shared rule could make both incorrect in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/operations/operations.hpp"
#include "reference/cpu/arithmetic.hpp"

namespace assay::reference {

/// Operands of one operation on scalars.
using Operands = std::span<const BoundedValue* const>;

/// Computes the value and records its decisions in the recorder of the arithmetic.
using Evaluate = BoundedValue (*)(const BoundedArithmetic&, Operands);
/// A predicate on floats.
using Predicate = bool (*)(const BoundedArithmetic&, Operands);
/// partials[i] = d result / d operand i if bit i of `wanted` is set; `result` is the result of Evaluate. The bound
/// covers all usual formulas of the derivative.
using Differentiate = void (*)(const BoundedArithmetic&, Operands, const BoundedValue& result, std::uint32_t wanted,
                               BoundedValue* partials);

/// How the lowering (program.hpp) implements an operation on floats.
enum class EvaluatorRole : std::uint8_t {
  kElementwise,               ///< `evaluate` is applied component by component; scalars are broadcast
  kReduction,                 ///< `evaluate` reduces all components of all operands to one number
  kPredicate,                 ///< `predicate` returns a bool
  kNoFloatOperands,           ///< no evaluator, because the operation has no float operands
  kLoweredToOtherOperations,  ///< no evaluator; lowered to moves, selections, branches or other operations
};

/// The implementation of one operation on floats.
struct Evaluator {
  ir::Op op;                      ///< the operation
  EvaluatorRole role;             ///< how the lowering uses the functions below
  Evaluate evaluate = nullptr;    ///< computes the value, for kElementwise and kReduction; otherwise null
  Predicate predicate = nullptr;  ///< computes the bool, for kPredicate; otherwise null
  /// Computes the partial derivatives; null if there are none, or if they are zero by convention.
  Differentiate differentiate = nullptr;
  bool is_differentiable = false;  ///< whether `differentiate` is not null
};

const Evaluator& evaluator(ir::Op op);
/// The row of an operation without an injected fault; evaluator() without fault injection.
const Evaluator& original_evaluator(ir::Op op);

/// float to float: rounds in precision kNative if the target has fewer digits.
BoundedValue convert(const BoundedArithmetic& target, ir::Scalar from, ir::Scalar to, const BoundedValue& x);
/// float to integer: truncates and records the decision. The caller checks the range.
long double truncated(const BoundedArithmetic& arithmetic, const BoundedValue& x);
/// The bits of x as a float32 or, for 8 bytes, as a float64. Unless x is known exactly and such a float has its value,
/// the bits are a decision with many outcomes. They are 0 for a NaN, whose bits are not known.
std::int64_t bits_of(const BoundedArithmetic& arithmetic, const BoundedValue& x, int bytes);
/// x / |v| for component x of a vector of length `length`; 0 for the zero vector. Part of kNormalize.
BoundedValue unit_component(const BoundedArithmetic& arithmetic, Operands component_and_length);
/// Computes the partial derivatives of unit_component().
void unit_component_partials(const BoundedArithmetic& a, Operands x, const BoundedValue& r, std::uint32_t wanted,
                             BoundedValue* p);

/// The row unchanged, or with an incorrect derivative if the injected fault affects this operation. The self-check must
/// detect each of these derivatives, of which there is one at a time. Only part of assay-faulty.
const Evaluator& with_faulty_rule(const Evaluator& row);

}  // namespace assay::reference
