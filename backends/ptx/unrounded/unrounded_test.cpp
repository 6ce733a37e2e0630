// Unrounded values of hand-written PTX, compared with double precision.
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::kernel_of;

constexpr std::size_t kLanes = 32;

/// The floats that 32 threads read and overwrite.
float input(std::size_t i) { return 0.37F + 0.11F * static_cast<float>(i); }
/// The value of %f2 in kStart without rounding.
double third(std::size_t i) { return double{input(i)} / 3; }

/// %f1: the thread's float; %f2: a third of it, which is rounded; %rd2: its address.
constexpr std::string_view kStart =
    "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;"
    " add.s64 %rd2, %rd1, %rd3; ld.global.f32 %f1, [%rd2]; div.rn.f32 %f2, %f1, 0f40400000;\n";
constexpr std::string_view kEnd = "st.global.f32 [%rd2], %f3;\n";

struct UnroundedRun {
  std::vector<float> rounded;
  std::vector<UnroundedNumber> unrounded;
  UnroundedLosses losses;
};

/// Runs a body between kStart and kEnd.
UnroundedRun run_body(std::string_view body, std::string_view before = "", std::uint32_t threads = kLanes) {
  UnroundedRun run;
  for (std::size_t i = 0; i < threads; ++i)
    run.rounded.push_back(input(i));
  Machine machine;
  const AllocationId id = machine.adopt("x", std::as_writable_bytes(std::span(run.rounded)), {});
  KernelArguments arguments;
  arguments.add(machine.address(id));
  const auto kernel = kernel_of(entry(std::string(kStart) + std::string(body) + "\n" + std::string(kEnd), 1, before));
  if (kernel == nullptr) return run;
  LaunchOptions options;
  options.computes_unrounded_values = true;
  const RunResult result = machine.launch(kernel, {{1}, {threads}}, arguments, options);
  EXPECT_TRUE(result.ok()) << result.message << (result.findings.empty() ? "" : describe(result.findings[0]));
  run.losses = result.unrounded_losses;
  run.unrounded = machine.unrounded_values(machine.address(id), Type::kF32, threads);
  return run;
}

/// Checks that the result is f(third) without rounding, and that rounding changed it in some lane.
void expect_function(const UnroundedRun& run, const std::function<double(std::size_t)>& f, const std::string& what) {
  ASSERT_EQ(run.unrounded.size(), kLanes);
  bool differs = false;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double expected = f(i);
    EXPECT_NEAR(run.unrounded[i].value, expected, 1e-15 * std::max(1.0, std::abs(expected))) << what << ", lane " << i;
    differs = differs || static_cast<double>(run.rounded[i]) != run.unrounded[i].value;
  }
  EXPECT_TRUE(differs) << what;
}

TEST(UnroundedValues, OfArithmeticAreThoseOfDoublePrecision) {
  struct Operation {
    std::string text;
    std::function<double(double third, double input)> expected;
  };
  const std::vector<Operation> operations = {
      {"add.rn.f32 %f3, %f2, %f1;", [](double t, double x) { return t + x; }},
      {"sub.rn.f32 %f3, %f1, %f2;", [](double t, double x) { return x - t; }},
      {"mul.rn.f32 %f3, %f2, %f2;", [](double t, double) { return t * t; }},
      {"fma.rn.f32 %f3, %f2, %f1, %f2;", [](double t, double x) { return t * x + t; }},
      {"div.rn.f32 %f3, %f2, %f1;", [](double t, double x) { return t / x; }},
      {"min.f32 %f3, %f2, %f1;", [](double t, double) { return t; }},
      {"max.f32 %f3, %f2, 0f3F000000;", [](double t, double) { return std::max(t, 0.5); }},
      {"neg.f32 %f4, %f2; abs.f32 %f3, %f4;", [](double t, double) { return t; }},
      {"neg.f32 %f4, %f1; copysign.f32 %f3, %f4, %f2;", [](double t, double) { return -t; }},
      {"sqrt.rn.f32 %f3, %f2;", [](double t, double) { return std::sqrt(t); }},
      {"rsqrt.approx.f32 %f3, %f2;", [](double t, double) { return 1 / std::sqrt(t); }},
      {"rcp.rn.f32 %f3, %f2;", [](double t, double) { return 1 / t; }},
      {"ex2.approx.f32 %f3, %f2;", [](double t, double) { return std::exp2(t); }},
      {"lg2.approx.f32 %f3, %f2;", [](double t, double) { return std::log2(t); }},
      {"sin.approx.f32 %f3, %f2;", [](double t, double) { return std::sin(t); }},
      {"cos.approx.f32 %f3, %f2;", [](double t, double) { return std::cos(t); }},
      {"tanh.approx.f32 %f3, %f2;", [](double t, double) { return std::tanh(t); }},
      {"max.f32 %f3, 0fBF800000, 0f00000000, %f2;", [](double t, double) { return t; }},
      {"min.f32 %f3, %f1, 0f7F000000, %f2;", [](double t, double) { return t; }},
      {"mov.b64 %rd4, {%f1, %f2}; add.rn.f32x2 %rd5, %rd4, %rd4; mul.rn.f32x2 %rd6, %rd5, %rd4;"
       " fma.rn.f32x2 %rd7, %rd6, %rd5, %rd4; mov.b64 {%f4, %f3}, %rd7;",
       [](double t, double) { return 4 * t * t * t + t; }},
      {"neg.f32 %f4, %f2; redux.sync.max.abs.f32 %f5, %f4, -1; sub.rn.f32 %f3, %f5, %f2;",
       [](double t, double) { return third(kLanes - 1) - t; }},
      {"add.sat.f32 %f3, %f2, 0f3F000000;", [](double t, double) { return std::min(t + 0.5, 1.0); }},
      {"cvt.f64.f32 %fd1, %f2; mul.rn.f64 %fd2, %fd1, %fd1; cvt.rn.f32.f64 %f3, %fd2;",
       [](double t, double) { return t * t; }},
  };
  for (const Operation& operation : operations) {
    const UnroundedRun run = run_body(operation.text);
    expect_function(
        run, [&](std::size_t i) { return operation.expected(third(i), input(i)); }, operation.text);
    EXPECT_EQ(run.losses.ambiguous_decision_count, 0U);
    EXPECT_EQ(run.losses.lost_value_count, 0U);
  }
}

