#include "backends/cpu/compiler.hpp"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::cpu {
namespace {

using backends::BuildFlags;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CompilerArguments, StrictModeDisablesFusedMultiplyAdd) {
  EXPECT_THAT(compiler_arguments(BuildFlags::strict()), Contains("-ffp-contract=off"));
  EXPECT_THAT(compiler_arguments(BuildFlags::strict()), Contains("-O0"));
  EXPECT_THAT(compiler_arguments(BuildFlags::standard()), Not(Contains("-ffp-contract=off")));
  EXPECT_THAT(compiler_arguments({.optimization_level = 2}), Contains("-O2"));
}

TEST(CompilerArguments, FastModeUsesIndividualFlagsInsteadOfFfastMath) {
  // -ffast-math links crtfastmath.o, which sets flush-to-zero when the library is loaded.
  EXPECT_THAT(compiler_arguments(BuildFlags::fast()), Not(Contains("-ffast-math")));
  EXPECT_NE(compiler_arguments(BuildFlags::fast()), compiler_arguments(BuildFlags::standard()));
}

TEST(Compiler, ChecksBoundsOfArraysWithoutOptimization) {
  for (const char* const command : {"g++", "clang++"}) {
    const auto compiler = Compiler::find(command);
    if (!compiler.ok()) continue;
    const auto starts_check = [](const std::string& argument) { return argument.starts_with("-fsanitize=bounds"); };
    EXPECT_TRUE(std::ranges::any_of(compiler->mode_arguments(BuildFlags::strict()), starts_check)) << command;
    EXPECT_FALSE(std::ranges::any_of(compiler->mode_arguments({.optimization_level = 2}), starts_check)) << command;
  }
}

TEST(Compiler, TakesCompilerNameFromCxxEnvironmentVariable) {
  ASSERT_EQ(::setenv("CXX", "no-such-compiler", 1), 0);
  const auto missing = Compiler::find("");
  ASSERT_EQ(::unsetenv("CXX"), 0);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().text(), HasSubstr("no-such-compiler"));
  EXPECT_TRUE(Compiler::find("").ok());
}

TEST(Compiler, AcceptsCompilerCommandWithArguments) {
  const auto compiler = Compiler::find("env c++");
  ASSERT_TRUE(compiler.ok()) << compiler.error().text();
  EXPECT_THAT(compiler->identity(), HasSubstr("env c++"));
  EXPECT_FALSE(compiler->version().empty());
}

TEST(Compiler, RejectsProgramThatIsNotACompiler) { EXPECT_FALSE(Compiler::find("false").ok()); }

}  // namespace
}  // namespace assay::cpu
