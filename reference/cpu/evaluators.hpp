// What the oracle knows of each operation: one Evaluator per row of ir/operations/operation_table.inc.
//
// To add an operation: its functions in one of the evaluators_*.cpp and its row in evaluators.cpp. The
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

// ---- The functions behind the rows
namespace evaluators {

#define ASSAY_EVALUATOR(name)                    \
  Bounded name(const Arithmetic& a, Operands x); \
  void d_##name(const Arithmetic& a, Operands x, const Bounded& r, std::uint32_t wanted, Bounded* p)

ASSAY_EVALUATOR(add);
ASSAY_EVALUATOR(sub);
ASSAY_EVALUATOR(mul);
ASSAY_EVALUATOR(div);
ASSAY_EVALUATOR(mod);
ASSAY_EVALUATOR(neg);
ASSAY_EVALUATOR(abs);
ASSAY_EVALUATOR(min);
ASSAY_EVALUATOR(max);
ASSAY_EVALUATOR(clamp);
ASSAY_EVALUATOR(frac);
ASSAY_EVALUATOR(copysign);
ASSAY_EVALUATOR(sqrt);
ASSAY_EVALUATOR(rsqrt);
ASSAY_EVALUATOR(cbrt);
ASSAY_EVALUATOR(exp);
ASSAY_EVALUATOR(exp2);
ASSAY_EVALUATOR(expm1);
ASSAY_EVALUATOR(log);
ASSAY_EVALUATOR(log2);
ASSAY_EVALUATOR(log10);
ASSAY_EVALUATOR(log1p);
ASSAY_EVALUATOR(sin);
ASSAY_EVALUATOR(cos);
ASSAY_EVALUATOR(tan);
ASSAY_EVALUATOR(asin);
ASSAY_EVALUATOR(acos);
ASSAY_EVALUATOR(atan);
ASSAY_EVALUATOR(atan2);
ASSAY_EVALUATOR(sinh);
ASSAY_EVALUATOR(cosh);
ASSAY_EVALUATOR(tanh);
ASSAY_EVALUATOR(asinh);
ASSAY_EVALUATOR(acosh);
ASSAY_EVALUATOR(atanh);
ASSAY_EVALUATOR(pow);
ASSAY_EVALUATOR(hypot);
ASSAY_EVALUATOR(erf);
ASSAY_EVALUATOR(erfc);
ASSAY_EVALUATOR(fma);
ASSAY_EVALUATOR(lerp);
ASSAY_EVALUATOR(smoothstep);
ASSAY_EVALUATOR(degrees);
ASSAY_EVALUATOR(radians);
ASSAY_EVALUATOR(dot);
ASSAY_EVALUATOR(length);
ASSAY_EVALUATOR(inverse);  // component (0, 0) of the inverse of the square matrix of the operands, row by row
#undef ASSAY_EVALUATOR

Bounded floor_div(const Arithmetic& a, Operands x);
Bounded sign(const Arithmetic& a, Operands x);
Bounded step(const Arithmetic& a, Operands x);
Bounded nonzero(const Arithmetic& a, Operands x);
Bounded floor(const Arithmetic& a, Operands x);
Bounded ceil(const Arithmetic& a, Operands x);
Bounded round(const Arithmetic& a, Operands x);
Bounded rint(const Arithmetic& a, Operands x);
Bounded trunc(const Arithmetic& a, Operands x);

bool eq(const Arithmetic& a, Operands x);
bool ne(const Arithmetic& a, Operands x);
bool lt(const Arithmetic& a, Operands x);
bool le(const Arithmetic& a, Operands x);
bool gt(const Arithmetic& a, Operands x);
bool ge(const Arithmetic& a, Operands x);
bool is_nan(const Arithmetic& a, Operands x);
bool is_inf(const Arithmetic& a, Operands x);
bool is_finite(const Arithmetic& a, Operands x);

}  // namespace evaluators
}  // namespace assay::reference
