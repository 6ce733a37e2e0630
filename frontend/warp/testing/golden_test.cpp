// The assertions for each golden case; the cases are in read_*_test.cpp.
#include "frontend/warp/testing/golden.hpp"

#include <algorithm>

namespace assay::frontend::testing {

TEST_P(GoldenKernelTest, ParsesToExpectedModule) {
  const Golden& golden = GetParam();
  const std::string source = kernel(golden.parameters, golden.body.substr(1), golden.above.substr(1));
  const ParsedFile file = read(source);
  EXPECT_EQ(to_text(file.module), golden.module.substr(1)) << source << messages(file);
  EXPECT_TRUE(std::none_of(file.diagnostics.begin(), file.diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError;
  })) << messages(file);
}

}  // namespace assay::frontend::testing
