// Tests of warp-wide instructions against the manual's pseudo-code, and of instructions that return no result.
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"
#include "support/rng.hpp"

namespace assay::ptx::models {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;

/// The operands and results of a lane.
struct Lane {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t members = 0;  ///< the participating lanes; the others skip the instruction
  std::uint32_t result = 0;
  std::uint32_t predicate = 0;
};

/// Runs the instruction in every warp, one per block. %r10, %r11 and %r12 are a, b and c, %p10 is a != 0, %r13 is the
/// member mask; %r14 and %p14 are the results.
std::vector<Lane> run_warps(const std::string& instruction, const std::vector<Lane>& lanes) {
  const std::string body =
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 32, %r1;"
      " mul.wide.u32 %rd2, %r2, 24; add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+4];"
      " ld.global.u32 %r12, [%rd1+8]; ld.global.u32 %r13, [%rd1+12]; setp.ne.u32 %p10, %r10, 0; mov.b64 %rd10, {%r10, "
      "%r11};"
      " shr.u32 %r3, %r13, %r1; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra L;\n" +
      instruction + "\nselp.u32 %r15, 1, 0, %p14; st.global.u32 [%rd1+16], %r14; st.global.u32 [%rd1+20], %r15; L:";
  auto done = testing::run(testing::entry(body), lanes, {{static_cast<std::uint32_t>(lanes.size() / 32)}, {32}});
  EXPECT_TRUE(done.result.ok()) << instruction << ": " << done.result.message
                                << (done.result.findings.empty() ? "" : describe(done.result.findings[0]));
  return done.data;
}

/// `warps` warps whose lanes have random values below `values` and random members.
std::vector<Lane> random_lanes(std::size_t warps, std::uint32_t values) {
  Rng random(21);
  std::vector<Lane> lanes;
  for (std::size_t w = 0; w < warps; ++w) {
    const auto drawn = static_cast<std::uint32_t>(random.next());
    const std::uint32_t members = w % 3 == 0 ? kAll : drawn | 1U;
    const std::uint32_t below = w % 4 == 1 ? 1 : values;  // all lanes agree
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint64_t bits = random.next();
      lanes.push_back({static_cast<std::uint32_t>(bits) % below,
                       static_cast<std::uint32_t>(bits >> 32U) % 2 * (below - 1), 0, members});
    }
  }
  return lanes;
}

template <class Check>
void each_member(const std::vector<Lane>& lanes, Check check) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto lane = static_cast<std::uint32_t>(i % 32);
    if ((lanes[i].members >> lane & 1U) != 0) check(i, lane, std::span(lanes).subspan(i - lane, 32));
  }
}

TEST(WarpWideInstructions, ShufflesFollowPtxManual) {
  std::vector<Lane> lanes;
  for (const std::uint32_t segments : {0U, 16U, 24U, 28U, 30U, 31U}) {
    for (std::uint32_t clamp = 0; clamp < 32; clamp += clamp % 8 == 0 ? 7 : 1) {
      for (const std::uint32_t amount : {0U, 1U, 2U, 3U, 5U, 8U, 15U, 16U, 17U, 31U, 33U}) {
        for (std::uint32_t lane = 0; lane < 32; ++lane)
          lanes.push_back({lane * 0x01010101U, amount, segments << 8U | clamp, kAll});
      }
    }
  }
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    const auto got = run_warps(fmt::format("shfl.sync.{}.b32 %r14|%p14, %r10, %r11, %r12, -1;", mode), lanes);
    each_member(got, [&](std::size_t i, std::uint32_t lane, std::span<const Lane> warp) {
      const std::uint32_t amount = got[i].b & 31U;
      const std::uint32_t segments = got[i].c >> 8U & 31U;
      const std::uint32_t most = (lane & segments) | (got[i].c & 31U & ~segments);
      std::int64_t from = 0;
      bool inside = false;
      if (mode == "up") {
        from = std::int64_t{lane} - amount;
        inside = from >= std::int64_t{most};
      } else {
        from = mode == "down"   ? lane + amount
               : mode == "bfly" ? lane ^ amount
                                : (lane & segments) | (amount & ~segments);
        inside = from <= std::int64_t{most};
      }
      if (!inside) from = lane;
      ASSERT_EQ(got[i].result, warp[static_cast<std::size_t>(from)].a)
          << mode << " of " << got[i].b << ", " << got[i].c;
      ASSERT_EQ(got[i].predicate, std::uint32_t{inside}) << mode;
    });
  }
}

