#include "ir/verifier.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/limits.hpp"
#include "ir/testing/parsed.hpp"
#include "ir/testing/programs.hpp"
#include "ir/text.hpp"

namespace assay::ir {
namespace {

using testing::parsed;

std::string all(const Module& module, const std::vector<VerifierError>& diagnostics) {
  std::string text;
  for (const VerifierError& diagnostic : diagnostics)
    text += to_text(module, diagnostic) + "\n";
  return text;
}

// ---- programs that violate one rule each, as small changes of a valid program

/// A kernel with these statements, and functions that they may call.
std::string in_kernel(std::string_view statements) {
  return R"(struct Pair {
  first: f32
  data: array<f32,1>
}
func twice(x: f32) -> f32 {
  return add(x, x)
}
func two() -> f32, i32 {
  return 1.0, 2
}
func first(x: array<f32,1>) -> f32 {
  return x[0]
}
func push(x: array<f32,1>) -> f32 {
  x[0] = 1.0
  return x[0]
}
func push_through(x: array<f32,1>) -> f32 {
  let result: f32 = push(x)
  return result
}
kernel k(x: array<f32,1>, y: array<f32,2>, u: array<u32,1>, nullable grad: array<f32,1>, p: Pair, s: f32; i, j) {
)" + std::string(statements) +
         "\n}\n";
}

/// One violation of a rule: a text, or a change of the valid kernel below.
struct Violation {
  VerifierRule rule;
  std::string text;
  std::function<void(Module&)> change = {};
};

constexpr std::string_view kGood = R"(struct Pair {
  first: f32
  second: f32
}
func twice(x: f32) -> f32 {
  return add(x, x)
}
kernel k(x: array<f32,1>, p: Pair; i) {
  let t: f32 = x[i]
  x[i] = add(t, p.first)
}
)";

Violation kernel(VerifierRule rule, std::string_view statements) { return {rule, in_kernel(statements)}; }
Violation change(VerifierRule rule, std::function<void(Module&)> change) {
  return {rule, std::string(kGood), std::move(change)};
}
/// Changes the first expression of this kind in the valid kernel.
Violation expression(VerifierRule rule, ExprKind kind, const std::function<void(Expr&)>& edit) {
  return change(rule, [=](Module& module) {
    for (Expr& expr : module.kernels[0].expressions) {
      if (expr.kind == kind) return edit(expr);
    }
    FAIL() << "the valid kernel has no such expression";
  });
}
Violation variable_type(Type type) {
  return change(VerifierRule::kMalformedType,
                [=](Module& module) { module.kernels[0].variables.push_back({.name = "spare", .type = type}); });
}
Violation function(VerifierRule rule, std::string_view text) { return {rule, std::string(text)}; }

std::string nested_blocks(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i)
    text += "while true {\n";
  for (int i = 0; i < depth; ++i)
    text += "}\n";
  return text;
}

