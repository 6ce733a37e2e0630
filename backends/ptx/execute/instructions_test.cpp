// Tests of instructions in combination: carries, calls, schedules, and the reporting of approximations. Tests of single
// instructions are in models/.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::run;

/// 64-bit sums and products by carries of 32-bit halves.
TEST(PtxInstructions, CarryInstructionsCompute64BitSumsAndProducts) {
  struct WideOperation {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t result = 0;
  };
  std::vector<WideOperation> records;
  for (const std::uint64_t high : {0U, 1U, 0x80000000U, 0xffffffffU}) {
    for (const std::uint64_t low : {0U, 1U, 0x7fffffffU, 0x80000000U, 0x80000001U, 0xfffffffeU, 0xffffffffU}) {
      for (const std::uint64_t other : {0U, 1U, 0x12345678U, 0x80000000U, 0xffffffffU})
        records.push_back({high << 32U | low, low << 32U | other});
    }
  }
  const std::string body =
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 24; add.s64 %rd1, %rd1, %rd2;"
      " ld.global.u64 %rd10, [%rd1]; ld.global.u64 %rd11, [%rd1+8]; .reg .u32 a, b, c, d, e, f;"
      " mov.b64 {a, b}, %rd10; mov.b64 {c, d}, %rd11; sub.cc.u32 e, a, c; subc.u32 f, b, d;"
      " add.cc.u32 e, e, c; addc.u32 f, f, d; mad.lo.cc.u32 e, a, c, e; madc.hi.u32 f, a, c, f; mov.b64 %rd12, {e, f};"
      " st.global.u64 [%rd1+16], %rd12;";
  const auto done = run(entry(body), records, {{1}, {static_cast<std::uint32_t>(records.size())}});
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  for (const WideOperation& record : done.data)
    EXPECT_EQ(record.result, record.a + (record.a & 0xffffffff) * (record.b & 0xffffffff)) << std::hex << record.a;
}

/// Each thread stores two delays: between two readings of the time, and between readings of it and of its lower half.
TEST(PtxInstructions, TimeGrowsDuringALaunch) {
  const auto done = run<std::uint32_t>(
      entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd1, %rd1, %rd2;"
            " mov.u64 %rd3, %globaltimer; mov.u64 %rd4, %clock64; mov.u32 %r2, %clock; sub.u64 %rd5, %rd4, %rd3;"
            " cvt.u32.u64 %r3, %rd4; sub.u32 %r4, %r2, %r3; add.u32 %r4, %r4, %clock_hi; cvt.u32.u64 %r5, %rd5;"
            " st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+4], %r4;\n"),
      std::vector<std::uint32_t>(64));
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  for (std::size_t thread = 0; thread < 32; ++thread) {
    EXPECT_GT(done.data[2 * thread], 0U) << thread;
    EXPECT_LT(done.data[2 * thread], 1000U) << thread;
    EXPECT_GT(done.data[2 * thread + 1], 0U) << thread;
    EXPECT_LT(done.data[2 * thread + 1], 1000U) << thread;
  }
}

TEST(PtxInstructions, MinimumAndMaximumOfThreeFloats) {
  const float nan = std::nanf("");
  const std::vector<std::array<float, 3>> operands = {{1, 2, 3},   {3, 1, 2},     {2, 3, 1},      {0.0F, -0.0F, 0.0F},
                                                      {nan, 5, 4}, {5, nan, nan}, {nan, nan, nan}};
  for (const std::string text : {"min", "max", "min.NaN", "max.NaN"}) {
    std::vector<float> data;
    for (const auto& triple : operands) {
      data.insert(data.end(), triple.begin(), triple.end());
      data.push_back(0);
    }
    const auto done = run<float>(
        entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd1, %rd1, %rd2;"
              " ld.global.v2.f32 {%f1, %f2}, [%rd1]; ld.global.f32 %f3, [%rd1+8]; " +
              text + ".f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd1+12], %f4;"),
        data, {{1}, {static_cast<std::uint32_t>(operands.size())}});
    ASSERT_TRUE(done.result.ok()) << done.result.message;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::vector<std::pair<float, bool>> numbers;
      for (const float number : operands[i])
        if (number == number) numbers.emplace_back(number, !std::signbit(number));
      const bool is_nan = numbers.empty() || (numbers.size() < 3 && text.ends_with(".NaN"));
      const auto [least, greatest] = std::ranges::minmax_element(numbers);
      const std::uint32_t expected =
          is_nan ? 0x7fffffffU : std::bit_cast<std::uint32_t>(text.starts_with("min") ? least->first : greatest->first);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(done.data[4 * i + 3]), expected) << text << " " << i;
    }
  }
}