TEST(UnroundedValues, FollowCopiesThroughRegistersAndMemory) {
  const std::string shared =
      ".shared .align 16 .b8 s[512]; mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3;";
  const std::string local = ".local .align 8 .b8 l[16]; mov.u64 %rd4, l;";
  for (const std::string& body : std::vector<std::string>{
           "mov.f32 %f3, %f2;",
           "mov.b32 %r5, %f2; mov.b32 %f3, %r5;",
           "setp.eq.u32 %p1, %r1, 3; selp.f32 %f3, %f2, %f1, %p1; @!%p1 mov.f32 %f3, %f2;",
           "mov.b64 %rd5, {%f1, %f2}; mov.b64 {%f4, %f3}, %rd5;",
           "shfl.sync.bfly.b32 %f4, %f2, 1, 31, -1; shfl.sync.bfly.b32 %f3, %f4, 1, 31, -1;",
           "st.global.f32 [%rd2], %f2; ld.global.f32 %f3, [%rd2];",
           shared + "st.shared.f32 [%r2], %f2; ld.shared.u32 %r5, [%r2]; mov.b32 %f3, %r5;",
           shared + "st.shared.v4.f32 [%r2], {%f1, %f2, %f1, %f1}; ld.shared.v2.f32 {%f4, %f3}, [%r2];",
           shared + "st.shared.v2.f32 [%r2], {%f1, %f2}; ld.shared.b64 %rd5, [%r2]; mov.b64 {%f4, %f3}, %rd5;",
           shared + "cvt.f64.f32 %fd1, %f2; st.shared.f64 [%r2], %fd1; ld.shared.f64 %fd2, [%r2];"
                    " cvt.rn.f32.f64 %f3, %fd2;",
           local + "st.local.f32 [%rd4], %f2; ld.local.f32 %f3, [%rd4];",
           local + "cvt.f64.f32 %fd1, %f2; st.local.f64 [%rd4], %fd1; ld.local.f64 %fd2, [%rd4];"
                   " cvt.rn.f32.f64 %f3, %fd2;",
           "cvt.f64.f32 %fd1, %f2; mov.b64 {%r5, %r6}, %fd1; shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;"
           " shfl.sync.bfly.b32 %r8, %r5, 1, 31, -1; mov.b64 %fd2, {%r8, %r7}; mov.b64 {%r5, %r6}, %fd2;"
           " shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1; shfl.sync.bfly.b32 %r8, %r5, 1, 31, -1;"
           " mov.b64 %rd5, {%r8, %r7}; mov.b64 %fd3, %rd5; cvt.rn.f32.f64 %f3, %fd3;",
           "cvt.f64.f32 %fd1, %f2; mov.b64 {%r5, %r6}, %fd1; xor.b32 %r6, %r6, 0x80000000; add.s32 %r6, %r6, 0x100000;"
           " mov.b64 %fd2, {%r5, %r6}; mul.rn.f64 %fd3, %fd2, 0dBFE0000000000000; cvt.rn.f32.f64 %f3, %fd3;",
           shared + "cvt.f64.f32 %fd1, %f2; mov.b64 {%r5, %r6}, %fd1; st.shared.v2.b32 [%r2], {%r5, %r6};"
                    " ld.shared.f64 %fd2, [%r2]; cvt.rn.f32.f64 %f3, %fd2;",
           shared + "cvt.f64.f32 %fd1, %f2; st.shared.f64 [%r2], %fd1; ld.shared.v2.b32 {%r5, %r6}, [%r2];"
                    " mov.b64 %fd2, {%r5, %r6}; cvt.rn.f32.f64 %f3, %fd2;",
           shared + "st.shared.f32 [%r2], 0f00000000; atom.shared.add.f32 %f4, [%r2], %f2; ld.shared.f32 %f3, [%r2];",
           shared + "st.shared.f32 [%r2], %f2; atom.shared.exch.b32 %r5, [%r2], 0; mov.b32 %f3, %r5;",
           shared + "st.shared.f32 [%r2], %f1; ld.shared.u32 %r5, [%r2]; mov.b32 %r6, %f2;"
                    " atom.shared.cas.b32 %r7, [%r2], %r5, %r6; ld.shared.f32 %f3, [%r2];",
           shared + "st.shared.f32 [%r2], 0f00000000; mov.b32 %r6, %f2; atom.shared.max.s32 %r7, [%r2], %r6;"
                    " ld.shared.f32 %f3, [%r2];",
       }) {
    expect_function(run_body(body), third, body);
  }
  expect_function(run_body("st.global.f32 [%rd2], %f2; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;"
                           " cp.async.ca.shared.global [%r2], [%rd2], 4; cp.async.wait_all; ld.shared.f32 %f3, [%r2];",
                           ".shared .align 16 .b8 s[128];\n"),
                  third, "cp.async");
  const std::string copied = "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2; setp.eq.u32 %p1, %r1, 0;";
  const std::string variables = ".shared .align 16 .b8 s[128]; .shared .align 8 .b64 object;\n";
  expect_function(run_body(copied + "st.shared.f32 [%r3], %f2; fence.proxy.async; bar.warp.sync -1;"
                                    " @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;"
                                    " @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0; bar.sync 0;"
                                    " ld.global.f32 %f3, [%rd2];",
                           variables),
                  third, "cp.async.bulk to global memory");
  expect_function(run_body(copied + "st.global.f32 [%rd2], %f2; mov.u32 %r5, object;"
                                    " @%p1 mbarrier.init.shared.b64 [%r5], 1; bar.sync 0;"
                                    " @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 128;"
                                    " @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1],"
                                    " 128, [%r5]; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra W;"
                                    " ld.shared.f32 %f3, [%r3];",
                           variables),
                  third, "cp.async.bulk to shared memory");
}

