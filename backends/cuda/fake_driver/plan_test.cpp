#include "backends/cuda/fake_driver/plan.hpp"

#include <gtest/gtest.h>

namespace assay::cuda::fake {
namespace {

TEST(Plan, WorksUnlessToldOtherwise) {
  Plan plan = Plan::parse("").take();
  EXPECT_EQ(plan.gpus(), 1);
  EXPECT_EQ(plan.next("cuInit").action, Action::kWork);
}

TEST(Plan, CountsEachFunctionsCalls) {
  Plan plan = Plan::parse("memory=64M; gpus=2;cuMemAlloc_v2@2=2; cuLaunchKernel@1=hang;").take();
  EXPECT_EQ(plan.memory_bytes(), std::size_t{64} << 20U);
  EXPECT_EQ(plan.gpus(), 2);
  EXPECT_EQ(plan.next("cuMemAlloc_v2").action, Action::kWork);
  EXPECT_EQ(plan.next("cuLaunchKernel").action, Action::kHang);
  const Step step = plan.next("cuMemAlloc_v2");
  EXPECT_EQ(step.action, Action::kFail);
  EXPECT_EQ(step.result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(plan.next("cuMemAlloc_v2").action, Action::kWork);
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"memory=many", "gpus=", "cuInit=1", "cuInit@x=1", "cuInit@1=explode"}) {
    const Result<Plan> plan = Plan::parse(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_EQ(plan.error().where, "ASSAY_FAKE_GPU");
    EXPECT_NE(plan.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::cuda::fake
