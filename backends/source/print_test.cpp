// Tests the text of each kind of statement and expression.
#include "backends/source/print.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/testing/printing.hpp"

namespace assay::source {
namespace {

using backends::EmittedKernel;
using backends::Pass;
using backends::SourceTarget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::parse;
using testing::print_first;
using testing::printed;

/// The lines of the loop over threads of a kernel over i with typical parameters.
std::string body(const std::string& statements, SourceTarget target = SourceTarget::kCpp) {
  const std::string text = printed(
      "struct Ball {\n  speed: f32\n  place: vec<f32,3>\n}\n"
      "kernel k(x: array<f32,1>, d: array<f64,1>, v: array<vec<f32,3>,1>, m: array<i32,2>, s: array<i16,1>, "
      "balls: array<Ball,1>, nullable grad_x: array<f32,1>, a: f32, n: i32; i) {\n" +
          statements + "\n}\n",
      target);
  const std::string start = "    const int i = int(thread);\n";
  const std::size_t from = text.find(start) + start.size();
  return text.substr(from, text.rfind("  }\n}\n") - from);
}

TEST(Printer, PrintsCppKernelAsLoopOverThreads) {
  const auto kernel =
      print_first(parse("kernel scale(x: array<f32,1>, a: f32; i) {\n  x[i] = mul(x[i], a)\n}\n"), SourceTarget::kCpp);
  EXPECT_EQ(kernel.name, "scale");
  EXPECT_EQ(kernel.body, R"(// Kernel scale (<text>:1).
#ifndef ASSAY_REAL
#define ASSAY_REAL float
#endif
using real = ASSAY_REAL;

extern "C" void scale_forward(long long begin, long long end, Array<real, 1> x, real a) {
  for (long long thread = begin; thread < end; ++thread) {
    const int i = int(thread);
    // 2: x[i] = mul(x[i], a)
    x.at(i) = x.at(i) * a;
  }
}
)");
  ASSERT_EQ(kernel.helpers.size(), 1U);
  EXPECT_EQ(kernel.helpers[0].name, "Array");
  ASSERT_EQ(kernel.entry_points.size(), 1U);
  EXPECT_EQ(kernel.entry_points[0].pass, Pass::kForward);
  EXPECT_EQ(kernel.entry_points[0].symbol, "scale_forward");
  EXPECT_THAT(kernel.entry_points[0].parameter_types, ElementsAre("Array<real, 1>", "real"));
}

TEST(Printer, StatesTheTripsOfLoopsWithConstantBounds) {
  const auto module = parse("kernel k(x: array<f32,1>; i) {\n  for j: i32 in range(0, 30, 1) {\n  }\n}\n");
  EXPECT_EQ(print_first(module, SourceTarget::kCuda).most_constant_trips, 30);
}

TEST(Printer, PrintsCudaKernelAsGridStrideLoop) {
  EXPECT_EQ(printed("kernel scale(x: array<f32,1>, a: f32; i) {\n  x[i] = mul(x[i], a)\n}\n", SourceTarget::kCuda), R"(
extern "C" __global__ void scale_forward(long long count, Array<real, 1> x, real a) {
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long thread = first; thread < count; thread += stride) {
    const int i = int(thread);
    x.at(i) = x.at(i) * a;
  }
}
)");
}

TEST(Printer, LastLaunchDimensionVariesFastest) {
  const auto kernel =
      print_first(parse("kernel k(x: array<f64,3>; i, j, l) {\n  x[i, j, l] = 1.0:f64\n}\n"), SourceTarget::kCpp);
  EXPECT_THAT(kernel.entry_points[0].parameter_types, ElementsAre("int", "int", "Array<double, 3>"));
  EXPECT_THAT(kernel.body,
              HasSubstr("(long long begin, long long end, int extent_j, int extent_l, Array<double, 3> x)"));
  EXPECT_THAT(kernel.body, HasSubstr("const int i = int(thread / extent_l / extent_j);\n"
                                     "    const int j = int(thread / extent_l % extent_j);\n"
                                     "    const int l = int(thread % extent_l);\n"));
  EXPECT_THAT(kernel.body, Not(HasSubstr("ASSAY_REAL"))) << "a kernel without f32 has no alias";
}

TEST(Printer, PrintsEachSourceLineAsCommentBeforeItsCode) {
  auto module = parse("kernel k(x: array<f32,1>; i) {\n  let t: f32 = x[i]\n  x[i] = t\n}\n");
  module.source_lines[1] = "\tt = x[i] + \\";
  module.source_lines[2] = "    x[i] = t  # \x01 end\\\\";
  const std::string text = print_first(module, SourceTarget::kCpp).body;
  EXPECT_THAT(text, HasSubstr("    // 2: t = x[i] +\n    real t = x.at(i);\n    // 3: x[i] = t  #   end\n"));
  EXPECT_THAT(print_first(module, SourceTarget::kCpp, {.prints_source_comments = false}).body, Not(HasSubstr("// 2")));
}

TEST(Printer, CppAndCudaHaveSameStatementsInSameOrder) {
  const std::string statements =
      "let t: f32 = sin(mul(x[i], a))\n if gt(t, 0.5) {\n return\n }\n for j: i32 in range(0, n, 1) {\n t = add(t, "
      "1.0)\n }\n"
      "atomic_add(x[i], t)";
  EXPECT_EQ(body(statements, SourceTarget::kCpp), body(statements, SourceTarget::kCuda));
}

/// The complete emitted text.
std::string whole(const EmittedKernel& kernel) {
  std::string text = kernel.name + "\n" + kernel.source();
  for (const backends::EntryPoint& entry : kernel.entry_points) {
    text += std::string(to_text(entry.pass)) + " " + entry.symbol + " " + std::to_string(entry.required_block_threads);
    for (const std::string& type : entry.parameter_types)
      text += ", " + type;
    text += "\n";
  }
  return text;
}

TEST(Printer, PrintPairPrintsSameSourcesAsSeparateCalls) {
  for (const std::string_view text : {
           "kernel k(x: array<f16,1>; i) {\n  atomic_add(x[0], sin(x[i]))\n}\n",
           "struct Ball {\n  speed: f32\n  place: vec<f32,3>\n}\n"
           "kernel k(balls: array<Ball,1>, a: f32; i) {\n  balls[i] = with_field(balls[0], speed, a)\n}\n",
           "func two(a: f32) -> f32, i32 {\n  return sin(a), 7\n}\n"
           "kernel k(x: array<f32,2>; i, j) {\n  let s: f32, n: i32 = call two(x[i, j])\n  while true {\n"
           "    x[n, j] = s\n    return\n  }\n}\n",
       }) {
    const ir::Module module = parse(text);
    const auto pair = print_cpp_and_cuda(module, module.kernels[0], &module.kernels[0]);
    ASSERT_TRUE(pair.ok()) << pair.error().text();
    for (const SourceTarget target : {SourceTarget::kCpp, SourceTarget::kCuda}) {
      const auto alone = print(module, module.kernels[0], &module.kernels[0], target);
      EXPECT_EQ(whole(target == SourceTarget::kCpp ? pair->cpp : pair->cuda), whole(*alone));
    }
    EXPECT_THAT(pair->cpp.source(), Not(HasSubstr("__device__")));
    EXPECT_THAT(pair->cuda.source(), Not(HasSubstr("long long end")));
  }
}

TEST(Printer, AddsHelperForHalfPrecisionAtomicsOnlyToCuda) {
  const ir::Module module = parse("kernel k(x: array<f16,1>; i) {\n  atomic_add(x[0], x[i])\n}\n");
  const auto pair = print_cpp_and_cuda(module, module.kernels[0], nullptr);
  const auto has_helper = [](const EmittedKernel& kernel) {
    return std::ranges::count(kernel.helpers, "atomic_add_half", &backends::SourceHelper::name) == 1;
  };
  EXPECT_FALSE(has_helper(pair->cpp));
  EXPECT_TRUE(has_helper(pair->cuda));
}

TEST(Printer, PrintPairFailsIfOneTargetFails) {
  const ir::Module module = parse("kernel k(x: array<i16,1>; i) {\n  atomic_add(x[i], 1:i16)\n}\n");
  EXPECT_EQ(print_cpp_and_cuda(module, module.kernels[0], nullptr).error().text(),
            "<text>:2:3: atomic_add on int16 is not supported: CUDA atomics need 32 or 64 bits");
}

TEST(Printer, VariablesHaveSameNamesInCppAndCuda) {
  const std::string_view text =
      "kernel k(count: array<f32,1>; i) {\n  let thread_count: f32 = count[i]\n"
      "  let thread_begin: f32 = thread_count\n  let begin: f32 = thread_begin\n  count[i] = begin\n}\n";
  const auto statements = [&](SourceTarget target) {
    const std::string whole = printed(text, target);
    return whole.substr(whole.find("    const int i = "));
  };
  EXPECT_EQ(statements(SourceTarget::kCpp), statements(SourceTarget::kCuda));
}

TEST(Printer, PrintsVariableDeclarationsWithTypeAndInitialValue) {
  EXPECT_EQ(body("let t: f32 = x[i]"), "    real t = x.at(i);\n");
  EXPECT_EQ(body("let t: f64"), "    double t = 0;\n");
  EXPECT_EQ(body("let t: bool"), "    bool t = false;\n");
  EXPECT_EQ(body("let t: vec<f32,3>"), "    Vec<real, 3> t = {};\n");
  EXPECT_EQ(body("let t: local<vec<f64,2>,8>"), "    Vec<double, 2> t[8] = {};\n");
  EXPECT_EQ(body("let t: vec<f32,3> = make<vec<f32,3>>(a, 0.5, a)"), "    Vec<real, 3> t = {a, 0.5f, a};\n");
}

TEST(Printer, F64PromotionPreservesValuesOfLiterals) {
  EXPECT_EQ(body("x[i] = 0.1"), "    x.at(i) = 0.1f;\n");
  EXPECT_EQ(body("x[i] = mul(a, 0.1)"), "    x.at(i) = a * 0.1f;\n");
  EXPECT_EQ(body("x[i] = add(0.1, 0.2)"), "    x.at(i) = real(0.1f) + real(0.2f);\n");
  EXPECT_EQ(body("x[i] = sin(0.1)"), "    x.at(i) = sin(real(0.1f));\n");
  EXPECT_EQ(body("x[i] = min(a, -1e-30)"), "    x.at(i) = minimum(a, real(-1e-30f));\n");
  EXPECT_EQ(body("x[i] = 16777216.0"), "    x.at(i) = 16777216.0f;\n");
  EXPECT_EQ(body("v[i] = mul(2.0, v[i])"), "    v.at(i) = real(2.0f) * v.at(i);\n");
  EXPECT_EQ(body("d[i] = 0.1:f64"), "    d.at(i) = 0.1;\n");
  EXPECT_EQ(body("x[i] = inf"), "    x.at(i) = real(infinity());\n");
  EXPECT_EQ(body("x[i] = -inf"), "    x.at(i) = real(-infinity());\n");
  EXPECT_EQ(body("d[i] = nan:f64"), "    d.at(i) = double(not_a_number());\n");
  EXPECT_EQ(body("m[i, 0] = -2147483648"), "    m.at(i, 0) = (-2147483647 - 1);\n");
  EXPECT_EQ(body("s[i] = -5:i16"), "    s.at(i) = (short)-5;\n");
  EXPECT_EQ(body("let t: u64 = 18446744073709551615:u64"), "    unsigned long long t = 18446744073709551615ull;\n");
}

TEST(Printer, PrintsOnlyNecessaryParentheses) {
  EXPECT_EQ(body("x[i] = sub(sub(a, x[i]), sub(a, x[i]))"), "    x.at(i) = a - x.at(i) - (a - x.at(i));\n");
  EXPECT_EQ(body("x[i] = mul(add(a, a), div(a, mul(a, a)))"), "    x.at(i) = (a + a) * (a / (a * a));\n");
  EXPECT_EQ(body("x[i] = neg(neg(add(a, a)))"), "    x.at(i) = 0 - (0 - (a + a));\n");
  EXPECT_EQ(body("let b: bool = and(or(lt(a, 1.0), gt(a, 2.0)), not(lt(a, a)))"),
            "    bool b = (a < 1.0f || a > 2.0f) && !(a < a);\n");
  EXPECT_EQ(body("let b: bool = or(and(lt(a, 1.0), true), false)"), "    bool b = (a < 1.0f && true) || false;\n");
  EXPECT_EQ(body("let b: bool = eq(lt(a, 1.0), lt(a, 2.0))"), "    bool b = (a < 1.0f) == (a < 2.0f);\n");
  EXPECT_EQ(body("let b: i32 = bit_and(n, shift_left(1, bit_or(n, i)))"), "    int b = n & (1 << (n | i));\n");
  EXPECT_EQ(body("x[i] = conditional(lt(a, 0.0), 1.0, where(gt(a, 9.0), a, 2.0))"),
            "    x.at(i) = a < 0.0f ? real(1.0f) : a > 9.0f ? a : real(2.0f);\n");
}

TEST(Printer, PrintsSignedArithmeticAsWrapCallsExceptOnIndicesAndCounters) {
  EXPECT_EQ(body("let t: i32 = add(mul(i, n), 1)"), "    int t = i * n + 1;\n");
  EXPECT_EQ(body("let t: i32 = mul(sub(i, shape(m, 0)), shape(m, 1))"), "    int t = (i - m.shape[0]) * m.shape[1];\n");
  EXPECT_EQ(body("let t: i32 = mul(i, i)"), "    int t = wrap_mul(i, i);\n");
  EXPECT_EQ(body("let t: i32 = mul(i, 1664525)"), "    int t = wrap_mul(i, 1664525);\n");
  EXPECT_EQ(body("let t: i32 = add(m[i, 0], 1)"), "    int t = wrap_add(m.at(i, 0), 1);\n");
  EXPECT_EQ(body("let t: i32 = 0\n t = add(t, 1)\n let u: i32 = sub(t, 2)"),
            "    int t = 0;\n    t = t + 1;\n    int u = t - 2;\n")
      << "a counter";
  EXPECT_EQ(body("let t: i32 = 1\n t = add(t, t)"), "    int t = 1;\n    t = wrap_add(t, t);\n") << "doubles";
  EXPECT_EQ(
      body("let t: i32 = 0\n let u: i32 = t\n while lt(t, n) {\n let w: i32 = add(u, 1)\n t = w\n u = t\n }"),
      "    int t = 0;\n    int u = t;\n    while (t < n) {\n      int w = u + 1;\n      t = w;\n      u = t;\n    }\n")
      << "a counter in several variables";
  EXPECT_EQ(body("let t: i32 = 0\n for j: i32 in range(0, n, 1) {\n t = add(t, j)\n }"),
            "    int t = 0;\n    for (int j = 0; j < n; ++j) {\n      t = wrap_add(t, j);\n    }\n")
      << "a sum of indices may overflow";
  EXPECT_EQ(body("let t: i32 = 0\n let u: i32 = t\n while lt(t, n) {\n u = add(t, i)\n t = u\n }"),
            "    int t = 0;\n    int u = t;\n    while (t < n) {\n      u = wrap_add(t, i);\n      t = u;\n    }\n");
  EXPECT_EQ(body("let t: local<i32,4>\n t[0] = i\n let u: i32 = add(t[1], 1)\n"),
            "    int t[4] = {};\n    t[0] = i;\n    int u = t[1] + 1;\n");
  EXPECT_EQ(body("let t: local<i32,4>\n t[0] = m[i, 0]\n let u: i32 = add(t[1], 1)\n"),
            "    int t[4] = {};\n    t[0] = m.at(i, 0);\n    int u = wrap_add(t[1], 1);\n");
  EXPECT_EQ(body("x[add(m[i, sub(m[0, 0], 1)], mul(m[0, 1], 3))] = x[mul(m[0, 0], m[0, 1])]"),
            "    x.at(m.at(i, m.at(0, 0) - 1) + m.at(0, 1) * 3) = x.at(wrap_mul(m.at(0, 0), m.at(0, 1)));\n")
      << "indices";
  EXPECT_EQ(body("x[bit_and(add(m[i, 0], 1), 7)] = a"), "    x.at(wrap_add(m.at(i, 0), 1) & 7) = a;\n") << "a hash";
  EXPECT_EQ(body("let t: u32 = 7:u32\n t = mul(t, t)"), "    unsigned t = 7u;\n    t = t * t;\n");
  EXPECT_EQ(body("s[i] = add(s[i], 1:i16)"), "    s.at(i) = wrap_add(s.at(i), (short)1);\n");
  EXPECT_EQ(body("s[i] = bit_not(bit_xor(s[i], 1:i16))"), "    s.at(i) = (short)(~(short)(s.at(i) ^ (short)1));\n");
}

TEST(Printer, PrintsConversionsAsCasts) {
  EXPECT_EQ(body("x[i] = cast<f32>(i)"), "    x.at(i) = real(i);\n");
  EXPECT_EQ(body("let t: i64 = cast<i64>(add(a, a))"), "    long long t = (long long)(a + a);\n");
  EXPECT_EQ(body("let t: bool = cast<bool>(a)"), "    bool t = bool(a);\n");
}

TEST(Printer, PrintsVectorOperationsAsOperatorsOrHelperCalls) {
  EXPECT_EQ(body("v[i] = add(v[i], mul(v[i], a))"), "    v.at(i) = v.at(i) + v.at(i) * a;\n");
  EXPECT_EQ(body("x[i] = extract(cross(v[i], neg(v[i])), 2)"), "    x.at(i) = cross(v.at(i), -v.at(i))[2];\n");
  EXPECT_EQ(body("x[i] = extract(add(v[i], v[i]), n)"), "    x.at(i) = (v.at(i) + v.at(i))[n];\n");
  EXPECT_EQ(body("v[i] = splat<vec<f32,3>>(a)"), "    v.at(i) = splat<Vec<real, 3>>(a);\n");
  EXPECT_EQ(body("v[i] = splat<vec<f32,3>>(0.0)"), "    v.at(i) = Vec<real, 3>{};\n");
  EXPECT_EQ(body("let t: vec<f32,3> = insert(v[i], 1, a)"), "    Vec<real, 3> t = insert(v.at(i), 1, a);\n");
}

TEST(Printer, PrintsComponentUpdateAsAssignmentToComponent) {
  EXPECT_EQ(body("let t: vec<f32,3>\n t = insert(t, n, a)"), "    Vec<real, 3> t = {};\n    t[n] = a;\n");
  EXPECT_EQ(body("v[i] = insert(v[i], 1, a)"), "    v.at(i)[1] = a;\n");
  EXPECT_EQ(body("v[i] = insert(v[n], 1, a)"), "    v.at(i) = insert(v.at(n), 1, a);\n");
  EXPECT_EQ(body("let b: Ball\n b = with_field(b, place, insert(b.place, 2, a))"),
            "    Ball b = {};\n    b.place[2] = a;\n");
  EXPECT_EQ(body("balls[i] = with_field(balls[i], speed, a)"), "    balls.at(i).speed = a;\n");
  EXPECT_EQ(body("balls[i] = with_field(balls[n], speed, a)"), "    balls.at(i) = with_speed(balls.at(n), a);\n");
}

TEST(Printer, ReadsOfNullArraysGiveZeroAndWritesAreSkipped) {
  EXPECT_EQ(body("x[i] = mul(grad_x[i], a)"), "    x.at(i) = (grad_x.data ? grad_x.at(i) : 0) * a;\n");
  EXPECT_EQ(body("grad_x[i] = a"), "    if (grad_x.data) grad_x.at(i) = a;\n");
  EXPECT_EQ(body("atomic_add(grad_x[i], a)"), "    if (grad_x.data) atomic_add(grad_x.at(i), a);\n");
  EXPECT_EQ(body("let t: f32 = atomic_sub(grad_x[i], a)"),
            "    real t = grad_x.data ? atomic_sub(grad_x.at(i), a) : 0;\n");
}

TEST(Printer, PrintsAtomicOperationsAsHelperCalls) {
  EXPECT_EQ(body("let t: i32 = atomic_cas(m[i, 1], 0, n)"), "    int t = atomic_cas(m.at(i, 1), 0, n);\n");
  EXPECT_EQ(body("atomic_exchange(x[i], 0.5)"), "    atomic_exchange(x.at(i), real(0.5f));\n");
}

TEST(Printer, PrintsAtomicOfFieldAsUpdateOfThatField) {
  EXPECT_EQ(body("atomic_add(balls[i].speed, a)"), "    atomic_add(balls.at(i).speed, a);\n");
  EXPECT_EQ(body("atomic_sub(balls[i].place, v[i])"), "    atomic_sub_components(balls.at(i).place, v.at(i));\n");
  EXPECT_EQ(body("atomic_add(balls[i].place, insert(splat<vec<f32,3>>(0.0), n, a))"),
            "    atomic_add(balls.at(i).place[n], a);\n");
}

TEST(Printer, PrintsElseIfChainsWithoutExtraNesting) {
  EXPECT_EQ(body("if lt(i, n) {\n x[i] = a\n } else if eq(i, n) {\n } else {\n x[i] = x[n]\n }"),
            "    if (i < n) {\n      x.at(i) = a;\n    } else if (i == n) {\n    } else {\n      x.at(i) = x.at(n);\n  "
            "  }\n");
}

TEST(Printer, NegatesConditionToAvoidEmptyThenBranch) {
  EXPECT_EQ(body("if lt(i, n) {\n } else {\n x[i] = a\n }"), "    if (!(i < n)) {\n      x.at(i) = a;\n    }\n");
  EXPECT_EQ(body("if not(lt(i, n)) {\n } else {\n x[i] = a\n }"), "    if (i < n) {\n      x.at(i) = a;\n    }\n");
  EXPECT_EQ(body("if lt(i, n) {\n } else if true {\n }"), "    if (i < n) {\n    } else if (true) {\n    }\n");
}

TEST(Printer, PrintsRangeLoopsAsForLoops) {
  EXPECT_EQ(body("for j: i32 in range(0, n, 1) {\n }"), "    for (int j = 0; j < n; ++j) {\n    }\n");
  EXPECT_EQ(body("for j: i32 in range(n, -1, -1) {\n }"), "    for (int j = n; j > -1; --j) {\n    }\n");
  EXPECT_EQ(body("for j: i32 in range(0, sub(shape(m, 1), 1), 3) {\n }"),
            "    for (int j = 0; j < m.shape[1] - 1; j += 3) {\n    }\n");
  EXPECT_EQ(body("for j: i32 in range(0, m[i, 0], -2) {\n }"),
            "    for (int j = 0, j_stop = m.at(i, 0); j > j_stop; j -= 2) {\n    }\n")
      << "memory may change during the loop";
  EXPECT_EQ(body("let t: i32 = n\n for j: i32 in range(0, t, 1) {\n t = 0\n }"),
            "    int t = n;\n    for (int j = 0, j_stop = t; j < j_stop; ++j) {\n      t = 0;\n    }\n");
  EXPECT_EQ(body("for j: i32 in range(0, 9, n) {\n }"),
            "    for (int j = 0, j_step = n; j_step > 0 ? j < 9 : j > 9; j += j_step) {\n    }\n");
}

TEST(Printer, ReusesVariableNameOnlyAfterItsScopeEnds) {
  ir::Module module = parse(
      "kernel k(n: i32; i) {\n  for p: i32 in range(0, n, 1) {\n  }\n"
      "  for q: i32 in range(0, n, 1) {\n    for r: i32 in range(0, q, 1) {\n    }\n  }\n}\n");
  for (std::size_t variable = 2; variable < 5; ++variable)
    module.kernels[0].variables[variable].name = "j";
  EXPECT_THAT(print_first(module, SourceTarget::kCpp, {.prints_source_comments = false}).body,
              HasSubstr("    for (int j = 0; j < n; ++j) {\n    }\n    for (int j = 0; j < n; ++j) {\n"
                        "      for (int j_1 = 0; j_1 < j; ++j_1) {\n      }\n    }\n"));
}

TEST(Printer, PrintsWhileBreakAndContinueAsTheSameCppStatements) {
  EXPECT_EQ(body("while lt(a, x[i]) {\n if lt(i, 1) {\n break\n }\n continue\n }"),
            "    while (a < x.at(i)) {\n      if (i < 1) {\n        break;\n      }\n      continue;\n    }\n");
}

TEST(Printer, PrintsReturnAsJumpToNextThread) {
  EXPECT_EQ(body("if lt(i, 1) {\n return\n }"), "    if (i < 1) {\n      continue;\n    }\n");
  EXPECT_EQ(body("while true {\n return\n }"),
            "    {\n      while (true) {\n        goto next_thread;\n      }\n    }\n    next_thread:;\n");
}

TEST(Printer, PrintsOnlyCalledFunctions) {
  const std::string text = printed(
      "func two(a: f32) -> f32, i32 {\n  return sin(a), 7\n}\n"
      "func one(a: f32) -> f32 {\n  return mul(a, a)\n}\n"
      "func unused(a: f32) -> f32 {\n  return a\n}\n"
      "kernel k(x: array<f32,1>; i) {\n  let s: f32, n: i32 = call two(x[i])\n  x[n] = one(s)\n}\n",
      SourceTarget::kCuda);
  EXPECT_THAT(text, HasSubstr("struct two_results {\n  real result_0;\n  int result_1;\n};\n\n"
                              "static __device__ two_results two(real a) {\n  return {sin(a), 7};\n}\n"));
  EXPECT_THAT(text, HasSubstr("static __device__ real one(real a) {\n  return a * a;\n}\n"));
  EXPECT_THAT(text, HasSubstr("    auto [s, n] = two(x.at(i));\n    x.at(n) = one(s);\n"));
  EXPECT_THAT(text, Not(HasSubstr("unused")));
}

TEST(Printer, RenamesVariablesThatClashWithKeywordsOrFunctions) {
  const std::string text = printed(
      "func sqrtf(a: f32) -> f32 {\n  return a\n}\n"
      "kernel sin(float: array<f32,1>, end: f32, real: f32; thread) {\n"
      "  let sin: f32 = sin(end)\n  let cos: f32 = sqrtf(real)\n  float[thread] = add(sin, cos)\n}\n");
  EXPECT_THAT(text, HasSubstr("real sqrtf_function(real a)"));
  EXPECT_THAT(
      text,
      HasSubstr("sin_forward(long long begin, long long thread_end, Array<real, 1> float_, real end, real real_1)"));
  EXPECT_THAT(text, HasSubstr("real sin_1 = sin(end);\n    real cos = sqrtf_function(real_1);\n"));
}

TEST(Printer, RenamesVariableOnlyIfItHidesCalledHelper) {
  const std::string whole = "let row: i32 = 1\n let t: mat<f32,2,2>\n let r: vec<f32,2> = extract(t, row)";
  EXPECT_THAT(body(whole), HasSubstr("int row_1 = 1;"));
  EXPECT_THAT(body(whole), HasSubstr("r = row(t, row_1);"));
  const std::string element = "let row: i32 = 1\n let t: mat<f32,2,2>\n x[i] = extract(extract(t, row), n)";
  EXPECT_THAT(body(element), HasSubstr("x.at(i) = t[row][n];"));
}

TEST(Printer, HalfPrecisionRoundsAfterEveryOperation) {
  const ir::Module module = parse(
      "kernel k(x: array<f16,1>, y: array<bf16,1>; i) {\n"
      "  x[i] = add(mul(x[i], 0.5:f16), sin(x[i]))\n"
      "  y[i] = cast<bf16>(x[i])\n}\n");
  const std::string text = print(module, module.kernels[0], nullptr, SourceTarget::kCpp)->source();
  EXPECT_THAT(text, HasSubstr("using half = Lifted<sizeof(real), Float16<10, -14>>::type;"));
  EXPECT_THAT(text, HasSubstr("using bfloat = Lifted<sizeof(real), Float16<7, -126>>::type;"));
  EXPECT_THAT(text, HasSubstr("x.at(i) = half(half(x.at(i) * 0.5f) + half(sin(real(x.at(i)))));"));
  EXPECT_THAT(text, HasSubstr("y.at(i) = bfloat(x.at(i));"));
}

TEST(Printer, PrintsElementwiseTileOperationsAsTileMapCalls) {
  const std::string text = printed(
      "kernel k(x: array<f32,1>; i) {\n"
      "let t: tile<f32,4> = tile_load<tile<f32,4>>(x[i])\n"
      "x[i] = mul(t, tile_broadcast<tile<f32,4>>(tile_sum<tile<f32,1>>(add(t, t))))\n"
      "}\n",
      SourceTarget::kCpp);
  EXPECT_THAT(text, HasSubstr("tile_map<Tile<real, 4>>([&](real t, real element) { return t * element; }, t, "));
  EXPECT_THAT(text, HasSubstr("(tile_map<Tile<real, 4>>([&](real t) { return t + t; }, t))"));
}

TEST(Printer, PrintsPartOfArrayWithMoreDimensionsThanTheTile) {
  const std::string text = printed(
      "kernel k(x: array<f32,3>; i) {\n"
      "let t: tile<f32,4> = tile_load<tile<f32,4>>(x[i, 1, 2])\n"
      "x[i, 0, 0] = t\n"
      "atomic_add(x[i, i, 1], t)\n"
      "}\n",
      SourceTarget::kCpp);
  EXPECT_THAT(text, HasSubstr("t = tile_load<Tile<real, 4>>(subarray(subarray(x, i), 1), 2);"));
  EXPECT_THAT(text, HasSubstr("tile_store(subarray(subarray(x, i), 0), t, 0);"));
  EXPECT_THAT(text, HasSubstr("tile_atomic_add(subarray(subarray(x, i), i), t, 1);"));
}

TEST(Printer, RejectsCudaAtomicsOnIntegersBelow32Bits) {
  const auto error = [](std::string_view text, SourceTarget target) {
    const ir::Module module = parse(text);
    const auto kernel = print(module, module.kernels[0], nullptr, target);
    return kernel.ok() ? "" : kernel.error().text();
  };
  constexpr std::string_view kNarrow = "kernel k(x: array<i16,1>; i) {\n  atomic_add(x[i], 1:i16)\n}\n";
  EXPECT_EQ(error(kNarrow, SourceTarget::kCpp), "");
  EXPECT_EQ(error(kNarrow, SourceTarget::kCuda),
            "<text>:2:3: atomic_add on int16 is not supported: CUDA atomics need 32 or 64 bits");
  const ir::Module module = parse("kernel k(x: array<f32,1>; i) {\n}\n");
  EXPECT_EQ(
      print(module, module.kernels[0], nullptr, SourceTarget::kCpp, {.prints_host_program = true}).error().message,
      "--with-host is supported for CUDA only");
}

TEST(Printer, PrintsSumsOfExtremaOfFloatsSoThatNoCompilerContractsThem) {
  EXPECT_EQ(body("  atomic_min(x[0], add(mul(x[i], a), 1.0))\n  atomic_add(x[1], add(mul(a, a), 1.0))"),
            "    atomic_min(x.at(0), rounded_sum(x.at(i) * a, real(1.0f)));\n"
            "    atomic_add(x.at(1), a * a + 1.0f);\n");
  EXPECT_EQ(body("  atomic_min(m[i, 0], add(mul(m[i, 1], n), 1))"),
            "    atomic_min(m.at(i, 0), wrap_add(wrap_mul(m.at(i, 1), n), 1));\n");
}

TEST(Printer, NamesNoVariableLikeAFunctionOfExtrema) {
  EXPECT_THAT(body("  let rounded_length: f32 = length(v[i])\n  atomic_max(x[0], rounded_length)"),
              HasSubstr("real rounded_length_1 = rounded_length(v.at(i));\n"));
}

}  // namespace
}  // namespace assay::source