TEST(UnroundedValues, OfHalvesAreNotRounded) {
  const std::string widen = "cvt.f32.f16 %f3, ";
  for (const std::string& body : std::vector<std::string>{
           "cvt.rn.f16.f32 %rs1, %f2;" + widen + "%rs1;",
           "cvt.rn.f16.f32 %rs1, %f2; mov.b32 %r5, {%rs1, %rs1}; mov.b32 {%rs2, %rs3}, %r5;" + widen + "%rs3;",
           "cvt.rn.f16x2.f32 %r5, %f1, %f2; mov.b32 {%rs2, %rs3}, %r5;" + widen + "%rs2;",
           "cvt.rn.f16x2.f32 %r5, %f1, %f2; cvt.u16.u32 %rs2, %r5;" + widen + "%rs2;",
           "cvt.rn.f16x2.f32 %r5, %f2, %f1; st.global.b32 [%rd2], %r5; ld.global.b16 %rs3, [%rd2+2];" + widen + "%rs3;",
           "cvt.rn.f16x2.f32 %r5, %f2, %f1; xor.b32 %r6, %r5, 0x80008000; mov.b32 {%rs2, %rs3}, %r6;"
           " cvt.f32.f16 %f4, %rs3; neg.f32 %f3, %f4;",
           "cvt.rn.bf16.f32 %rs1, %f2; mov.b32 %r5, {0, %rs1}; mov.b32 %f3, %r5;",
           "cvt.rn.bf16.f32 %rs1, %f2; cvt.u32.u16 %r5, %rs1; cvt.f32.bf16 %f3, %rs1;",
           "cvt.rn.bf16x2.f32 %r5, %f1, %f2; shl.b32 %r6, %r5, 16; mov.b32 %f3, %r6;",
           "cvt.rn.bf16x2.f32 %r5, %f2, %f1; and.b32 %r6, %r5, 0xffff0000; mov.b32 %f3, %r6;",
           "mov.b32 %r5, %f2; shr.u32 %r6, %r5, 16; shl.b32 %r7, %r6, 16; mov.b32 %f3, %r7;",
       }) {
    expect_function(run_body(body), third, body);
  }
  const std::string add = "cvt.rn.f16x2.f32 %r5, %f1, %f2; fma.rn.f16x2 %r6, %r5, %r5, %r5; mov.b32 {%rs2, %rs3}, %r6;";
  expect_function(
      run_body(add + widen + "%rs2;"), [](std::size_t i) { return third(i) * third(i) + third(i); }, add);
  expect_function(
      run_body(add + widen + "%rs3;"), [](std::size_t i) { return double{input(i)} * input(i) + input(i); }, add);
}