std::vector<Violation> declarations() {
  std::string deep = "struct S0 {\n  a: f32\n}\n";
  for (int i = 1; i <= kMaxStructDepth; ++i) {
    deep += "struct S" + std::to_string(i) + " {\n  a: S" + std::to_string(i - 1) + "\n}\n";
  }
  Type both = kF32.array_of(1);
  both.extent = 3;
  Type leftover = kF32;
  leftover.rows = 2;
  return {
      change(VerifierRule::kNameSyntax, [](Module& m) { m.kernels[0].name = "2x"; }),
      change(VerifierRule::kNameSyntax, [](Module& m) { m.structs[0].fields[0].name = ""; }),
      change(VerifierRule::kNameSyntax, [](Module& m) { m.functions[0].variables[0].name = "a b"; }),
      change(VerifierRule::kDuplicateName, [](Module& m) { m.structs[0].fields[1].name = "first"; }),
      change(VerifierRule::kDuplicateName, [](Module& m) { m.kernels.push_back(m.kernels[0]); }),
      variable_type(vector_type(Scalar::kF32, 0)),
      variable_type(matrix_type(Scalar::kF32, 2, 0)),
      variable_type(matrix_type(Scalar::kF32, 16, 17)),
      variable_type(quaternion_type(Scalar::kI32)),
      variable_type(transform_type(Scalar::kI32)),
      variable_type(kF32.array_of(5)),
      variable_type(kF32.local_array_of(kMaxLocalArraySize + 1)),
      variable_type(kVoid.array_of(1)),
      variable_type(both),
      variable_type(leftover),
      change(VerifierRule::kUnknownStruct, [](Module& m) { m.kernels[0].variables[1].type = struct_type(1); }),
      change(VerifierRule::kUnknownStruct, [](Module& m) { m.structs[0].fields[1].type = struct_type(0); }),
      change(VerifierRule::kEmptyStruct,
             [](Module& m) {
               m.structs.push_back({"Empty", {}});
             }),
      change(VerifierRule::kFieldType, [](Module& m) { m.structs[0].fields[1].type = kF32.local_array_of(3); }),
      change(VerifierRule::kFieldType, [](Module& m) { m.structs[0].fields[1].type = kVoid; }),
      function(VerifierRule::kStructDepth, deep),
      change(VerifierRule::kSignatureOrder, [](Module& m) { m.kernels[0].parameter_count = 9; }),
      change(VerifierRule::kSignatureOrder, [](Module& m) { m.kernels[0].parameter_count = -1; }),
      change(VerifierRule::kSignatureOrder, [](Module& m) { m.kernels[0].is_kernel = false; }),
      function(VerifierRule::kParameterType, "kernel k(x: local<f32,3>; i) {\n}\n"),
      function(VerifierRule::kNullableParameter, "kernel k(nullable x: f32; i) {\n}\n"),
      change(VerifierRule::kNullableParameter, [](Module& m) { m.kernels[0].variables.back().is_nullable = true; }),
      function(VerifierRule::kLaunchRank, "kernel k(x: f32) {\n}\n"),
      function(VerifierRule::kLaunchRank, "kernel k(x: f32; a, b, c, d, e) {\n}\n"),
      function(VerifierRule::kLaunchRank, "func f(x: f32; a) {\n}\n"),
      change(VerifierRule::kThreadIndexType, [](Module& m) { m.kernels[0].variables[2].type = kI64; }),
      function(VerifierRule::kKernelReturnsValue, "kernel k(x: f32; i) -> f32 {\n  return x\n}\n"),
      function(VerifierRule::kResultType, "func f(x: array<f32,1>) -> array<f32,1> {\n  return x\n}\n"),
  };
}

