// Tests that each injected fault is found with its location, and that a similar correct kernel has no finding.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::expect_clean;
using testing::run;
using Kind = CheckFinding::Kind;
using ::testing::HasSubstr;

/// %rd1: the array; %rd2: the address of this thread's element of 4 bytes; %r1: thread, %r5: thread of the grid.
constexpr std::string_view kStart =
    "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;"
    " mov.u32 %r3, %ntid.x; mad.lo.s32 %r5, %r2, %r3, %r1; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd2, %rd1, %rd3;\n";

std::string body(std::string_view rest, std::string_view before = "") {
  return entry(std::string(kStart) + std::string(rest), 1, before);
}

std::vector<Kind> kinds(const RunResult& result) {
  std::vector<Kind> list;
  for (const CheckFinding& finding : result.findings)
    list.push_back(finding.kind);
  return list;
}

void expect_only(const RunResult& result, Kind kind) {
  ASSERT_EQ(result.findings.size(), 1U) << to_text(kind) << " expected. " << result.message;
  EXPECT_EQ(result.findings[0].kind, kind) << describe(result.findings[0]);
}

constexpr LaunchGeometry kTwoWarps{{1}, {64}};
constexpr LaunchGeometry kTwoBlocks{{2}, {32}};

TEST(PtxChecks, DetectsAccessOneElementPastEndOfArray) {
  const std::string text = body(".loc 1 42 7\nld.global.f32 %f1, [%rd2]; st.global.f32 [%rd2], %f1;");
  const auto bad = run<float>(text, std::vector<float>(31));
  ASSERT_EQ(kinds(bad.result), (std::vector{Kind::kOutOfBounds, Kind::kOutOfBounds}));
  const CheckFinding& finding = bad.result.findings[0];
  EXPECT_EQ(finding.allocation_name, "x");
  EXPECT_EQ(finding.offset, 124);
  EXPECT_EQ(finding.allocation_bytes, 124U);
  EXPECT_EQ(finding.site.thread, (Dim3{31, 0, 0}));
  EXPECT_EQ(finding.site.source_location.line, 42U);
  EXPECT_EQ(finding.site.ptx_line, 11U);
  EXPECT_EQ(finding.count, 1U);
  EXPECT_THAT(describe(finding), HasSubstr("offset 124 of 'x'"));
  expect_clean(run<float>(text, std::vector<float>(32)).result);
}

TEST(PtxChecks, DetectsOverrunIntoNeighboringAllocation) {
  Machine machine;
  const AllocationId x = machine.allocate("x", 128).value();
  ASSERT_TRUE(machine.allocate("y", 1 << 20).ok());
  KernelArguments arguments;
  arguments.add(machine.address(x));
  const auto kernel = testing::kernel_of(body("ld.global.f32 %f1, [%rd2+512];"));
  const RunResult result = machine.launch(kernel, {{1}, {32}}, arguments, {});
  expect_only(result, Kind::kOutOfBounds);
  if (HasFatalFailure()) return;
  EXPECT_EQ(result.findings[0].allocation_name, "x");
  EXPECT_EQ(result.findings[0].count, 32U);
}

TEST(PtxChecks, DetectsAccessThroughNullPointer) {
  const auto bad = run<float>(body("mov.u64 %rd4, 0; ld.global.f32 %f1, [%rd4+16];"), std::vector<float>(32));
  expect_only(bad.result, Kind::kOutOfBounds);
  if (HasFatalFailure()) return;
  EXPECT_EQ(bad.result.findings[0].allocation_name, "");
}

TEST(PtxChecks, DetectsMisalignedAccess) {
  expect_only(run<float>(body("ld.global.f32 %f1, [%rd1+2];"), std::vector<float>(32)).result, Kind::kMisaligned);
  expect_only(run<float>(body("ld.global.v2.f32 {%f1, %f2}, [%rd1+4];"), std::vector<float>(32)).result,
              Kind::kMisaligned);
  LaunchOptions off;
  off.checks.reports_misaligned = false;
  expect_clean(run<float>(body("ld.global.f32 %f1, [%rd1+2];"), std::vector<float>(32), {{1}, {32}}, off).result);
}

TEST(PtxChecks, DetectsReadOfUninitializedGlobalMemory) {
  const std::string text = body("ld.global.f32 %f1, [%rd2];");
  expect_only(run<float>(text, std::vector<float>(32), {{1}, {32}}, {}, {.uninitialized = true}).result,
              Kind::kUninitializedRead);
  expect_clean(run<float>(body("st.global.u32 [%rd2], %r1; ld.global.u32 %r4, [%rd2];"), std::vector<float>(32),
                          {{1}, {32}}, {}, {.uninitialized = true})
                   .result);
}

TEST(PtxChecks, DetectsReadOfUninitializedSharedMemory) {
  const std::string declare =
      ".shared .align 4 .b8 s[128]; mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.u32 %r6, %r6, %r7;";
  expect_only(run<float>(body(declare + "ld.shared.f32 %f1, [%r6];"), std::vector<float>(32)).result,
              Kind::kUninitializedRead);
  expect_clean(
      run<float>(body(declare + "st.shared.u32 [%r6], %r1; ld.shared.u32 %r8, [%r6];"), std::vector<float>(32)).result);
}

TEST(PtxChecks, AllowsAccessToAlignmentPaddingOfSharedVariable) {
  // Compilers may load four elements at once where only three are left.
  const std::string declare = ".shared .align 16 .b8 buf[28]; mov.u32 %r6, buf;";
  expect_clean(run<float>(body(declare + "ld.shared.f32 %f1, [%r6+28];"), std::vector<float>(32)).result);
  expect_only(run<float>(body(declare + "ld.shared.f32 %f1, [%r6+24];"), std::vector<float>(32)).result,
              Kind::kUninitializedRead);
  expect_only(run<float>(body(declare + "ld.shared.f32 %f1, [%r6+32];"), std::vector<float>(32)).result,
              Kind::kOutOfBounds);
}

