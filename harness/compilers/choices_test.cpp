#include "harness/compilers/choices.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compilers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kCpu{"cpu"};

TEST(CompilerChoices, AddNoCompilersToAnExplicitChoice) {
  const backends::BuildChoices all = with_all_compilers({.compilers = {"g++"}}, kCpu);
  EXPECT_THAT(all.compilers, ElementsAre("g++"));
}

TEST(CompilerChoices, StartWithTheDefaultCompilerIfNoneIsChosen) {
  const backends::BuildChoices all = with_all_compilers({}, kCpu);
  ASSERT_FALSE(all.compilers.empty());
  EXPECT_EQ(all.compilers.front(), "") << "the default compiler of the device";
  EXPECT_THAT(all.nvrtc_versions_or_paths, IsEmpty()) << "no device uses them";
}

}  // namespace
}  // namespace assay::compilers