std::vector<Violation> expressions() {
  return {
      change(VerifierRule::kUnknownExpression,
             [](Module& m) { std::get<Let>(m.kernels[0].body.statements[0].node).value = 99; }),
      change(VerifierRule::kUnknownExpression,
             [](Module& m) { std::get<Store>(m.kernels[0].body.statements[1].node).value = kNone; }),
      expression(VerifierRule::kOperandAfterUse, ExprKind::kLoad, [](Expr& e) { e.args[1] = 50; }),
      expression(VerifierRule::kOperandAfterUse, ExprKind::kOperation, [](Expr& e) { e.args[1] = kNone; }),
      change(VerifierRule::kExpressionSize,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               ExprId sum = b.f32(1);
               for (int i = 0; i < kMaxExpressionDepth; ++i)
                 sum = b.op(Op::kNeg, {sum});
             }),
      change(VerifierRule::kExpressionSize,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               ExprId sum = b.f32(1);
               for (std::int64_t nodes = 1; nodes <= kMaxExpressionNodes; nodes = 2 * nodes + 1) {
                 sum = b.op(Op::kAdd, {sum, sum});
               }
             }),
      change(VerifierRule::kLiteralValue,
             [](Module& m) { m.kernels[0].expressions.push_back({.type = kBool, .bits = 2}); }),
      change(VerifierRule::kLiteralValue,
             [](Module& m) { m.kernels[0].expressions.push_back({.type = kI32, .bits = 0x80000000}); }),
      change(VerifierRule::kLiteralValue,
             [](Module& m) {
               m.kernels[0].expressions.push_back({.type = kF32, .bits = std::bit_cast<std::uint64_t>(0.1)});
             }),
      change(VerifierRule::kLiteralValue,
             [](Module& m) { m.kernels[0].expressions.push_back({.type = vector_type(Scalar::kF32, 3)}); }),
      expression(VerifierRule::kUnknownVariable, ExprKind::kVariable, [](Expr& e) { e.variable = 77; }),
      change(VerifierRule::kUnknownVariable,
             [](Module& m) {
               m.kernels[0].body.statements.push_back({Assign{kNone, 0}});
             }),
      expression(VerifierRule::kOperandTypes, ExprKind::kOperation, [](Expr& e) { e.op = Op::kBitAnd; }),
      expression(VerifierRule::kOperandTypes, ExprKind::kOperation, [](Expr& e) { e.args.pop_back(); }),
      expression(VerifierRule::kOperandTypes, ExprKind::kOperation, [](Expr& e) { e.op = static_cast<Op>(255); }),
      change(VerifierRule::kOperandTypes,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               b.op(Op::kWithField, {b.var(1), b.i32(0)}, kVoid, 0);
             }),
      expression(VerifierRule::kExpressionType, ExprKind::kLoad, [](Expr& e) { e.type = kF64; }),
      expression(VerifierRule::kExpressionType, ExprKind::kVariable, [](Expr& e) { e.type = kI32; }),
      kernel(VerifierRule::kArrayOperand, "let a: f32 = p.data[i]"),
      kernel(VerifierRule::kArrayOperand, "let n: i32 = shape(p.data, 0)"),
      kernel(VerifierRule::kArrayOperand, "let a: f32 = first(p.data)"),
      kernel(VerifierRule::kArrayOperand, "p.data[0] = 1.0"),
      kernel(VerifierRule::kIndexCount, "let a: f32 = y[i]"),
      kernel(VerifierRule::kIndexCount, "x[i, j] = 1.0"),
      kernel(VerifierRule::kIndexCount, "let a: local<f32,4>\na[i, j] = 1.0"),
      kernel(VerifierRule::kIndexType, "x[s] = 1.0"),
      kernel(VerifierRule::kIndexType, "atomic_add(x[true], 1.0)"),
      change(VerifierRule::kShapeDimension,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               const ExprId shape = b.shape_of(0, 0);
               m.kernels[0].expressions[static_cast<std::size_t>(shape)].index = 1;
             }),
      expression(VerifierRule::kUnknownField, ExprKind::kField, [](Expr& e) { e.index = 2; }),
      expression(VerifierRule::kUnknownField, ExprKind::kField, [](Expr& e) { e.args[0] = 0; }),
      change(
          VerifierRule::kUnknownFunction,
          [](Module& m) { m.kernels[0].expressions.push_back({.kind = ExprKind::kCall, .type = kF32, .index = 1}); }),
      change(
          VerifierRule::kUnknownFunction,
          [](Module& m) { m.functions[0].body.statements.insert(m.functions[0].body.statements.begin(), {Call{}}); }),
      kernel(VerifierRule::kCallArguments, "let a: f32 = twice(s, s)"),
      kernel(VerifierRule::kCallArguments, "let a: f32 = twice(i)"),
      kernel(VerifierRule::kCallArguments, "let a: f32 = first(grad)"),
      change(VerifierRule::kCallResults,
             [](Module& m) {
               m.functions[0].results.clear();
               m.functions[0].body.statements.clear();
               Builder b(m, m.kernels[0]);
               const ExprId s = b.f32(1);
               m.kernels[0].expressions.push_back({.kind = ExprKind::kCall, .type = kF32, .index = 0, .args = {s}});
             }),
      kernel(VerifierRule::kCallResults, "let a: f32 = call two()"),
      kernel(VerifierRule::kCallWithEffects, "let a: f32 = neg(push(x))"),
      kernel(VerifierRule::kCallWithEffects, "let a: f32 = neg(push_through(x))"),
      kernel(VerifierRule::kCallWithEffects, "let a: bool = and(true, gt(push(x), 0.0))"),
      kernel(VerifierRule::kCallWithEffects, "x[i] = push(x)"),
  };
}

