// Native functions: the C++ code that is parsed, and what is rejected.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"
#include "ir/text.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A file with a native function f of four numbers and a kernel that calls it.
ParsedFile file_with(std::string_view code, std::string_view result = "float") {
  return read(fmt::format(R"(import warp as wp
@wp.func_native("""{}""")
def f(a: float, n: int, u: wp.uint32, w: wp.int64) -> {}: ...
@wp.kernel
def k(x: wp.array(dtype={}), a: wp.array(dtype=float)):
    x[0] = f(a[0], 1, wp.uint32(2), wp.int64(3))
)",
                          code, result, result));
}

/// The parsed function without its first line, or the diagnostics.
std::string parsed(std::string_view code, std::string_view result = "float") {
  const ParsedFile file = file_with(code, result);
  if (file.module.kernels.empty()) return messages(file);
  const std::string text = ir::to_text(file.module);
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.find("}\n\n") - begin);
}

TEST(NativeCode, OperatorsBindAsInCpp) {
  EXPECT_EQ(parsed("return 1.0f + a * 2.0f - a;"), "  return sub(add(1.0, mul(a, 2.0)), a)\n");
  EXPECT_EQ(parsed("return n | 1 << 2 & 7;", "int"), "  return bit_or(n, bit_and(shift_left(1, 2), 7))\n");
  EXPECT_EQ(parsed("return -n % 4 == 1 && !(n < 2) ? 1 : 0;", "int"),
            "  return conditional(and(eq(mod(neg(n), 4), 1), not(lt(n, 2))), 1, 0)\n");
  EXPECT_EQ(parsed("return (n ^ 3) >> 1;", "int"), "  return shift_right(bit_xor(n, 3), 1)\n");
}

TEST(NativeCode, OperandsAreConvertedAsInCpp) {
  EXPECT_EQ(parsed("return n + u;", "wp.uint32"), "  return add(cast<u32>(n), u)\n");
  EXPECT_EQ(parsed("return u + w;", "wp.int64"), "  return add(cast<i64>(u), w)\n");
  EXPECT_EQ(parsed("return a / n;"), "  return div(a, cast<f32>(n))\n");
  EXPECT_EQ(parsed("return a * 0.5;"), "  return cast<f32>(mul(cast<f64>(a), 0.5:f64))\n");
  EXPECT_EQ(parsed("return (a < 1.0f) + 1;", "int"), "  return add(cast<i32>(lt(a, 1.0)), 1)\n");
  EXPECT_EQ(parsed("return u << w;", "wp.uint32"), "  return shift_left(u, cast<u32>(w))\n");
  EXPECT_EQ(parsed("return (unsigned long long)n;", "wp.uint64"), "  return cast<u64>(n)\n");
  EXPECT_EQ(parsed("return static_cast<int>(a) + int(a);", "int"), "  return add(cast<i32>(a), cast<i32>(a))\n");
}

TEST(NativeCode, NumbersHaveTheTypesOfCpp) {
  EXPECT_EQ(parsed("return 0x80000000;", "wp.uint32"), "  return 2147483648:u32\n");
  EXPECT_EQ(parsed("return 0x7FFFFFFFFFFFFFFFull;", "wp.uint64"), "  return 9223372036854775807:u64\n");
  EXPECT_EQ(parsed("return 3000000000;", "wp.int64"), "  return 3000000000:i64\n");
  EXPECT_EQ(parsed("return 010;", "int"), "  return 8\n");
  EXPECT_EQ(parsed("return 1e-3f;"), "  return 0.001\n");
}

TEST(NativeCode, StatementsChangeVariables) {
  EXPECT_EQ(
      parsed("int k = 0, m = n; while (m > 0) { m >>= 1; k++; } if (k == 2) return 7; else --k; return k;", "int"),
      "  let k: i32 = 0\n  let m: i32 = n\n  while gt(m, 0) {\n    m = shift_right(m, 1)\n    k = add(k, 1)\n  }\n"
      "  if eq(k, 2) {\n    return 7\n  } else {\n    k = sub(k, 1)\n  }\n  return k\n");
  EXPECT_EQ(parsed("if (n) { const float b = a; return b; } n -= 2; return n;"),
            "  let n_1: i32 = n\n  if ne(n_1, 0) {\n    let b: f32 = a\n    return b\n  }\n  n_1 = sub(n_1, 2)\n"
            "  return cast<f32>(n_1)\n");
}

TEST(NativeCode, ConditionsOfLoopsAreComputedInEachIteration) {
  const std::string text = parsed("while (__builtin_popcount(n) > 1) n &= n - 1; return n;", "int");
  EXPECT_THAT(text, HasSubstr("while true {\n    let bits: u32 = cast<u32>(n_1)\n"));
  EXPECT_THAT(text, HasSubstr("{\n      break\n    }\n    n_1 = bit_and(n_1, sub(n_1, 1))\n  }\n"));
}

