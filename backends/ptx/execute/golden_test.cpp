// Runs the golden PTX, which NVRTC compiled earlier: it must have no findings, and its profile must not change.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/execute/argument_text.hpp"
#include "backends/ptx/testing/golden_launches.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::golden_launches;
using testing::GoldenLaunch;
const std::filesystem::path kFolder = testing::golden_folder();

constexpr LaunchGeometry kGeometry{{2}, {64}};
constexpr long long kThreads = 77;

/// The PTX is fixed, so measures change only if the counting changes. The tolerance allows the reconvergence point of a
/// warp to move by an instruction.
constexpr double kTolerance = 0.02;

RunResult run_golden(const GoldenLaunch& launch, const std::string& architecture, const std::string& pass) {
  const auto kernel =
      testing::kernel_of(testing::golden_ptx(launch, architecture), fmt::format("{}_{}", launch.kernel, pass));
  if (kernel == nullptr) return {.status = RunResult::Status::kRejected};
  Machine machine;
  KernelArguments arguments;
  Rng random(7);
  arguments.add(kThreads);
  std::vector<std::string> texts = launch.arguments;
  if (pass == "backward") texts.insert(texts.end(), launch.gradients.begin(), launch.gradients.end());
  for (const std::string& text : texts) {
    const auto added = add_argument(machine, arguments, "argument", text, random);
    EXPECT_TRUE(added.ok()) << added.error().text();
  }
  return machine.launch(kernel, kGeometry, arguments, {});
}

using Profiles = std::map<std::string, std::map<std::string, double>>;  ///< by "loop_horner_75 backward"

Profiles profiles_now() {
  Profiles profiles;
  for (const GoldenLaunch& launch : golden_launches()) {
    for (const std::string& architecture : launch.targets) {
      for (const std::string pass : {"forward", "backward"}) {
        if (pass == "backward" && launch.gradients.empty()) continue;
        const std::string name = fmt::format("{}_{} {}", launch.stem, architecture, pass);
        const RunResult result = run_golden(launch, architecture, pass);
        EXPECT_TRUE(result.ok()) << name << ": " << result.message
                                 << (result.findings.empty() ? "" : describe(result.findings[0]));
        profiles[name] = measures_of(result.profile);
      }
    }
  }
  return profiles;
}

/// Reads a table: the names of the measures, and then a row for each launch.
Profiles read_profiles() {
  std::ifstream file(kFolder / "profiles.txt");
  std::string line;
  std::getline(file, line);
  std::istringstream head(line);
  const std::vector<std::string> names(std::istream_iterator<std::string>(head), {});
  Profiles profiles;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string stem;
    std::string pass;
    words >> stem >> pass;
    for (std::size_t i = 2; i < names.size(); ++i)
      words >> profiles[stem + " " + pass][names[i]];
  }
  return profiles;
}

void write_profiles(const Profiles& profiles) {
  std::ofstream file(kFolder / "profiles.txt");
  file << "kernel pass";
  for (const auto& [name, value] : profiles.begin()->second)
    file << ' ' << name;
  file << '\n';
  for (const auto& [launch, measures] : profiles) {
    file << launch;
    for (const auto& [name, value] : measures)
      file << fmt::format(" {:.5g}", value);
    file << '\n';
  }
}

/// At least 60 kernels, of all families, from both code generators.
TEST(GoldenPtx, CoversEveryKernelFamily) {
  std::set<std::string> families;
  std::map<std::string, int> kernels;
  for (const GoldenLaunch& launch : golden_launches()) {
    families.insert(launch.family);
    for (const std::string& target : launch.targets)
      ++kernels[target];
  }
  std::set<std::string> wanted;
  for (const auto& folder : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/conformance/cases"))
    wanted.insert(folder.path().filename());
  EXPECT_EQ(families, wanted);
  EXPECT_GE(golden_launches().size(), 60U);
  EXPECT_GE(kernels.at("75"), 40);
  EXPECT_GE(kernels.at("100"), 40);
}

TEST(GoldenPtx, ProfilesMatchGoldenFile) {
  const Profiles now = profiles_now();
  ASSERT_GE(now.size(), 160U);
  if (std::getenv("ASSAY_REMAKE_PROFILES") != nullptr) write_profiles(now);
  const Profiles golden = read_profiles();
  ASSERT_EQ(golden.size(), now.size());
  for (const auto& [launch, measures] : now) {
    ASSERT_TRUE(golden.contains(launch)) << launch;
    for (const auto& [name, value] : measures) {
      ASSERT_TRUE(golden.at(launch).contains(name)) << name;
      const double expected = golden.at(launch).at(name);
      EXPECT_NEAR(value, expected, kTolerance * std::max(1.0, std::abs(expected))) << launch << ' ' << name;
    }
  }
}

TEST(KernelArgumentText, IsConvertedToArgumentOrRejectedWithReason) {
  Machine machine;
  KernelArguments arguments;
  Rng random(1);
  const auto error_of = [&](std::string_view text) {
    const auto added = add_argument(machine, arguments, "x", text, random);
    return added.ok() ? "" : added.error().text();
  };
  EXPECT_EQ(error_of("f32"), "argument 'x': must be a type with extents, such as f32[64], got 'f32'");
  EXPECT_EQ(error_of("q8[4]"), "argument 'x': must be an array such as f32[64] or a scalar such as s32:5, got 'q8[4]'");
  EXPECT_EQ(error_of("s32:1.5"), "argument 'x': must be a value of type s32, got 's32:1.5'");
  EXPECT_EQ(error_of("f32[4,-1]"),
            "argument 'x': must be a type with 1 to 4 extents, such as f32[8,4], got 'f32[4,-1]'");
  EXPECT_EQ(error_of("f32[4]=some"),
            "argument 'x': must be a type with extents, optionally followed by =NUMBER, =ramp, =random or =?, got "
            "'f32[4]=some'");
  const auto view = add_argument(machine, arguments, "v", "array:s16[2,3]=ramp", random);
  ASSERT_TRUE(view.ok()) << view.error().text();
  const std::vector<std::byte>& bytes = arguments.values().back();
  ASSERT_EQ(bytes.size(), 32U);
  std::int32_t shape[2];
  std::int64_t strides[2];
  std::memcpy(shape, bytes.data() + 8, sizeof(shape));
  std::memcpy(strides, bytes.data() + 16, sizeof(strides));
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(strides[0], 6);
  EXPECT_EQ(strides[1], 2);
  EXPECT_EQ(element_text(machine.bytes(*view->allocation), Type::kS16, 5), "5");
}

}  // namespace
}  // namespace assay::ptx
