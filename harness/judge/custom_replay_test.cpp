// The check custom_replay.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using testing::CpuRun;
using ::testing::HasSubstr;
using testing::summary;

/// A kernel whose threads count in elements of their own and note the previous count in `seen`, with this body of the
/// replay.
std::string kernel_with_replay(const std::string& replay, const std::string& domain) {
  return R"(
@wp.func
def count(counter: wp.array(dtype=int), i: int, seen: wp.array(dtype=int), place: int):
    previous = wp.atomic_add(counter, i, 1)
    if place < seen.shape[0]:
        seen[place] = previous
    return previous

@wp.func_replay(count)
def count_again(counter: wp.array(dtype=int), i: int, seen: wp.array(dtype=int), place: int):
)" + replay +
         "\n# domain: 1 <= counter <= 8\n" + domain + R"(
@wp.kernel
def k(x: wp.array(dtype=float), first: int, counter: wp.array(dtype=int), seen: wp.array(dtype=int),
      out: wp.array(dtype=float)):
    i = wp.tid()
    factor = count(counter, i, seen, first + i)
    out[i] = float(factor) * x[i] * x[i]
)";
}

constexpr const char* kNoted = "    if place < seen.shape[0]:\n        return seen[place]\n    return -1\n";
constexpr const char* kWrong = "    return seen[place] + 1\n";

TEST(CustomReplay, PassesIfItReturnsWhatTheFunctionReturned) {
  const CpuRun run({{.name = "noted", .python = kernel_with_replay(kNoted, "# domain: 0 <= first <= 0")}});
  EXPECT_EQ(run.forward("noted").outcome, Outcome::pass) << summary(run.forward("noted"));
  EXPECT_EQ(run.backward("noted").outcome, Outcome::pass) << summary(run.backward("noted"));
}

TEST(CustomReplay, IsReportedIfItReturnsAnotherValue) {
  const CpuRun run({{.name = "wrong", .python = kernel_with_replay(kWrong, "# domain: 0 <= first <= 0")}});
  EXPECT_EQ(run.forward("wrong").outcome, Outcome::pass) << summary(run.forward("wrong"));
  EXPECT_EQ(run.backward("wrong").outcome, Outcome::inconclusive) << summary(run.backward("wrong"));
  EXPECT_EQ(run.backward("wrong").outcome_detail, "custom_replay");
  EXPECT_THAT(run.backward("wrong").message, HasSubstr("with the replay of 'count' (line 11), the gradient of x["));
}

/// Some threads find no place for their count.
TEST(CustomReplay, IsReportedIfItIsInvalidForSomeInputs) {
  const CpuRun run({{.name = "short", .python = kernel_with_replay(kNoted, "# domain: 0 <= first <= 1")}});
  EXPECT_EQ(run.forward("short").outcome, Outcome::pass) << summary(run.forward("short"));
  EXPECT_EQ(run.backward("short").outcome_detail, "custom_replay") << summary(run.backward("short"));
  EXPECT_THAT(run.backward("short").message, HasSubstr("state the valid inputs of 'short'"));
}

}  // namespace
}  // namespace assay::harness
