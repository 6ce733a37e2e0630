#include "backends/cuda/nvrtc/same_code.hpp"

#include <gtest/gtest.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"

namespace assay::cuda {
namespace {

backends::EmittedKernel kernel(const std::string& expression) {
  backends::EmittedKernel made;
  made.name = "scale";
  made.body = "extern \"C\" __global__ void scale(float* x) { x[threadIdx.x] = " + expression + "; }\n";
  return made;
}

TEST(SameCompiledCode, IgnoresTextualDifferences) {
  if (const auto nvrtc = Nvrtc::load(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.error().text();
  const auto twice = kernel("2.0f * x[threadIdx.x]");
  const Result<bool> same = same_compiled_code(twice, kernel("x[threadIdx.x] * 2.0f + (false ? 1.0f : -0.0f)"));
  ASSERT_TRUE(same.ok()) << same.error().text();
  EXPECT_TRUE(*same);
  EXPECT_FALSE(*same_compiled_code(twice, kernel("2.0001f * x[threadIdx.x]")));
  EXPECT_FALSE(same_compiled_code(twice, kernel("no_such_thing")).ok());
}

}  // namespace
}  // namespace assay::cuda
