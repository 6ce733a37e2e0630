// Cooperative launches, whose blocks wait for each other at the grid barrier of cooperative groups.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using ::testing::HasSubstr;
using testing::run;

constexpr std::uint32_t kBlocks = 5;
constexpr LaunchGeometry kCooperative{.grid = {kBlocks}, .block = {64}, .is_cooperative = true};

/// %rd9: the memory of the grid barrier; %r1: thread, %r2: block, %p9: whether the thread is not the first of its
/// block; %rd2: the element of the block, %rd3: that of the next block.
const std::string kStart = fmt::format(R"(
ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r14, %envreg1; mov.u32 %r15, %envreg2; mov.b64 %rd9, {{%r15, %r14}};
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p9, %r1, 0;
mul.wide.u32 %rd4, %r2, 4; add.s64 %rd2, %rd1, %rd4;
add.u32 %r3, %r2, 1; rem.u32 %r3, %r3, {0}; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd3, %rd1, %rd4;
setp.eq.u32 %p7, %r2, 0; selp.b32 %r10, {1}, 1, %p7;
)",
                                       kBlocks, 0x8000'0001U - kBlocks);

/// The barrier as the header of cooperative groups implements it.
std::string grid_barrier(int number) {
  return fmt::format(R"(
barrier.sync 0;
@%p9 bra $passed{0};
add.s64 %rd8, %rd9, 4;
atom.add.release.gpu.u32 %r11, [%rd8], %r10;
$spin{0}:
ld.acquire.gpu.u32 %r12, [%rd8];
xor.b32 %r13, %r12, %r11;
setp.gt.s32 %p8, %r13, -1;
@%p8 bra $spin{0};
$passed{0}:
barrier.sync 0;
)",
                     number);
}

/// Each block writes its element; after a barrier, it reads the element of the next block, and after another barrier,
/// it adds to its own what it has read and what its last thread has kept in shared memory, 1000 times the block.
std::string rotation(const std::string& first, const std::string& second) {
  return entry(kStart +
                   "mul.lo.u32 %r4, %r2, 1000; shl.b32 %r5, %r1, 2; mov.u32 %r6, kept; add.u32 %r6, %r6, %r5;\n"
                   "st.shared.u32 [%r6], %r4;\n"
                   "add.u32 %r7, %r2, 1; @!%p9 st.global.u32 [%rd2], %r7;\n" +
                   first + "@!%p9 ld.global.u32 %r8, [%rd3];\n" + second +
                   "@%p9 bra $end; ld.shared.u32 %r9, [kept + 252]; add.u32 %r8, %r8, %r9; st.global.u32 [%rd2], %r8;\n"
                   "$end:",
               1, ".shared .align 4 .b8 kept[256];\n");
}

TEST(PtxGridBarrier, OrdersAccessesOfAllBlocks) {
  for (const Order order : {Order::kForward, Order::kReverse, Order::kShuffled}) {
    LaunchOptions options;
    options.execution_order = {.order = order, .shuffle_seed = 3};
    options.computes_unrounded_values = order == Order::kReverse;
    const auto [result, data] =
        run<std::uint32_t>(rotation(grid_barrier(1), grid_barrier(2)), std::vector<std::uint32_t>(kBlocks),
                           kCooperative, options, {.uninitialized = true});
    EXPECT_TRUE(result.ok()) << result.message << (result.findings.empty() ? "" : describe(result.findings[0]));
    EXPECT_EQ(data, (std::vector<std::uint32_t>{2, 1003, 2004, 3005, 4001}));
  }
}

TEST(PtxGridBarrier, MissingBarrierIsRace) {
  for (const bool drops_first : {true, false}) {
    const std::string barrier_of_block = "barrier.sync 0;\n";
    const auto bad = run<std::uint32_t>(
        rotation(drops_first ? barrier_of_block : grid_barrier(1), drops_first ? grid_barrier(2) : barrier_of_block),
        std::vector<std::uint32_t>(kBlocks), kCooperative);
    ASSERT_FALSE(bad.result.findings.empty());
    EXPECT_EQ(bad.result.findings[0].kind, CheckFinding::Kind::kReadWriteRace) << describe(bad.result.findings[0]);
  }
}

TEST(PtxGridBarrier, BlockThatEndsWithoutArrivingIsReported) {
  const std::string text = rotation("setp.eq.u32 %p1, %r2, 3; @%p1 bra $end;" + grid_barrier(1), grid_barrier(2));
  const auto bad = run<std::uint32_t>(text, std::vector<std::uint32_t>(kBlocks), kCooperative);
  ASSERT_EQ(bad.result.findings.size(), 1U) << bad.result.message;
  EXPECT_EQ(bad.result.findings[0].kind, CheckFinding::Kind::kBarrierDivergence);
  EXPECT_THAT(bad.result.findings[0].site.instruction_text, HasSubstr("ld.acquire.gpu.u32"));
  LaunchOptions unchecked;
  unchecked.checks = EnabledChecks::none();
  const auto hangs = run<std::uint32_t>(text, std::vector<std::uint32_t>(kBlocks), kCooperative, unchecked);
  EXPECT_EQ(hangs.result.status, RunResult::Status::kTrapped);
  EXPECT_THAT(hangs.result.message, HasSubstr("waits at a grid barrier for blocks that have ended"));
}

TEST(PtxGridBarrier, OrdinaryLaunchHasNone) {
  const std::string text = entry(kStart + "@!%p9 st.global.u64 [%rd1], %rd9;");
  const auto ordinary = run<std::uint64_t>(text, {7});
  EXPECT_TRUE(ordinary.result.ok()) << ordinary.result.message;
  EXPECT_EQ(ordinary.data[0], 0U);
}

TEST(PtxGridBarrier, ReadThroughNonCoherentCacheIsReportedAfterBarrier) {
  std::string text = rotation(grid_barrier(1), grid_barrier(2));
  const std::string load = "ld.global.u32 %r8, [%rd3]";
  text.replace(text.find(load), load.size(), "ld.global.nc.u32 %r8, [%rd3]");
  const auto bad = run<std::uint32_t>(text, std::vector<std::uint32_t>(kBlocks), kCooperative);
  ASSERT_FALSE(bad.result.findings.empty());
  EXPECT_EQ(bad.result.findings[0].kind, CheckFinding::Kind::kNonCoherentRead);
}

}  // namespace
}  // namespace assay::ptx
