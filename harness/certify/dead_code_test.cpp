#include "harness/certify/dead_code.hpp"

#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"
#include "ir/visit.hpp"

namespace assay::certify {
namespace {

/// By statement of the kernel that the body makes of x, n and out: whether it is dead.
std::vector<bool> dead(const std::string& domain, const std::string& body) {
  const auto source = harness::testing::kernel_of(
      domain + "@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n" +
      body);
  const ir::Function& kernel = source.module->kernels[0];
  return dead_statements(KnownRanges(*source.module, kernel, kernel), statements_of(kernel));
}

TEST(DeadCode, IsWhatTheDomainExcludes) {
  const char* const body = "    if n + 2 <= 10:\n        out[i] = x[i]\n    else:\n        out[i] = 1.0\n";
  EXPECT_EQ(dead("# domain: 0 <= n <= 8\n", body), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(dead("# domain: 9 <= n <= 20\n", body), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(dead("# domain: 0 <= n <= 9\n", body), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(dead("", body), (std::vector<bool>{false, false, false})) << "n may be anything";
}

TEST(DeadCode, IsTheBodyOfALoopThatNeverRuns) {
  const char* const body = "    for j in range(n):\n        out[i] = x[i]\n";
  EXPECT_EQ(dead("# domain: -3 <= n <= 0\n", body), (std::vector<bool>{false, true}));
  EXPECT_EQ(dead("# domain: -3 <= n <= 1\n", body), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace assay::certify
