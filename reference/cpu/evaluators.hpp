// What the oracle knows of each operation: one Evaluator per row of ir/operations/operation_table.inc.
//
// To add an operation: its functions and its row in one of the evaluators_*.cpp. The
// derivatives here are written from mathematics, not from the rules of ir/transforms: sharing a rule would let
// both be wrong alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/operations/operations.hpp"
#include "reference/cpu/arithmetic.hpp"

namespace assay::reference {

/// Operands of one operation on scalars.
using Operands = std::span<const Bounded* const>;

/// The value. Records the decisions that it takes in the arithmetic's recorder.
using Evaluate = Bounded (*)(const Arithmetic&, Operands);
/// A question about floats.
using Test = bool (*)(const Arithmetic&, Operands);
/// partials[i] = d result / d operand i, wherever bit i of `wanted` is set; `result` is what Evaluate gave. The
/// bound is that of the customary formula which loses most.
using Differentiate = void (*)(const Arithmetic&, Operands, const Bounded& result, std::uint32_t wanted,
                               Bounded* partials);

/// How the lowering (program.hpp) treats an operation on floats.
enum class Role : std::uint8_t {
  kElementwise,  ///< component by component, scalars repeated: `evaluate`
  kReduction,    ///< all components of all operands give one number: `evaluate`
  kTest,         ///< a bool: `test`
  kInteger,      ///< takes no floats
  kComposed,     ///< of instructions that the lowering chooses: moves, selections, branches, other operations
};

struct Evaluator {
  ir::Op op;
  Role role;
  Evaluate evaluate = nullptr;
  Test test = nullptr;
  Differentiate differentiate = nullptr;  ///< null where the derivative is zero by convention
  bool is_differentiable = false;         ///< whether it is not null
};

const Evaluator& evaluator(ir::Op op);
/// The row of an operation in which no fault is planted; evaluator() without the seam.
const Evaluator& original_evaluator(ir::Op op);

/// float to float: rounds in lane kNative where the target has fewer digits.
Bounded convert(const Arithmetic& target, ir::Scalar from, ir::Scalar to, const Bounded& x);
/// float to integer: truncated, and the decision recorded. The caller checks the range.
long double truncated(const Arithmetic& arithmetic, const Bounded& x);
/// x / |v| for component x of a vector of length `length`; 0 for the zero vector. Part of kNormalize.
Bounded unit_component(const Arithmetic& arithmetic, Operands component_and_length);
void unit_component_partials(const Arithmetic& a, Operands x, const Bounded& r, std::uint32_t wanted, Bounded* p);

}  // namespace assay::reference