TEST(WarpWideInstructions, VotesFollowPtxManual) {
  const std::vector<Lane> lanes = random_lanes(200, 2);
  for (const std::string mode : {"all", "any", "uni", "ballot"}) {
    const auto got = run_warps(mode == "ballot" ? "vote.sync.ballot.b32 %r14, %p10, %r13;"
                                                : fmt::format("vote.sync.{}.pred %p14, %p10, %r13;", mode),
                               lanes);
    each_member(got, [&](std::size_t i, std::uint32_t, std::span<const Lane> warp) {
      std::uint32_t yes = 0;
      for (std::uint32_t other = 0; other < 32; ++other)
        yes |= std::uint32_t{warp[other].a != 0} << other;
      yes &= got[i].members;
      if (mode == "ballot") {
        ASSERT_EQ(got[i].result, yes);
        return;
      }
      const bool expected = mode == "any" ? yes != 0 : yes == got[i].members || (mode == "uni" && yes == 0);
      ASSERT_EQ(got[i].predicate, std::uint32_t{expected}) << mode;
    });
  }
}

TEST(WarpWideInstructions, MatchSyncFollowsPtxManual) {
  const std::vector<Lane> lanes = random_lanes(200, 3);
  for (const bool wide : {false, true}) {
    for (const bool all : {false, true}) {
      const auto got = run_warps(fmt::format("match.{}.sync.{} %r14{}, {}, %r13;", all ? "all" : "any",
                                             wide ? "b64" : "b32", all ? "|%p14" : "", wide ? "%rd10" : "%r10"),
                                 lanes);
      each_member(got, [&](std::size_t i, std::uint32_t lane, std::span<const Lane> warp) {
        std::uint32_t same = 0;
        for (std::uint32_t other = 0; other < 32; ++other)
          same |= std::uint32_t{warp[other].a == warp[lane].a && (!wide || warp[other].b == warp[lane].b)} << other;
        same &= got[i].members;
        const bool agree = same == got[i].members;
        ASSERT_EQ(got[i].result, !all || agree ? same : 0U);
        if (all) {
          ASSERT_EQ(got[i].predicate, std::uint32_t{agree});
        }
      });
    }
  }
}

TEST(WarpWideInstructions, ReductionsFollowPtxManual) {
  std::vector<Lane> lanes = random_lanes(100, kAll);
  for (const auto& [mode, type] : {std::pair<std::string, std::string>{"add", "u32"},
                                   {"add", "s32"},
                                   {"min", "u32"},
                                   {"min", "s32"},
                                   {"max", "u32"},
                                   {"max", "s32"},
                                   {"and", "b32"},
                                   {"or", "b32"},
                                   {"xor", "b32"}}) {
    const auto got = run_warps(fmt::format("redux.sync.{}.{} %r14, %r10, %r13;", mode, type), lanes);
    each_member(got, [&, mode = mode, type = type](std::size_t i, std::uint32_t, std::span<const Lane> warp) {
      const std::int64_t bias = type == "s32" ? 0x80000000 : 0;  // so that signed numbers are ordered as unsigned ones
      std::vector<std::uint32_t> values;
      for (std::uint32_t other = 0; other < 32; ++other) {
        if ((got[i].members >> other & 1U) != 0) values.push_back(warp[other].a);
      }
      std::uint32_t expected = values[0];
      for (const std::uint32_t value : std::span(values).subspan(1)) {
        const bool below = (value ^ bias) < (expected ^ bias);
        if (mode == "add") expected += value;
        if (mode == "and") expected &= value;
        if (mode == "or") expected |= value;
        if (mode == "xor") expected ^= value;
        if ((mode == "min" && below) || (mode == "max" && !below)) expected = value;
      }
      ASSERT_EQ(got[i].result, expected) << mode << type;
    });
  }
}