TEST(PtxInstructions, AtomicsOnVectorsUpdateEachElement) {
  // Four threads update the same four floats.
  const std::string start =
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;"
      " mul.rn.f32 %f2, %f1, 0f41200000;";
  const std::vector<float> data = {1, 2, 3, 4};
  const LaunchGeometry geometry{{1}, {4}};
  const auto added = run<float>(entry(start + "red.global.add.v4.f32 [%rd1], {%f1, %f2, %f1, %f2};"), data, geometry);
  ASSERT_TRUE(added.result.ok()) << added.result.message;
  EXPECT_EQ(added.data, (std::vector<float>{7, 62, 9, 64}));
  EXPECT_EQ(added.result.profile.order_dependent_instruction_count, 4U);
  const auto returned =
      run<float>(entry(start + "atom.global.v2.f32.add {%f3, %f4}, [%rd1], {%f1, %f2}; setp.eq.u32 %p1, %r1, 0;"
                               " @%p1 st.global.v2.f32 [%rd1+8], {%f4, %f3};"),
                 data, geometry);
  ASSERT_TRUE(returned.result.ok()) << returned.result.message;
  EXPECT_EQ(returned.data, (std::vector<float>{7, 62, 2, 1}));
  const auto race = run<float>(entry(start + "red.global.add.v2.f32 [%rd1], {%f1, %f2}; ld.global.f32 %f3, [%rd1+4];"),
                               data, geometry);
  ASSERT_FALSE(race.result.findings.empty());
  EXPECT_EQ(race.result.findings[0].kind, CheckFinding::Kind::kAtomicRace);
  const auto outside = run<float>(entry(start + "red.global.add.v2.f32 [%rd1+12], {%f1, %f2};"), data, geometry);
  ASSERT_FALSE(outside.result.findings.empty());
  EXPECT_EQ(outside.result.findings[0].kind, CheckFinding::Kind::kOutOfBounds);
  EXPECT_EQ(run<float>(entry(start + "red.global.add.v4.f32 [%rd1], {%f1, %f2};"), data, geometry).result.status,
            RunResult::Status::kUnsupported);
}

TEST(PtxInstructions, CallInstructionsPassArgumentsAndReturnResults) {
  const std::string function =
      ".func (.param .b32 r) triple(.param .b32 x)\n{ .reg .b32 %r<5>; ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 3;"
      " st.param.b32 [r], %r2; ret; }\n";
  const auto done = run<std::uint32_t>(
      entry(
          "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;"
          " setp.lt.u32 %p1, %r1, 7; mov.u32 %r2, 5; @%p1 bra L;"
          " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), triple, (a); ld.param.b32 %r2, [b]; }"
          " L: st.global.u32 [%rd1], %r2;",
          1, function),
      std::vector<std::uint32_t>(32));
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_EQ(done.data[6], 5U);
  EXPECT_EQ(done.data[7], 21U);
  EXPECT_EQ(done.data[31], 93U);
}

TEST(PtxInstructions, ThreadsOfThreeDimensionalBlockHaveCorrectIndices) {
  const auto done = run<std::uint32_t>(
      entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %warpid; mov.u32 %r2, %laneid; mad.lo.u32 %r1, %r1, 32, %r2;"
            " mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y;"
            " mov.u32 %r5, %tid.z; mad.lo.u32 %r4, %r5, 256, %r4; mad.lo.u32 %r3, %r4, 256, %r3;"
            " st.global.u32 [%rd1], %r3;"),
      std::vector<std::uint32_t>(60), {{1}, {5, 4, 3}});
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  for (std::uint32_t i = 0; i < 60; ++i)
    EXPECT_EQ(done.data[i], (i / 20) << 16U | (i / 5 % 4) << 8U | i % 5) << "thread " << i;
}

