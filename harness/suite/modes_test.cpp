#include "harness/suite/modes.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Lt;

/// Names of the modes in which a run on the device ptx without --mode judges a kernel.
std::vector<std::string> sampled(std::string_view family, std::string_view kernel, KernelSampleSize sample) {
  const std::vector<Mode> modes = modes_of("ptx", "", 0);
  std::vector<std::string> names;
  for (const Mode& mode : modes)
    if (mode_for_kernel(mode, modes, family, kernel, sample)) names.push_back(mode.name);
  return names;
}

TEST(NumericModes, UserKernelsUseAllModesExceptFastCompile) {
  for (const KernelSampleSize sample : {KernelSampleSize::kNone, KernelSampleSize::kFraction, KernelSampleSize::kAll})
    EXPECT_THAT(sampled("user", "wave.step", sample), ElementsAre("", "default"));
}

TEST(NumericModes, OneGeneratedKernelInEightUsesAllModes) {
  constexpr int kKernels = 4000;
  int in_all = 0;
  for (int i = 0; i < kKernels; ++i) {
    const std::vector<std::string> names = sampled("loop", fmt::format("r1_{}", i), KernelSampleSize::kFraction);
    ASSERT_THAT(names, ::testing::Contains("fast_compile"));
    if (names.size() > 1) ++in_all;
  }
  EXPECT_THAT(in_all, AllOf(Gt(kKernels / 8 * 0.85), Lt(kKernels / 8 * 1.15)));
}

/// The architectures of a kernel's mode "", "default" or "fast_compile"; nullopt if it is not judged in this mode.
std::optional<backends::ArchitectureChoice> architectures_of(std::string_view mode, std::string_view family,
                                                             std::string_view kernel, KernelSampleSize sample) {
  const std::vector<Mode> modes = modes_of("ptx", "", 0);
  const auto judged = mode_for_kernel(*std::ranges::find(modes, mode, &Mode::name), modes, family, kernel, sample);
  return judged ? std::optional(judged->flags.architectures) : std::nullopt;
}

TEST(NumericModes, SampledKernelsUseOneArchitectureForEachMode) {
  using backends::ArchitectureChoice;
  std::string sampled_kernel;
  for (int i = 0; sampled_kernel.empty(); ++i)
    if (sampled("loop", fmt::format("r1_{}", i), KernelSampleSize::kFraction).size() > 1)
      sampled_kernel = fmt::format("r1_{}", i);
  const auto fraction = KernelSampleSize::kFraction;
  EXPECT_EQ(architectures_of("fast_compile", "loop", sampled_kernel, fraction), ArchitectureChoice::kFirst);
  EXPECT_EQ(architectures_of("", "loop", sampled_kernel, fraction), ArchitectureChoice::kFirst);
  EXPECT_EQ(architectures_of("default", "loop", sampled_kernel, fraction), ArchitectureChoice::kLast);
  EXPECT_EQ(architectures_of("", "loop", sampled_kernel, KernelSampleSize::kAll), ArchitectureChoice::kAll);
  EXPECT_EQ(architectures_of("default", "user", "wave.step", fraction), ArchitectureChoice::kAll);
}

TEST(NumericModes, ThoroughEffortUsesMoreModesThanQuickEffort) {
  EXPECT_THAT(sampled("loop", "horner", sample_of("thorough")), ElementsAre("fast_compile", "", "default"));
  EXPECT_THAT(sampled("loop", "horner", sample_of("quick")), ElementsAre("fast_compile"));
}

TEST(NumericModes, ExplicitlyChosenModeIsNeverSkipped) {
  const std::vector<Mode> modes = modes_of("ptx", "fast_compile", 0);
  ASSERT_EQ(modes.size(), 1U);
  EXPECT_TRUE(modes[0].flags.fast_compile);
  EXPECT_TRUE(mode_for_kernel(modes[0], modes, "user", "wave.step", KernelSampleSize::kFraction));
}

TEST(NumericModes, FastCompileModeRequiresDeviceSupport) {
  EXPECT_THAT(modes_of("cpu", "fast_compile", 0), IsEmpty());
  EXPECT_THAT(names_of(modes_of("cpu", "", 0)), ElementsAre(""));
  EXPECT_THAT(names_of(modes_of("cpu", "sampled", 2)), ElementsAre("O2", "default_O2"));
}

TEST(NumericModes, ModeNameDeterminesFlagsAndCommandLineOption) {
  EXPECT_TRUE(mode_named("ptx", "fast_compile").flags.fast_compile);
  EXPECT_TRUE(mode_named("ptx", "default").flags.contracts_multiply_add);
  EXPECT_EQ(mode_named("cpu", "O2").flags.optimization_level, 2);
  EXPECT_EQ(mode_option("ptx", mode_named("ptx", "fast_compile")), " --mode fast_compile");
  EXPECT_EQ(mode_option("ptx", mode_named("ptx", "")), " --mode strict");
  EXPECT_EQ(mode_option("cpu", mode_named("cpu", "")), "");
}

}  // namespace
}  // namespace assay::harness
