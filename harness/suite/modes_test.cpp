#include "harness/suite/modes.hpp"

#include <algorithm>
#include <map>
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
using ::testing::Key;
using ::testing::Lt;
using ::testing::UnorderedElementsAre;

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

TEST(NumericModes, OneGeneratedKernelInEightUsesOneMoreMode) {
  constexpr int kKernels = 4000;
  std::map<std::vector<std::string>, int> counts;
  for (int i = 0; i < kKernels; ++i)
    ++counts[sampled("loop", fmt::format("r1_{}", i), KernelSampleSize::kFraction)];
  EXPECT_THAT(counts, UnorderedElementsAre(Key(ElementsAre("fast_compile")), Key(ElementsAre("fast_compile", "")),
                                           Key(ElementsAre("fast_compile", "default"))));
  for (const char* const mode : {"", "default"})
    EXPECT_THAT((counts[{"fast_compile", mode}]), AllOf(Gt(kKernels / 16 * 0.8), Lt(kKernels / 16 * 1.2))) << mode;
}

/// The flags with which a kernel is built in mode "", "default" or "fast_compile"; nullopt if it is not judged in this
/// mode.
std::optional<backends::BuildFlags> flags_of(std::string_view mode, std::string_view family, std::string_view kernel,
                                             KernelSampleSize sample) {
  const std::vector<Mode> modes = modes_of("ptx", "", 0);
  const auto judged = mode_for_kernel(*std::ranges::find(modes, mode, &Mode::name), modes, family, kernel, sample);
  return judged ? std::optional(judged->flags) : std::nullopt;
}

/// The architectures for which such a kernel is built.
std::optional<backends::ArchitectureChoice> architectures_of(std::string_view mode, std::string_view family,
                                                             std::string_view kernel, KernelSampleSize sample) {
  const auto flags = flags_of(mode, family, kernel, sample);
  return flags ? std::optional(flags->architectures) : std::nullopt;
}

/// The first kernel of a family that a run samples for this mode.
std::string kernel_sampled_for(std::string_view mode) {
  for (int i = 0; i < 1000; ++i) {
    const std::string kernel = fmt::format("r1_{}", i);
    if (sampled("loop", kernel, KernelSampleSize::kFraction).back() == mode) return kernel;
  }
  ADD_FAILURE() << "no kernel in mode '" << mode << "'";
  return {};
}

TEST(NumericModes, SampledKernelsUseOneArchitectureForEachMode) {
  using backends::ArchitectureChoice;
  const auto fraction = KernelSampleSize::kFraction;
  const std::string strict_kernel = kernel_sampled_for("");
  EXPECT_EQ(architectures_of("fast_compile", "loop", strict_kernel, fraction), ArchitectureChoice::kFirst);
  EXPECT_EQ(architectures_of("", "loop", strict_kernel, fraction), ArchitectureChoice::kFirst);
  EXPECT_EQ(architectures_of("default", "loop", kernel_sampled_for("default"), fraction), ArchitectureChoice::kLast);
  EXPECT_EQ(architectures_of("", "loop", strict_kernel, KernelSampleSize::kAll), ArchitectureChoice::kAll);
  EXPECT_EQ(architectures_of("default", "user", "wave.step", fraction), ArchitectureChoice::kAll);
}

TEST(NumericModes, OptimizedBuildsOfSampledKernelsHaveNativePrecisionOnly) {
  const auto omits_promoted = [](std::string_view mode, std::string_view family, KernelSampleSize sample) {
    return flags_of(mode, family, kernel_sampled_for(mode.empty() ? "" : "default"), sample)->omits_promoted;
  };
  for (const char* const mode : {"", "default"}) {
    EXPECT_TRUE(omits_promoted(mode, "loop", KernelSampleSize::kFraction)) << mode;
    EXPECT_FALSE(omits_promoted(mode, "loop", KernelSampleSize::kAll)) << mode;
  }
  EXPECT_FALSE(omits_promoted("fast_compile", "loop", KernelSampleSize::kFraction));
}

TEST(NumericModes, KernelsOfUsersAreJudgedWithPromotionInModeStrictForFirstArchitecture) {
  const auto flags = [](std::string_view mode, KernelSampleSize sample) {
    return flags_of(mode, "user", "wave.step", sample).value();
  };
  for (const KernelSampleSize sample : {KernelSampleSize::kNone, KernelSampleSize::kFraction}) {
    EXPECT_FALSE(flags("", sample).omits_promoted);
    EXPECT_TRUE(flags("", sample).promotes_for_first_architecture);
    EXPECT_TRUE(flags("default", sample).omits_promoted);
  }
  for (const char* const mode : {"", "default"}) {
    EXPECT_FALSE(flags(mode, KernelSampleSize::kAll).omits_promoted) << mode;
    EXPECT_FALSE(flags(mode, KernelSampleSize::kAll).promotes_for_first_architecture) << mode;
  }
}

TEST(NumericModes, FurtherDevicesJudgeMostKernelsInNativePrecisionOnly) {
  const Mode mode = modes_of("ptx", "", 0).front();
  const auto omits_promoted = [&](std::string_view family, std::string_view kernel, KernelSampleSize sample) {
    return mode_for_further_device(mode, family, kernel, sample).flags.omits_promoted;
  };
  constexpr int kKernels = 4000;
  int count = 0;
  for (int i = 0; i < kKernels; ++i)
    count += !omits_promoted("loop", fmt::format("r1_{}", i), KernelSampleSize::kFraction);
  EXPECT_THAT(count, AllOf(Gt(kKernels / 8 * 0.8), Lt(kKernels / 8 * 1.2)));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(omits_promoted("loop", fmt::format("r1_{}", i), KernelSampleSize::kAll));
    EXPECT_FALSE(omits_promoted("user", fmt::format("r1_{}", i), KernelSampleSize::kFraction));
  }
}

TEST(NumericModes, FastestCompilerBuildsOtherKernelsThanThoseOfUsersWithoutOptimization) {
  const auto uses_fastest_compiler = [](const char* device, int level, std::string_view family) {
    const std::vector<Mode> modes = modes_of(device, "strict", level);
    const auto mode = mode_for_kernel(modes.front(), modes, family, "a", KernelSampleSize::kFraction);
    return mode->flags.uses_fastest_compiler;
  };
  EXPECT_TRUE(uses_fastest_compiler("cpu", 0, "loop"));
  EXPECT_FALSE(uses_fastest_compiler("cpu", 0, "user"));
  EXPECT_FALSE(uses_fastest_compiler("cpu", 2, "loop"));
  EXPECT_FALSE(uses_fastest_compiler("ptx", 0, "loop"));
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