constexpr LaunchGeometry kOneThread{{1}, {1}};

TEST(PtxChecks, AllowsVectorLoadOfUninitializedElementsThatAreNotUsed) {
  const std::string declare = ".shared .align 16 .b8 s[48]; mov.u32 %r6, s; st.shared.u32 [%r6+16], %r2;";
  const std::string last = "st.shared.u32 [%r6+20], %r2; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6+16];";
  expect_clean(run<float>(body(declare + last), std::vector<float>(32), kOneThread).result);
  expect_clean(
      run<float>(body(declare + last + "st.global.u32 [%rd2], %r8;"), std::vector<float>(32), kOneThread).result);
  expect_only(
      run<float>(body(declare + last + "st.global.u32 [%rd2], %r9;"), std::vector<float>(32), kOneThread).result,
      Kind::kUninitializedRead);
  expect_only(
      run<float>(body(declare + last + "st.global.u32 [%rd2], %r10;"), std::vector<float>(32), kOneThread).result,
      Kind::kUninitializedRead);
  const std::string past = "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6+48];";
  expect_only(run<float>(body(declare + past), std::vector<float>(32), kOneThread).result, Kind::kOutOfBounds);
  const std::string local =
      ".local .align 16 .b8 depot[16]; mov.u64 %rd5, depot; st.local.u32 [%rd5], %r1; st.local.u32 [%rd5+4], %r1;"
      "ld.local.v4.u32 {%r7, %r8, %r9, %r10}, [%rd5];";
  expect_clean(run<float>(body(local + "st.global.u32 [%rd2], %r8;"), std::vector<float>(32), kOneThread).result);
  expect_only(run<float>(body(local + "st.global.u32 [%rd2], %r9;"), std::vector<float>(32), kOneThread).result,
              Kind::kUninitializedRead);
}

TEST(PtxChecks, UnusedBytesOfVectorLoadDoNotRace) {
  // One thread loads four bytes and uses three of them, then another stores the fourth.
  const auto loading_and = [](const std::string& use) {
    const std::string text = "setp.eq.u32 %p1, %r1, 0; @%p1 ld.global.v4.u8 {%r6, %r7, %r8, %r9}, [%rd1];" + use +
                             "setp.eq.u32 %p2, %r1, 1; @%p2 st.global.u8 [%rd1+3], %r1;";
    return run<std::uint32_t>(body(text), std::vector<std::uint32_t>(32)).result;
  };
  expect_clean(loading_and("add.u32 %r10, %r6, %r7; add.u32 %r10, %r10, %r8;"));
  expect_only(loading_and("add.u32 %r10, %r6, %r9;"), Kind::kReadWriteRace);
}

TEST(PtxChecks, FollowsCopiesOfUnwrittenWordsInLocalMemory) {
  struct Case {
    const char* copy;
    const char* reads_unwritten;
    const char* reads_written;
  };
  const Case cases[] = {
      {"ld.local.u32 %r6, [%rd5]; st.local.u32 [%rd5+16], %r6;", "ld.local.u8 %r8, [%rd5+17];",
       "ld.local.u8 %r8, [%rd5+16];"},
      {"ld.local.u64 %rd6, [%rd5]; st.local.u64 [%rd5+16], %rd6;", "ld.local.u32 %r8, [%rd5+20];",
       "ld.local.u8 %r8, [%rd5+16];"},
      {"ld.local.v2.u32 {%r6, %r7}, [%rd5]; st.local.v2.u32 [%rd5+16], {%r6, %r7};", "ld.local.u32 %r8, [%rd5+20];",
       "ld.local.u8 %r8, [%rd5+16];"},
      {"ld.local.u16 %r6, [%rd5]; st.local.u16 [%rd5+18], %r6;", "ld.local.u8 %r8, [%rd5+19];",
       "ld.local.u8 %r8, [%rd5+18];"},
  };
  for (const Case& one : cases) {
    const std::string copy =
        std::string(".local .align 8 .b8 depot[32]; mov.u64 %rd5, depot; st.local.u8 [%rd5], %r1;") + one.copy;
    const auto ended_by = [&](const std::string& text) {
      return run<std::uint32_t>(body(copy + text + "st.global.u32 [%rd2], %r8;"), std::vector<std::uint32_t>(32));
    };
    expect_only(ended_by(one.reads_unwritten).result, Kind::kUninitializedRead);
    const auto written = ended_by(one.reads_written);
    expect_clean(written.result);
    EXPECT_EQ(written.data[17], 17U) << one.copy;
  }
}

TEST(PtxChecks, FollowsCopiesOfUnwrittenBytesInLocalMemory) {
  const std::string copy =
      ".local .align 8 .b8 depot[16]; mov.u64 %rd5, depot; st.local.u8 [%rd5], %r1;"
      "ld.local.u8 %r6, [%rd5]; ld.local.u8 %r7, [%rd5+1]; st.local.u8 [%rd5+8], %r6; st.local.u8 [%rd5+9], %r7;";
  const auto ended_by = [&](const std::string& text) {
    return run<std::uint32_t>(body(copy + text), std::vector<std::uint32_t>(32));
  };
  expect_clean(ended_by("").result);
  const auto written = ended_by("ld.local.u8 %r8, [%rd5+8]; st.global.u32 [%rd2], %r8;");
  expect_clean(written.result);
  EXPECT_EQ(written.data[17], 17U);
  expect_only(ended_by("ld.local.u8 %r8, [%rd5+9]; st.global.u32 [%rd2], %r8;").result, Kind::kUninitializedRead);
  expect_only(ended_by("ld.local.u16 %r8, [%rd5+8];").result, Kind::kUninitializedRead);
  // A register that is also used in another way does not only copy bytes.
  expect_only(ended_by("add.u32 %r8, %r7, 1;").result, Kind::kUninitializedRead);
  expect_only(ended_by("st.global.u8 [%rd2], %r7;").result, Kind::kUninitializedRead);
  // The byte is unwritten again after an unwritten byte replaced it.
  expect_only(ended_by("st.local.u8 [%rd5+8], %r7; ld.local.u8 %r8, [%rd5+8]; st.global.u32 [%rd2], %r8;").result,
              Kind::kUninitializedRead);
}