std::vector<Violation> statements() {
  return {
      kernel(VerifierRule::kUndeclaredVariable, "if true {\nlet a: f32 = 1.0\n}\nx[i] = a"),
      kernel(VerifierRule::kUndeclaredVariable, "for n: i32 in range(0, 3, 1) {\n}\nx[n] = 1.0"),
      kernel(VerifierRule::kUndeclaredVariable, "if true {\nlet a: f32 = 1.0\n} else {\na = 2.0\n}"),
      change(VerifierRule::kUndeclaredVariable,
             [](Module& m) { std::swap(m.kernels[0].body.statements[0], m.kernels[0].body.statements[1]); }),
      change(VerifierRule::kRedeclaredVariable,
             [](Module& m) {
               std::vector<Stmt>& statements = m.kernels[0].body.statements;
               statements.push_back(statements[0]);
             }),
      change(VerifierRule::kRedeclaredVariable,
             [](Module& m) {
               m.kernels[0].body.statements.push_back({Let{2, kNone}});
             }),
      kernel(VerifierRule::kVariableType, "let a: array<f32,1> = x"),
      kernel(VerifierRule::kVariableType, "for a: local<i32,3> in range(0, 3, 1) {\n}"),
      kernel(VerifierRule::kReadOnlyVariable, "s = 1.0"),
      kernel(VerifierRule::kReadOnlyVariable, "i = 1"),
      kernel(VerifierRule::kReadOnlyVariable, "for n: i32 in range(0, 3, 1) {\nn = 1\n}"),
      kernel(VerifierRule::kLocalArrayAssignment, "let a: local<f32,3>\na = 1.0"),
      kernel(VerifierRule::kLocalArrayAssignment, "let a: local<f32,3> = 1.0"),
      kernel(VerifierRule::kValueType, "let a: f32 = 1"),
      kernel(VerifierRule::kValueType, "let a: f32\na = 1"),
      kernel(VerifierRule::kValueType, "x[i] = 1"),
      kernel(VerifierRule::kValueType, "atomic_add(x[i], 1)"),
      kernel(VerifierRule::kValueType, "let a: i32 = atomic_add(x[i], 1.0)"),
      kernel(VerifierRule::kValueType, "let a: f32, b: f32 = call two()"),
      kernel(VerifierRule::kConditionType, "if i {\n}"),
      kernel(VerifierRule::kConditionType, "while s {\n}"),
      kernel(VerifierRule::kLoopBoundType, "for n: i32 in range(0, 3:i64, 1) {\n}"),
      kernel(VerifierRule::kLoopBoundType, "for n: f32 in range(0.0, 3.0, 1.0) {\n}"),
      kernel(VerifierRule::kLoopBoundType, "for n: i64 in range(0, 3, 1) {\n}"),
      kernel(VerifierRule::kZeroStep, "for n: i32 in range(0, 3, 0) {\n}"),
      kernel(VerifierRule::kJumpOutsideLoop, "break"),
      kernel(VerifierRule::kJumpOutsideLoop, "if true {\ncontinue\n}"),
      kernel(VerifierRule::kUnreachableStatement, "return\nx[i] = 1.0"),
      kernel(VerifierRule::kUnreachableStatement, "while true {\nbreak\nx[i] = 1.0\n}"),
      kernel(VerifierRule::kReturnValues, "return s"),
      function(VerifierRule::kReturnValues, "func f() -> f32 {\n  return 1\n}\n"),
      function(VerifierRule::kReturnValues, "func f() -> f32 {\n  return 1.0, 2\n}\n"),
      function(VerifierRule::kMissingReturn,
               "func f(a: bool) -> f32 {\n  while true {\n    if a {\n      break\n    }\n  }\n}\n"),
      function(VerifierRule::kMissingReturn, "func f(a: bool) -> f32 {\n  while a {\n    return 1.0\n  }\n}\n"),
      function(VerifierRule::kMissingReturn, "func f(a: bool) -> f32 {\n  if a {\n    return 1.0\n  }\n}\n"),
      kernel(VerifierRule::kAtomicTarget, "let a: local<f32,3>\natomic_add(a[0], 1.0)"),
      function(VerifierRule::kAtomicTarget,
               "struct S {\n  m: f32\n}\nkernel k(s: array<S,1>; i) {\n  atomic_max(s[i].m, 1.0)\n}\n"),
      function(VerifierRule::kAtomicTarget,
               "struct S {\n  m: f32\n}\nkernel k(s: array<S,1>; i) {\n  let old: f32 = atomic_add(s[i].m, 1.0)\n}\n"),
      function(VerifierRule::kAtomicType,
               "struct S {\n  m: f32\n}\nkernel k(s: array<S,1>; i) {\n  atomic_or(s[i].m, 1.0)\n}\n"),
      function(VerifierRule::kValueType,
               "struct S {\n  m: f32\n}\nkernel k(s: array<S,1>; i) {\n  atomic_add(s[i].m, 1)\n}\n"),
      change(VerifierRule::kUnknownField,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               b.append({Atomic{.array = b.var(0), .indices = {b.i32(0)}, .fields = {0}, .value = b.f32(0)}});
             }),
      kernel(VerifierRule::kAtomicType, "atomic_and(x[i], 1.0)"),
      function(VerifierRule::kAtomicType, "kernel k(x: array<bool,1>; i) {\n  atomic_add(x[i], true)\n}\n"),
      function(VerifierRule::kAtomicType,
               "kernel k(x: array<quat<f32>,1>; i) {\n  atomic_max(x[i], make<quat<f32>>(0.0, 0.0, 0.0, 1.0))\n}\n"),
      function(VerifierRule::kAtomicType,
               "kernel k(x: array<vec<f32,3>,1>; i) {\n  atomic_exchange(x[i], splat<vec<f32,3>>(1.0))\n}\n"),
      kernel(VerifierRule::kAtomicCompareOperand, "atomic_cas(u[i], 1, 1:u32)"),
      change(VerifierRule::kAtomicCompareOperand,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               b.append({Atomic{
                   .op = AtomicOp::kCompareAndSwap, .array = b.var(0), .indices = {b.i32(0)}, .value = b.f32(0)}});
             }),
      change(VerifierRule::kAtomicCompareOperand,
             [](Module& m) {
               Builder b(m, m.kernels[0]);
               const ExprId zero = b.f32(0);
               b.append({Atomic{.array = b.var(0), .indices = {b.i32(0)}, .value = zero, .compare_operand = zero}});
             }),
      change(VerifierRule::kTileOutsideKernel,
             [](Module& m) {
               Function function{.name = "f", .results = {kF32}};
               Builder b(m, function);
               const VarId t = b.let_zero("t", tile_type(Scalar::kF32, 4));
               b.return_({b.op(Op::kTileExtract, {b.var(t), b.i32(0)})});
               m.functions.push_back(std::move(function));
             }),
      kernel(VerifierRule::kTileArrayAccess, "let t: tile<f32,2,2> = tile_load<tile<f32,2,2>>(x[i])"),
      kernel(VerifierRule::kTileArrayAccess,
             "let t: tile<f32,3> = tile_load<tile<f32,3>>(y[tile_arange<tile<i32,3>>(0, 1), j])"),
      kernel(VerifierRule::kTileArrayAccess,
             "let t: tile<f32,4> = tile_load<tile<f32,4>>(x[tile_arange<tile<i32,3>>(0, 1)])"),
      kernel(VerifierRule::kTileArrayAccess, "let t: f32 = x[tile_arange<tile<i32,3>>(0, 1)]"),
      kernel(VerifierRule::kIndexType, "x[tile_arange<tile<i32,3>>(0, 1)] = 1.0"),
      kernel(VerifierRule::kIndexType,
             "let t: tile<f32,4> = tile_load<tile<f32,4>>(x[tile_arange<tile<f32,4>>(0.0, 1.0)])"),
      kernel(VerifierRule::kTileArrayAccess, "let t: tile<u32,4> = tile_load<tile<u32,4>>(x[i])"),
      kernel(VerifierRule::kValueType, "let t: tile<f32,2,2>\nx[i] = t"),
      kernel(VerifierRule::kCallArguments, "let t: tile<f32,4>\nlet q: f32 = call twice(t)"),
      change(VerifierRule::kBlockNesting,
             [](Module& m) {
               m = parsed("kernel k(; i) {\n" + nested_blocks(kMaxBlockDepth - 1) + "}\n");
               Block& body = m.kernels[0].body;
               Block outer;
               outer.statements.push_back({If{.condition = 0, .then_block = std::move(body), .else_block = {}}});
               body = std::move(outer);
             }),
  };
}

