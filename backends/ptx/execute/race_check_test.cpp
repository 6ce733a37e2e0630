// Compares the race check with the definition of a race, on random programs of loads, stores and barriers.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"
#include "support/rng.hpp"

namespace assay::ptx {
namespace {

constexpr std::uint32_t kWords = 64;
constexpr std::uint32_t kThreadsPerBlock = 64;

/// One statement of a program: a barrier, or an access of the threads of each block whose index i has i & mask ==
/// value. Thread i accesses the word (i + shift) % kWords, or the word `shift` if `is_fixed`.
struct Statement {
  enum class Kind : std::uint8_t { kLoad, kStore, kBarrier };
  Kind kind = Kind::kBarrier;
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
  std::uint32_t shift = 0;
  bool is_fixed = false;

  [[nodiscard]] bool is_performed_by(std::uint32_t thread) const {
    return kind != Kind::kBarrier && (thread & mask) == value;
  }
  [[nodiscard]] std::uint32_t word_of(std::uint32_t thread) const {
    return is_fixed ? shift : (thread + shift) % kWords;
  }
};

std::vector<Statement> make_program(Rng& rng) {
  std::vector<Statement> program(rng.uniform_int<std::size_t>(2, 8));
  for (Statement& statement : program) {
    if (rng.bernoulli(0.4)) continue;
    statement.kind = rng.bernoulli(0.5) ? Statement::Kind::kLoad : Statement::Kind::kStore;
    statement.is_fixed = rng.bernoulli(0.3);
    // The word of the thread itself, of the next thread, and of a thread of the other warp.
    constexpr std::uint32_t kShifts[] = {0, 0, 0, 1, 32};
    statement.shift = rng.choose(kShifts);
    statement.mask = statement.is_fixed && rng.bernoulli(0.7) ? kThreadsPerBlock - 1 : rng.bernoulli(0.3) ? 1U : 0U;
    statement.value = rng.uniform_int<std::uint32_t>(0, kThreadsPerBlock - 1) & statement.mask;
  }
  return program;
}

/// The program as PTX. Each store of a thread stores another number.
std::string text_of(const std::vector<Statement>& program, bool is_shared) {
  const std::string_view space = is_shared ? "shared" : "global";
  std::string body = is_shared ? ".shared .align 4 .b8 words[256]; mov.u64 %rd1, words;"
                               : "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1;";
  body += " mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r5, %r2, %r3, %r1;\n";
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Statement& statement = program[i];
    if (statement.kind == Statement::Kind::kBarrier) {
      body += "bar.sync 0;\n";
      continue;
    }
    body += fmt::format("and.b32 %r6, %r1, {}; setp.eq.u32 %p1, %r6, {};", statement.mask, statement.value);
    body += statement.is_fixed
                ? fmt::format(" mov.u32 %r7, {};", statement.shift)
                : fmt::format(" add.u32 %r7, %r1, {}; and.b32 %r7, %r7, {};", statement.shift, kWords - 1);
    body += " mul.wide.u32 %rd2, %r7, 4; add.s64 %rd2, %rd1, %rd2;";
    body += statement.kind == Statement::Kind::kLoad
                ? fmt::format(" @%p1 ld.{}.u32 %r8, [%rd2];\n", space)
                : fmt::format(" add.u32 %r9, %r5, {}; @%p1 st.{}.u32 [%rd2], %r9;\n", 1000 * (i + 1), space);
  }
  return testing::entry(body);
}

/// Whether two different threads access the same word, at least one of them stores, and no barrier is between them.
/// Threads of different blocks share only global memory, and no barrier orders them.
bool has_race(const std::vector<Statement>& program, std::uint32_t blocks, bool is_shared) {
  struct Access {
    std::uint32_t word, thread, block, phase;
    bool is_store;
  };
  std::vector<Access> accesses;
  for (std::uint32_t block = 0; block < (is_shared ? 1 : blocks); ++block) {
    std::uint32_t phase = 0;
    for (const Statement& statement : program) {
      phase += statement.kind == Statement::Kind::kBarrier ? 1 : 0;
      for (std::uint32_t thread = 0; thread < kThreadsPerBlock; ++thread)
        if (statement.is_performed_by(thread))
          accesses.push_back(
              {statement.word_of(thread), thread, block, phase, statement.kind == Statement::Kind::kStore});
    }
  }
  for (const Access& a : accesses) {
    for (const Access& b : accesses) {
      const bool is_ordered = a.block == b.block && (a.thread == b.thread || a.phase != b.phase);
      if (a.word == b.word && (a.is_store || b.is_store) && !is_ordered) return true;
    }
  }
  return false;
}

TEST(PtxRaceCheck, FindsRacesOfRandomProgramsAndNoOthers) {
  LaunchOptions options;
  options.checks.reports_uninitialized = false;
  Rng rng(20261130);
  int racing = 0;
  constexpr int kPrograms = 600;
  for (int i = 0; i < kPrograms; ++i) {
    const std::vector<Statement> program = make_program(rng);
    const bool is_shared = rng.bernoulli(0.5);
    const std::uint32_t blocks = rng.bernoulli(0.5) ? 2 : 1;
    const std::string text = text_of(program, is_shared);
    options.execution_order.order = rng.bernoulli(0.5) ? Order::kForward : Order::kReverse;
    const auto done =
        testing::run<std::uint32_t>(text, std::vector<std::uint32_t>(kWords), {{blocks}, {kThreadsPerBlock}}, options);
    const bool expected = has_race(program, blocks, is_shared);
    racing += expected ? 1 : 0;
    ASSERT_EQ(!done.result.findings.empty(), expected)
        << blocks << " blocks\n"
        << text << done.result.message << (done.result.findings.empty() ? "" : describe(done.result.findings[0]));
    for (const CheckFinding& finding : done.result.findings)
      EXPECT_TRUE(finding.kind == CheckFinding::Kind::kReadWriteRace ||
                  finding.kind == CheckFinding::Kind::kWriteWriteRace)
          << describe(finding);
  }
  EXPECT_GT(racing, kPrograms / 5);
  EXPECT_LT(racing, kPrograms * 4 / 5);
}

/// Each thread stores to its word, and after `between` loads the word of the thread `distance` threads further on, with
/// this modifier of both accesses. Two warps.
testing::TestRun<std::uint32_t> exchange(std::string_view modifier, std::uint32_t distance, std::string_view between) {
  LaunchOptions options;
  options.checks.reports_uninitialized = false;
  return testing::run<std::uint32_t>(
      testing::entry(fmt::format(".shared .align 4 .b8 words[256]; mov.u64 %rd1, words; mov.u32 %r1, %tid.x;"
                                 " mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; st{0}.shared.u32 [%rd2], %r1;"
                                 " {2} add.u32 %r7, %r1, {1}; and.b32 %r7, %r7, 63; mul.wide.u32 %rd2, %r7, 4;"
                                 " add.s64 %rd2, %rd1, %rd2; ld{0}.shared.u32 %r8, [%rd2];",
                                 modifier, distance, between)),
      std::vector<std::uint32_t>(1), {{1}, {64}}, options);
}

TEST(PtxRaceCheck, VolatileAccessesOfThreadsOfOneWarpAreNotOrderedWithoutSynchronization) {
  const auto done = exchange(".volatile", 1, "");
  ASSERT_EQ(done.result.findings.size(), 1U);
  EXPECT_EQ(done.result.findings[0].kind, CheckFinding::Kind::kReadWriteRace);
  EXPECT_TRUE(exchange(".volatile", 1, "bar.sync 0;").result.findings.empty());
  EXPECT_TRUE(exchange(".volatile", 0, "").result.findings.empty());
  // A thread may wait for a thread of another warp by reading a flag again and again, and ordered accesses are made for
  // such flags.
  EXPECT_TRUE(exchange(".volatile", 32, "").result.findings.empty());
  EXPECT_TRUE(exchange(".relaxed.cta", 1, "").result.findings.empty());
}

TEST(PtxRaceCheck, MessageStatesBarrierThatWouldOrderAccessesToSharedMemory) {
  const auto done = exchange("", 32, "");
  ASSERT_FALSE(done.result.findings.empty());
  CheckFinding finding = done.result.findings[0];
  finding.count = 1;
  EXPECT_THAT(describe(finding),
              ::testing::EndsWith(
                  "; __syncthreads(), or __syncwarp() within a warp, between the two accesses would order them"));
  finding.site.source_location.line = 19;
  finding.conflicting_access->source_location.line = 3;
  finding.conflicting_access->source_location.inlined_call_line = 16;
  EXPECT_THAT(describe(finding),
              ::testing::EndsWith("; __syncthreads(), or __syncwarp() within a warp, between source lines 16 and"
                                  " 19 would order the accesses"));
  finding.conflicting_access->is_pending_copy = true;
  EXPECT_THAT(describe(finding), ::testing::Not(::testing::HasSubstr("__syncthreads")));
  finding.conflicting_access->is_pending_copy = false;
  finding.space = Space::kGlobal;
  EXPECT_THAT(describe(finding), ::testing::Not(::testing::HasSubstr("__syncthreads")));
}

TEST(PtxRaceCheck, BarrierDoesNotOrderReadsOfOtherBlocks) {
  // All threads of both blocks read the word; after a barrier, the first thread of the second block writes it.
  const auto done = testing::run<std::uint32_t>(
      testing::entry(
          "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;"
          " ld.global.u32 %r3, [%rd1]; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 ret;"
          " setp.ne.u32 %p1, %r2, 1; @%p1 ret; st.global.u32 [%rd1], %r2;"),
      std::vector<std::uint32_t>(1), {{2}, {32}});
  ASSERT_EQ(done.result.findings.size(), 1U);
  EXPECT_EQ(done.result.findings[0].kind, CheckFinding::Kind::kReadWriteRace);
}

TEST(PtxRaceCheck, BarrierDoesNotMakeNonCoherentLoadsCoherent) {
  const auto done = testing::run<std::uint32_t>(
      testing::entry("ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;"
                     " ld.global.nc.u32 %r3, [%rd1]; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 ret;"
                     " st.global.u32 [%rd1], %r1;"),
      std::vector<std::uint32_t>(1), {{1}, {32}});
  ASSERT_EQ(done.result.findings.size(), 1U);
  EXPECT_EQ(done.result.findings[0].kind, CheckFinding::Kind::kNonCoherentRead);
}

/// Thread 0 sets a counter in shared memory to 0 by a plain store. After `between`, every thread whose index is below
/// `participant_count` adds to the counter twice, with `again` in between.
testing::TestRun<std::uint32_t> count_in_shared_memory(std::string_view between, std::uint32_t thread_count,
                                                       std::string_view again = "",
                                                       std::uint32_t participant_count = 1024) {
  return testing::run<std::uint32_t>(
      testing::entry(fmt::format(".shared .align 4 .b8 counter[4]; mov.u64 %rd1, counter; mov.u32 %r1, %tid.x;"
                                 " setp.ge.u32 %p2, %r1, {2}; @%p2 ret;"
                                 " setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; @%p1 st.shared.u32 [%rd1], %r2; {0}"
                                 " atom.shared.add.u32 %r3, [%rd1], 1; {1} atom.shared.add.u32 %r3, [%rd1], 1;",
                                 between, again, participant_count)),
      std::vector<std::uint32_t>(1), {{1}, {thread_count}});
}

constexpr std::string_view kSynchronizeWarp = "bar.warp.sync 0xffffffff;";

TEST(PtxRaceCheck, SynchronizationOfWarpOrdersStoreBeforeAtomics) {
  EXPECT_TRUE(count_in_shared_memory(kSynchronizeWarp, 32).result.findings.empty());
  EXPECT_TRUE(count_in_shared_memory(kSynchronizeWarp, 32, kSynchronizeWarp).result.findings.empty());
  const auto done = count_in_shared_memory("", 32);
  ASSERT_EQ(done.result.findings.size(), 1U);
  EXPECT_EQ(done.result.findings[0].kind, CheckFinding::Kind::kAtomicRace);
}

TEST(PtxRaceCheck, SynchronizationOfWarpDoesNotOrderStoreBeforeAtomicsOfOtherWarps) {
  const auto done = count_in_shared_memory(kSynchronizeWarp, 64);
  ASSERT_GE(done.result.findings.size(), 1U);
  EXPECT_EQ(done.result.findings[0].kind, CheckFinding::Kind::kAtomicRace);
  EXPECT_EQ(done.result.findings[0].site.thread.x, 32U);
  EXPECT_TRUE(count_in_shared_memory("bar.sync 0;", 64).result.findings.empty());
}

TEST(PtxRaceCheck, BarrierOfPartOfBlockOrdersStoreBeforeAtomics) {
  EXPECT_TRUE(count_in_shared_memory("bar.sync 1, 64;", 96, "", 64).result.findings.empty());
}

}  // namespace
}  // namespace assay::ptx
