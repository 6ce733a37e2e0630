// Functions that CUDA's driver defines: assertions and printf.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

constexpr std::string_view kDeclarations =
    ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);\n"
    ".extern .func __assertfail(.param .b64 a0, .param .b64 a1, .param .b32 a2, .param .b64 a3, .param .b64 a4);\n"
    ".global .align 1 .b8 $str[6] = {105, 32, 60, 32, 110};\n";

/// Stores 7 to the element of each thread, after a call.
testing::TestRun<std::uint32_t> run_call(const std::string& call) {
  return testing::run<std::uint32_t>(
      testing::entry(
          "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;"
          " mov.u64 %rd3, $str; cvta.global.u64 %rd4, %rd3; mov.u32 %r3, 7;\n" +
              call + "\nst.global.u32 [%rd2], %r3;",
          1, kDeclarations),
      std::vector<std::uint32_t>(32));
}

/// assert(i < n), where n is a number.
std::string assertion(int n) {
  return "setp.lt.u32 %p1, %r1, " + std::to_string(n) +
         "; @%p1 bra $ok;\n{ .param .b64 param0; st.param.b64 [param0+0], %rd4; .param .b64 param1; st.param.b64 "
         "[param1+0], %rd4; .param .b32 param2; st.param.b32 [param2+0], 3; .param .b64 param3; st.param.b64 "
         "[param3+0], "
         "%rd4; .param .b64 param4; st.param.b64 [param4+0], 1;\ncall.uni __assertfail, (param0, param1, param2, "
         "param3, "
         "param4); }\n$ok:";
}

TEST(SystemCalls, FailedAssertionStopsLaunchWithItsCondition) {
  const auto done = run_call(assertion(20));
  EXPECT_EQ(done.result.status, RunResult::Status::kTrapped);
  EXPECT_THAT(done.result.message, ::testing::HasSubstr("the assertion 'i < n' failed in thread 20"));
}

TEST(SystemCalls, AssertionThatHoldsHasNoEffect) {
  const auto done = run_call(assertion(32));
  EXPECT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_THAT(done.data, ::testing::Each(7U));
}

TEST(SystemCalls, PrintfReturnsZero) {
  const auto done = run_call(
      "{ .param .b64 param0; st.param.b64 [param0+0], %rd4; .param .b64 param1; st.param.b64 [param1+0], %rd4; .param "
      ".b32 retval0;\ncall.uni (retval0), vprintf, (param0, param1);\nld.param.b32 %r3, [retval0+0]; }");
  EXPECT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_THAT(done.data, ::testing::Each(0U));
}

}  // namespace
}  // namespace assay::ptx
