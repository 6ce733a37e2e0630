#include "backends/ptx/lower/guess_loads.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::run;

/// Number of guesses among the loads of the kernel "k".
std::size_t guess_count(const std::string& text) {
  const Result<Module> module = parse(text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return 0;
  }
  return find_guess_loads(*module.value().find_entry("k")).size();
}

/// Every thread adds its index plus 1 to the word at `x` by a loop of compare-and-swaps. %r2: the index plus 1; %r3:
/// the guess; %r4: the sum; %r5: the result.
std::string loop(std::string_view load, std::string_view body, std::string_view after = "") {
  return entry(
      fmt::format("ld.param.u64 %rd9, [p0]; cvta.to.global.u64 %rd1, %rd9; mov.u32 %r1, %tid.x;"
                  " add.u32 %r2, %r1, 1; {}\nL: {}\n {}",
                  load, body, after));
}

constexpr std::string_view kPlain = "ld.global.u32 %r3, [%rd1];";
constexpr std::string_view kAdd =
    "add.u32 %r4, %r3, %r2; atom.global.cas.b32 %r5, [%rd1], %r3, %r4; setp.ne.s32 %p1, %r3, %r5; mov.u32 %r3, %r5;"
    " @%p1 bra L;";

TEST(GuessLoads, LoopOfProgrammingGuideIsNoRace) {
  const std::string text = loop(kPlain, kAdd);
  EXPECT_EQ(guess_count(text), 1U);
  const auto done = run<std::uint32_t>(text, std::vector<std::uint32_t>(1), {{2}, {64}});
  EXPECT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_TRUE(done.result.findings.empty()) << describe(done.result.findings[0]);
  EXPECT_EQ(done.data[0], 2U * 64 * 65 / 2);
}

/// A variable in shared memory, which one thread sets to zero before a barrier.
std::string shared_loop(std::string_view body) {
  return entry(
      ".shared .align 8 .b8 m[8]; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; setp.ne.u32 %p2, %r1, 0;"
      " mov.u64 %rd2, 0; @%p2 bra S; st.shared.u64 [m], %rd2; S: bar.sync 0;\n" +
      std::string(body) +
      "\nbar.sync 0; @%p2 ret; ld.param.u64 %rd1, [p0]; ld.shared.u32 %r6, [m+4]; st.global.u32 [%rd1], %r6;");
}

TEST(GuessLoads, WordsOfSharedMemoryOf16And32And64BitsAreFound) {
  const std::string_view bodies[] = {
      "ld.shared.u32 %r3, [m+4]; L: add.u32 %r4, %r3, %r2; mov.u32 %r7, m; atom.shared.cas.b32 %r5, [%r7+4], %r3, %r4;"
      " setp.eq.s32 %p1, %r5, %r3; mov.b32 %r3, %r5; @!%p1 bra L;",
      "ld.shared.u64 %rd3, [m]; L: mov.b64 %fd1, %rd3; cvt.u64.u32 %rd6, %r2; shl.b64 %rd6, %rd6, 32;"
      " add.u64 %rd4, %rd3, %rd6; mov.u32 %r7, m; atom.shared.cas.b64 %rd5, [%r7], %rd3, %rd4;"
      " setp.ne.s64 %p1, %rd3, %rd5; mov.b64 %rd3, %rd5; @%p1 bra L;",
      "cvt.u16.u32 %rs2, %r2; ld.shared.u16 %rs3, [m+4]; L: add.u16 %rs4, %rs3, %rs2; mov.u32 %r7, m;"
      " atom.shared.cas.b16 %rs5, [%r7+4], %rs3, %rs4; setp.ne.s16 %p1, %rs3, %rs5; mov.u16 %rs3, %rs5; @%p1 bra L;",
      // 16 bits in a word of 32 bits. The address of the load is generic.
      "mov.u64 %rd7, m; cvta.shared.u64 %rd5, %rd7; add.s64 %rd6, %rd7, 4; ld.u32 %r3, [%rd5+4];"
      " L: and.b32 %r8, %r3, -65536; add.u32 %r9, %r3, %r2; and.b32 %r9, %r9, 65535; or.b32 %r4, %r8, %r9;"
      " atom.shared.cas.b32 %r5, [%rd6], %r3, %r4; setp.ne.s32 %p1, %r3, %r5; mov.u32 %r3, %r5; @%p1 bra L;",
  };
  for (const std::string_view body : bodies) {
    const std::string text = shared_loop(body);
    EXPECT_EQ(guess_count(text), 1U) << body;
    const auto done = run<std::uint32_t>(text, std::vector<std::uint32_t>(1), {{1}, {64}});
    EXPECT_TRUE(done.result.ok()) << done.result.message;
    EXPECT_TRUE(done.result.findings.empty()) << body << describe(done.result.findings[0]);
    EXPECT_EQ(done.data[0], 64U * 65 / 2) << body;
  }
}

