#include "ir/analysis.hpp"

#include <gtest/gtest.h>

#include "ir/testing/parsed.hpp"
#include "ir/text.hpp"

namespace assay::ir {
namespace {

using testing::parsed;

constexpr ParameterUse kUnused{};
constexpr ParameterUse kRead{.read = true};
constexpr ParameterUse kWritten{.written = true};
constexpr ParameterUse kUpdated{.is_atomically_updated = true};

TEST(ParameterUse, ClassifiesReadWrittenUpdatedAndUnusedParameters) {
  const Module module = parsed(
      "kernel k(a: array<f32,1>, b: array<f32,1>, c: array<f32,1>, d: array<f32,1>, e: f32, f: f32; i) {\n"
      "  b[i] = add(a[i], e)\n"
      "  atomic_add(c[i], 1.0)\n"
      "  if lt(i, shape(d, 0)) {\n"
      "  }\n"
      "}\n");
  EXPECT_EQ(parameter_use(module, module.kernels[0]),
            (ParameterUses{kRead, kWritten, kUpdated, kUnused, kRead, kUnused}));
}

TEST(ParameterUse, IncludesUseInCalledFunctions) {
  const Module module = parsed(
      "func put(to: array<f32,1>, from: array<f32,1>) -> f32 {\n"
      "  to[0] = 1.0\n"
      "  return from[0]\n"
      "}\n"
      "func swapped(from: array<f32,1>, to: array<f32,1>) -> f32 {\n"
      "  let a: f32 = put(to, from)\n"
      "  return a\n"
      "}\n"
      "kernel k(a: array<f32,1>, b: array<f32,1>; i) {\n"
      "  let c: f32 = call swapped(a, b)\n"
      "}\n");
  EXPECT_EQ(parameter_use(module, module.functions[1]), (ParameterUses{kRead, kWritten}));
  EXPECT_EQ(parameter_use(module, module.kernels[0]), (ParameterUses{kRead, kWritten}));
  EXPECT_TRUE(has_effects(parameter_use(module, module.functions[0])));
}

TEST(ParameterUse, DoesNotCountStoresToLocalArraysAsEffects) {
  const Module module = parsed("func f(x: f32) -> f32 {\n  let a: local<f32,2>\n  a[0] = x\n  return a[0]\n}\n");
  EXPECT_EQ(parameter_use(module, module.functions[0]), ParameterUses{kRead});
  EXPECT_FALSE(has_effects(parameter_use(module, module.functions[0])));
}

TEST(MostConstantTrips, MultipliesTheTripsOfNestedLoopsWithConstantBounds) {
  const auto trips = [](const std::string& body) {
    return most_constant_trips(parsed("kernel k(a: array<f32,1>, n: i32; i) {\n" + body + "}\n").kernels[0]);
  };
  const std::string inner = "    for k: i32 in range(0, 7, 2) {\n    }\n";
  EXPECT_EQ(trips(""), 1);
  EXPECT_EQ(trips("  for j: i32 in range(0, 100, 1) {\n  }\n  for m: i32 in range(0, 20, 1) {\n  }\n"), 100);
  EXPECT_EQ(trips("  for j: i32 in range(10, 0, -3) {\n" + inner + "  }\n"), 16);
  EXPECT_EQ(trips("  for j: i32 in range(0, n, 1) {\n" + inner + "  }\n"), 4) << "the outer trips are not constant";
  EXPECT_EQ(trips("  if lt(n, 3) {\n    for j: i32 in range(5, 5, 1) {\n    }\n  }\n"), 1) << "an empty range";
  EXPECT_EQ(
      trips("  for j: i32 in range(0, 2000000000, 1) {\n    for k: i32 in range(0, 2000000000, 1) {\n    }\n  }\n"),
      std::int64_t{1} << 40);
}

TEST(DifferentiableTypes, IncludeFloatsAndTypesContainingFloats) {
  const Module module = parsed(
      "struct Counts {\n  n: i32\n}\nstruct Body {\n  counts: Counts\n  mass: array<f16,1>\n}\n"
      "kernel a(n: i32; i) {\n}\n");
  EXPECT_TRUE(is_differentiable(module, kF32.array_of(2)));
  EXPECT_TRUE(is_differentiable(module, quaternion_type(Scalar::kF64)));
  EXPECT_FALSE(is_differentiable(module, vector_type(Scalar::kI32, 2)));
  EXPECT_FALSE(is_differentiable(module, struct_type(0)));
  EXPECT_TRUE(is_differentiable(module, struct_type(1)));
  EXPECT_TRUE(is_differentiable(module, struct_type(1).array_of(1)));
  EXPECT_FALSE(is_differentiable(module));
  EXPECT_TRUE(is_differentiable(parsed("kernel a(x: array<f32,1>; i) {\n}\n")));
}

TEST(VariableUse, FindsAssignedDeclaredAndReadVariables) {
  const Module module = parsed(
      "kernel k(x: array<f32,1>; i) {\n"
      "  let a: f32 = x[i]\n"
      "  while true {\n"
      "    for n: i32 in range(0, i, 1) {\n"
      "      a = add(a, x[n])\n"
      "    }\n"
      "    let b: f32 = atomic_add(x[i], a)\n"
      "  }\n"
      "}\n");
  const Function& kernel = module.kernels[0];
  EXPECT_EQ(assigned_variables(kernel.body), std::vector<VarId>{2});
  EXPECT_EQ(declared_variables(kernel.body), (std::vector<VarId>{2, 3, 4}));
  const auto& loop = std::get<For>(std::get<While>(kernel.body.statements[1].node).body.statements[0].node);
  const auto& assign = std::get<Assign>(loop.body.statements[0].node);
  EXPECT_EQ(variables_read(kernel, assign.value), (std::vector<VarId>{0, 2, 3}));
  EXPECT_TRUE(variables_read(kernel, kNone).empty());
}

TEST(Traversal, VisitsStatementsAndExpressionsInSourceOrder) {
  const Module module = parsed(
      "kernel k(x: array<i32,1>; i) {\n"
      "  if lt(i, 1) {\n"
      "    x[2] = 3\n"
      "  } else {\n"
      "    let a: i32 = atomic_cas(x[4], 5, 6)\n"
      "  }\n"
      "  for n: i32 in range(7, 8, 9) {\n"
      "  }\n"
      "}\n");
  const Function& kernel = module.kernels[0];
  std::vector<std::uint64_t> literals;
  for_each_statement(kernel.body, [&](const Stmt& statement) {
    for_each_root_expression(statement, [&](ExprId root) {
      for_each_expression(kernel, root, [&](ExprId, const Expr& expr) {
        if (expr.kind == ExprKind::kLiteral) literals.push_back(expr.bits);
      });
    });
  });
  EXPECT_EQ(literals, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Traversal, ChangesMadeByVisitorModifyProgram) {
  Module module = parsed("kernel k(; i) {\n  let a: i32 = i\n  if true {\n    a = 1\n  }\n}\n");
  for_each_statement(module.kernels[0].body, [](Stmt& statement) {
    for_each_root_expression(statement, [](ExprId& root) { root = 0; });
    for_each_declared_variable(statement, [](VarId& id) { id += 10; });
  });
  EXPECT_EQ(std::get<Let>(module.kernels[0].body.statements[0].node).variable, 11);
  const auto& branch = std::get<If>(module.kernels[0].body.statements[1].node);
  EXPECT_EQ(std::get<Assign>(branch.then_block.statements[0].node).value, 0);
}

}  // namespace
}  // namespace assay::ir