TEST(UnroundedValues, OfWordsOfDifferentDoublesAreRounded) {
  const UnroundedRun run = run_body(
      "cvt.f64.f32 %fd1, %f2; cvt.f64.f32 %fd2, %f1; mov.b64 {%r5, %r6}, %fd1; mov.b64 {%r7, %r8}, %fd2;"
      " mov.b64 %fd3, {%r7, %r6}; cvt.rn.f32.f64 %f3, %fd3;");
  for (std::size_t i = 0; i < kLanes; ++i)
    EXPECT_EQ(run.unrounded[i].value, static_cast<double>(run.rounded[i]));
}

// The conversions of cuda_bf16.h and of PyTorch for GPUs before compute capability 8.0. %r5: the bits of %f2.
constexpr std::string_view kBits = "mov.b32 %r5, %f2; ";
constexpr std::string_view kWiden = " mov.b32 %f3, {0, %rs1};";

TEST(UnroundedValues, FollowConversionsToBf16ThatUseIntegers) {
  const std::string start(kBits), widen(kWiden);
  const std::string round_half =
      "shr.u32 %r7, %r6, 16; cvt.u16.u32 %rs2, %r7; selp.b16 %rs1, 32767, %rs2, %p1; and.b16 %rs3, %rs1, 1;"
      " setp.ne.s16 %p2, %rs3, 0; setp.eq.s32 %p3, %r8, 0x80000000; and.pred %p2, %p2, %p3;"
      " setp.gt.u32 %p3, %r8, 0x80000000; or.pred %p2, %p2, %p3; @%p2 add.s16 %rs1, %rs1, 1;";
  const std::string test_nan =
      "and.b32 %r9, %r6, 0x7fffffff; setp.gt.u32 %p1, %r9, 0x7f800000; shl.b32 %r8, %r6, 16;"
      " selp.b32 %r8, 0, %r8, %p1; ";
  for (const std::string& body : std::vector<std::string>{
           start + "mov.b32 %r6, %r5; " + test_nan + round_half,
           start + "shr.u32 %r6, %r5, 16; and.b32 %r6, %r6, 1; add.s32 %r7, %r5, %r6; add.s32 %r7, %r7, 32767;"
                   " shr.u32 %r8, %r7, 16; cvt.u16.u32 %rs1, %r8;",
           start + "bfe.u32 %r6, %r5, 16, 1; add.s32 %r6, %r6, 32767; add.s32 %r7, %r6, %r5;"
                   " mov.b32 {%rs2, %rs1}, %r7;",
           start + "add.s32 %r7, %r5, 0x8000; shr.u32 %r8, %r7, 16; cvt.u16.u32 %rs1, %r8;",
           // A conversion from f64 first makes the f32 odd, unless it is exact.
           start + "add.s32 %r6, %r5, -1; or.b32 %r6, %r6, 1; " + test_nan + round_half,
       }) {
    const UnroundedRun run = run_body(body + widen);
    expect_function(run, third, body);
    EXPECT_EQ(run.losses.lost_value_count, 0U) << body;
    for (std::size_t i = 0; i < kLanes; ++i)
      EXPECT_NEAR(run.rounded[i], third(i), third(i) / 256) << "the code rounds to the nearest number";
  }
  // 1 - 2^-40 is 1 as f32.
  const UnroundedRun below_one = run_body(
      "mov.f64 %fd1, 0d3FEFFFFFFFFFE000; mul.rn.f64 %fd2, %fd1, 0d3FF0000000000000; cvt.rn.f32.f64 %f4, %fd2;"
      " mov.b32 %r5, %f4; add.s32 %r6, %r5, -1; or.b32 %r6, %r6, 1; " +
      test_nan + round_half + widen);
  EXPECT_EQ(below_one.unrounded[0].value, 1 - 0x1p-40);
  EXPECT_EQ(below_one.rounded[0], 1);
  const std::string cleared = start + "add.s32 %r7, %r5, 0x8000; and.b32 %r8, %r7, 0xffff0000; mov.b32 %f3, %r8;";
  expect_function(run_body(cleared), third, cleared);
}