TEST(WarpWideInstructions, ReductionsOfFloatsFollowPtxManual) {
  std::vector<Lane> lanes = random_lanes(100, kAll);
  const std::vector<float> numbers = {1.5F, -2.25F, 0.0F, -0.0F, 1e30F, -1e30F, std::nanf(""), 7.0F};
  for (std::size_t i = 0; i < lanes.size(); ++i)
    lanes[i].a = std::bit_cast<std::uint32_t>(numbers[lanes[i].a % numbers.size()]);
  for (const std::string mode : {"min", "max", "min.abs", "max.abs", "min.NaN", "max.abs.NaN"}) {
    const auto got = run_warps(fmt::format("redux.sync.{}.f32 %r14, %r10, %r13;", mode), lanes);
    each_member(got, [&](std::size_t i, std::uint32_t, std::span<const Lane> warp) {
      // Numbers in the order of PTX, where -0 is less than +0.
      std::vector<std::pair<float, int>> values;
      bool has_nan = false;
      for (std::uint32_t other = 0; other < 32; ++other) {
        if ((got[i].members >> other & 1U) == 0) continue;
        auto value = std::bit_cast<float>(warp[other].a);
        if (mode.find(".abs") != std::string::npos) value = std::fabs(value);
        if (value != value) has_nan = true;
        else values.emplace_back(value, std::signbit(value) ? 0 : 1);
      }
      std::uint32_t expected = 0x7fffffff;
      if (!values.empty() && !(has_nan && mode.find(".NaN") != std::string::npos)) {
        const auto [least, greatest] = std::ranges::minmax_element(values);
        expected = std::bit_cast<std::uint32_t>(mode.starts_with("min") ? least->first : greatest->first);
      }
      ASSERT_EQ(got[i].result, expected) << mode;
    });
  }
}

TEST(WarpWideInstructions, ElectChoosesOneMember) {
  std::vector<Lane> lanes = random_lanes(50, 2);
  for (Lane& lane : lanes)
    lane.members = (lane.members & ~1U) | 4U;
  const auto got = run_warps("elect.sync %r14|%p14, %r13;", lanes);
  each_member(got, [&](std::size_t i, std::uint32_t lane, std::span<const Lane> warp) {
    ASSERT_LT(got[i].result, 32U);
    ASSERT_NE(got[i].members >> got[i].result & 1U, 0U) << "elected a lane that does not participate";
    ASSERT_EQ(got[i].result, warp[static_cast<std::size_t>(std::countr_zero(got[i].members))].result);
    ASSERT_EQ(got[i].predicate, std::uint32_t{got[i].result == lane});
  });
  const auto predicate_only = run_warps("elect.sync _|%p14, %r13;", random_lanes(1, 2));
  EXPECT_EQ(predicate_only[0].predicate, 1U);
}

TEST(WarpWideInstructions, ActiveMaskContainsActiveLanes) {
  const auto got = run_warps("activemask.b32 %r14;", random_lanes(50, 2));
  each_member(got,
              [&](std::size_t i, std::uint32_t, std::span<const Lane>) { ASSERT_EQ(got[i].result, got[i].members); });
}

TEST(WarpWideInstructions, BarrierReductionsCombineThreadsOfAllWarps) {
  std::vector<std::uint32_t> data(96);
  for (std::uint32_t i = 0; i < 96; ++i)
    data[i] = i % 5 == 0 ? 1 : 0;  // 20 of 96
  for (const std::string name : {"bar.red", "barrier.red"}) {
    const auto done = testing::run(
        testing::entry(
            "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;"
            " ld.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; " +
            name + ".popc.u32 %r3, 0, %p1; " + name + ".and.pred %p2, 0, %p1; " + name + ".or.pred %p3, 0, %p1; " +
            name +
            ".and.pred %p4, 0, !%p2; selp.u32 %r4, 1000, 0, %p2; selp.u32 %r5, 2000, 0, %p3;"
            " selp.u32 %r6, 4000, 0, %p4; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;"
            " st.global.u32 [%rd1], %r3;"),
        data, {{1}, {96}});
    ASSERT_TRUE(done.result.ok()) << done.result.message;
    EXPECT_THAT(done.data, ::testing::Each(6020U));
  }
}

TEST(WarpWideInstructions, ExitEndsThreadButFencesAndPrefetchesHaveNoEffect) {
  const auto done = testing::run<std::uint32_t>(
      testing::entry(
          "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;"
          " membar.gl; fence.acq_rel.gpu; fence.sc.sys; nanosleep.u32 5; prefetch.global.L1 [%rd1];"
          " prefetchu.L1 [%rd1]; setp.ge.u32 %p1, %r1, 16; @%p1 exit; st.global.u32 [%rd2], 7;"),
      std::vector<std::uint32_t>(32));
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_EQ(done.data[i], i < 16 ? 7U : 0U);
}

TEST(WarpWideInstructions, TrapStopsLaunch) {
  const auto done = testing::run<std::uint32_t>(testing::entry("trap;"), std::vector<std::uint32_t>(1));
  EXPECT_EQ(done.result.status, RunResult::Status::kTrapped);
  EXPECT_THAT(done.result.message, ::testing::HasSubstr("trap"));
}

}  // namespace
}  // namespace assay::ptx::models
