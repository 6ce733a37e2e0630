#include "backends/cuda/fake_driver/plan.hpp"

#include <gtest/gtest.h>

namespace assay::cuda::fake {
namespace {

TEST(FakeDriverScript, EmptyScriptInjectsNoFailure) {
  DriverScript plan = DriverScript::parse("").take();
  EXPECT_EQ(plan.gpus(), 1);
  EXPECT_EQ(plan.next("cuInit").action, FakeCallAction::kSucceed);
}

TEST(FakeDriverScript, RuleAffectsOnlyNthCallOfItsFunction) {
  DriverScript plan = DriverScript::parse("memory=64M; gpus=2;cuMemAlloc_v2@2=2; cuLaunchKernel@1=hang;").take();
  EXPECT_EQ(plan.memory_bytes(), std::size_t{64} << 20U);
  EXPECT_EQ(plan.gpus(), 2);
  EXPECT_EQ(plan.next("cuMemAlloc_v2").action, FakeCallAction::kSucceed);
  EXPECT_EQ(plan.next("cuLaunchKernel").action, FakeCallAction::kHang);
  const ScriptedAction step = plan.next("cuMemAlloc_v2");
  EXPECT_EQ(step.action, FakeCallAction::kFail);
  EXPECT_EQ(step.result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(plan.next("cuMemAlloc_v2").action, FakeCallAction::kSucceed);
}

TEST(FakeDriverScript, ReplacesOnlyTheScriptedInstructionInPtx) {
  const DriverScript plan = DriverScript::parse("wrong=mul.rn.f32>mul.rz.f32").take();
  EXPECT_EQ(plan.with_replaced_instructions("mul.rn.f32 %f1, %f2, %f3;\nmul.rn.f32x2\nmul.rn.f32\t%f1"),
            "mul.rz.f32 %f1, %f2, %f3;\nmul.rn.f32x2\nmul.rz.f32\t%f1");
}

TEST(FakeDriverScript, ShufflesThreadsOnlyOnRequest) {
  EXPECT_FALSE(DriverScript::parse("").take().shuffles_threads());
  EXPECT_TRUE(DriverScript::parse("order=shuffled").take().shuffles_threads());
}

TEST(FakeDriverScript, RejectsInvalidRules) {
  for (const char* text : {"memory=many", "order=random", "gpus=", "cuInit=1", "cuInit@x=1", "cuInit@1=explode",
                           "wrong=add", "wrong=>add", "wrong=add>"}) {
    const Result<DriverScript> plan = DriverScript::parse(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_EQ(plan.error().where, "ASSAY_FAKE_GPU");
    EXPECT_NE(plan.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::cuda::fake