TEST(UnroundedValues, AreRoundedWhereAnAdditionToTheBitsOfABf16DoesNotRound) {
  const std::string cut = "shr.u32 %r6, %r5, 16; cvt.u16.u32 %rs1, %r6;";
  for (const std::string& body : std::vector<std::string>{
           std::string(kBits) + cut + " add.s16 %rs1, %rs1, 2;",
           std::string(kBits) + cut + " add.s16 %rs1, %rs1, 1; add.s16 %rs1, %rs1, 1;",
           std::string(kBits) + "add.s32 %r5, %r5, 0x18000; " + cut,
       }) {
    const UnroundedRun run = run_body(body + std::string(kWiden));
    for (std::size_t i = 0; i < kLanes; ++i)
      EXPECT_EQ(run.unrounded[i].value, static_cast<double>(run.rounded[i])) << body;
    EXPECT_GT(run.losses.lost_value_count, 0U) << body;
  }
  // The number is a bf16, so that nothing is to be rounded.
  const UnroundedRun exact = run_body("mov.f32 %f4, 0f3F800000; add.rn.f32 %f5, %f4, %f4; mov.b32 %r5, %f5; " + cut +
                                      " add.s16 %rs1, %rs1, 1;" + std::string(kWiden));
  EXPECT_EQ(exact.unrounded[0].value, static_cast<double>(exact.rounded[0]));
  EXPECT_NE(exact.unrounded[0].value, 2);
}

TEST(UnroundedValues, CountStepsOfRoundingWhoseResultIsUsedAsAFloat) {
  EXPECT_GT(run_body(std::string(kBits) + "add.s32 %r6, %r5, 1; mov.b32 %f3, %r6;").losses.lost_value_count, 0U);
  EXPECT_GT(run_body(std::string(kBits) + "add.s32 %r6, %r5, 1; mov.b32 %f4, %r6; add.f32 %f3, %f4, %f4;")
                .losses.lost_value_count,
            0U);
}

TEST(UnroundedValues, FollowOperationsOnBitsThatMultiplyByPowersOfTwo) {
  const std::string bits = "mov.b32 %r5, %f2; ", back = "; mov.b32 %f3, %r6;";
  expect_function(
      run_body(bits + "add.s32 %r6, %r5, 0x01000000" + back), [](std::size_t i) { return 4 * third(i); }, "ldexp");
  expect_function(
      run_body(bits + "xor.b32 %r6, %r5, 0x80000000" + back), [](std::size_t i) { return -third(i); }, "neg");
  expect_function(
      run_body(bits + "sub.s32 %r7, %r5, 0x3f800000; and.b32 %r8, %r7, 0xff800000; sub.s32 %r6, %r5, %r8" + back),
      [](std::size_t i) { return third(i) / std::exp2(std::floor(std::log2(third(i)))); }, "frexp");
}

TEST(UnroundedValues, CountOperationsOnBitsThatCannotBeFollowed) {
  const UnroundedRun run = run_body("mov.b32 %r5, %f2; and.b32 %r6, %r5, 0xfffff000; mov.b32 %f3, %r6;");
  EXPECT_GT(run.losses.lost_value_count, 0U);
  ASSERT_NE(run.losses.first_lost_value, nullptr);
  for (std::size_t i = 0; i < kLanes; ++i)
    EXPECT_EQ(run.unrounded[i].value, double{run.rounded[i]}) << "goes on with the rounded value";
}

TEST(UnroundedValues, AreRoundedWhereTheCodeRoundsToIntegers) {
  for (const std::string& body :
       {std::string("add.rn.f32 %f4, %f1, 0f4B400000; sub.rn.f32 %f3, %f4, 0f4B400000;"),
        std::string("mov.f32 %f5, 0f4B400000; fma.rn.f32 %f4, %f1, 0f3F800000, %f5; sub.rn.f32 %f3, %f4, %f5;"),
        std::string("cvt.rni.f32.f32 %f3, %f1;"), std::string("cvt.rni.s32.f32 %r5, %f1; cvt.rn.f32.s32 %f3, %r5;")}) {
    const UnroundedRun run = run_body(body);
    for (std::size_t i = 0; i < kLanes; ++i)
      EXPECT_EQ(run.unrounded[i].value, std::nearbyint(input(i))) << body;
  }
}

