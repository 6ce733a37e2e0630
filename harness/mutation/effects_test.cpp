#include <gtest/gtest.h>

#include "harness/mutation/analyses.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::mutation {
namespace {

/// By statement of the kernel with this body and parameters x, n and out: whether it has an effect; `dead` ones have
/// none.
std::vector<bool> effective(const std::string& body, std::set<std::size_t> dead = {}) {
  const auto source = harness::testing::kernel_of(
      "@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n" + body);
  const ir::Function& kernel = source.module->kernels[0];
  const std::vector<ListedStatement> statements = statements_of(kernel);
  std::vector<bool> flags(statements.size(), false);
  for (const std::size_t s : dead)
    flags[s] = true;
  return find_effective_statements(kernel, statements, flags);
}

TEST(EffectiveStatements, IncludeDefinitionsOfStoredValues) {
  EXPECT_EQ(effective("    a = x[i]\n    b = x[i] * 2.0\n    out[i] = a\n"), (std::vector<bool>{true, false, true}));
}

TEST(EffectiveStatements, IncludeEnclosingConditionsAndLoops) {
  const char* const body =
      "    s = float(0.0)\n    t = float(0.0)\n    for j in range(n):\n        t = t + 1.0\n        if t > 3.0:\n"
      "            s = x[i]\n    out[i] = s\n";
  EXPECT_EQ(effective(body), (std::vector<bool>{true, true, true, true, true, true, true}));
  const char* const idle = "    t = float(0.0)\n    for j in range(n):\n        t = t + 1.0\n    out[i] = x[i]\n";
  EXPECT_EQ(effective(idle), (std::vector<bool>{false, false, false, true}));
}

TEST(EffectiveStatements, ExcludeStoresToLocalArraysThatAreNeverRead) {
  const char* const body =
      "    a = wp.zeros(shape=(3,), dtype=float)\n    a[0] = x[i]\n    if n > 0:\n        out[i] = a[n]\n";
  EXPECT_EQ(effective(body), (std::vector<bool>{true, true, true, true}));
  EXPECT_EQ(effective(body, {3}), (std::vector<bool>{false, false, false, false})) << "nothing reads it";
}

}  // namespace
}  // namespace assay::mutation