TEST(PtxChecks, AccessesPartsOfWordsInLocalMemory) {
  // Bytes and halves at the same address in all lanes, whose signs the loads extend.
  const std::string store =
      ".local .align 8 .b8 depot[16]; mov.u64 %rd5, depot; st.local.u32 [%rd5], -1; add.u32 %r6, %r1, 200;"
      " st.local.u8 [%rd5+1], %r6; st.local.u16 [%rd5+2], %r6;";
  const auto loaded_by = [&](const std::string& text, std::uint32_t lanes) {
    const auto done = run<std::uint32_t>(body(store + text + "st.global.u32 [%rd2], %r8;"),
                                         std::vector<std::uint32_t>(32), {{1}, {lanes}});
    expect_clean(done.result);
    return done.data[lanes - 1];
  };
  EXPECT_EQ(loaded_by("ld.local.u8 %r8, [%rd5+1];", 32), 231U);
  EXPECT_EQ(loaded_by("ld.local.s8 %r8, [%rd5+1];", 7), 206U - 256U);
  EXPECT_EQ(loaded_by("ld.local.u16 %r8, [%rd5+2];", 32), 231U);
  EXPECT_EQ(loaded_by("ld.local.u32 %r8, [%rd5];", 32), 231U << 16U | 231U << 8U | 255U);
  EXPECT_EQ(loaded_by("ld.local.v2.u8 {%r7, %r8}, [%rd5];", 9), 208U);
}

TEST(PtxChecks, DetectsReadOfUninitializedLocalMemory) {
  const std::string declare = ".local .align 8 .b8 depot[32]; mov.u64 %rd5, depot;";
  expect_only(run<float>(body(declare + "ld.local.u32 %r6, [%rd5+8];"), std::vector<float>(32)).result,
              Kind::kUninitializedRead);
  const auto good = run<std::uint32_t>(
      body(declare + "st.local.u32 [%rd5+8], %r1; ld.local.u32 %r6, [%rd5+8]; st.global.u32 [%rd2], %r6;"),
      std::vector<std::uint32_t>(32));
  expect_clean(good.result);
  EXPECT_EQ(good.data[17], 17U);
  expect_only(
      run<float>(body(declare + "st.local.u8 [%rd5+8], %r1; ld.local.u8 %r6, [%rd5+9];"), std::vector<float>(32))
          .result,
      Kind::kUninitializedRead);
  expect_only(run<float>(body(declare + "st.local.u32 [%rd5+32], %r1;"), std::vector<float>(32)).result,
              Kind::kOutOfBounds);
}

TEST(PtxChecks, DetectsAtomicOnLocalMemory) {
  const std::string declare =
      ".local .align 4 .b8 depot[8]; mov.u64 %rd5, depot; cvta.local.u64 %rd6, %rd5; st.local.u32 [%rd5+4], %r1;";
  expect_only(run<float>(body(declare + "atom.add.u32 %r6, [%rd6+4], %r1;"), std::vector<float>(32)).result,
              Kind::kLocalAtomic);
  expect_only(run<float>(body(declare + "atom.add.u32 %r6, [%rd6+8], %r1;"), std::vector<float>(32)).result,
              Kind::kOutOfBounds);
}

TEST(PtxChecks, DetectsWriteWriteRaceInGlobalMemory) {
  const std::string text = body("st.global.u32 [%rd1], %r1;");
  const auto bad = run<float>(text, std::vector<float>(1));
  expect_only(bad.result, Kind::kWriteWriteRace);
  ASSERT_TRUE(bad.result.findings[0].conflicting_access.has_value());
  EXPECT_EQ(bad.result.findings[0].conflicting_access->thread, (Dim3{0, 0, 0}));
  EXPECT_EQ(bad.result.findings[0].site.thread, (Dim3{1, 0, 0}));
  LaunchOptions off;
  off.checks.reports_races = false;
  expect_clean(run<float>(text, std::vector<float>(1), {{1}, {32}}, off).result);
}

