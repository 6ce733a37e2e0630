#include "harness/compilers/stress_kernels.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"

namespace assay::compilers {
namespace {

constexpr std::uint64_t kKernels = 400;

TEST(StressKernels, AreValidKernels) {
  constexpr std::string_view kImport = "import warp as wp\n";
  for (std::uint64_t seed = 1; seed <= kKernels; ++seed) {
    const std::string text = stress_kernel(seed);
    ASSERT_TRUE(text.starts_with(kImport)) << seed;
    // Aborts with the error if the kernel is invalid.
    const harness::KernelSource source = harness::testing::kernel_of(text.substr(kImport.size()));
    EXPECT_EQ(source.module->kernels.size(), 1U) << seed;
  }
}

TEST(StressKernels, CoverEachListedLanguageFeature) {
  std::vector<std::string> texts;
  for (std::uint64_t seed = 1; seed <= kKernels; ++seed)
    texts.push_back(stress_kernel(seed));
  for (const std::string_view feature :
       {"elif v ", "elif (j + 1) % ", " and v ", "wp.uint8(", "k = k ^ j", "w[j % 4] = ", "t = t + s * v", "else:"}) {
    EXPECT_TRUE(std::ranges::any_of(texts, [&](const std::string& text) {
      return text.find(feature) != std::string::npos;
    })) << feature;
  }
}

TEST(StressKernels, DependOnlyOnTheSeed) {
  EXPECT_EQ(stress_kernel(7), stress_kernel(7));
  EXPECT_NE(stress_kernel(7).substr(200), stress_kernel(8).substr(200));
}

}  // namespace
}  // namespace assay::compilers