/// A function f(x, n, data) -> f32, a gradient g, a replay r and a kernel that calls f.
Module custom(std::string_view gradient, std::string_view replay) {
  return parsed("func f(x: f32, n: i32, data: array<i32,1>) -> f32 {\n  return mul(x, x)\n}\n" + std::string(gradient) +
                std::string(replay) + R"(gradient f = g
replay f = r
kernel k(data: array<i32,1>, out: array<f32,1>; i) {
  out[i] = f(2.0, i, data)
}
)");
}
constexpr std::string_view kGoodGradient =
    "func g(x: f32, n: i32, data: array<i32,1>, w: f32) -> f32 {\n  return mul(w, mul(2.0, x))\n}\n";
constexpr std::string_view kGoodReplay = "func r(x: f32, n: i32, data: array<i32,1>) -> f32 {\n  return mul(x, x)\n}\n";

/// A function f(a, i) -> f32 of an array, and a gradient with this adjoint array and this statement.
Module gradient_of_array(std::string_view adjoint_array, std::string_view statement) {
  return parsed("func f(a: array<f32,1>, i: i32) -> f32 {\n  return a[i]\n}\nfunc g(a: array<f32,1>, i: i32, w: f32, " +
                std::string(adjoint_array) + ") {\n  " + std::string(statement) + R"(
}
gradient f = g
kernel k(a: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(a, i)
}
)");
}
Violation with_adjoint_array(const char* adjoint_array, const char* statement) {
  return change(VerifierRule::kCustomGradient, [=](Module& m) { m = gradient_of_array(adjoint_array, statement); });
}

