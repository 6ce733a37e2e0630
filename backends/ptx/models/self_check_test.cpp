#include "backends/ptx/models/self_check.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx::models {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(InstructionModels, AreFoundRegardlessOfTheOrderOfModifiers) {
  ASSERT_NE(find_spelling("fma.rn.ftz.f32", 0), nullptr);
  EXPECT_EQ(find_spelling("fma.rn.ftz.f32", 0), find_spelling("fma.ftz.rn.f32", 0));
  EXPECT_NE(find_spelling("lop3.b32", 0x6a), nullptr);
  EXPECT_EQ(find_spelling("ld.global.f32", 0), nullptr) << "loads have no model";
}

TEST(InstructionCheck, ListsUsedInstructionsAndInstructionsWithoutModel) {
  const std::vector<std::string> texts{
      testing::entry("ld.param.u64 %rd1, [p0]; ld.global.b32 %r1, [%rd1]; add.s32 %r2, %r1, 1;\n"
                     "lop3.b32 %r3, %r2, %r1, %r1, 0x6a; st.global.b32 [%rd1], %r3;")};
  const auto check = check_instructions(texts, true);
  ASSERT_TRUE(check.ok()) << check.error().text();
  EXPECT_THAT(check->used_instructions, ElementsAre("add.s32", "ld", "lop3.b32", "ret", "st"));
  EXPECT_THAT(check->unchecked_instructions, ElementsAre("ld", "ret", "st"));
  EXPECT_THAT(check->disagreements, IsEmpty());
}

TEST(InstructionCheck, RejectsTextThatIsNotPtx) {
  const std::vector<std::string> texts{"no ptx"};
  EXPECT_FALSE(check_instructions(texts, true).ok());
}

}  // namespace
}  // namespace assay::ptx::models
