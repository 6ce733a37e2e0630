#include "ir/extremum_operands.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/testing/parsed.hpp"

namespace assay::ir {
namespace {

using ::testing::IsEmpty;
using testing::parsed;
using ::testing::UnorderedElementsAre;

/// The names of the operations of the marked expressions.
std::vector<std::string> operations(const Function& function, const ExtremumOperands& operands) {
  std::vector<std::string> names;
  for (std::size_t id = 0; id < operands.size(); ++id) {
    const Expr& expr = function.expressions[id];
    if (operands[id] && expr.kind == ExprKind::kOperation) names.emplace_back(row(expr.op).mnemonic);
  }
  return names;
}

/// The operations that are marked in a kernel with this body.
std::vector<std::string> marked(const std::string& body, const std::string& functions = "") {
  const Module module =
      parsed(functions + "kernel k(x: array<f32,1>, y: array<f32,1>, low: array<f32,1>, n: array<i32,1>; i) {\n" +
             body + "}\n");
  if (module.kernels.empty()) return {"no kernel"};
  return operations(module.kernels[0], extremum_operands(module, module.kernels[0], nullptr).forward);
}

TEST(ExtremumOperands, AreAllOperationsOfTheOperand) {
  EXPECT_THAT(marked("  atomic_min(low[0], add(mul(x[i], x[i]), 1.0))\n  y[i] = sub(x[i], 2.0)\n"),
              UnorderedElementsAre("add", "mul"));
}

TEST(ExtremumOperands, AreFollowedThroughVariablesAndLoops) {
  EXPECT_THAT(
      marked("  let sum: f32 = 0.0\n  let other: f32 = div(x[i], 3.0)\n"
             "  for j: i32 in range(0, 4, 1) {\n    let term: f32 = mul(x[j], 2.0)\n    sum = add(sum, term)\n  }\n"
             "  atomic_max(low[0], sum)\n  y[i] = other\n"),
      UnorderedElementsAre("add", "mul"));
}

TEST(ExtremumOperands, AreFollowedThroughArraysOfTheKernelButNotThroughIndices) {
  EXPECT_THAT(marked("  y[i] = sub(x[i], 2.0)\n  atomic_min(low[0], y[add(i, 0)])\n"), UnorderedElementsAre("sub"));
}

TEST(ExtremumOperands, AreFollowedIntoFunctionsAndOutOfThem) {
  const Module module = parsed(
      "func sum(a: f32, b: f32) -> f32 {\n  return add(a, b)\n}\n"
      "func keep(to: array<f32,1>, a: f32) {\n  atomic_min(to[0], a)\n}\n"
      "kernel k(x: array<f32,1>, low: array<f32,1>; i) {\n  call keep(low, sum(mul(x[i], 2.0), 1.0))\n}\n");
  ASSERT_EQ(module.kernels.size(), 1U);
  const Function& kernel = module.kernels[0];
  const ExtremumOperandsOfKernel operands = extremum_operands(module, kernel, nullptr);
  EXPECT_THAT(operations(kernel, operands.forward), UnorderedElementsAre("mul"));
  ASSERT_EQ(operands.functions.size(), 2U);
  EXPECT_THAT(operations(module.functions[0], operands.functions[0]), UnorderedElementsAre("add"));
}

TEST(ExtremumOperands, AreFollowedThroughArraysThatAFunctionChanges) {
  const Module module = parsed(
      "func put(to: array<f32,1>, a: f32, j: i32) {\n  to[j] = add(a, 1.0)\n}\n"
      "kernel k(x: array<f32,1>, y: array<f32,1>, low: array<f32,1>; i) {\n"
      "  call put(y, x[i], i)\n  atomic_min(low[0], y[i])\n}\n");
  ASSERT_EQ(module.kernels.size(), 1U);
  const ExtremumOperandsOfKernel operands = extremum_operands(module, module.kernels[0], nullptr);
  EXPECT_THAT(operations(module.functions[0], operands.functions.at(0)), UnorderedElementsAre("add"));
}

TEST(ExtremumOperands, OfABackwardKernelAreTheValuesThatItComparesForEquality) {
  const Module module = parsed(
      "kernel k(x: array<f32,1>, low: array<f32,1>; i) {\n  atomic_min(low[0], add(x[i], 1.0))\n}\n"
      "kernel b(x: array<f32,1>, low: array<f32,1>, g: array<f32,1>; i) {\n"
      "  if eq(add(x[i], 1.0), low[0]) {\n    g[i] = mul(x[i], 2.0)\n  }\n}\n");
  ASSERT_EQ(module.kernels.size(), 2U);
  const Function& backward = module.kernels[1];
  const ExtremumOperandsOfKernel operands = extremum_operands(module, module.kernels[0], &backward);
  EXPECT_THAT(operations(backward, operands.backward), UnorderedElementsAre("eq", "add"));
}

TEST(ExtremumOperands, AreAbsentWithoutAnAtomicExtremumOfFloats) {
  EXPECT_THAT(marked("  atomic_add(low[0], add(x[i], 1.0))\n  atomic_min(n[0], add(i, 1))\n"), IsEmpty());
}

}  // namespace
}  // namespace assay::ir
