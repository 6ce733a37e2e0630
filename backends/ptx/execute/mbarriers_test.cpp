// Tests of mbarrier objects and of bulk copies.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::expect_clean;
using testing::expect_first;
using testing::run;
using Kind = CheckFinding::Kind;
using ::testing::HasSubstr;

/// %r1: thread; %r2: its 16 bytes of s; %r3: those of the thread in the next warp; %r4: s; %r5: the mbarrier object;
/// %rd2: its 16 bytes of the array.
constexpr std::string_view kStart =
    ".shared .align 16 .b8 s[2048]; .shared .align 8 .b64 object; ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x;"
    " mul.wide.u32 %rd3, %r1, 16; add.s64 %rd2, %rd1, %rd3; mov.u32 %r4, s; mad.lo.u32 %r2, %r1, 16, %r4;"
    " mov.u32 %r7, %ntid.x; add.u32 %r6, %r1, 32; rem.u32 %r6, %r6, %r7; mad.lo.u32 %r3, %r6, 16, %r4;"
    " mov.u32 %r5, object; setp.eq.u32 %p1, %r1, 0;\n";
constexpr std::string_view kInit = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 64;\n";
constexpr std::string_view kInitForOne = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;\n";
constexpr std::string_view kBarrier = "bar.sync 0;\n";
constexpr std::string_view kArrive = "mbarrier.arrive.shared::cta.b64 _, [%r5];\n";
constexpr std::string_view kWrite = "st.shared.u32 [%r2], %r1;\n";
constexpr std::string_view kReadNext = "ld.shared.u32 %r8, [%r3]; st.global.u32 [%rd2], %r8;\n";

std::string wait_for_parity(unsigned parity) {
  return fmt::format("W{0}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], {0}; @!%p2 bra W{0};\n", parity);
}

template <class... Parts>
std::string body(Parts... parts) {
  return entry(std::string(kStart) + (std::string(parts) + ...));
}
std::vector<std::uint32_t> numbers() {
  std::vector<std::uint32_t> data(512);
  for (std::uint32_t i = 0; i < data.size(); ++i)
    data[i] = 3 * i + 1;
  return data;
}
testing::TestRun<std::uint32_t> run_threads(const std::string& text) {
  return run<std::uint32_t>(text, numbers(), {{1}, {64}});
}

TEST(Mbarriers, ArrivalsOfAllThreadsCompleteAPhase) {
  const auto done = run_threads(body(kInit, kBarrier, kWrite, kArrive, wait_for_parity(0), kReadNext, kArrive,
                                     wait_for_parity(1), "st.shared.u32 [%r2], 5;\n"));
  expect_clean(done.result);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(done.data[4 * i], (i + 32) % 64);
}

TEST(Mbarriers, MissingArrivalOrWaitIsDetected) {
  const std::string clear = "st.shared.u32 [%r2], 0;\n" + std::string(kBarrier);
  expect_first(run_threads(body(kInit, clear, kWrite, kReadNext)).result, Kind::kReadWriteRace);
  expect_first(run_threads(body(kInit, clear, kWrite, kArrive, kReadNext)).result, Kind::kReadWriteRace);
  // The first warp writes after it has arrived.
  expect_first(run_threads(body(kInit, clear, kArrive, kWrite, wait_for_parity(0), kReadNext)).result,
               Kind::kReadWriteRace);
  // The parity of the phase before the first one: nothing waits.
  expect_first(run_threads(body(kInit, clear, kWrite, kArrive, wait_for_parity(1), kReadNext)).result,
               Kind::kReadWriteRace);
  expect_first(run_threads(body(kInit, kWrite, kArrive)).result, Kind::kAtomicRace);
}

TEST(Mbarriers, WaitForAPhaseThatDoesNotCompleteIsDetected) {
  const auto done = run_threads(body(kInit, kBarrier, "@%p1 ", kArrive, wait_for_parity(0)));
  EXPECT_EQ(done.result.status, RunResult::Status::kInstructionLimit);
  EXPECT_THAT(done.result.message, HasSubstr("waits for a phase of an mbarrier object that does not complete"));
}

TEST(Mbarriers, StateOfAnArrivalIdentifiesItsPhase) {
  const std::string wait = "L: mbarrier.test_wait.acquire.cta.shared.b64 %p2, [%r5], %rd5; @!%p2 bra L;\n";
  const auto done = run_threads(
      body(kInit, kBarrier, kWrite, "mbarrier.arrive.release.cta.shared.b64 %rd5, [%r5];\n", wait, kReadNext));
  expect_clean(done.result);
  EXPECT_EQ(done.data[0], 32U);
}

TEST(Mbarriers, ArrivalsHaveCountsAndCanDropThread) {
  // The first warp arrives twice for each thread; the second one leaves after the first phase.
  const auto done =
      run_threads(body("@%p1 mbarrier.init.shared.b64 [%r5], 96;\n", kBarrier, kWrite,
                       "setp.lt.u32 %p3, %r1, 32; @%p3 mbarrier.arrive.shared.b64 %rd5, [%r5], 2;\n"
                       " @!%p3 mbarrier.arrive_drop.shared.b64 %rd5, [%r5];\n",
                       wait_for_parity(0), kReadNext, "@!%p3 bra END; mbarrier.arrive.shared.b64 %rd5, [%r5], 2;\n",
                       wait_for_parity(1), "END:"));
  expect_clean(done.result);
}