TEST(UnroundedValues, AreRoundedWhereTheCodeRoundsToSmallFloats) {
  for (const std::string type : {"e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2"}) {
    const UnroundedRun run = run_body("cvt.rn.satfinite." + type + ".f32 %rs1, %f2, %f1; cvt.rn.f16x2." + type +
                                      " %r2, %rs1; mov.b32 {%rs2, %rs3}, %r2; cvt.f32.f16 %f3, %rs3;");
    for (std::size_t i = 0; i < kLanes; ++i)
      EXPECT_EQ(run.unrounded[i].value, static_cast<double>(run.rounded[i])) << type;
    EXPECT_EQ(run.losses.lost_value_count, 0U);
  }
}

TEST(UnroundedValues, CountDecisionsThatRoundingChanges) {
  // %f4 is 1 + 2^-25, which is rounded to 1.
  const std::string sum = "mov.f32 %f5, 0f33000000; add.rn.f32 %f4, %f5, 0f3F800000; mov.f32 %f3, %f4; ";
  EXPECT_EQ(run_body(sum + "setp.gt.f32 %p1, %f4, 0f3F800000;").losses.ambiguous_decision_count, kLanes);
  EXPECT_EQ(run_body(sum + "setp.gt.f32 %p1, %f4, 0f3F000000;").losses.ambiguous_decision_count, 0U);
}

TEST(UnroundedValues, HaveTheErrorOfRoundedConstants) {
  const auto first_error = [](const std::string& body) { return run_body(body).unrounded[0].error; };
  const double half_ulp = 0x1p-24;  // of constants from 1 to 2
  const double x = input(0);
  EXPECT_NEAR(first_error("mul.rn.f32 %f3, %f1, 0f3FB8AA3B;"), x * half_ulp, 1e-15) << "log2(e)";
  EXPECT_NEAR(first_error("mov.f32 %f4, 0f3FB8AA3B; mul.rn.f32 %f3, %f1, %f4;"), x * half_ulp, 1e-15);
  EXPECT_NEAR(first_error("add.rn.f32 %f3, %f1, 0f3FB8AA3B;"), half_ulp, 1e-15);
  EXPECT_NEAR(first_error("mul.rn.f32 %f4, %f1, 0f3FB8AA3B; ex2.approx.f32 %f3, %f4;"),
              std::exp2(x * std::numbers::log2e) * std::numbers::ln2 * x * half_ulp, 1e-13);
  constexpr double kRoundoff = 0x1p-53;
  EXPECT_LE(first_error("mul.rn.f32 %f3, %f1, 0f3F000000;"), x * kRoundoff) << "0.5 is exact";
  EXPECT_LE(first_error("add.rn.f32 %f3, %f1, 0f4640E400;"), 12400 * kRoundoff) << "12345 is exact";
  EXPECT_LE(first_error("mul.rn.f32 %f4, %f1, 0f3FB8AA3B; fma.rn.f32 %f3, %f4, 0f00000000, %f1;"), x * kRoundoff)
      << "a factor of zero";
  EXPECT_FALSE(run_body("mul.rn.f32 %f3, %f1, 0f3FB8AA3B;").losses.evaluates_polynomials);
  EXPECT_TRUE(run_body("fma.rn.f32 %f3, %f1, %f1, 0f3FB8AA3B;").losses.evaluates_polynomials);
}

TEST(UnroundedValues, HaveErrorsOfDoubles) {
  const auto first = [](const std::string& body) { return run_body(body).unrounded[0]; };
  const UnroundedNumber one = first("mov.f32 %f4, 0f2B000000; add.rn.f32 %f5, %f4, 0f3F800000; mov.f32 %f3, %f5;");
  EXPECT_EQ(one.value, 1 + 0x1p-41);
  EXPECT_NEAR(one.error, 0x1p-53, 0x1p-60);
  const UnroundedNumber zero =
      first("mov.f32 %f4, 0f0D800000; add.rn.f32 %f5, %f4, 0f3F800000; sub.rn.f32 %f3, %f5, 0f3F800000;");
  EXPECT_EQ(zero.value, 0) << "1 + 2^-100 is not a double";
  EXPECT_GE(zero.error, 0x1p-53);
  EXPECT_EQ(first("neg.f32 %f4, %f1; abs.f32 %f5, %f4; max.f32 %f3, %f5, %f4;").error, 0) << "exact";
}