/// The address in %rd5 depends on the thread. That in %rd7 does not, so its accesses are resolved before the launch.
TEST(PtxInstructions, LocalMemoryIsAccessedByConstantAndByChangedAddresses) {
  const auto done = run<std::uint32_t>(
      entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;"
            " .local .align 8 .b8 depot[16]; mov.u64 %rd7, depot; cvta.local.u64 %rd8, %rd7; mov.u64 %rd5, depot;"
            " setp.lt.u32 %p1, %r1, 7; @%p1 add.s64 %rd5, %rd5, 8; mov.u32 %r2, 100; mov.u32 %r3, 200;"
            " st.local.u32 [%rd7], %r2; st.u32 [%rd8+8], %r3; st.local.u32 [%rd5], %r1; ld.u32 %r4, [%rd8];"
            " ld.local.u32 %r5, [%rd7+8]; mad.lo.u32 %r4, %r4, 1000, %r5; st.global.u32 [%rd1], %r4;"),
      std::vector<std::uint32_t>(32));
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(done.data[i], i < 7 ? 100'000 + i : 1000 * i + 200) << "thread " << i;
}

/// All schedules give the same bits if the order has no effect, and fidelity counts approximate instructions.
TEST(PtxInstructions, OrderIndependentKernelHasSameResultsAndProfileForAnyThreadOrder) {
  const std::string text = entry(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 6; add.u32 %r1, %r1, %r2;"
      " red.global.add.u32 [%rd1], %r1; ex2.approx.f32 %f1, 0f40000000; mul.f32 %f1, %f1, %f1;");
  for (const Order order : {Order::kForward, Order::kReverse, Order::kShuffled}) {
    LaunchOptions options;
    options.execution_order = {order, 7};
    const auto done = run<std::uint32_t>(text, std::vector<std::uint32_t>(1), {{4}, {64}}, options);
    ASSERT_TRUE(done.result.ok()) << done.result.message;
    EXPECT_EQ(done.data[0], 255U * 256 / 2);
    EXPECT_EQ(done.result.profile.approximate_instruction_count, 256U);
    EXPECT_EQ(done.result.profile.contractible_instruction_count, 256U);
    EXPECT_EQ(done.result.profile.atomic_operation_count, 256U);
    EXPECT_EQ(done.result.profile.distinct_atomic_address_count, 8U);
    EXPECT_EQ(done.result.profile.thread_instruction_count, 256U * 9);
    EXPECT_DOUBLE_EQ(done.result.profile.lane_efficiency(), 1.0);
  }
}

/// One warp reads a word until the other warp of the block has changed it.
TEST(PtxInstructions, WarpCanWaitForAnyOtherWarpByPolling) {
  for (const std::uint32_t waiting_thread : {0U, 32U}) {
    const std::string text = entry(fmt::format(
        "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, {}; setp.ne.u32 %p2, %r1, {};"
        " @%p1 bra L; @%p2 ret; st.volatile.global.u32 [%rd1], 5; ret;"
        " L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; st.global.u32 [%rd1+4], %r2;",
        waiting_thread, 32 - waiting_thread));
    for (const Order order : {Order::kForward, Order::kReverse}) {
      LaunchOptions options;
      options.execution_order = {order};
      options.instruction_limit = 100'000'000;
      const auto done = run<std::uint32_t>(text, {0, 0}, {{1}, {64}}, options);
      ASSERT_TRUE(done.result.ok()) << done.result.message;
      EXPECT_EQ(done.data[1], 5U) << "thread " << waiting_thread << " waits";
    }
  }
}

