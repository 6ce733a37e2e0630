#include "backends/cuda/nvrtc/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#endif

namespace assay::cuda {
namespace {

using backends::BuildFailed;
using backends::BuildFlags;
using backends::Precision;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSource =
    "#ifndef ASSAY_REAL\n"
    "#define ASSAY_REAL float\n"
    "#endif\n"
    "using real = ASSAY_REAL;\n"
    "extern \"C\" __global__ void f_forward(long long count, real* x, real a) {\n"
    "  const long long step = (long long)gridDim.x * blockDim.x;\n"
    "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)\n"
    "    x[i] = a * x[i] + a;\n"
    "}\n";

class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<Nvrtc> loaded = Nvrtc::load();
    if (!loaded) {
      GTEST_SKIP() << loaded.error().text();
    }
    nvrtc.push_back(*loaded);
  }

  CompiledCode compile(const NvrtcOptions& options) const {
    CompileOutcome outcome = nvrtc.front().compile(kSource, "f.cu", options);
    if (const auto* failed = std::get_if<BuildFailed>(&outcome)) {
      ADD_FAILURE() << failed->log;
      return {};
    }
    return std::get<CompiledCode>(std::move(outcome));
  }

  std::vector<Nvrtc> nvrtc;  ///< one element, unless skipped
};

TEST_F(NvrtcTest, CompilesToPtxForRequestedArchitecture) {
  for (const char* architecture : {"compute_75", "compute_100"}) {
    if (!nvrtc.front().supports(architecture)) continue;
    const CompiledCode compiled = compile({.architecture = architecture});
    EXPECT_THAT(compiled.ptx, HasSubstr(".entry f_forward"));
    EXPECT_THAT(compiled.ptx, HasSubstr(std::string(".target sm_") + (architecture + 8)));
    EXPECT_TRUE(compiled.cubin.empty());
  }
}

TEST_F(NvrtcTest, CompilesToCubinAndPtxForSm75) {
  const CompiledCode compiled = compile({.architecture = "sm_75"});
  EXPECT_EQ(compiled.cubin.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_THAT(compiled.ptx, HasSubstr(".entry f_forward"));
}

TEST_F(NvrtcTest, FusesMultiplyAndAddOnlyIfFlagsAllowIt) {
  EXPECT_THAT(compile({}).ptx, Not(HasSubstr("fma.rn.f32")));
  EXPECT_THAT(compile({.flags = BuildFlags::standard()}).ptx, HasSubstr("fma.rn.f32"));
  EXPECT_THAT(compile({.flags = BuildFlags::fast()}).ptx, HasSubstr("fma.rn.ftz.f32"));
}

TEST_F(NvrtcTest, F64PromotionReplacesFloatByDouble) {
  EXPECT_THAT(compile({}).ptx, Not(HasSubstr(".f64")));
  EXPECT_THAT(compile({.precision = Precision::kPromoted}).ptx, HasSubstr("mul.rn.f64"));
}

TEST_F(NvrtcTest, EmitsLineInformationOnlyIfRequested) {
  EXPECT_THAT(compile({}).ptx, Not(HasSubstr(".loc")));
  EXPECT_THAT(compile({.emit_line_info = true}).ptx, HasSubstr(".loc"));
}

TEST_F(NvrtcTest, ReturnsCompilerLogOfRejectedSource) {
  const CompileOutcome outcome = nvrtc.front().compile("int ok;\nint f() { return undeclared; }\n", "f.cu", {});
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(outcome));
  EXPECT_EQ(std::get<BuildFailed>(outcome).kind, BuildFailed::Kind::kRejected);
  EXPECT_THAT(std::get<BuildFailed>(outcome).log, HasSubstr("f.cu(2): error: identifier \"undeclared\""));
}

TEST_F(NvrtcTest, ReportsUnknownArchitectureAsResourceError) {
  EXPECT_FALSE(nvrtc.front().supports("compute_1"));
  const CompileOutcome outcome = nvrtc.front().compile(kSource, "f.cu", {.architecture = "compute_1"});
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(outcome));
  EXPECT_EQ(std::get<BuildFailed>(outcome).kind, BuildFailed::Kind::kResourceFailure);
}