TEST(UnroundedValues, ReportOverflowsButNotDivisionsByZero) {
  const auto overflows = [](std::string_view body) { return run_body(body).losses.overflows; };
  EXPECT_TRUE(overflows("mul.rn.f32 %f4, %f1, 0f45000000; ex2.approx.f32 %f3, %f4;"));
  EXPECT_FALSE(overflows("mul.rn.f32 %f4, %f1, 0f43000000; ex2.approx.f32 %f3, %f4;")) << "2^483 is a double";
  EXPECT_FALSE(overflows("mul.rn.f32 %f4, %f1, 0f00000000; rcp.rn.f32 %f5, %f4; mul.rn.f32 %f3, %f5, %f4;"));
  EXPECT_FALSE(overflows("mov.f32 %f4, 0fFF800000; add.rn.f32 %f5, %f4, %f1; max.f32 %f3, %f5, 0fFF800000;"))
      << "the operand is infinite";
}

TEST(UnroundedValues, ReportPolynomialsWhoseCoefficientsDependOnTheArgument) {
  const auto evaluates_polynomials = [](const std::string& first, const std::string& second) {
    return run_body("setp.gt.f32 %p1, %f1, 0f3F800000; selp.f32 %f4, " + first + ", " + second +
                    ", %p1; mov.f32 %f5, %f4; fma.rn.f32 %f3, %f1, %f1, %f5;")
        .losses.evaluates_polynomials;
  };
  EXPECT_TRUE(evaluates_polynomials("0f3C0885E4", "0f3D2AAABB")) << "as in sinf";
  EXPECT_TRUE(evaluates_polynomials("0f3F800000", "0f3D2AAABB"));
  EXPECT_FALSE(evaluates_polynomials("0f3F800000", "0f40000000")) << "exact constants";
  EXPECT_FALSE(evaluates_polynomials("%f1", "0f3D2AAABB")) << "not always a constant";
}

TEST(UnroundedValues, HaveTheErrorOfConstantMemoryAndOfParametersThatTheHostRounds) {
  const std::string tenth = ".const .align 4 .f32 c = 0f3DCCCCCD;\n";
  const double half_ulp = 0x1p-28;
  EXPECT_NEAR(run_body("ld.const.f32 %f4, [c]; add.rn.f32 %f3, %f1, %f4;", tenth).unrounded[0].error, half_ulp, 1e-15);
  const std::string parameter = "ld.param.f32 %f4, [p1]; add.rn.f32 %f3, %f1, %f4;";
  for (const bool is_rounded : {false, true}) {
    std::vector<float> data(kLanes);
    Machine machine;
    const AllocationId id = machine.adopt("x", std::as_writable_bytes(std::span(data)), {});
    KernelArguments arguments;
    arguments.add(machine.address(id)).add(std::uint64_t{0x3DCCCCCD});
    const auto kernel = kernel_of(entry(std::string(kStart) + parameter + std::string(kEnd), 2));
    LaunchOptions options;
    options.computes_unrounded_values = true;
    options.may_have_rounded_parameters = is_rounded;
    EXPECT_TRUE(machine.launch(kernel, {{1}, {kLanes}}, arguments, options).ok());
    EXPECT_NEAR(machine.unrounded_values(machine.address(id), Type::kF32, 1)[0].error, is_rounded ? half_ulp : 0,
                1e-15);
  }
}

TEST(UnroundedValues, OfMatrixProductsContainUnroundedElements) {
  // All elements of a and b are %rs1, and all elements of c are %f2.
  const std::string body =
      "cvt.rn.f16.f32 %rs1, 0f3DCCCCCD; mov.b32 %r5, {%rs1, %rs1};"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r5, %r5, %r5, %r5}, {%r5, %r5},"
      " {%f2, %f2, %f2, %f2};";
  const double tenth = double{0.1F};
  expect_function(
      run_body(body), [&](std::size_t i) { return third(i) + 16 * tenth * tenth; }, body);
}

TEST(UnroundedValues, OfProductsInTf32ContainAllBitsOfFactors) {
  // All elements of a and b are 0.1, whose bits are computed as an integer, and all elements of c are %f2.
  const std::string body =
      "mov.b32 %r5, 0x3DCCCCCC; add.u32 %r5, %r5, 1;"
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f3, %f4, %f5, %f6}, {%r5, %r5, %r5, %r5}, {%r5, %r5},"
      " {%f2, %f2, %f2, %f2};";
  const double tenth = double{0.1F};
  expect_function(
      run_body(body), [&](std::size_t i) { return third(i) + 8 * tenth * tenth; }, body);
}

