// Tests of cp.async: what it copies, and that its destination must not be accessed before the wait.
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

/// %r1: thread; %rd2: this thread's 16 bytes of the array; %r2: its 16 bytes of shared memory; %r3: those of the next
/// thread of the block.
constexpr std::string_view kStart =
    ".shared .align 16 .b8 s[2048]; ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;"
    " mul.wide.u32 %rd3, %r1, 16; add.s64 %rd2, %rd1, %rd3; mov.u32 %r4, s; shl.b32 %r5, %r1, 4; add.u32 %r2, %r4, %r5;"
    " mov.u32 %r7, %ntid.x; add.u32 %r6, %r1, 1; rem.u32 %r6, %r6, %r7; shl.b32 %r6, %r6, 4; add.u32 %r3, %r4, %r6;\n";
constexpr std::string_view kCopy = "cp.async.cg.shared.global [%r2], [%rd2], 16;\n";
constexpr std::string_view kWait = "cp.async.wait_all;\n";
constexpr std::string_view kRead = "ld.shared.u32 %r8, [%r2];\n";
constexpr std::string_view kReadNext = "ld.shared.u32 %r8, [%r3];\n";
constexpr std::string_view kBarrier = "bar.sync 0;\n";

template <class... Parts>
std::string body(Parts... parts) {
  return entry(std::string(kStart) + (std::string(parts) + ...));
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> data(count);
  for (std::uint32_t i = 0; i < count; ++i)
    data[i] = 0x01010101U * (i + 1);
  return data;
}

RunResult run_threads(const std::string& text, std::uint32_t threads = 64) {
  return run<std::uint32_t>(text, numbers(std::size_t{threads} * 4), {{1}, {threads}}).result;
}

TEST(AsyncCopies, CopySourceBytesAndFillTheRestWithZeros) {
  struct Form {
    std::string text;
    unsigned bytes;
    unsigned read_bytes;
  };
  for (const Form& form : {Form{"cp.async.ca.shared.global [%r2], [%rd2], 4;", 4, 4},
                           {"cp.async.ca.shared.global [%r2], [%rd2], 8;", 8, 8},
                           {"cp.async.ca.shared::cta.global.L2::128B [%r2], [%rd2], 16;", 16, 16},
                           {"cp.async.cg.shared.global.L2::256B [%r2], [%rd2], 16;", 16, 16},
                           {"cp.async.cg.shared.global [%r2], [%rd2], 16, 16;", 16, 16},
                           {"mov.u32 %r9, 4; cp.async.cg.shared.global [%r2], [%rd2], 16, %r9;", 16, 4},
                           {"mov.u32 %r9, 5; cp.async.ca.shared.global [%r2], [%rd2], 8, %r9;", 8, 5},
                           {"cp.async.cg.shared.global [%r2], [%rd2], 16, 0;", 16, 0},
                           {"setp.ge.u32 %p1, %r1, 0; cp.async.ca.shared.global [%r2], [%rd2], 4, %p1;", 4, 0},
                           {"setp.lt.u32 %p1, %r1, 0; cp.async.ca.shared.global [%r2], [%rd2], 4, %p1;", 4, 4}}) {
    const std::string store =
        form.bytes == 16
            ? "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r2]; st.global.v4.u32 [%rd2], {%r8, %r9, %r10, %r11};"
            : fmt::format("ld.shared.b{0} %rd4, [%r2]; st.global.b{0} [%rd2], %rd4;", 8 * form.bytes);
    const std::vector<std::uint32_t> before = numbers(128);
    const auto done = run<std::uint32_t>(
        body("mov.u32 %r8, -1; st.shared.v4.u32 [%r2], {%r8, %r8, %r8, %r8};", form.text, kWait, store), before);
    expect_clean(done.result);
    const auto* const got = reinterpret_cast<const unsigned char*>(done.data.data());
    const auto* const given = reinterpret_cast<const unsigned char*>(before.data());
    for (unsigned i = 0; i < 16 * 32; ++i)
      ASSERT_EQ(got[i], i % 16 < form.bytes && i % 16 >= form.read_bytes ? 0 : given[i]) << form.text << " byte " << i;
  }
}

TEST(AsyncCopies, AreVisibleToOtherThreadsAfterWaitAndBarrier) {
  const auto done = run<std::uint32_t>(
      body(kCopy, "cp.async.commit_group; cp.async.wait_group 0;", kBarrier, kReadNext, "st.global.u32 [%rd2], %r8;"),
      numbers(256), {{1}, {64}});
  expect_clean(done.result);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(done.data[4 * i], 0x01010101U * (4 * ((i + 1) % 64) + 1));
}