TEST(Mbarriers, UninitializedObjectIsDetected) {
  expect_first(run_threads(body(kArrive)).result, Kind::kUninitializedRead);
  EXPECT_EQ(
      run_threads(body(kInit, kBarrier, "@%p1 mbarrier.inval.shared.b64 [%r5];\n", kBarrier, kArrive)).result.status,
      RunResult::Status::kUnsupported);
}

TEST(Mbarriers, AsyncCopiesOfThreadsArrive) {
  constexpr std::string_view kCopy = "cp.async.ca.shared.global [%r2], [%rd2], 16;\n";
  const auto done =
      run_threads(body(kInit, kBarrier, kCopy, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];\n", wait_for_parity(0),
                       "ld.shared.u32 %r8, [%r3];", kBarrier, "st.global.u32 [%rd2], %r8;\n"));
  expect_clean(done.result);
  EXPECT_EQ(done.data[0], numbers()[4 * 32]);
  expect_clean(run_threads(body(kInit, kBarrier, kCopy, "cp.async.mbarrier.arrive.shared.b64 [%r5];\n", kArrive,
                                wait_for_parity(0), "ld.shared.u32 %r8, [%r3];"))
                   .result);
  expect_first(run_threads(body(kInit, kBarrier, kCopy, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];\n",
                                "ld.shared.u32 %r8, [%r2];"))
                   .result,
               Kind::kReadWriteRace);
}

std::string bulk_load(unsigned expected_bytes = 1024) {
  return fmt::format(
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], {};\n @%p1 cp.async.bulk.shared::cluster.global"
      ".mbarrier::complete_tx::bytes [%r4], [%rd1], 1024, [%r5];\n",
      expected_bytes);
}

TEST(BulkCopies, CopiesToSharedMemoryCompleteOnMbarrier) {
  const auto done = run_threads(body(kInitForOne, kBarrier, bulk_load(), wait_for_parity(0),
                                     "ld.shared.u32 %r8, [%r3];", kBarrier, "st.global.u32 [%rd2], %r8;\n"));
  expect_clean(done.result);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(done.data[4 * i], numbers()[4 * ((i + 32) % 64)]);
}

TEST(BulkCopies, FaultyCopiesToSharedMemoryAreDetected) {
  const RunResult early = run_threads(body(kInitForOne, kBarrier, bulk_load(), "ld.shared.u32 %r8, [%r2];")).result;
  expect_first(early, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(early.findings[0]), HasSubstr("which its thread has not waited for"));
  EXPECT_THAT(run_threads(body(kInitForOne, kBarrier, bulk_load(2048), wait_for_parity(0))).result.message,
              HasSubstr("does not complete"));
  // The source is written before the wait.
  expect_first(
      run_threads(body(kInitForOne, kBarrier, bulk_load(), "st.global.u32 [%rd2], %r1;", wait_for_parity(0))).result,
      Kind::kReadWriteRace);
  expect_first(run_threads(body(kInitForOne, kBarrier,
                                "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
                                " [%r4], [%rd1], 24, [%r5];"))
                   .result,
               Kind::kMisaligned);
  expect_first(run_threads(body(kInitForOne, kBarrier,
                                "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
                                " [%r4], [%rd1], 4096, [%r5];"))
                   .result,
               Kind::kOutOfBounds);
}

constexpr std::string_view kBulkStore =
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 1024;\n@%p1 cp.async.bulk.commit_group;\n";
constexpr std::string_view kFence = "fence.proxy.async.shared::cta;\n";
constexpr std::string_view kFill = "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};\n";

TEST(BulkCopies, CopiesToGlobalMemoryFinishAtWaitOrAtEnd) {
  for (const std::string_view end :
       {"@%p1 cp.async.bulk.wait_group 0;\n", "@%p1 cp.async.bulk.wait_group.read 0;\n", ""}) {
    const auto done = run_threads(body(kFill, kFence, kBarrier, kBulkStore, end));
    expect_clean(done.result);
    for (std::uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(done.data[4 * i + 1], i);
  }
  const auto unfinished = run_threads(body(kFill, kFence, kBarrier, kBulkStore,
                                           "@%p1 ld.global.u32 %r8, [%rd1+16];"
                                           " @%p1 st.global.u32 [%rd1+1024], %r8;\n"));
  EXPECT_EQ(unfinished.data[256], numbers()[4]) << "the copy takes effect as late as possible";
}

TEST(BulkCopies, FaultyCopiesToGlobalMemoryAreDetected) {
  const RunResult fence = run_threads(body(kFill, kBarrier, kBulkStore)).result;
  expect_first(fence, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(fence.findings[0]), HasSubstr("which no fence.proxy.async follows"));
  expect_first(run_threads(body(kFill, kFence, kBarrier, kBulkStore, kBarrier, kFill)).result, Kind::kReadWriteRace);
  expect_clean(
      run_threads(body(kFill, kFence, kBarrier, kBulkStore, "@%p1 cp.async.bulk.wait_group.read 0;\n", kBarrier, kFill))
          .result);
}

}  // namespace
}  // namespace assay::ptx
