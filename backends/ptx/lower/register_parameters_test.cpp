#include "backends/ptx/lower/register_parameters.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::run;

/// A function that returns 3 * x + 1.
constexpr std::string_view kTriple =
    ".func (.param .b32 r) f(.param .b32 x)\n"
    "{ .reg .b32 %r<5>; ld.param.u32 %r1, [x]; mad.lo.u32 %r2, %r1, 3, 1; st.param.b32 [r], %r2; ret; }\n";
constexpr std::string_view kCall =
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r2, [b]; }";

/// Each thread stores %r2, which the statements compute from the number of the thread, %r1.
std::string kernel_with(std::string_view statements, std::string_view function) {
  return entry(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;"
      " setp.lt.u32 %p1, %r1, 7; mov.u32 %r2, 0; " +
          std::string(statements) + " st.global.u32 [%rd1], %r2;",
      1, std::string(function));
}

/// Runs the kernel, expects 3 * x + 1 of each thread x, and returns whether the kernel needs local memory.
bool needs_memory(const std::string& text) {
  const auto done = run<std::uint32_t>(text, std::vector<std::uint32_t>(32));
  EXPECT_TRUE(done.result.ok()) << text << done.result.message;
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(done.data[i], 3 * i + 1) << "thread " << i << " of " << text;
  return testing::kernel_of(text)->local_word_count != 0;
}

TEST(RegisterParameters, ArgumentsAndResultsOfCallsAreInRegisters) {
  EXPECT_FALSE(needs_memory(kernel_with(kCall, kTriple)));
  EXPECT_FALSE(needs_memory(kernel_with("@%p1 bra L; " + std::string(kCall) + " bra M; L: " + std::string(kCall) +
                                            " M: mov.u32 %r3, %r2; { .param .b32 a; .param .b32 b; st.param.b32 [a], 1;"
                                            " call.uni (b), f, (a); ld.param.b32 %r2, [b]; } sub.u32 %r2, %r3, 0;",
                                        kTriple)));
}

TEST(RegisterParameters, FieldsOfStructsAndVectorsAreInRegisters) {
  constexpr std::string_view kFields =
      ".func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 x[16])\n"
      "{ .reg .b32 %r<5>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x+8]; ld.param.u32 %r1, [x+4];"
      " cvt.u32.u64 %r2, %rd1; st.param.v2.b32 [r+8], {%r1, %r2}; st.param.b64 [r], %rd1; ret; }\n";
  EXPECT_FALSE(needs_memory(kernel_with(
      "{ .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; mul.wide.u32 %rd3, %r1, 2; st.param.b32 [a+4], %r1;"
      " st.param.b64 [a+8], %rd3; call.uni (b), f, (a); ld.param.b32 %r3, [b+8]; ld.param.v2.b32 {%r4, %r5}, [b+8]; }"
      " add.u32 %r2, %r3, %r5; add.u32 %r2, %r2, 1;",
      kFields)));
}

