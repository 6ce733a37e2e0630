// The tables of evaluators, one for each evaluators_*.cpp.
#pragma once

#include <span>

#include "reference/cpu/evaluators.hpp"

namespace assay::reference::evaluators {

/// Returns the row of an operation that is applied component by component and has no derivative.
constexpr Evaluator elementwise_evaluator(ir::Op op, Evaluate evaluate) {
  return {.op = op, .role = EvaluatorRole::kElementwise, .evaluate = evaluate};
}
/// Makes the table row of a differentiable operation.
constexpr Evaluator differentiable_evaluator(EvaluatorRole role, ir::Op op, Evaluate evaluate,
                                             Differentiate differentiate) {
  return {.op = op, .role = role, .evaluate = evaluate, .differentiate = differentiate, .is_differentiable = true};
}
constexpr Evaluator elementwise_evaluator(ir::Op op, Evaluate evaluate, Differentiate differentiate) {
  return differentiable_evaluator(EvaluatorRole::kElementwise, op, evaluate, differentiate);
}
/// Returns the row of an operation that reduces all components to one number.
constexpr Evaluator reduction_evaluator(ir::Op op, Evaluate evaluate, Differentiate differentiate) {
  return differentiable_evaluator(EvaluatorRole::kReduction, op, evaluate, differentiate);
}
/// Returns the row of an operation that returns a bool.
constexpr Evaluator predicate_evaluator(ir::Op op, Predicate function) {
  return {.op = op, .role = EvaluatorRole::kPredicate, .predicate = function};
}

/// The natural logarithm, used by the derivative of kPow.
BoundedValue log(const BoundedArithmetic& a, Operands x);

std::span<const Evaluator> compound();
std::span<const Evaluator> matrix();
std::span<const Evaluator> piecewise();
std::span<const Evaluator> smooth();

}  // namespace assay::reference::evaluators