TEST(AsyncCopies, ReadsBeforeWaitAreDetected) {
  const RunResult own = run_threads(body(kCopy, "cp.async.commit_group;\n", kRead));
  expect_first(own, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  ASSERT_TRUE(own.findings[0].conflicting_access.has_value());
  EXPECT_EQ(own.findings[0].conflicting_access->ptx_line, 10U);
  EXPECT_EQ(own.findings[0].site.ptx_line, 12U);
  EXPECT_EQ(own.findings[0].conflicting_access->thread, own.findings[0].site.thread);
  EXPECT_THAT(
      describe(own.findings[0]),
      HasSubstr("conflicts with 'cp.async.cg.shared.global [%r2], [%rd2], 16' (PTX line 10), which its thread has"
                " not waited for, in thread (0, 0, 0)"));
  expect_first(run_threads(body(kCopy, kBarrier, kReadNext)), Kind::kReadWriteRace);
  expect_first(run_threads(body(kCopy, kBarrier, kReadNext, kWait)), Kind::kReadWriteRace);
}

TEST(AsyncCopies, MissingBarrierAfterWaitIsDetected) {
  expect_first(run_threads(body(kCopy, kWait, kReadNext)), Kind::kReadWriteRace);
  expect_first(run_threads(body(kCopy, kBarrier, kWait, kReadNext), 32), Kind::kReadWriteRace);
  expect_clean(run_threads(body(kCopy, kWait, kRead)));
  expect_clean(run_threads(body(kCopy, kWait, "bar.warp.sync -1;", kReadNext), 32));
}

TEST(AsyncCopies, MissingBarrierBeforeCopyIntoReadBufferIsDetected) {
  const std::string fill = "st.shared.u32 [%r2], %r1; bar.sync 0;\n";
  expect_first(run_threads(body(fill, kReadNext, kCopy, kWait)), Kind::kReadWriteRace);
  expect_clean(run_threads(body(fill, kReadNext, kBarrier, kCopy, kWait)));
}

TEST(AsyncCopies, WritesAndCopiesToPendingDestinationAreDetected) {
  expect_first(run_threads(body(kCopy, "st.shared.u32 [%r2], %r1;", kWait)), Kind::kWriteWriteRace);
  expect_first(run_threads(body(kCopy, kCopy, kWait)), Kind::kWriteWriteRace);
  expect_first(run_threads(body(kCopy, "atom.shared.add.u32 %r8, [%r2], 1;", kWait)), Kind::kAtomicRace);
  expect_clean(run_threads(body(kCopy, kWait, kCopy, kWait)));
}

/// Two buffers, of which the second is still copied while the first is read.
TEST(AsyncCopies, WaitGroupLeavesMostRecentGroupsUnfinished) {
  const std::string copies =
      std::string(kCopy) +
      "cp.async.commit_group;\ncp.async.cg.shared.global [%r2+1024], [%rd2], 16;\ncp.async.commit_group;\n";
  const std::string read_second = "ld.shared.u32 %r8, [%r2+1024];";
  expect_clean(run_threads(body(copies, "cp.async.wait_group 1;", kRead, "cp.async.wait_group 0;", read_second)));
  expect_first(run_threads(body(copies, "cp.async.wait_group 1;", read_second)), Kind::kReadWriteRace);
  expect_first(run_threads(body(copies, "cp.async.wait_group 2;", kRead)), Kind::kReadWriteRace);
  expect_first(run_threads(body(kCopy, "cp.async.wait_group 0;", kRead)), Kind::kReadWriteRace);
  expect_clean(run_threads(body(copies, "cp.async.commit_group; cp.async.wait_group 1;", kRead, read_second)));
}

TEST(AsyncCopies, FaultyAccessesToSourceAreDetected) {
  const auto launch = [](const std::string& text, std::size_t words, AllocationFlags flags = {}) {
    return run<std::uint32_t>(text, numbers(words), {{1}, {32}}, {}, flags).result;
  };
  expect_first(launch(body(kCopy, kWait), 127), Kind::kOutOfBounds);
  expect_first(launch(body("cp.async.ca.shared.global [%r2], [%rd2+4], 8;", kWait), 130), Kind::kMisaligned);
  expect_first(launch(body(kCopy, kWait), 128, {.uninitialized = true}), Kind::kUninitializedRead);
  expect_first(launch(body(kCopy, "st.global.u32 [%rd2+16], %r1;", kWait), 132), Kind::kReadWriteRace);
  expect_first(launch(body(kCopy, "bar.sync 0; st.global.u32 [%rd2+16], %r1;", kWait), 132), Kind::kReadWriteRace);
  expect_clean(launch(body("cp.async.cg.shared.global [%r2], [%rd2+4096], 16, 0;", kWait), 128));
  expect_clean(launch(body("cp.async.cg.shared.global [%r2], [%rd2], 16, 12;", kWait), 127));
  EXPECT_EQ(launch(body("cp.async.cg.shared.global [%r2], [%rd2], 16, 17;", kWait), 128).status,
            RunResult::Status::kUnsupported);
}

TEST(AsyncCopies, FaultyAccessesToDestinationAreDetected) {
  expect_first(run_threads(body("cp.async.cg.shared.global [%r2+2044], [%rd2], 16;", kWait)), Kind::kOutOfBounds);
  expect_first(run_threads(body("cp.async.cg.shared.global [%r2+8], [%rd2], 16;", kWait), 32), Kind::kMisaligned);
  EXPECT_EQ(run_threads(body("cp.async.cg.shared.global [%r2], [%rd2], 8;")).status, RunResult::Status::kUnsupported);
}

}  // namespace
}  // namespace assay::ptx