TEST(Nvrtc, ReportsMissingLibrary) {
  ::setenv("ASSAY_NVRTC", "/nonexistent/libnvrtc.so", 1);
  const Result<Nvrtc> missing = Nvrtc::load();
  ::unsetenv("ASSAY_NVRTC");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "no NVRTC");
  EXPECT_THAT(missing.error().where, HasSubstr("/nonexistent/libnvrtc.so"));
}

TEST(Nvrtc, ReportsLibraryThatIsNotNvrtc) {
  const Result<Nvrtc> other = Nvrtc::load("/proc/self/exe");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "no NVRTC");
}

TEST(Nvrtc, ErrorForMissingVersionExplainsHowToInstallIt) {
  const Result<Nvrtc> missing = Nvrtc::load("1.2.3");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("NVRTC 1.2.3 is not installed; run ci/setup-compilers to install"));
}

TEST_F(NvrtcTest, FullVersionStartsWithMajorAndMinorVersion) {
  EXPECT_THAT(nvrtc.front().full_version(), ::testing::StartsWith(nvrtc.front().version() + "."));
}

TEST(NvrtcArguments, RequestDebugCodeIfUnoptimized) {
  EXPECT_THAT(nvrtc_arguments({.emit_line_info = true, .disables_optimizations = true}), Contains("--device-debug"));
  EXPECT_THAT(nvrtc_arguments({.emit_line_info = true}), Not(Contains("--device-debug")));
}

TEST(NvrtcArguments, NvccCommandKeepsDeclarationsOfRuntime) {
  const NvrtcOptions options{.omits_runtime_declarations = true};
  EXPECT_THAT(nvrtc_arguments(options), Contains("--minimal"));
  EXPECT_THAT(nvcc_command(options), Not(HasSubstr("--minimal")));
}

TEST(NvrtcArguments, ContainEachIncludeFolder) {
  EXPECT_THAT(nvrtc_arguments({.include_folders = {"/a/b", "c"}}),
              AllOf(Contains("--include-path=/a/b"), Contains("--include-path=c")));
}

TEST(NvrtcArguments, RequestPreciseMathUnlessFastMathIsRequested) {
  EXPECT_THAT(nvrtc_arguments({}), Contains("--fmad=false"));
  EXPECT_THAT(nvrtc_arguments({}), Contains("--prec-sqrt=true"));
  EXPECT_THAT(nvrtc_arguments({}), Not(Contains("--use_fast_math")));
  EXPECT_THAT(nvrtc_arguments({.flags = BuildFlags::fast()}), Contains("--use_fast_math"));
}

#if __has_include(<nvrtc.h>)
TEST(Nvrtc, DeclarationsMatchCudaHeaders) {
  static_assert(sizeof(nvrtcResult) == sizeof(NvrtcResult));
  EXPECT_EQ(static_cast<NvrtcResult>(NVRTC_SUCCESS), kNvrtcSuccess);
  EXPECT_EQ(static_cast<NvrtcResult>(NVRTC_ERROR_COMPILATION), kNvrtcErrorCompilation);
}
#endif

backends::EmittedKernel kernel(const std::string& expression) {
  backends::EmittedKernel made;
  made.name = "scale";
  made.body = "extern \"C\" __global__ void scale(float* x) { x[threadIdx.x] = " + expression + "; }\n";
  return made;
}

TEST(SameCompiledCode, IgnoresSourceDifferencesThatCompileToSameCode) {
  if (const auto nvrtc = Nvrtc::load(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.error().text();
  const auto twice = kernel("2.0f * x[threadIdx.x]");
  const Result<bool> same = same_compiled_code(twice, kernel("x[threadIdx.x] * 2.0f + (false ? 1.0f : -0.0f)"));
  ASSERT_TRUE(same.ok()) << same.error().text();
  EXPECT_TRUE(*same);
  EXPECT_FALSE(*same_compiled_code(twice, kernel("2.0001f * x[threadIdx.x]")));
  EXPECT_FALSE(same_compiled_code(twice, kernel("no_such_thing")).ok());
}

}  // namespace
}  // namespace assay::cuda