TEST(GuessLoads, LoopThatReturnsTheOldValueOrStopsEarlyIsFound) {
  // The old value that the loop returns is in the register of the guess.
  constexpr std::string_view kReturned =
      "add.u32 %r4, %r3, %r2; atom.global.cas.b32 %r5, [%rd1], %r3, %r4; setp.eq.s32 %p1, %r3, %r5; @%p1 bra M;"
      " mov.u32 %r3, %r5; bra L; M: st.global.u32 [%rd1+4], %r3;";
  EXPECT_EQ(guess_count(loop(kPlain, kReturned)), 1U);
  // A maximum of floats, whose guess is a float.
  constexpr std::string_view kMaximum =
      "setp.leu.f32 %p2, %f1, %f2; @%p2 bra M; mov.b32 %r3, %f2; mov.b32 %r4, %f1;"
      " atom.global.cas.b32 %r5, [%rd1], %r3, %r4; setp.ne.s32 %p1, %r5, %r3; mov.b32 %f2, %r5; @%p1 bra L; M:";
  EXPECT_EQ(guess_count(loop("cvt.rn.f32.u32 %f1, %r2; ld.global.f32 %f2, [%rd1];", kMaximum)), 1U);
}

TEST(GuessLoads, LoadWithAnotherUseIsARace) {
  constexpr std::string_view kSwap = "add.u32 %r4, %r3, %r2; atom.global.cas.b32 %r5, [%rd1], %r3, %r4;";
  const std::pair<std::string_view, std::string> cases[] = {
      {"no loop", std::string(kSwap) + " st.global.u32 [%rd1+4], %r3;"},
      {"the new value is the guess of another iteration",
       "mov.u32 %r6, %r3; M: add.u32 %r4, %r6, %r2; atom.global.cas.b32 %r5, [%rd1], %r3, %r4;"
       " setp.ne.s32 %p1, %r3, %r5; mov.u32 %r3, %r5; @%p1 bra M;"},
      {"the guess is stored before the loop", "st.global.u32 [%rd1+4], %r3; M: " + std::string(kSwap) +
                                                  " setp.ne.s32 %p1, %r3, %r5; mov.u32 %r3, %r5; @%p1 bra M;"},
      {"the guess is stored after a failure",
       std::string(kSwap) + " setp.eq.s32 %p1, %r3, %r5; @%p1 bra M; st.global.u32 [%rd1+4], %r3; M:"},
      {"only the new value depends on it", "add.u32 %r4, %r3, %r2; atom.global.cas.b32 %r5, [%rd1], 0, %r4;"},
      {"only a branch depends on it",
       "setp.ne.u32 %p1, %r3, 0; @%p1 bra M; atom.global.cas.b32 %r5, [%rd1], 0, %r2; M:"},
      {"the compared value is computed",
       "add.u32 %r4, %r3, %r2; sub.u32 %r6, %r4, %r2; atom.global.cas.b32 %r5, [%rd1], %r6, %r4;"},
      {"a predicated store depends on it",
       std::string(kSwap) + " setp.eq.s32 %p1, %r3, 7; @%p1 st.global.u32 [%rd1+4], %r2;"},
      {"the word of another address", "add.u32 %r4, %r3, %r2; atom.global.cas.b32 %r5, [%rd1+4], %r3, %r4;"},
      {"the address changes", "add.u64 %rd1, %rd1, 4; " + std::string(kSwap)},
      {"it selects an address",
       "mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd1, %rd3; ld.global.u32 %r7, [%rd3];" + std::string(kSwap)},
  };
  for (const auto& [name, body] : cases)
    EXPECT_EQ(guess_count(loop(kPlain, body)), 0U) << name;
  EXPECT_EQ(guess_count(loop("ld.global.u16 %r3, [%rd1];", kAdd)), 0U) << "another width";

  const auto done = run<std::uint32_t>(loop(kPlain, cases[0].second), std::vector<std::uint32_t>(2), {{1}, {64}});
  ASSERT_FALSE(done.result.findings.empty());
  EXPECT_EQ(done.result.findings[0].kind, CheckFinding::Kind::kAtomicRace);
}

TEST(GuessLoads, PlainStoreStillRacesWithGuess) {
  const std::string text = loop("setp.eq.u32 %p2, %r1, 40; @%p2 st.global.u32 [%rd1], 5; " + std::string(kPlain), kAdd);
  EXPECT_EQ(guess_count(text), 1U);
  EXPECT_FALSE(run<std::uint32_t>(text, std::vector<std::uint32_t>(1), {{1}, {64}}).result.findings.empty());
}

}  // namespace
}  // namespace assay::ptx