TEST(PtxChecks, ReportsBothAccessesOfRaceBetweenBlocks) {
  const auto bad = run<float>(body("setp.ne.u32 %p1, %r1, 3; @%p1 ret; st.global.u32 [%rd1], %r2;"),
                              std::vector<float>(1), kTwoBlocks);
  expect_only(bad.result, Kind::kWriteWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_EQ(bad.result.findings[0].site.block, (Dim3{1, 0, 0}));
  EXPECT_EQ(bad.result.findings[0].conflicting_access->block, (Dim3{0, 0, 0}));
  EXPECT_EQ(bad.result.findings[0].conflicting_access->thread, (Dim3{3, 0, 0}));
}

TEST(PtxChecks, DetectsReadWriteRaceInGlobalMemory) {
  // Each thread reads the element of its right neighbor, then writes its own.
  const std::string text = body("ld.global.u32 %r6, [%rd2+4]; st.global.u32 [%rd2], %r6;");
  expect_only(run<float>(text, std::vector<float>(65), kTwoWarps).result, Kind::kReadWriteRace);
  const std::string ordered = body("ld.global.u32 %r6, [%rd2+4]; bar.sync 0; st.global.u32 [%rd2], %r6;");
  expect_clean(run<float>(ordered, std::vector<float>(65), kTwoWarps).result);
  // A barrier does not order blocks.
  expect_only(run<float>(ordered, std::vector<float>(65), kTwoBlocks).result, Kind::kReadWriteRace);
}

/// Each thread of two blocks writes its element. The block that increments the counter (element 64) last reads the
/// elements of the first block, by threads that did not write them.
struct LastBlock {
  std::string_view by_all = "";                        ///< executed by all threads after the write
  std::string_view before = "membar.gl;";              ///< executed by thread 0 before the increment
  std::string_view after = "membar.gl;";               ///< executed by thread 0 after the increment
  std::string_view increment = "atom.global.add.u32";  ///< instruction that increments
  std::string_view load = "ld.global.u32";             ///< instruction that reads
  std::string_view by_readers = "";                    ///< executed by all threads of the last block before they read

  [[nodiscard]] RunResult run() const {
    const std::string text = fmt::format(
        ".shared .align 4 .b8 ticket[4]; st.global.u32 [%rd2], %r5; {} bar.sync 0; setp.ne.u32 %p1, %r1, 0;"
        " @%p1 bra WAIT; {} {} %r6, [%rd1+256], 1; {} st.shared.u32 [ticket], %r6;"
        " WAIT: bar.sync 0; ld.shared.u32 %r7, [ticket]; setp.ne.u32 %p2, %r7, 1; @%p2 ret; {}"
        " xor.b32 %r8, %r1, 1; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; {} %r9, [%rd4];",
        by_all, before, increment, after, by_readers, load);
    return testing::run<std::uint32_t>(body(text), std::vector<std::uint32_t>(65), kTwoBlocks).result;
  }
};

TEST(PtxChecks, FencesBeforeAndAfterAtomicUpdateSynchronizeBlocks) {
  expect_clean(LastBlock{}.run());
  expect_clean(LastBlock{.before = "fence.acq_rel.gpu;", .after = "fence.sc.sys;"}.run());
  expect_clean(LastBlock{.before = "", .after = "", .increment = "atom.acq_rel.gpu.global.add.u32"}.run());
  expect_only(LastBlock{.before = ""}.run(), Kind::kReadWriteRace);
  expect_only(LastBlock{.after = ""}.run(), Kind::kReadWriteRace);
  expect_only(LastBlock{.before = "membar.cta;"}.run(), Kind::kReadWriteRace);
  expect_only(LastBlock{.increment = "atom.cta.global.add.u32"}.run(), Kind::kReadWriteRace);
  expect_only(LastBlock{.before = "", .after = "", .increment = "atom.relaxed.gpu.global.add.u32"}.run(),
              Kind::kReadWriteRace);
}

TEST(PtxChecks, FenceInEveryThreadBeforeBarrierOrdersAllWrites) {
  expect_clean(LastBlock{.by_all = "membar.gl;", .before = ""}.run());
  // A fence by half of the threads leaves the writes of the others unordered.
  expect_only(LastBlock{.by_all = "setp.gt.u32 %p3, %r1, 15; @%p3 membar.gl;", .before = ""}.run(),
              Kind::kReadWriteRace);
}

TEST(PtxChecks, FenceInEveryReadingThreadAfterBarrierOrdersReads) {
  expect_clean(LastBlock{.after = "", .by_readers = "membar.gl;"}.run());
  expect_clean(LastBlock{.by_all = "membar.gl;", .before = "", .after = "", .by_readers = "membar.gl;"}.run());
  expect_only(LastBlock{.after = "", .by_readers = "membar.cta;"}.run(), Kind::kReadWriteRace);
  expect_only(LastBlock{.before = "", .after = "", .by_readers = "membar.gl;"}.run(), Kind::kReadWriteRace);
  // A fence before the atomic does not order the reads after it.
  expect_only(LastBlock{.by_all = "membar.gl;", .after = ""}.run(), Kind::kReadWriteRace);
  // A fence by one thread orders the reads of the others only after another barrier.
  constexpr std::string_view kFence = "setp.eq.u32 %p3, %r1, 5; @%p3 membar.gl;";
  constexpr std::string_view kFenceAndBarrier = "setp.eq.u32 %p3, %r1, 5; @%p3 membar.gl; bar.sync 0;";
  expect_only(LastBlock{.after = "", .by_readers = kFence}.run(), Kind::kReadWriteRace);
  expect_clean(LastBlock{.after = "", .by_readers = kFenceAndBarrier}.run());
}

TEST(PtxChecks, VolatileLoadAfterAtomicNeedsNoFence) {
  expect_clean(LastBlock{.after = "", .load = "ld.volatile.global.u32"}.run());
  expect_only(LastBlock{.before = "", .after = "", .load = "ld.volatile.global.u32"}.run(), Kind::kReadWriteRace);
}

TEST(PtxChecks, FenceDoesNotOrderWritesThatFollowIt) {
  // Thread 0 writes element 66 before or after its fence, then increments the counter. The second block reads it.
  const auto text = [](std::string_view first, std::string_view second) {
    return body(
        fmt::format("setp.ne.u32 %p1, %r1, 0; @%p1 ret; setp.ne.u32 %p2, %r2, 0; @%p2 bra READ; {} {}"
                    " atom.global.add.u32 %r6, [%rd1+256], 1; ret;"
                    " READ: atom.global.add.u32 %r6, [%rd1+256], 1; membar.gl; ld.global.u32 %r7, [%rd1+264];"
                    " st.global.u32 [%rd1+256], %r7;",
                    first, second));
  };
  const std::string write = "st.global.u32 [%rd1+264], %r5;";
  expect_clean(run<std::uint32_t>(text(write, "membar.gl;"), std::vector<std::uint32_t>(67), kTwoBlocks).result);
  expect_only(run<std::uint32_t>(text("membar.gl;", write), std::vector<std::uint32_t>(67), kTwoBlocks).result,
              Kind::kReadWriteRace);
}

TEST(PtxChecks, LockOrdersUpdatesOfManyBlocks) {
  // Each block takes a lock, adds to an element with plain accesses, and gives the lock back.
  const auto text = [](std::string_view acquire, std::string_view release) {
    return body(
        fmt::format("setp.ne.u32 %p1, %r1, 0; @%p1 ret;"
                    " SPIN: atom.global.cas.b32 %r6, [%rd1], 0, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra SPIN; {}"
                    " ld.global.u32 %r7, [%rd1+4]; add.u32 %r7, %r7, 1; st.global.u32 [%rd1+4], %r7;"
                    " {} atom.global.exch.b32 %r6, [%rd1], 0;",
                    acquire, release));
  };
  const auto good =
      run<std::uint32_t>(text("membar.gl;", "membar.gl;"), std::vector<std::uint32_t>(512), LaunchGeometry{{16}, {32}});
  expect_clean(good.result);
  EXPECT_EQ(good.data[1], 16U);
  const auto unreleased = run<std::uint32_t>(text("membar.gl;", ""), std::vector<std::uint32_t>(64), kTwoBlocks);
  EXPECT_EQ(kinds(unreleased.result), (std::vector{Kind::kReadWriteRace, Kind::kWriteWriteRace}));
}

TEST(PtxChecks, AccessesToDifferentBytesOfAWordDoNotRace) {
  const std::string own = "mul.wide.u32 %rd4, %r5, 2; add.s64 %rd4, %rd1, %rd4; ld.global.u16 %rs1, [%rd4];";
  for (const LaunchGeometry& geometry : {kTwoWarps, kTwoBlocks, LaunchGeometry{{13}, {1}}}) {
    expect_clean(
        run<std::uint16_t>(body(own + "st.global.u16 [%rd4], %rs1;"), std::vector<std::uint16_t>(66), geometry).result);
  }
  // Each thread reads its own half word and writes the next, which for every other thread lies in the same word.
  const auto bad =
      run<std::uint16_t>(body(own + "st.global.u16 [%rd4+2], %rs1;"), std::vector<std::uint16_t>(66), kTwoWarps);
  EXPECT_FALSE(kinds(bad.result).empty());
  EXPECT_THAT(kinds(bad.result), ::testing::Each(Kind::kReadWriteRace));
}

TEST(PtxChecks, DetectsWriteThatRacesWithManyReads) {
  const std::string text = body("ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p1, %r1, 31; @%p1 st.global.u32 [%rd1], %r6;");
  expect_only(run<float>(text, std::vector<float>(1)).result, Kind::kReadWriteRace);
}

TEST(PtxChecks, DetectsRaceBetweenNonAtomicAdditions) {
  const std::string text =
      body("ld.global.f32 %f1, [%rd1]; add.rn.f32 %f1, %f1, 0f3F800000; st.global.f32 [%rd1], %f1;");
  EXPECT_FALSE(run<float>(text, std::vector<float>(1)).result.ok());
  const auto good = run<float>(body("red.global.add.f32 [%rd1], 0f3F800000;"), std::vector<float>(1), kTwoBlocks);
  expect_clean(good.result);
  EXPECT_EQ(good.data[0], 64.0F);
}

TEST(PtxChecks, DetectsRaceBetweenAtomicUpdateAndPlainRead) {
  const std::string text = body("atom.global.add.u32 %r6, [%rd1], 1; ld.global.u32 %r7, [%rd1];");
  EXPECT_THAT(kinds(run<float>(text, std::vector<float>(1), kTwoWarps).result), ::testing::Contains(Kind::kAtomicRace));
}

constexpr std::string_view kReverse =
    ".shared .align 4 .b8 s[256]; mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.u32 %r8, %r6, %r7; sub.u32 %r9, 63, %r1;"
    " shl.b32 %r9, %r9, 2; add.u32 %r9, %r6, %r9; st.shared.u32 [%r8], %r1;";

TEST(PtxChecks, DetectsRaceInSharedMemory) {
  const std::string last = " ld.shared.u32 %r10, [%r9]; st.global.u32 [%rd2], %r10;";
  const auto bad = run<std::uint32_t>(body(std::string(kReverse) + last), std::vector<std::uint32_t>(64), kTwoWarps);
  EXPECT_THAT(kinds(bad.result), ::testing::Contains(Kind::kReadWriteRace));
  const auto good =
      run<std::uint32_t>(body(std::string(kReverse) + "bar.sync 0;" + last), std::vector<std::uint32_t>(64), kTwoWarps);
  expect_clean(good.result);
  EXPECT_EQ(good.data[5], 58U);
}

TEST(PtxChecks, AllowsThreadsToStoreTheSameValueToGlobalMemory) {
  const auto result_of = [&](std::string_view stores, const LaunchGeometry& launch) {
    return run<std::uint32_t>(body(std::string(stores)), std::vector<std::uint32_t>(64), launch).result;
  };
  for (const LaunchGeometry& launch : {kTwoWarps, kTwoBlocks}) {
    expect_clean(result_of("st.global.u32 [%rd1], 7;", launch));
    expect_only(result_of("st.global.u32 [%rd1], %r1;", launch), Kind::kWriteWriteRace);
    EXPECT_THAT(kinds(result_of("st.global.u32 [%rd1], 7; ld.global.u32 %r7, [%rd1];", launch)),
                ::testing::Contains(Kind::kReadWriteRace));
    EXPECT_THAT(kinds(result_of("st.global.u32 [%rd1], 7; atom.global.add.u32 %r7, [%rd1], 0;", launch)),
                ::testing::Contains(Kind::kAtomicRace));
  }
}

TEST(PtxChecks, AllowsThreadsToStoreTheSameValueToSharedMemory) {
  // %r6: the same word for all threads.
  const std::string declare = ".shared .align 8 .b8 s[16]; mov.u32 %r6, s; and.b32 %r7, %r1, 1; shr.b32 %r8, %r1, 5;";
  const auto result_of = [&](std::string_view stores) {
    return run<std::uint32_t>(body(declare + std::string(stores)), std::vector<std::uint32_t>(64), kTwoWarps).result;
  };
  expect_clean(result_of("st.shared.u32 [%r6], 7; bar.sync 0; ld.shared.u32 %r9, [%r6];"));
  expect_clean(result_of("st.shared.v2.u32 [%r6], {%r2, %r3};"));
  // The stores of one instruction differ, within a warp and between warps.
  expect_only(result_of("st.shared.u32 [%r6], %r7;"), Kind::kWriteWriteRace);
  expect_only(result_of("st.shared.u32 [%r6], %r8;"), Kind::kWriteWriteRace);
  expect_only(result_of("st.shared.v2.u32 [%r6], {%r2, %r8};"), Kind::kWriteWriteRace);
  // A second instruction stores another value to the word, or to one of its bytes.
  const auto with_second = [&](std::string_view store) {
    return result_of(fmt::format("setp.eq.u32 %p1, %r1, 5; st.shared.u32 [%r6], 7; @%p1 {}", store));
  };
  for (const std::string_view different : {"st.shared.u32 [%r6], 8;", "st.shared.u8 [%r6+1], 7;"}) {
    EXPECT_FALSE(with_second(different).findings.empty()) << different;
    EXPECT_THAT(kinds(with_second(different)), ::testing::Each(Kind::kWriteWriteRace)) << different;
  }
  expect_clean(with_second("st.shared.u8 [%r6], 7;"));
}

TEST(PtxChecks, DetectsReadWriteRaceEvenIfAllWritesStoreSameValue) {
  const std::string declare = ".shared .align 8 .b8 s[16]; mov.u32 %r6, s;";
  const auto result_of = [&](std::string_view rest) {
    return run<std::uint32_t>(body(declare + std::string(rest)), std::vector<std::uint32_t>(64), kTwoWarps).result;
  };
  const RunResult without_barrier = result_of("st.shared.u32 [%r6], 7; ld.shared.u32 %r9, [%r6];");
  EXPECT_FALSE(without_barrier.findings.empty());
  EXPECT_THAT(kinds(without_barrier), ::testing::Each(Kind::kReadWriteRace));
  // Threads read the word, and others store the value that it already has.
  EXPECT_THAT(kinds(result_of("st.shared.u32 [%r6], 7; bar.sync 0; setp.lt.u32 %p1, %r1, 32;"
                              " @%p1 ld.shared.u32 %r9, [%r6]; @!%p1 st.shared.u32 [%r6], 7;")),
              ::testing::Contains(Kind::kReadWriteRace));
}

TEST(PtxChecks, BarWarpSyncPreventsRaceBetweenLanes) {
  const std::string start =
      "setp.ge.u32 %p1, %r1, 32; @%p1 ret; xor.b32 %r6, %r1, 1; mul.wide.u32 %rd4, %r6, 4;"
      " add.s64 %rd4, %rd1, %rd4; st.global.u32 [%rd2], %r1;";
  expect_clean(run<float>(body(start + "bar.warp.sync -1; ld.global.u32 %r7, [%rd4];"), std::vector<float>(32)).result);
  expect_only(run<float>(body(start + "ld.global.u32 %r7, [%rd4];"), std::vector<float>(32)).result,
              Kind::kReadWriteRace);
}

TEST(PtxChecks, DetectsDivergentBarrier) {
  expect_only(run<float>(body("setp.lt.u32 %p1, %r1, 16; @!%p1 bra L; bar.sync 0; L: st.global.u32 [%rd2], %r1;"),
                         std::vector<float>(32))
                  .result,
              Kind::kBarrierDivergence);
  expect_only(
      run<float>(body("setp.ge.u32 %p1, %r1, 32; @%p1 ret; bar.sync 0;"), std::vector<float>(64), kTwoWarps).result,
      Kind::kBarrierDivergence);
}

/// Warp 0 writes and arrives, warp 1 waits for both and reads; the third warp does not participate.
TEST(PtxChecks, BarArrivePreventsRaceWithWaitingWarp) {
  const auto text = [](std::string_view arrival) {
    return body(
        ".shared .align 4 .b8 s[128]; mov.u32 %r6, s; and.b32 %r7, %r1, 31; shl.b32 %r7, %r7, 2;"
        " add.u32 %r6, %r6, %r7; setp.ge.u32 %p1, %r1, 64; @%p1 bra L; setp.ge.u32 %p2, %r1, 32; @%p2 bra R;"
        " st.shared.u32 [%r6], %r1; " +
        std::string(arrival) + " bra L; R: bar.sync 1, 64; ld.shared.u32 %r8, [%r6]; st.global.u32 [%rd2], %r8; L:");
  };
  const LaunchGeometry three_warps{{1}, {96}};
  const auto good = run<std::uint32_t>(text("bar.arrive 1, 64;"), std::vector<std::uint32_t>(96), three_warps);
  expect_clean(good.result);
  EXPECT_EQ(good.data[40], 8U);
  expect_only(run<std::uint32_t>(text("bar.arrive 2, 64;"), std::vector<std::uint32_t>(96), three_warps).result,
              Kind::kBarrierDivergence);
}

/// Warps 0 and 1 use one barrier, 2 and 3 another. Warp 0 writes before its barrier; other warps read after theirs.
TEST(PtxChecks, BarrierOrdersOnlyAccessesOfParticipatingWarps) {
  const auto text = [](int reader, std::string_view meet) {
    return body(
        ".shared .align 4 .b8 s[128]; mov.u32 %r6, s; and.b32 %r7, %r1, 31; shl.b32 %r7, %r7, 2; add.u32 %r6, %r6, %r7;"
        " shr.u32 %r8, %r1, 5; setp.eq.u32 %p1, %r8, 0; @%p1 st.shared.u32 [%r6], %r1; shr.u32 %r9, %r8, 1;"
        " add.u32 %r9, %r9, 1; bar.sync %r9, 64; " +
        std::string(meet) + " setp.eq.u32 %p2, %r8, " + std::to_string(reader) +
        "; @%p2 ld.shared.u32 %r10, [%r6]; @%p2 st.global.u32 [%rd2], %r10;");
  };
  const auto read_by = [&](int reader, std::string_view meet) {
    return run<std::uint32_t>(text(reader, meet), std::vector<std::uint32_t>(128), {{1}, {128}});
  };
  const auto by_partner = read_by(1, "");
  expect_clean(by_partner.result);
  EXPECT_EQ(by_partner.data[40], 8U);
  expect_only(read_by(2, "").result, Kind::kReadWriteRace);
  expect_only(read_by(3, "").result, Kind::kReadWriteRace);
  // Warps 1 and 2 then use a common barrier, so warp 0's write is ordered before warp 2's reads, but not warp 3's.
  const std::string_view meet =
      "add.u32 %r11, %r8, 1; shr.u32 %r11, %r11, 1; setp.eq.u32 %p3, %r11, 1; @!%p3 bra M; bar.sync 5, 64; M:";
  expect_clean(read_by(2, meet).result);
  expect_only(read_by(3, meet).result, Kind::kReadWriteRace);
}

TEST(PtxChecks, BarrierReleasesOnlyAsManyWarpsAsItExpects) {
  const auto run_with = [](std::string_view barrier) {
    return run<std::uint32_t>(
        body(".shared .align 4 .b8 s[256]; mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.u32 %r6, %r6, %r7;"
             " st.shared.u32 [%r6], %r1; " +
             std::string(barrier) +
             " setp.eq.u32 %p1, %r1, 0; @%p1 ld.shared.u32 %r8, [%r6+128]; @%p1 st.global.u32 [%rd2], %r8;"),
        std::vector<std::uint32_t>(64), kTwoWarps);
  };
  const auto both = run_with("bar.sync 1, 64;");
  expect_clean(both.result);
  EXPECT_EQ(both.data[0], 32U);
  expect_only(run_with("bar.sync 1, 32;").result, Kind::kReadWriteRace);
  expect_only(run<float>(body("bar.sync 1, 64;"), std::vector<float>(96), {{1}, {96}}).result,
              Kind::kBarrierDivergence);
}

/// bar.arrive does not order a warp's later accesses.
TEST(PtxChecks, BarArriveOrdersOnlyPrecedingAccessesOfItsWarp) {
  const auto text = [](std::string_view before, std::string_view behind) {
    return body(
        ".shared .align 4 .b8 s[128]; mov.u32 %r6, s; and.b32 %r7, %r1, 31; shl.b32 %r7, %r7, 2;"
        " add.u32 %r6, %r6, %r7; setp.ge.u32 %p1, %r1, 96; @%p1 bra L; setp.ge.u32 %p2, %r1, 32; @%p2 bra R; " +
        std::string(before) + " bar.arrive 1, 64; " + std::string(behind) +
        " bra L; R: setp.ge.u32 %p3, %r1, 64; @%p3 bra L; bar.sync 1, 64; ld.shared.u32 %r8, [%r6];"
        " st.global.u32 [%rd2], %r8; L:");
  };
  const std::string_view write = "st.shared.u32 [%r6], %r1;";
  const LaunchGeometry four_warps{{1}, {128}};
  expect_clean(run<std::uint32_t>(text(write, ""), std::vector<std::uint32_t>(128), four_warps).result);
  expect_only(run<std::uint32_t>(text("", write), std::vector<std::uint32_t>(128), four_warps).result,
              Kind::kReadWriteRace);
}

/// All threads read the same word of shared memory, which a thread overwrites after a synchronization.
TEST(PtxChecks, WarpSynchronizationOrdersReadsOfManyLanesBeforeWrite) {
  const auto run_kernel = [](std::string_view synchronization, std::string_view writer, std::uint32_t threads) {
    return run<std::uint32_t>(
               body(".shared .align 4 .b8 s[4]; mov.u32 %r6, s; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r6], %r1;"
                    " bar.sync 0; ld.shared.u32 %r7, [%r6]; " +
                    std::string(synchronization) + " setp.eq.u32 %p2, %r1, " + std::string(writer) +
                    "; @%p2 st.shared.u32 [%r6], %r1;"),
               std::vector<std::uint32_t>(64), {{1}, {threads}})
        .result;
  };
  const std::string_view warp = "bar.warp.sync -1;";
  const std::string_view again = "bar.warp.sync -1; @%p1 ld.shared.u32 %r7, [%r6];";
  expect_clean(run_kernel(warp, "5", 32));
  expect_clean(run_kernel(again, "0", 32));
  expect_clean(run_kernel("bar.sync 0;", "40", 64));
  expect_only(run_kernel("", "5", 32), Kind::kReadWriteRace);
  expect_only(run_kernel("", "31", 32), Kind::kReadWriteRace);
  expect_only(run_kernel(again, "5", 32), Kind::kReadWriteRace);
  expect_only(run_kernel(warp, "40", 64), Kind::kReadWriteRace);
  expect_only(run_kernel(warp, "5", 64), Kind::kReadWriteRace);
}

TEST(PtxChecks, DetectsWriteToReadOnlyAllocation) {
  const std::string text = body("st.global.u32 [%rd2], %r1;");
  expect_only(run<float>(text, std::vector<float>(32), {{1}, {32}}, {}, {.read_only = true}).result,
              Kind::kWriteToReadOnly);
}

TEST(PtxChecks, DetectsNonCoherentLoadOfWrittenMemory) {
  expect_only(
      run<float>(body("st.global.u32 [%rd2], %r1; ld.global.nc.u32 %r6, [%rd2];"), std::vector<float>(32)).result,
      Kind::kNonCoherentRead);
  expect_only(
      run<float>(body("ld.global.nc.u32 %r6, [%rd2]; st.global.u32 [%rd2], %r1;"), std::vector<float>(32)).result,
      Kind::kNonCoherentRead);
  expect_clean(run<float>(body("ld.global.nc.u32 %r6, [%rd2];"), std::vector<float>(32)).result);
}

TEST(PtxChecks, DetectsUseOfShuffleFromInactiveLane) {
  const std::string shuffle = "shfl.sync.bfly.b32 %r6|%p2, %r1, 16, 31, %r7;";
  const auto result_of = [&](const std::string& use) {
    return run<float>(body("setp.ge.u32 %p1, %r1, 16; mov.u32 %r7, 65535; @%p1 bra L; mov.u32 %r8, 7; setp.eq.u32 %p4, "
                           "%r8, 7;" +
                           shuffle + use + " L:"),
                      std::vector<float>(32))
        .result;
  };
  for (const std::string use : {
           "st.global.u32 [%rd2], %r6;",                         // stores it
           "add.u32 %r9, %r6, %r8; st.global.u32 [%rd2], %r9;",  // stores a value computed from it
           "mul.wide.u32 %rd4, %r6, 0; add.s64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], %r8;",  // an address
           "setp.gt.u32 %p3, %r6, 100; @%p3 bra L; st.global.u32 [%rd2], %r8;",                // a branch
           "setp.gt.u32 %p3, %r6, 100; @%p3 st.global.u32 [%rd2], %r8;",                       // a guard
           "setp.gt.u32 %p3, %r6, 100; @%p3 mov.u32 %r8, 1; st.global.u32 [%rd2], %r8;",       // a guarded result
           "selp.u32 %r9, %r6, %r8, %p4; st.global.u32 [%rd2], %r9;",                          // selects it
           "setp.gt.u32 %p3, %r6, 100; and.pred %p3, %p3, %p4; selp.u32 %r9, 1, 2, %p3; st.global.u32 [%rd2], %r9;",
           "shfl.sync.idx.b32 %r9|%p2, %r6, 0, 31, %r7; st.global.u32 [%rd2], %r9;",  // another lane's value of it
           "atom.global.add.u32 %r9, [%rd2], %r6;",
           "atom.global.add.u32 %r6, [%rd2], %r6;",
       }) {
    const RunResult result = result_of(use);
    expect_only(result, Kind::kInactiveLane);
    if (HasFatalFailure()) FAIL() << use;
    EXPECT_THAT(describe(result.findings[0]), HasSubstr("its undefined result is used by")) << use;
    EXPECT_EQ(result.findings[0].count, 16U) << use;
  }
  for (const std::string use : {
           "",
           "add.u32 %r9, %r6, %r8;",
           "add.u32 %r9, %r6, %r8; selp.u32 %r9, %r8, %r9, %p4; st.global.u32 [%rd2], %r9;",  // selects another value
           "mov.u32 %r6, 1; st.global.u32 [%rd2], %r6;",                                      // overwritten
           "setp.gt.u32 %p3, %r6, 100; not.pred %p5, %p4; and.pred %p3, %p3, %p5; @%p3 bra L; st.global.u32 [%rd2], "
           "%r8;",
           "setp.gt.u32 %p3, %r6, 100; or.pred %p3, %p4, %p3; @!%p3 bra L; st.global.u32 [%rd2], %r8;",
           "ld.global.u32 %r6, [%rd2]; st.global.u32 [%rd2], %r6;",
       }) {
    expect_clean(result_of(use));
    if (HasFailure()) FAIL() << use;
  }
  const auto good = run<std::uint32_t>(body("mov.u32 %r7, -1;" + shuffle + " st.global.u32 [%rd2], %r6;"),
                                       std::vector<std::uint32_t>(32));
  expect_clean(good.result);
  EXPECT_EQ(good.data[3], 19U);
}

TEST(PtxChecks, StopsInfiniteLoopAtInstructionLimit) {
  LaunchOptions options;
  options.instruction_limit = 100000;
  const auto bad = run<float>(body("L: add.u32 %r1, %r1, 1; bra L;"), std::vector<float>(32), {{1}, {32}}, options);
  EXPECT_EQ(bad.result.status, RunResult::Status::kInstructionLimit);
  EXPECT_THAT(bad.result.message, HasSubstr("100000"));
}

TEST(PtxChecks, RejectsInvalidGridOrBlockSizeAndTooLargeAllocation) {
  const std::string text = body("");
  EXPECT_EQ(run<float>(text, std::vector<float>(1), {{1}, {1025}}).result.status, RunResult::Status::kRejected);
  EXPECT_EQ(run<float>(text, std::vector<float>(1), {{1U << 31U}, {32}}).result.status, RunResult::Status::kRejected);
  EXPECT_EQ(run<float>(text, std::vector<float>(1), {{1}, {0}}).result.status, RunResult::Status::kRejected);
  EXPECT_FALSE(Machine(1024).allocate("x", 1025).ok());
}

TEST(PtxChecks, RejectsBlockSizeForWhichKernelIsNotCompiled) {
  const auto run_block = [](const std::string& directive, std::uint32_t threads) {
    std::string text = body("");
    text.replace(text.find(")\n{"), 1, ")\n" + directive);
    return run<float>(text, std::vector<float>(256), {{1}, {threads}}).result;
  };
  expect_clean(run_block(".maxntid 64, 1, 1", 64));
  expect_clean(run_block(".maxntid 64", 32));
  const RunResult larger = run_block(".maxntid 16, 4, 1", 65);
  EXPECT_EQ(larger.status, RunResult::Status::kRejected);
  EXPECT_THAT(larger.message, HasSubstr("the kernel is compiled for blocks of at most 64 threads"));
  expect_clean(run_block(".reqntid 128", 128));
  EXPECT_EQ(run_block(".reqntid 128", 64).status, RunResult::Status::kRejected);
}

TEST(PtxChecks, UnsupportedInstructionStopsLaunchOnlyIfExecuted) {
  const std::string text = body("setp.ge.u32 %p1, %r1, 32; @!%p1 bra L; istypep.texref %p2, %rd1; L:");
  expect_clean(run<float>(text, std::vector<float>(1)).result);
  const auto reached = run<float>(text, std::vector<float>(64), kTwoWarps);
  EXPECT_EQ(reached.result.status, RunResult::Status::kUnsupported);
  EXPECT_THAT(reached.result.message,
              HasSubstr("opcode istypep is not supported, 'istypep.texref %p2, %rd1' at PTX line 10"));
}

TEST(PtxChecks, ReportsNoRaceBetweenAtomicUpdatesOfManyBlocks) {
  const auto good =
      run<std::uint32_t>(body("red.global.add.u32 [%rd1], 1;"), std::vector<std::uint32_t>(1), {{300000}, {1}});
  expect_clean(good.result);
  EXPECT_EQ(good.data[0], 300000U);
}

}  // namespace
}  // namespace assay::ptx
