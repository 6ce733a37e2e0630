// Reduces the gradient that NVRTC 12.9 to 13.2 compile incorrectly for compute_100.
#include "harness/compilers/cuda_reduction.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "harness/suite/emission.hpp"

namespace assay::compilers {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWrongVersion = "13.0.88";

/// The emitted backward pass of the kernel, whose compiler is the first one that is installed.
MiscompiledCuda four_arms() {
  const auto kernel = harness::load_kernel(ASSAY_SOURCE_DIR "/conformance/cases/loop/four_arms.py:four_arms", true);
  EXPECT_TRUE(kernel.ok());
  const auto emitted = harness::emit_source(*kernel, backends::SourceTarget::kCuda);
  EXPECT_TRUE(emitted.ok());
  return {.source = emitted->source(),
          .function_name = "four_arms_backward",
          .incorrect_build = {.nvrtc_version_or_path = kWrongVersion, .architecture = "compute_100"},
          .reference_builds = {{.nvrtc_version_or_path = kWrongVersion, .architecture = "compute_75"}}};
}

class CudaReductionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::Nvrtc::load(kWrongVersion).ok()) GTEST_SKIP() << "NVRTC " << kWrongVersion << " is not installed";
  }
};

TEST_F(CudaReductionTest, ReducesMiscompiledKernelToFewLines) {
  const auto reduced = reduce_cuda(four_arms(), std::chrono::minutes(4), 2);
  ASSERT_TRUE(reduced.ok()) << reduced.error().text();
  EXPECT_LE(reduced->line_count, 25U) << reduced->source;
  EXPECT_NE(reduced->incorrect_ptx, reduced->correct_ptx);
  EXPECT_THAT(reduced->result_difference, HasSubstr(" and must be "));
}

TEST_F(CudaReductionTest, StopsAtTheTimeLimit) {
  const auto reduced = reduce_cuda(four_arms(), std::chrono::seconds(3), 2);
  ASSERT_TRUE(reduced.ok()) << reduced.error().text();
  EXPECT_FALSE(reduced->is_minimal);
  EXPECT_GT(reduced->line_count, 25U);
}

TEST_F(CudaReductionTest, RejectsCorrectlyCompiledKernel) {
  MiscompiledCuda failure = four_arms();
  failure.incorrect_build.architecture = "compute_90";
  const auto reduced = reduce_cuda(failure, std::chrono::seconds(10), 2);
  ASSERT_FALSE(reduced.ok());
  EXPECT_EQ(reduced.error().text(), "the incorrect result cannot be reproduced with the inputs of a single thread");
}

TEST_F(CudaReductionTest, RejectsParametersThatAreNotNumbersOrArraysOfNumbers) {
  MiscompiledCuda failure = four_arms();
  failure.source = "extern \"C\" __global__ void k(long long count, Array<vec3, 1> x) {}";
  failure.function_name = "k";
  const auto reduced = reduce_cuda(failure, std::chrono::seconds(10), 2);
  ASSERT_FALSE(reduced.ok());
  EXPECT_THAT(reduced.error().text(), HasSubstr("must be a number or a one-dimensional array of numbers"));
}

}  // namespace
}  // namespace assay::compilers