std::vector<Violation> custom_derivatives() {
  return {
      change(VerifierRule::kCustomGradient,
             [](Module& m) {
               m = custom("func g(x: f32, data: array<i32,1>, w: f32) -> f32 {\n  return w\n}\n", kGoodReplay);
             }),
      change(VerifierRule::kCustomGradient,
             [](Module& m) {
               m = custom("func g(x: f32, n: i32, data: array<i32,1>, w: f32) -> f32, i32 {\n  return w, n\n}\n",
                          kGoodReplay);
             }),
      change(VerifierRule::kCustomGradient,
             [](Module& m) {
               m = custom("func g(x: f32, n: i32, data: array<i32,1>, w: f32) -> f32 {\n  data[0] = 1\n  return w\n}\n",
                          kGoodReplay);
             }),
      change(VerifierRule::kCustomGradient, [](Module& m) { m.functions[0].gradient_function_index = 99; }),
      with_adjoint_array("nullable adj_a: array<f64,1>", "atomic_add(adj_a[i], cast<f64>(w))"),
      with_adjoint_array("adj_a: array<f32,1>", "atomic_add(adj_a[i], w)"),
      with_adjoint_array("nullable adj_a: array<f32,1>, nullable more: array<f32,1>", "atomic_add(adj_a[i], w)"),
      with_adjoint_array("nullable adj_a: array<f32,1>", "atomic_max(adj_a[i], w)"),
      with_adjoint_array("nullable adj_a: array<f32,1>", "adj_a[i] = w"),
      with_adjoint_array("nullable adj_a: array<f32,1>", "let old: f32 = atomic_add(adj_a[i], w)"),
      with_adjoint_array("nullable adj_a: array<f32,1>", "atomic_add(adj_a[i], mul(adj_a[i], w))"),
      with_adjoint_array("nullable adj_a: array<f32,1>", "atomic_add(a[i], w)"),
      change(VerifierRule::kCustomReplay,
             [](Module& m) { m = custom(kGoodGradient, "func r(x: f32, n: i32) -> f32 {\n  return x\n}\n"); }),
      change(VerifierRule::kCustomReplay,
             [](Module& m) {
               m = custom(kGoodGradient,
                          "func r(x: f32, n: i32, data: array<i32,1>) -> f32 {\n  data[0] = 1\n  return x\n}\n");
             }),
      change(VerifierRule::kCustomReplay, [](Module& m) { m.functions[0].replay_function_index = 99; }),
  };
}

TEST(Verifier, AcceptsValidCustomDerivatives) {
  const Module module = custom(kGoodGradient, kGoodReplay);
  EXPECT_EQ(all(module, verify(module)), "");
}

