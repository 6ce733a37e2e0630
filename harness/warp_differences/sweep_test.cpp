// Compares every operation and library function with Warp over edge values.
#include "harness/warp_differences/sweep.hpp"

#include <chrono>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "harness/warp_differences/signatures.hpp"
#include "harness/warp_differences/sweep_rules.hpp"

namespace assay::warp {
namespace {

constexpr std::size_t kMostListed = 40;

/// The sweep and its comparison, shared by all tests.
class WarpOperationComparison : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<WarpInterpreter> interpreter = find_interpreter();
    if (!interpreter.ok()) {
      skip_ = interpreter.error().text();
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    Result<EdgeValueSweep> sweep = make_sweep(swept_calls());
    ASSERT_TRUE(sweep.ok()) << sweep.error().text();
    sweep_ = sweep.take();
    const Result<WarpResults> answers = run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, sweep_.kernels);
    ASSERT_TRUE(answers.ok()) << answers.error().text();
    comparison_ = compare_sweep(sweep_, *answers);
    for (const SweptDifference& difference : comparison_.differences) {
      const AllowedDifferenceRule* const rule = sweep_rule(difference);
      if (rule != nullptr) ++explained_[rule->name];
      else unexplained_.push_back(describe(difference));
    }
    print_counts(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  static void TearDownTestSuite() {
    sweep_ = {};
    comparison_ = {};
  }
  void SetUp() override {
    if (!skip_.empty()) GTEST_SKIP() << skip_;
    ASSERT_GT(comparison_.executed_kernel_count, 0U);
  }

  static void print_counts(double seconds) {
    fmt::print("{} operations and functions with {} combinations of types, {} tuples of values in {:.0f} s\n",
               operations().size(), comparison_.executed_kernel_count, comparison_.compared_tuples, seconds);
    fmt::print("{} scalars compared, {} with infinite bound\n", comparison_.compared_scalars,
               comparison_.unbounded_scalars);
    for (const auto& [reason, count] : sweep_.omitted_tuples_by_reason)
      fmt::print("left out, {}: {} tuples\n", reason, count);
    for (const auto& [rule, count] : explained_)
      fmt::print("exception, {}: {} scalars\n", rule, count);
    for (const auto& [rule, count] : comparison_.rejections_by_rule)
      fmt::print("only in Assay, {}: {} combinations of types\n", rule, count);
  }
  static std::map<std::string, int> operations() {
    std::map<std::string, int> counts;
    for (const SweptCall& call : sweep_.calls)
      ++counts[call.operation_name];
    return counts;
  }
  static std::string listed(const std::vector<std::string>& lines) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(lines.size(), kMostListed));
    return fmt::format("{} in all:\n{}", lines.size(), fmt::join(lines.begin(), lines.begin() + count, "\n"));
  }

  inline static std::string skip_;
  inline static EdgeValueSweep sweep_;
  inline static SweepComparison comparison_;
  inline static std::map<std::string_view, std::size_t> explained_;
  inline static std::vector<std::string> unexplained_;
};

TEST_F(WarpOperationComparison, EveryDifferenceFromWarpIsExplainedByARule) {
  EXPECT_TRUE(unexplained_.empty()) << listed(unexplained_);
}

TEST_F(WarpOperationComparison, EveryRuleExplainsADifferenceFromWarp) {
  for (const AllowedDifferenceRule& rule : sweep_rules())
    EXPECT_GT(explained_[rule.name], 0U) << rule.name;
  for (const ExtensionRule& rule : extension_rules())
    EXPECT_GT(comparison_.rejections_by_rule[rule.name], 0U) << rule.name;
}

TEST_F(WarpOperationComparison, WarpRunsEveryComparedKernel) {
  EXPECT_TRUE(comparison_.unexplained_outcomes.empty()) << listed(comparison_.unexplained_outcomes);
}

TEST_F(WarpOperationComparison, AssayParsesEveryComparedKernel) {
  EXPECT_TRUE(sweep_.rejected_call_messages.empty()) << listed(sweep_.rejected_call_messages);
}

}  // namespace
}  // namespace assay::warp
