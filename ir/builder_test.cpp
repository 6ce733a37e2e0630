#include "ir/builder.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::ir {
namespace {

TEST(Builder, BuiltProgramHasExpectedTextForm) {
  Module module;
  Function square{.name = "square", .results = {kF32}};
  {
    Builder b(module, square);
    const VarId x = b.parameter("x", kF32);
    b.return_({b.op(Op::kMul, {b.var(x), b.var(x)})});
  }
  module.functions.push_back(std::move(square));

  Function kernel{.name = "k", .is_kernel = true};
  Builder b(module, kernel);
  const VarId x = b.parameter("x", kF32.array_of(1));
  const VarId i = b.thread_index("i");
  const VarId sum = b.let("sum", b.f32(0));
  b.for_("j", b.i32(0), b.shape_of(x, 0), b.i32(1), [&](VarId j) {
    b.if_(
        b.op(Op::kEq, {b.var(i), b.var(j)}), [&] { b.continue_(); },
        [&] {
          b.assign(sum, b.op(Op::kAdd, {b.var(sum), b.call(0, {b.load(x, {b.var(j)})})}));
        });
  });
  b.while_(b.boolean(true), [&] { b.break_(); });
  const VarId old = b.atomic_result("old", AtomicOp::kAdd, x, {b.var(i)}, b.var(sum));
  const std::vector<VarId> more = b.call_statement(0, {b.var(old)}, {"more"});
  b.let_zero("buffer", kF32.local_array_of(4));
  b.store(x, {b.i32(0)}, b.cast(kF32, b.op(Op::kNeg, {b.var(more[0])})));
  b.let("zero", b.zero(vector_type(Scalar::kF32, 2)));
  module.kernels.push_back(std::move(kernel));

  EXPECT_TRUE(verify(module).empty());
  EXPECT_EQ(to_text(module),
            "func square(x: f32) -> f32 {\n"
            "  return mul(x, x)\n"
            "}\n\n"
            "kernel k(x: array<f32,1>; i) {\n"
            "  let sum: f32 = 0.0\n"
            "  for j: i32 in range(0, shape(x, 0), 1) {\n"
            "    if eq(i, j) {\n"
            "      continue\n"
            "    } else {\n"
            "      sum = add(sum, square(x[j]))\n"
            "    }\n"
            "  }\n"
            "  while true {\n"
            "    break\n"
            "  }\n"
            "  let old: f32 = atomic_add(x[i], sum)\n"
            "  let more: f32 = call square(old)\n"
            "  let buffer: local<f32,4>\n"
            "  x[0] = cast<f32>(neg(more))\n"
            "  let zero: vec<f32,2> = splat<vec<f32,2>>(0.0)\n"
            "}\n");
}

TEST(Builder, RoundsFloatLiteralsAndWrapsIntegerLiterals) {
  const Module module;
  Function function;
  Builder b(module, function);
  const auto bits = [&](ExprId id) { return function.expr(id).bits; };
  EXPECT_EQ(std::bit_cast<double>(bits(b.f32(0.1))), static_cast<double>(0.1F));
  EXPECT_EQ(std::bit_cast<double>(bits(b.literal(scalar_type(Scalar::kF16), 1e6))), HUGE_VAL);
  EXPECT_EQ(static_cast<std::int64_t>(bits(b.literal(scalar_type(Scalar::kI8), std::int64_t{200}))), -56);
  EXPECT_EQ(std::bit_cast<double>(bits(b.literal(kF64, std::int64_t{3}))), 3.0);
}

TEST(Builder, RecordsSourceLocations) {
  const Module module;
  Function function;
  Builder b(module, function);
  b.at({7, 2});
  b.while_(b.boolean(false), [&] { b.at({8, 4}); });
  EXPECT_EQ(function.body.statements[0].loc.line, 7);
  EXPECT_EQ(b.at().line, 7);
}

TEST(BuilderDeathTest, AbortsOnIncorrectTypesVariablesOrIndexCounts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Module module;
  Function function;
  Builder b(module, function);
  const VarId x = b.parameter("x", kF32.array_of(1));
  EXPECT_DEATH(b.op(Op::kAdd, {b.f32(1), b.i32(1)}), "add takes");
  EXPECT_DEATH(b.var(5), "unknown variable");
  EXPECT_DEATH(b.load(x, {b.i32(0), b.i32(0)}), "number of indices differs from the number of dimensions");
  EXPECT_DEATH(b.store(x, {b.i32(0)}, b.i32(1)), "stored value and array element have different types");
}

}  // namespace
}  // namespace assay::ir