TEST(Verifier, AcceptsGradientThatAddsToAdjointArray) {
  for (const char* statement :
       {"atomic_add(adj_a[add(i, 1)], w)", "atomic_sub(adj_a[shape(adj_a, 0)], mul(a[i], w))"}) {
    const Module module = gradient_of_array("nullable adj_a: array<f32,1>", statement);
    EXPECT_EQ(all(module, verify(module)), "");
  }
}

std::vector<Violation> all_violations() {
  std::vector<Violation> breaches = declarations();
  for (auto& more : {expressions(), statements(), custom_derivatives()})
    breaches.insert(breaches.end(), more.begin(), more.end());
  return breaches;
}

TEST(Verifier, ReportsExactlyTheRuleThatEachProgramViolates) {
  int number = 0;
  for (const Violation& violation : all_violations()) {
    Module module = parsed(violation.text);
    if (violation.change) {
      ASSERT_EQ(all(module, verify(module)), "");
      violation.change(module);
    }
    const std::vector<VerifierError> diagnostics = verify(module);
    SCOPED_TRACE(std::string(row(violation.rule).label) + ", violation " + std::to_string(number++) + "\n" +
                 (violation.change ? "" : violation.text));
    EXPECT_FALSE(diagnostics.empty());
    for (const VerifierError& diagnostic : diagnostics) {
      EXPECT_EQ(row(diagnostic.rule).label, row(violation.rule).label) << diagnostic.message;
    }
  }
}

TEST(Verifier, EveryRuleHasAViolationTest) {
  std::set<VerifierRule> violated;
  for (const Violation& violation : all_violations())
    violated.insert(violation.rule);
  for (const VerifierRuleEntry& rule : kRules)
    EXPECT_TRUE(violated.contains(rule.rule)) << rule.label;
}

TEST(Verifier, AcceptsProgramThatContainsEveryConstruct) {
  const Module module = parsed(testing::kEverything);
  EXPECT_EQ(all(module, verify(module)), "");
}

TEST(Verifier, AcceptsValidEdgeCases) {
  for (const std::string_view statements : {
           "let a: f32 = push(x)\na = push(x)\nlet b: f32 = call push_through(x)",
           "let a: bool = and(true, gt(first(x), 0.0))",
           "for n: u8 in range(3:u8, 0:u8, 1:u8) {\nx[n] = 1.0\n}",
           "while true {\nif true {\nbreak\n} else {\ncontinue\n}\n}",
           "if true {\nlet a: f32 = 1.0\n} else {\nlet b: f32 = 2.0\n}",
           "let a: local<f32,65536>\na[i] = x[i]",
           "let a: f32 = atomic_exchange(x[i], 1.0)\na = 2.0",
           "return",
       }) {
    const Module module = parsed(in_kernel(statements));
    EXPECT_EQ(all(module, verify(module)), "") << statements;
  }
  const Module module = parsed(
      "func f(a: bool) -> f32 {\n  if a {\n    return 1.0\n  } else {\n    return 2.0\n  }\n}\n"
      "func g(a: bool) -> f32 {\n  while true {\n    while a {\n      break\n    }\n    if a {\n      return 1.0\n"
      "    }\n  }\n}\n"
      "kernel k(m: array<mat<f32,2,2>,4>; a, b, c, d) {\n  atomic_add(m[a, b, c, d], m[a, b, c, d])\n}\n");
  EXPECT_EQ(all(module, verify(module)), "");
}

TEST(Verifier, ErrorContainsSourceLocationAndKernelName) {
  const Module module = parsed("kernel k(x: f32; i) {\n  x = 2.0\n}\n");
  EXPECT_EQ(all(module, verify(module)),
            "a.ir:2:3: V34-read-only-variable: in kernel k: variable x is read-only and cannot be assigned\n");
}

TEST(Verifier, ReportsErrorsOfInvalidFunctionAndOfItsCaller) {
  const Module module = parsed(
      "func f(x: array<f32,1>) -> f32 {\n  break\n  return 1\n}\nkernel k(x: array<f32,1>; i) {\n  x[i] = f(x)\n  "
      "continue\n}\n");
  EXPECT_EQ(verify(module).size(), 4U);
}

}  // namespace
}  // namespace assay::ir