/// The models compare other operands; ties are rare among these.
TEST(PtxInstructions, ConversionToTf32RoundsTiesAwayFromZero) {
  const std::vector<std::uint32_t> given = {0x3f801000, 0xbf801000, 0x3f800fff, 0x3f803000, 0x7f7ff000, 0x00000fff};
  const auto done = run<std::uint32_t>(
      entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;"
            " ld.global.f32 %f1, [%rd1]; cvt.rna.tf32.f32 %r2, %f1; st.global.u32 [%rd1], %r2;"),
      given, {{1}, {static_cast<std::uint32_t>(given.size())}});
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_EQ(done.data, (std::vector<std::uint32_t>{0x3f802000, 0xbf802000, 0x3f800000, 0x3f804000, 0x7f800000, 0}));
}

TEST(PtxInstructions, CountsOrderSensitiveAtomicsOnTheSameElement) {
  const auto collisions = [](const std::string& body) {
    const std::string before = ".shared .align 4 .b8 cells[256];\n";
    const std::string text =
        testing::entry("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; ld.param.u64 %rd1, [p0];" + body, 1, before);
    const auto done = testing::run(text, std::vector<float>(128), {{2}, {64}},
                                   {.checks = EnabledChecks::none(), .counts_atomic_collisions = true});
    EXPECT_TRUE(done.result.ok()) << done.result.message;
    return done.result.profile.atomic_collision_count;
  };
  const std::string own_cell = "mad.lo.s32 %r3, %r2, 64, %r1; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;";
  const std::string add = "red.global.add.f32 [%rd3], 0f3F800000;";
  EXPECT_EQ(collisions(own_cell + add + add), 0U) << "the atomics of one thread are ordered";
  EXPECT_EQ(collisions("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;" + add), 64U) << "both blocks";
  EXPECT_EQ(collisions("mov.u64 %rd3, %rd1; red.global.add.u32 [%rd3], 1;"), 0U)
      << "integer sums do not depend on the order";
  EXPECT_EQ(collisions("atom.global.add.u32 %r3, [%rd1], 1;"), 0U) << "the returned value is not used";
  EXPECT_EQ(collisions("atom.global.add.u32 %r3, [%rd1], 1; add.u32 %r4, %r3, 1;"), 127U);
  EXPECT_EQ(collisions("atom.global.cas.b32 %r3, [%rd1], 0, %r1;"), 127U);
  EXPECT_EQ(collisions("atom.global.exch.b32 %r3, [%rd1], %r1;"), 127U);
  EXPECT_EQ(collisions("shl.b32 %r3, %r1, 2; mov.u32 %r4, cells; add.u32 %r5, %r4, %r3;"
                       "atom.shared.add.f32 %f1, [%r5], 0f3F800000;"),
            0U)
      << "each block has its own shared memory";
  EXPECT_EQ(collisions("mov.u32 %r4, cells; atom.shared.add.f32 %f1, [%r4], 0f3F800000;"), 126U);
}

TEST(PtxInstructions, ReportsWhetherApproximationAffectsResult) {
  const auto reached = [](const std::string& body) {
    const auto done = run<float>(entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;"
                                       " add.s64 %rd1, %rd1, %rd2; ex2.approx.f32 %f1, 0f40000000;" +
                                       body),
                                 std::vector<float>(32));
    EXPECT_TRUE(done.result.ok()) << done.result.message;
    EXPECT_EQ(done.result.profile.approximate_instruction_count, 32U);
    return done.result.profile.approximation_reaches_result;
  };
  EXPECT_TRUE(reached("add.rn.f32 %f2, %f1, %f1; st.global.f32 [%rd1], %f2;"));
  EXPECT_TRUE(reached("setp.gt.f32 %p1, %f1, 0f00000000; @%p1 st.global.f32 [%rd1], 0f00000000;"));
  EXPECT_TRUE(
      reached(".local .align 4 .b8 l[4]; mov.u64 %rd3, l; st.local.f32 [%rd3], %f1; ld.local.f32 %f3, [%rd3];"
              " st.global.f32 [%rd1], %f3;"));
  EXPECT_FALSE(reached("add.rn.f32 %f2, %f1, %f1; mov.f32 %f3, 0f3F800000; st.global.f32 [%rd1], %f3;"));
  EXPECT_FALSE(reached("bra L; st.global.f32 [%rd1], %f1; L:"));
}

}  // namespace
}  // namespace assay::ptx