TEST(RegisterParameters, OtherUsesOfParametersNeedMemory) {
  // The argument depends on a branch.
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b32 a; .param .b32 b; @%p1 bra L; st.param.b32 [a], %r1; bra M; L: st.param.b32 [a], %r1;"
                  " M: call.uni (b), f, (a); ld.param.b32 %r2, [b]; }",
                  kTriple)));
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b32 a; .param .b32 b; st.param.b32 [a], 0; @!%p1 st.param.b32 [a], %r1; @%p1 st.param.b32"
                  " [a], %r1; call.uni (b), f, (a); ld.param.b32 %r2, [b]; }",
                  kTriple)));
  // Two calls share an argument.
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; call.uni (b), f, (a);"
                  " call.uni (c), f, (a); ld.param.b32 %r2, [c]; }",
                  kTriple)));
  const std::string half = ".func g(.param .b32 x)\n{ .reg .b16 %rs<2>; ld.param.u16 %rs1, [x]; ret; }\n";
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r2, [b];"
                  " call.uni g, (a); }",
                  half + std::string(kTriple))));
  // The function loads a part of what the caller stores.
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b64 a; .param .b32 b; mul.wide.u32 %rd3, %r1, 1; st.param.b64 [a], %rd3; call.uni (b), f,"
                  " (a); ld.param.b32 %r2, [b]; }",
                  ".func (.param .b32 r) f(.param .b64 x)\n{ .reg .b32 %r<5>; ld.param.u32 %r1, [x];"
                  " mad.lo.u32 %r2, %r1, 3, 1; st.param.b32 [r], %r2; ret; }\n")));
  // The caller changes a part of what it stored.
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b64 a; .param .b32 b; mov.u64 %rd3, 5; st.param.b64 [a], %rd3; st.param.b32 [a], %r1;"
                  " call.uni (b), f, (a); ld.param.b32 %r2, [b]; }",
                  ".func (.param .b32 r) f(.param .b64 x)\n{ .reg .b32 %r<5>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [x];"
                  " cvt.u32.u64 %r1, %rd1; mad.lo.u32 %r2, %r1, 3, 1; st.param.b32 [r], %r2; ret; }\n")));
  // Elements smaller than a register.
  EXPECT_TRUE(needs_memory(kernel_with(
      "{ .param .b32 a; .param .b32 b; st.param.b16 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r2, [b]; }",
      ".func (.param .b32 r) f(.param .b32 x)\n{ .reg .b32 %r<5>; ld.param.u16 %r1, [x];"
      " mad.lo.u32 %r2, %r1, 3, 1; st.param.b32 [r], %r2; ret; }\n")));
  // The function computes the address of its parameter, which is then in local memory.
  EXPECT_TRUE(needs_memory(
      kernel_with(kCall,
                  ".func (.param .b32 r) f(.param .b32 x)\n{ .reg .b32 %r<5>; .reg .b64 %rd<3>; mov.b64 %rd1, x;"
                  " ld.local.u32 %r1, [%rd1]; mad.lo.u32 %r2, %r1, 3, 1; st.param.b32 [r], %r2; ret; }\n")));
  // The result is loaded in a later block.
  EXPECT_TRUE(needs_memory(
      kernel_with("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); @%p1 bra L; L:"
                  " ld.param.b32 %r2, [b]; }",
                  kTriple)));
}

/// Without a register, the checks see that a value is missing.
TEST(RegisterParameters, MissingArgumentOrResultIsUninitialized) {
  const auto finds = [](const std::string& text) {
    const auto done = run<std::uint32_t>(text, std::vector<std::uint32_t>(32));
    return !done.result.findings.empty() && done.result.findings[0].kind == CheckFinding::Kind::kUninitializedRead;
  };
  EXPECT_TRUE(
      finds(kernel_with("{ .param .b32 a; .param .b32 b; call.uni (b), f, (a); ld.param.b32 %r2, [b]; }", kTriple)));
  EXPECT_TRUE(finds(kernel_with(
      "{ .param .b32 a; .param .b32 b; @%p1 st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r2, [b]; }",
      kTriple)));
  EXPECT_TRUE(finds(
      kernel_with(kCall,
                  ".func (.param .b32 r) f(.param .b32 x)\n{ .reg .b32 %r<5>; .reg .pred %p<2>; ld.param.u32 %r1, [x];"
                  " setp.lt.u32 %p1, %r1, 9; @%p1 ret; st.param.b32 [r], %r1; ret; }\n")));
  EXPECT_TRUE(finds(
      kernel_with(kCall,
                  ".func (.param .b32 r) f(.param .b32 x)\n{ .reg .b32 %r<5>; .reg .pred %p<2>; ld.param.u32 %r1, [x];"
                  " setp.lt.u32 %p1, %r1, 9; @%p1 bra L; st.param.b32 [r], %r1; ret; L: }\n")));
}

}  // namespace
}  // namespace assay::ptx