TEST(NativeCode, CallsFunctionsOfTheLibrary) {
  EXPECT_EQ(parsed("return 1.0f / sqrtf(a) + fabs(a) * powf(a, 2);"),
            "  return add(div(1.0, sqrt(a)), mul(abs(a), pow(a, cast<f32>(2))))\n");
  EXPECT_EQ(parsed("return max(n, 3);", "int"), "  return max(n, 3)\n");
  EXPECT_EQ(parsed("return sqrt(n);"), "  return cast<f32>(sqrt(cast<f64>(n)))\n");
  EXPECT_THAT(parsed("return __builtin_popcount(u);", "int"), HasSubstr("16843009:u32"));
}

TEST(NativeCode, KeepsBits) {
  EXPECT_EQ(parsed("return reinterpret_cast<uint32_t&>(a) ^ 1;", "wp.uint32"),
            "  return bit_xor(reinterpret<u32>(a), cast<u32>(1))\n");
  EXPECT_EQ(parsed("return *reinterpret_cast<float*>(&u);"), "  return reinterpret<f32>(u)\n");
}

TEST(NativeCode, TakesTheCodeForTheCpu) {
  EXPECT_EQ(parsed("\n#if defined(__CUDA_ARCH__)\nreturn __frsqrt_rn(a);\n#else\nreturn a; // one\n#endif\n"),
            "  return a\n");
  EXPECT_EQ(parsed("\n#ifndef __CUDA_ARCH__\nreturn /* two */ a;\n#else\nreturn 1.0f;\n#endif\n"), "  return a\n");
  EXPECT_THAT(parsed("\n#ifdef __CUDA_ARCH__\nreturn __shfl_sync(0xffffffff, a, 0);\n#else\nreturn a;\n#endif\n"),
              HasSubstr("on a GPU it uses '__shfl', by which threads work together"));
}

TEST(NativeCode, GradientIsZero) {
  const ParsedFile file = file_with("return a * n;");
  EXPECT_THAT(ir::to_text(file.module),
              AllOf(HasSubstr("func adj_f(a: f32, n: i32, u: u32, w: i64, adj_result: f32) -> f32 {\n"
                              "  let adj_a: f32\n  return adj_a\n}"),
                    HasSubstr("gradient f = adj_f")));
  EXPECT_THAT(ir::to_text(file_with("return n;", "int").module), HasSubstr("gradient f = adj_f"));
}

TEST(NativeCode, RejectsOtherCode) {
  EXPECT_THAT(parsed("\nreturn secret(a);"),
              HasSubstr("line 2 of the native code: the function 'secret' with 1 arguments is not supported"));
  EXPECT_THAT(parsed("for (;;) {}"), HasSubstr("'for' is not supported"));
  EXPECT_THAT(parsed("return b;"), HasSubstr("'b' is not supported"));
  EXPECT_THAT(parsed("float b; return a;"), HasSubstr("the variable 'b' has no initial value"));
  EXPECT_THAT(parsed("if (n) return a;"), HasSubstr("it does not return a value on every path"));
  EXPECT_THAT(parsed("return a"), HasSubstr("expected ';', got ''"));
  EXPECT_THAT(parsed("return a & 1;"), HasSubstr("the operands of '&' must be integers"));
  EXPECT_THAT(parsed("return reinterpret_cast<double&>(a);"), HasSubstr("between numbers of one size only"));
  EXPECT_THAT(parsed("return 1.0q;"), HasSubstr("the number '1.0q' is not supported"));
  EXPECT_THAT(parsed("\n#include <x>\nreturn a;"), HasSubstr("'#include <x>' is not supported"));
  EXPECT_THAT(parsed("\n#if DEBUG\n#endif\nreturn a;"), HasSubstr("the condition '#if DEBUG' is not supported"));
  EXPECT_THAT(parsed("\n#endif\nreturn a;"), HasSubstr("'#endif' without '#if'"));
  EXPECT_THAT(parsed("\n#ifdef __CUDA_ARCH__\n"), HasSubstr("'#if' without '#endif'"));
  EXPECT_THAT(parsed("/* return a;"), HasSubstr("a comment does not end"));
  EXPECT_THAT(parsed("return nextafterf(a, a);"), HasSubstr("for float and INFINITY or -INFINITY only"));
  EXPECT_THAT(parsed("a ? 1 : 2;"), HasSubstr("expected an assignment to 'a', got '?'"));
  EXPECT_THAT(messages(read("import warp as wp\n@wp.func_native('x = 1;')\ndef f(x: wp.ref[int]): ...\n")),
              HasSubstr("x: native functions cannot have parameters of type wp.ref"));
  EXPECT_THAT(parsed("return a;", "wp.vec2"), HasSubstr("native functions must return a number"));
}

}  // namespace
}  // namespace assay::frontend::testing