TEST(UnroundedValues, OfWarpgroupProductsInTf32ContainAllBitsOfFactors) {
  // As in the test above; b is in shared memory, without a swizzle.
  const UnroundedRun run = run_body(
      ".shared .align 128 .b8 s[256]; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;"
      " mov.b32 %r4, 0x3DCCCCCC; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r1, 64; @%p1 st.shared.b32 [%r3], %r4; "
      "fence.proxy.async;"
      " bar.sync 0; bfe.u32 %r5, %r2, 4, 14; or.b32 %r5, %r5, 0x80000; cvt.u64.u32 %rd5, %r5;"
      " mov.f32 %f3, %f2; mov.f32 %f4, %f2; mov.f32 %f5, %f2; mov.f32 %f6, %f2; wgmma.fence.sync.aligned;"
      " wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f3, %f4, %f5, %f6}, {%r4, %r4, %r4, %r4}, %rd5, 1, 1, 1;"
      " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
      "", 128);
  ASSERT_EQ(run.unrounded.size(), 128U);
  const double tenth = double{0.1F};
  for (std::size_t thread = 0; thread < 128; ++thread)
    EXPECT_NEAR(run.unrounded[thread].value, third(thread) + 8 * tenth * tenth, 1e-14) << thread;
}

TEST(UnroundedValues, FollowFloatsThroughMatrixCopies) {
  // Lane i gets word i of a matrix whose rows have four words.
  const std::string shared =
      ".shared .align 16 .b8 s[128]; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;"
      " and.b32 %r4, %r1, 7; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %r2; mov.b32 %r5, %f2;";
  for (const std::string body :
       {"st.shared.f32 [%r3], %f2; bar.sync 0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r4];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5}; bar.sync 0; ld.shared.b32 %r6, [%r3];"})
    expect_function(run_body(shared + body + " mov.b32 %f3, %r6;"), third, body);
}

TEST(UnroundedValues, OfWarpgroupProductsContainUnroundedElements) {
  // Each thread has two equal elements of b in shared memory, without a swizzle, and eight equal ones of a.
  const UnroundedRun run = run_body(
      ".shared .align 128 .b8 s[256]; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;"
      " cvt.rn.f16x2.f32 %r4, %f2, %f2; setp.lt.u32 %p1, %r1, 64; @%p1 st.shared.b32 [%r3], %r4; fence.proxy.async;"
      " bar.sync 0; bfe.u32 %r5, %r2, 4, 14; or.b32 %r5, %r5, 0x80000; cvt.u64.u32 %rd5, %r5;"
      " mov.f32 %f3, %f2; mov.f32 %f4, %f2; mov.f32 %f5, %f2; mov.f32 %f6, %f2; wgmma.fence.sync.aligned;"
      " wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f3, %f4, %f5, %f6}, {%r4, %r4, %r4, %r4}, %rd5, 1, 1, 1, 0;"
      " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
      "", 128);
  ASSERT_EQ(run.unrounded.size(), 128U);
  for (std::size_t thread = 0; thread < 128; ++thread) {
    const std::size_t column = 2 * (thread % 4);
    double expected = third(thread);
    for (std::size_t k = 0; k < 16; ++k)
      expected += third(thread / 4 * 4 + k % 8 / 2) * third(k / 8 * 32 + column * 4 + k % 8 / 2);
    EXPECT_NEAR(run.unrounded[thread].value, expected, 1e-12 * expected) << thread;
    EXPECT_NE(static_cast<double>(run.rounded[thread]), run.unrounded[thread].value) << thread;
  }
}

TEST(UnroundedValues, HoldOnlyForTheContentThatTheKernelWrote) {
  std::vector<float> data{1, 2, 3, 4};
  Machine machine;
  const std::uint64_t x = machine.address(machine.adopt("x", std::as_writable_bytes(std::span(data)), {}));
  const auto values = [&] {
    std::vector<double> result;
    for (const UnroundedNumber& number : machine.unrounded_values(x, Type::kF32, data.size()))
      result.push_back(number.value);
    return result;
  };
  EXPECT_THAT(values(), ::testing::ElementsAre(1, 2, 3, 4));
  machine.set_unrounded_value(x, Type::kF32, {1.25, 0});
  machine.copy_unrounded_values(x + 8, x, 4);
  EXPECT_THAT(values(), ::testing::ElementsAre(1.25, 2, 3, 4)) << "the third element has another content";
  data[2] = 1;
  EXPECT_THAT(values(), ::testing::ElementsAre(1.25, 2, 1.25, 4));
  data[0] = 5;
  EXPECT_THAT(values(), ::testing::ElementsAre(5, 2, 1.25, 4));
}

}  // namespace
}  // namespace assay::ptx
