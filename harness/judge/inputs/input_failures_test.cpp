// What InputSpace reports if it finds no inputs for which a kernel is well defined.
#include <string>
#include <variant>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/inputs/testing/drawn_inputs.hpp"

namespace assay::harness {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Space;

TEST(InputSpace, IndexBeyondLargestDrawnArrayIsNoDefect) {
  const auto none_for = [](const std::string& index) {
    Space space(
        "\n@wp.kernel\ndef far(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n    i = wp.tid()\n"
        "    out[i] = x[" +
        index + "]\n");
    return space.none();
  };
  for (const char* index : {"i + 900000", "i - 900000"}) {
    const InputDrawFailure none = none_for(index);
    EXPECT_FALSE(none.is_defect()) << index;
    EXPECT_THAT(none.message, HasSubstr("at most 131072 elements")) << index;
  }
  // No array of Warp has so many elements.
  EXPECT_TRUE(none_for("wp.int64(i) + wp.int64(4294967295)").is_defect());
}

TEST(InputSpace, ReportsUnavoidableRaceAsDefect) {
  Space space(R"(
@wp.kernel
def race(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[0] = x[i]
)");
  const InputDrawFailure none = space.none();
  EXPECT_EQ(none.reason, InputDrawFailure::Reason::kRace);
  EXPECT_TRUE(none.is_defect());
  ASSERT_TRUE(none.finding.has_value());
  EXPECT_EQ(none.finding->loc.line, 6);
  EXPECT_NE(none.finding->thread, none.finding->earlier_thread);
  EXPECT_GE(none.finding->earlier_thread, 0);
  EXPECT_THAT(none.message, AllOf(HasSubstr("out"), HasSubstr("6")));
}

TEST(InputSpace, ReportsIndexThatIsAlwaysBehindTheEndAsDefect) {
  Space space(R"(
@wp.kernel
def total(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(x.shape[0] + 1):
        s += x[k]
    out[i] = s
)");
  const InputDrawFailure none = space.none();
  EXPECT_EQ(none.reason, InputDrawFailure::Reason::kOutOfBounds);
  EXPECT_THAT(none.message, HasSubstr("line 8: index out of bounds: x["));
}

TEST(InputSpace, SearchThatFindsNoValueIsNoDefect) {
  Space space(R"(
@wp.kernel
def search(x: wp.array(dtype=float), limit: float, out: wp.array(dtype=int)):
    i = wp.tid()
    k = int(0)
    while x[k] < limit + 1000.0:
        k += 1
    out[i] = k
)");
  EXPECT_EQ(space.none().reason, InputDrawFailure::Reason::kNoDomain);
}

TEST(InputSpace, ReportsUnavoidableOutOfBoundsIndexAsDefect) {
  Space space(R"(
@wp.kernel
def before(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.vec2(x[i], 1.0)
    out[i] = v[i + 2]
)");
  const InputDrawFailure none = space.none();
  EXPECT_EQ(none.reason, InputDrawFailure::Reason::kOutOfBounds);
  ASSERT_TRUE(none.finding.has_value());
  EXPECT_EQ(none.finding->loc.line, 7);
  EXPECT_THAT(none.finding->index, ElementsAre(2));
  EXPECT_THAT(none.message, AllOf(HasSubstr("[2] of shape (2)"), HasSubstr("7")));
}

// Whether two threads write one element depends on the values, so that other inputs may be valid.
TEST(InputSpace, DoesNotReportValueDependentRaceAsDefect) {
  Space space(R"(
@wp.kernel
def bins(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[int(wp.abs(x[i]) * 7.0) % 2] = x[i]
)");
  const InputDrawFailure none = space.none();
  EXPECT_EQ(none.reason, InputDrawFailure::Reason::kDifferentThreadOrder);
  EXPECT_FALSE(none.is_defect());
}

constexpr const char* kEndless = R"(
@wp.kernel
def endless(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(1.0)
    while s > 0.0:
        s = s + 1.0
    out[i] = s * x[i]
)";

TEST(InputSpace, ReportsEndlessLoopAsReasonForMissingInputs) {
  Space space(kEndless);
  auto drawn = space.draw({.seed = 1, .size = 3, .instruction_budget = 10'000});
  ASSERT_TRUE(std::holds_alternative<InputDrawFailure>(drawn));
  EXPECT_EQ(std::get<InputDrawFailure>(drawn).reason, InputDrawFailure::Reason::kNoDomain);
  EXPECT_EQ(std::get<InputDrawFailure>(drawn).finding->kind, reference::Finding::Kind::kInstructionLimit);
}

// Each attempt takes as long as judging a kernel.
TEST(InputSpace, GivesUpOnEndlessLoopAfterThreeAttempts) {
  Space space(kEndless);
  int tries = 0;
  const auto drawn =
      space.space().draw({.seed = 1, .size = 3, .instruction_budget = 10'000}, [&](reference::OracleRun&) { ++tries; });
  EXPECT_TRUE(std::holds_alternative<InputDrawFailure>(drawn));
  EXPECT_EQ(tries, 3);
}

// A short kernel gets many attempts, a long one only some million instructions.
TEST(InputSpace, GivesUpEarlyOnLongKernelWithoutValidInputs) {
  const auto tries_of = [](int trips) {
    Space space(fmt::format(R"(
@wp.kernel
def before(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    v = wp.vec2(x[i], 1.0)
    for j in range({}):
        s = s + x[i]
    out[i] = s * v[i + 2]
)",
                            trips));
    int tries = 0;
    const auto drawn = space.space().draw({.seed = 1, .size = 3}, [&](reference::OracleRun&) { ++tries; });
    EXPECT_TRUE(std::holds_alternative<InputDrawFailure>(drawn));
    return tries;
  };
  EXPECT_EQ(tries_of(2), 24);
  EXPECT_LE(tries_of(200'000), 12);
}

}  // namespace
}  // namespace assay::harness
