// The tables of evaluators, one for each evaluators_*.cpp. A table lies behind the functions of its rows.
#pragma once

#include <span>

#include "reference/cpu/evaluators.hpp"

namespace assay::reference::evaluators {

constexpr Evaluator elementwise(ir::Op op, Evaluate evaluate) {
  return {.op = op, .role = Role::kElementwise, .evaluate = evaluate};
}
constexpr Evaluator differentiable(Role role, ir::Op op, Evaluate evaluate, Differentiate differentiate) {
  return {.op = op, .role = role, .evaluate = evaluate, .differentiate = differentiate, .is_differentiable = true};
}
constexpr Evaluator elementwise(ir::Op op, Evaluate evaluate, Differentiate differentiate) {
  return differentiable(Role::kElementwise, op, evaluate, differentiate);
}
constexpr Evaluator reduction(ir::Op op, Evaluate evaluate, Differentiate differentiate) {
  return differentiable(Role::kReduction, op, evaluate, differentiate);
}
constexpr Evaluator test(ir::Op op, Test function) { return {.op = op, .role = Role::kTest, .test = function}; }

/// The natural logarithm, of which the derivative of kPow is made.
Bounded log(const Arithmetic& a, Operands x);

std::span<const Evaluator> compound();
std::span<const Evaluator> matrix();
std::span<const Evaluator> piecewise();
std::span<const Evaluator> smooth();

}  // namespace assay::reference::evaluators
