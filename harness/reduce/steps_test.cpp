// Applies each reduction step to a small program, at all possible locations or at one of them.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::reduce {
namespace {

ir::Module repaired_program(const std::string& text) {
  Result<ir::Module> module = ir::parse_text(text);
  EXPECT_TRUE(module.ok()) << module.error().text();
  for (const ir::VerifierError& diagnostic : ir::verify(*module))
    ADD_FAILURE() << ir::to_text(*module, diagnostic);
  return repaired(module.take(), DeadStatementPolicy::kKeep);
}

using Walk = void(ir::Module&, const Choose&);
constexpr std::size_t kEverywhere = ~std::size_t{0};

/// The repaired, valid program after the step at one place or everywhere, optionally without dead statements.
std::string after(Walk* walk, const std::string& text, std::size_t place = kEverywhere,
                  DeadStatementPolicy dead = DeadStatementPolicy::kKeep) {
  ir::Module module = repaired_program(text);
  std::size_t at = 0;
  walk(module, [&] { return place == kEverywhere || at++ == place; });
  module = repaired(std::move(module), dead);
  for (const ir::VerifierError& diagnostic : ir::verify(module))
    ADD_FAILURE() << ir::to_text(module, diagnostic) << "\n" << ir::to_text(module);
  return ir::to_text(module);
}

std::size_t places(Walk* walk, const std::string& text) {
  ir::Module module = repaired_program(text);
  std::size_t count = 0;
  walk(module, [&] { return ++count, false; });
  return count;
}

/// A kernel over x, y, n and out with this body.
std::string kernel(const std::string& body) {
  return "kernel k(x: array<f32,1>, y: array<f32,1>, n: i32, out: array<f32,1>; i) {\n" + body + "}\n";
}
std::string settled_text(const std::string& text) { return ir::to_text(repaired_program(text)); }

TEST(ProgramRepair, DeclaresVariableWhoseDeclarationWasRemoved) {
  const std::string text = kernel("  let a: f32 = x[i]\n  a = add(a, y[i])\n  out[i] = a\n");
  EXPECT_EQ(after(drop_statements, text, 0), settled_text(kernel("  let a: f32 = add(0.5, y[i])\n  out[i] = a\n")));
}

TEST(ProgramRepair, DropsUnreachableStatementsAndMisplacedJumps) {
  const std::string text =
      kernel("  for j: i32 in range(0, n, 1) {\n    if lt(j, 3) {\n      break\n    }\n    out[i] = x[j]\n  }\n");
  EXPECT_EQ(after(unwrap_loops, text), settled_text(kernel("  let j: i32 = 0\n  out[i] = x[j]\n")));
}

TEST(ProgramRepair, RemovesDeadStatements) {
  const std::string text = kernel(
      "  let a: f32 = x[i]\n  let s: f32 = 0.0\n  for j: i32 in range(0, n, 1) {\n    s = add(s, a)\n  }\n"
      "  out[i] = y[i]\n");
  EXPECT_EQ(after(drop_stores_and_atomics, text, 1, DeadStatementPolicy::kRemove),
            settled_text(kernel("  out[i] = y[i]\n")));
}

TEST(ProgramRepair, KeepsVariablesUsedInConditionsOfJumps) {
  const std::string text = kernel("  let a: f32 = x[i]\n  if lt(a, 0.0) {\n    return\n  }\n  out[i] = y[i]\n");
  EXPECT_EQ(after(drop_stores_and_atomics, text, 1, DeadStatementPolicy::kRemove), settled_text(text));
}

TEST(ProgramRepair, DropsUnusedFunctionsAndStructs) {
  const std::string text =
      "struct P {\n  a: f32\n}\n\nfunc f(p: P) -> f32 {\n  return p.a\n}\n\n"
      "func g(x: f32) -> f32 {\n  return mul(x, x)\n}\n\n" +
      kernel("  let p: P\n  out[i] = f(p)\n  out[i] = g(x[i])\n");
  const std::string rest = "func g(x: f32) -> f32 {\n  return mul(x, x)\n}\n\n" + kernel("  out[i] = g(x[i])\n");
  EXPECT_EQ(after(drop_stores_and_atomics, text, 0, DeadStatementPolicy::kRemove), settled_text(rest));
}

TEST(DropStatements, RemovesAnyStatementAndEmptiedIfStatements) {
  const std::string text = kernel("  let a: f32 = x[i]\n  if lt(a, 0.0) {\n    a = y[i]\n  }\n  out[i] = a\n");
  EXPECT_EQ(places(drop_statements, text), 4U);
  EXPECT_EQ(after(drop_statements, text, 1), settled_text(kernel("  let a: f32 = x[i]\n  out[i] = a\n")))
      << "an if without statements must be removed";
  EXPECT_EQ(after(drop_statements, text), settled_text(kernel("")));
}

TEST(DropStatements, KeepsReturnOfFunction) {
  const std::string text =
      "func f(x: f32) -> f32 {\n  let a: f32 = mul(x, x)\n  return a\n}\n\n" + kernel("  out[i] = f(x[i])\n");
  EXPECT_EQ(places(drop_statements, text), 2U);
}

TEST(DropEffects, RemovesAnyStoreOrAtomicUpdate) {
  const std::string text = kernel("  let a: f32 = x[i]\n  atomic_add(out[0], a)\n  out[i] = a\n");
  EXPECT_EQ(places(drop_stores_and_atomics, text), 2U);
}

TEST(TakeBranches, ReplacesIfStatementWithEitherBranch) {
  const std::string text = kernel("  if lt(n, 3) {\n    out[i] = x[i]\n  } else {\n    out[i] = y[i]\n  }\n");
  EXPECT_EQ(after(take_branches, text, 0), settled_text(kernel("  out[i] = x[i]\n")));
  EXPECT_EQ(after(take_branches, text, 1), settled_text(kernel("  out[i] = y[i]\n")));
}

TEST(UnwrapLoops, ReplacesWhileLoopWithItsBody) {
  const std::string text = kernel("  while lt(n, 3) {\n    out[i] = x[i]\n  }\n");
  EXPECT_EQ(after(unwrap_loops, text), settled_text(kernel("  out[i] = x[i]\n")));
}

TEST(ShortenLoops, LeavesOneOrTwoIterations) {
  const std::string text = kernel("  for j: i32 in range(n, 0, -1) {\n    out[j] = x[j]\n  }\n");
  EXPECT_EQ(after(shorten_loops, text, 0),
            settled_text(kernel("  for j: i32 in range(0, 1, 1) {\n    out[j] = x[j]\n  }\n")));
  EXPECT_EQ(after(shorten_loops, text, 1),
            settled_text(kernel("  for j: i32 in range(0, 2, 1) {\n    out[j] = x[j]\n  }\n")));
}

TEST(InlineLets, ReplacesVariableWithItsValue) {
  const std::string text = kernel("  let a: f32 = x[i]\n  let b: f32 = mul(a, y[i])\n  out[i] = add(b, 1.0)\n");
  EXPECT_EQ(after(inline_lets, text), settled_text(kernel("  out[i] = add(mul(x[i], y[i]), 1.0)\n")));
}

TEST(InlineLets, KeepsReassignedVariablesAndLargeExpressionsUsedTwice) {
  const std::string text = kernel(
      "  let a: f32 = x[i]\n  a = y[i]\n  let b: f32 = mul(add(x[i], 1.0), y[i])\n  out[i] = add(mul(b, b), a)\n");
  EXPECT_EQ(places(inline_lets, text), 0U);
}

TEST(InlineCalls, ReplacesCallByReturnedExpression) {
  const std::string text =
      "func f(x: f32, y: f32) -> f32 {\n  return mul(x, add(x, y))\n}\n\n"
      "func g(x: f32) -> f32, f32 {\n  return x, neg(x)\n}\n\n" +
      kernel("  let a: f32, b: f32 = call g(y[i])\n  out[i] = add(f(x[i], a), b)\n");
  EXPECT_EQ(after(inline_calls, text), settled_text(kernel("  let a: f32 = y[i]\n  let b: f32 = neg(y[i])\n"
                                                           "  out[i] = add(mul(x[i], add(x[i], a)), b)\n")));
}

TEST(TakeOperands, ReplacesOperationByOperandOfSameType) {
  const std::string text = kernel("  out[i] = conditional(lt(n, 3), sin(x[i]), y[i])\n");
  EXPECT_EQ(places(take_operands, text), 3U);
  EXPECT_EQ(after(take_operands, text, 0), settled_text(kernel("  out[i] = conditional(lt(n, 3), x[i], y[i])\n")));
  EXPECT_EQ(after(take_operands, text, 2), settled_text(kernel("  out[i] = y[i]\n")));
  EXPECT_EQ(after(take_operands, text), settled_text(kernel("  out[i] = x[i]\n")));
}

TEST(TakePlainValues, ReplacesExpressionByLiteral) {
  const std::string text = kernel("  out[i] = sin(x[i])\n");
  EXPECT_EQ(after(take_plain_values, text), settled_text(kernel("  out[1] = 0.5\n")));
}

TEST(TakePlainValues, ReplacesVectorByVectorOfEqualLiterals) {
  const std::string text = "kernel k(x: array<vec<f32,3>,1>, out: array<vec<f32,3>,1>; i) {\n  out[i] = x[i]\n}\n";
  const std::string plain =
      "kernel k(x: array<vec<f32,3>,1>, out: array<vec<f32,3>,1>; i) {\n  out[1] = splat<vec<f32,3>>(0.5)\n}\n";
  EXPECT_EQ(after(take_plain_values, text), settled_text(plain));
}

TEST(TakeParameters, ReplacesExpressionByParameterElement) {
  const std::string text = kernel("  out[i] = sin(mul(y[n], 2.0))\n");
  EXPECT_EQ(after(take_parameters, text), settled_text(kernel("  out[i] = x[i]\n")));
}

TEST(NarrowScalars, ReplacesF64AndF16ByF32) {
  const std::string text =
      "kernel k(x: array<f64,1>, h: f16, out: array<f64,1>; i) {\n"
      "  out[i] = mul(add(x[i], 0.1:f64), cast<f64>(h))\n}\n";
  const std::string narrow =
      "kernel k(x: array<f32,1>, h: f32, out: array<f32,1>; i) {\n  out[i] = mul(add(x[i], 0.1), h)\n}\n";
  EXPECT_EQ(after(narrow_scalars, text), settled_text(narrow));
}

TEST(TakeComponents, ConvertsVectorsToScalars) {
  const std::string text =
      "kernel k(x: array<vec<f32,3>,1>, out: array<f32,1>; i) {\n"
      "  let a: vec<f32,3> = cross(x[i], make<vec<f32,3>>(1.0, 2.0, 3.0))\n"
      "  out[i] = add(dot(a, x[i]), extract(a, 1))\n}\n";
  const std::string scalars =
      "kernel k(x: array<f32,1>, out: array<f32,1>; i) {\n  let a: f32 = mul(x[i], 1.0)\n"
      "  out[i] = add(mul(a, x[i]), a)\n}\n";
  EXPECT_EQ(after(take_components, text), settled_text(scalars));
}

TEST(DropParameters, DropsUnusedParametersAndTheirPreconditions) {
  const std::string text = "# domain: 0 <= n <= 4\n# domain: 0 <= x <= 1\n" + kernel("  out[i] = x[i]\n");
  const std::string fewer =
      "# domain: 0 <= x <= 1\nkernel k(x: array<f32,1>, out: array<f32,1>; i) {\n  out[i] = x[i]\n}\n";
  EXPECT_EQ(after(drop_parameters, text), settled_text(fewer));
}

TEST(DropParameters, DropsFunctionParametersAndTheirCallArguments) {
  const std::string text =
      "func f(a: f32, b: f32) -> f32 {\n  return neg(b)\n}\n\n" + kernel("  out[i] = f(x[i], f(0.0, y[n]))\n");
  const std::string fewer = "func f(b: f32) -> f32 {\n  return neg(b)\n}\n\n" + kernel("  out[i] = f(f(y[n]))\n");
  EXPECT_EQ(after(drop_parameters, text), settled_text(fewer));
}

TEST(MergeParameters, ReplacesParameterByFirstOfSameType) {
  const std::string text = kernel("  out[i] = add(x[i], y[n])\n");
  EXPECT_EQ(after(merge_parameters, text),
            settled_text("kernel k(x: array<f32,1>, n: i32; i) {\n  x[i] = add(x[i], x[n])\n}\n"));
}

TEST(DropFields, DropsUnusedFields) {
  const std::string body = "\nkernel k(p: P, out: array<f32,1>; i) {\n  out[i] = p.b\n}\n";
  EXPECT_EQ(after(drop_fields, "struct P {\n  a: f32\n  b: f32\n  c: i32\n}\n" + body),
            settled_text("struct P {\n  b: f32\n}\n" + body));
}

TEST(DropFields, KeepsFieldsThatAtomicsUpdate) {
  const auto text = [](std::string_view fields) {
    return fmt::format("struct P {{\n{}}}\n\nkernel k(p: array<P,1>; i) {{\n  atomic_add(p[i].b, 1.0)\n}}\n", fields);
  };
  EXPECT_EQ(after(drop_fields, text("  a: f32\n  b: f32\n  c: i32\n")), settled_text(text("  b: f32\n")));
}

TEST(DropDimensions, RemovesOneDimensionOfAllArraysAndOfTheLaunch) {
  const std::string text =
      "# launch: (3, 4)\nkernel k(x: array<f32,2>, out: array<f32,2>; i, j) {\n  out[i, j] = x[j, i]\n}\n";
  EXPECT_EQ(after(drop_dimensions, text),
            settled_text("kernel k(x: array<f32,1>, out: array<f32,1>; i) {\n  out[i] = x[0]\n}\n"));
}

TEST(DropDerivatives, DropsCustomDerivatives) {
  const std::string f = "func f(x: f32) -> f32 {\n  return mul(x, x)\n}\n\n";
  const std::string text = f + "func g(x: f32, w: f32) -> f32 {\n  return mul(w, add(x, x))\n}\n\ngradient f = g\n\n" +
                           kernel("  out[i] = f(x[i])\n");
  EXPECT_EQ(after(drop_derivatives, text), settled_text(f + kernel("  out[i] = f(x[i])\n")));
}

TEST(InputSteps, RemovePreconditionsOrReplaceLaunchAndInputsByConstants) {
  const std::string body = kernel("  out[i] = x[n]\n");
  EXPECT_EQ(after(drop_preconditions, "# domain: 0 <= n <= 4\n" + body), settled_text(body));
  EXPECT_EQ(after(fix_launch, "# launch: (n)\n" + body, 1), settled_text("# launch: (2,)\n" + body));
  EXPECT_EQ(after(fix_inputs, "# domain: 0 <= n <= 4\n" + body, 3), settled_text("# domain: 0 <= n <= 0\n" + body));
}

TEST(ReductionSteps, OfferNoAdditionalChangesAfterAChangeIsApplied) {
  const std::string text = kernel(
      "  let s: f32 = 0.0\n  for j: i32 in range(0, n, 1) {\n    if lt(x[j], 0.5) {\n      s = add(s, sin(x[j]))\n"
      "    } else {\n      s = mul(s, y[j])\n    }\n  }\n  out[i] = s\n");
  for (const ReductionStep& step : steps()) {
    const std::size_t count = places(step.walk, text);
    for (const bool choice : {true, false}) {
      ir::Module module = repaired_program(text);
      std::size_t asked = 0;
      step.walk(module, [&] { return ++asked, choice; });
      // Removed statements may remove variables of later places of the same step.
      EXPECT_LE(asked, count) << step.name;
      EXPECT_TRUE(choice || asked == count) << step.name;
    }
  }
}

}  // namespace
}  // namespace assay::reduce
