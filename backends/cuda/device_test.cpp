#include "backends/cuda/device.hpp"

#include <array>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace assay::cuda {
namespace {

using namespace backends;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

EmittedKernel kernel_of(const std::string& statement) {
  return {.name = "f",
          .helpers = {{"half", "template <class T>\n__device__ T half_of(T x) { return x / T(2); }\n"}},
          .body =
              "#ifndef ASSAY_REAL\n"
              "#define ASSAY_REAL float\n"
              "#endif\n"
              "using real = ASSAY_REAL;\n"
              "extern \"C\" __global__ void f_forward(long long count, real* x, real a) {\n"
              "  const long long step = (long long)gridDim.x * blockDim.x;\n"
              "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {\n"
              "    " +
              statement +
              "\n"
              "  }\n"
              "}\n",
          .entry_points = {{.pass = Pass::kForward, .symbol = "f_forward", .parameter_types = {"real*", "real"}}}};
}

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
    if (const Capability capability = CudaDevice(options()).can_build(); !capability.is_available) {
      GTEST_SKIP() << capability.tool_or_reason;
    }
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  CudaOptions options() const { return {.cache_directory = directory}; }

  static BuildOutcome build(CudaDevice& device, const EmittedKernel& kernel) {
    return device.build({&kernel, 1}, BuildFlags::strict()).front();
  }

  std::filesystem::path directory;
};

TEST_F(CudaDeviceTest, CompilesBothPrecisionsForEachArchitecture) {
  CudaDevice device(options());
  const BuildOutcome outcome = build(device, kernel_of("x[i] = half_of(a);"));
  ASSERT_TRUE(std::holds_alternative<BuiltKernel>(outcome)) << std::get<BuildFailed>(outcome).log;
  const auto& built = std::get<BuiltKernel>(outcome);
  const Artifact* native = built.artifact(Artifact::Kind::kPtx, Precision::kNative, "compute_75");
  const Artifact* promote = built.artifact(Artifact::Kind::kPtx, Precision::kPromoted, "compute_75");
  const Artifact* cubin = built.artifact(Artifact::Kind::kCubin, Precision::kNative, "sm_75");
  ASSERT_TRUE(native != nullptr && promote != nullptr && cubin != nullptr);
  EXPECT_THAT(native->content, HasSubstr(".entry f_forward"));
  EXPECT_THAT(promote->content, HasSubstr(".f64"));
  EXPECT_THAT(cubin->content, StartsWith("\x7f"
                                         "ELF"));
  EXPECT_EQ(built.find(Pass::kForward, Precision::kPromoted)->symbol, "f_forward");
}

TEST_F(CudaDeviceTest, SecondDeviceReusesCachedBuildOfSameKernel) {
  const EmittedKernel kernel = kernel_of("int unused; x[i] = a;");
  CudaDevice first(options());
  const auto compiled = std::get<BuiltKernel>(build(first, kernel));
  EXPECT_FALSE(compiled.is_from_cache);
  EXPECT_THAT(compiled.log, HasSubstr("unused"));
  CudaDevice second(options());
  const auto cached = std::get<BuiltKernel>(build(second, kernel));
  EXPECT_TRUE(cached.is_from_cache);
  EXPECT_EQ(cached.log, compiled.log);
  ASSERT_EQ(cached.artifacts.size(), compiled.artifacts.size());
  for (std::size_t i = 0; i < cached.artifacts.size(); ++i) {
    EXPECT_EQ(cached.artifacts[i]->content, compiled.artifacts[i]->content);
  }
}

TEST_F(CudaDeviceTest, ReportsCompilerLogOfInvalidKernelAndBuildsOtherKernels) {
  CudaDevice device(options());
  const std::array kernels{kernel_of("x[i] = a;"), kernel_of("x[i] = undeclared;"), kernel_of("x[i] = 1;")};
  const std::vector<BuildOutcome> outcomes = device.build(kernels, BuildFlags::strict());
  EXPECT_TRUE(std::holds_alternative<BuiltKernel>(outcomes[0]));
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(outcomes[1]));
  EXPECT_THAT(std::get<BuildFailed>(outcomes[1]).log, HasSubstr("f.cu(10): error: identifier \"undeclared\""));
  EXPECT_TRUE(std::holds_alternative<BuiltKernel>(outcomes[2]));
}

TEST(CudaDevice, ReportsWhatIsMissingIfUnavailable) {
  CudaDevice device({.uses_build_cache = false});
  const Capability capability = device.can_run();
  if (capability.is_available) GTEST_SKIP() << "the device can run: " << capability.tool_or_reason;
  EXPECT_THAT(capability.tool_or_reason, AnyOf("no NVRTC", "no CUDA driver", "no CUDA device"));
  const auto session = device.open({});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().message, capability.tool_or_reason);
}

TEST(CudaDevice, ReportsMissingNvrtc) {
  ::setenv("ASSAY_NVRTC", "/nonexistent", 1);
  CudaDevice device({.uses_build_cache = false});
  ::unsetenv("ASSAY_NVRTC");
  EXPECT_EQ(device.can_build().tool_or_reason, "no NVRTC");
  EXPECT_EQ(device.can_run().tool_or_reason, "no NVRTC");
  const EmittedKernel kernel = kernel_of("x[i] = a;");
  EXPECT_EQ(std::get<BuildFailed>(device.build({&kernel, 1}, {}).front()).kind, BuildFailed::Kind::kResourceFailure);
}

}  // namespace
}  // namespace assay::cuda
