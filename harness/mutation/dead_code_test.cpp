#include "harness/mutation/dead_code.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"
#include "ir/transforms/adjoint.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {
namespace {

/// By statement of the kernel with this body and parameters x, n and out: whether it is dead.
std::vector<bool> dead(const std::string& domain, const std::string& body) {
  const auto source = harness::testing::kernel_of(
      domain + "@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n" +
      body);
  const ir::Function& kernel = source.module->kernels[0];
  return dead_statements(KnownRanges(*source.module, kernel, kernel), statements_of(kernel));
}

TEST(DeadCode, FindsBranchExcludedByDomainAnnotation) {
  const char* const body = "    if n + 2 <= 10:\n        out[i] = x[i]\n    else:\n        out[i] = 1.0\n";
  EXPECT_EQ(dead("# domain: 0 <= n <= 8\n", body), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(dead("# domain: 9 <= n <= 20\n", body), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(dead("# domain: 0 <= n <= 9\n", body), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(dead("", body), (std::vector<bool>{false, false, false})) << "n may be anything";
}

TEST(DeadCode, FindsBranchExcludedByAnnotatedThreadCount) {
  const char* const body = "    if i < 4:\n        out[i] = x[i]\n    else:\n        out[i] = 1.0\n";
  EXPECT_EQ(dead("# launch: (4)\n", body), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(dead("# launch: (5)\n", body), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(dead("# launch: (n)\n", body), (std::vector<bool>{false, false, false}));
}

TEST(DeadCode, FindsBodyOfLoopThatNeverRuns) {
  const char* const body = "    for j in range(n):\n        out[i] = x[i]\n";
  EXPECT_EQ(dead("# domain: -3 <= n <= 0\n", body), (std::vector<bool>{false, true}));
  EXPECT_EQ(dead("# domain: -3 <= n <= 1\n", body), (std::vector<bool>{false, false}));
}

TEST(DeadCode, FindsCodeExcludedByBoundOnTripCount) {
  const auto body = [](const std::string& most) {
    return "    s = x[i]\n    trips = int(0)\n    while s > 0.5 and trips < " + most +
           ":\n        s = wp.sin(s)\n        trips += 1\n    out[i] = s\n";
  };
  const auto has_dead_code = [&](const std::string& most) {
    const auto source = harness::testing::kernel_of(
        "@wp.kernel\ndef k(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n    i = wp.tid()\n" + body(most));
    // The adjoint recomputes the states of a loop with more trips than checkpoints.
    const transforms::AdjointModule adjoint =
        transforms::make_adjoint(*source.module, source.module->kernels[0]).take();
    const ir::Function& backward = adjoint.module.kernels[0];
    const std::vector<ListedStatement> statements = statements_of(backward);
    const KnownRanges ranges(adjoint.module, source.module->kernels[0], backward);
    const std::vector<bool> dead = dead_statements(ranges, statements);
    return std::ranges::count(dead, true) > 0;
  };
  EXPECT_TRUE(has_dead_code("9"));
  EXPECT_FALSE(has_dead_code("1000"));
}

TEST(DeadCode, FindsBranchExcludedByRangeOfRemainder) {
  const char* const cycle =
      "    length = int(1)\n    for j in range(n):\n        length = (length + 2) % 5\n    if length > 4:\n"
      "        out[i] = x[i]\n";
  EXPECT_EQ(dead("", cycle), (std::vector<bool>{false, false, false, false, true}));
  const char* const sum =
      "    length = int(1)\n    for j in range(n):\n        length = length + 2\n    if length > 4:\n"
      "        out[i] = x[i]\n";
  EXPECT_EQ(dead("# domain: 0 <= n <= 1\n", sum), (std::vector<bool>(5, false))) << "it grows without end";
}

}  // namespace
}  // namespace assay::mutation
