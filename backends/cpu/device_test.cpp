// Tests of building: batches, attribution of failures to kernels, and the cache.

#include "backends/cpu/device.hpp"

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/testing/kernels.hpp"

namespace assay::cpu {
namespace {

using namespace backends;
using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<EmittedKernel> five_kernels() {
  std::vector<EmittedKernel> kernels;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    kernels.push_back(scale_kernel(name));
  }
  return kernels;
}

/// Builds five kernels, the third replaced by `third`, and returns the failure of the third. The others must build.
BuildFailed failure_of_third(const EmittedKernel& third) {
  const TemporaryDirectory directory;
  CpuDevice device(options_in(directory.path()));
  std::vector<EmittedKernel> kernels = five_kernels();
  kernels[2] = third;
  const std::vector<BuildOutcome> outcomes = device.build(kernels, BuildFlags::strict());
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    EXPECT_EQ(require_built(outcomes[i]).name, kernels[i].name);
  }
  const auto* failed = std::get_if<BuildFailed>(&outcomes[2]);
  if (failed == nullptr) {
    ADD_FAILURE() << "the kernel was built without error";
    return {};
  }
  return *failed;
}

TEST(CpuDevice, OmitsPromotedVariant) {
  const TemporaryDirectory directory;
  CpuDevice device(options_in(directory.path()));
  BuildFlags flags = BuildFlags::strict();
  flags.omits_promoted = true;
  const BuiltKernel built = require_built(device.build(five_kernels(), flags).front());
  EXPECT_NE(built.find(Pass::kForward, Precision::kNative), nullptr);
  EXPECT_EQ(built.find(Pass::kForward, Precision::kPromoted), nullptr);
}

TEST(CpuDevice, UsesFastestCompilerOnlyIfBothFlagAndOptionSaySo) {
  const TemporaryDirectory directory;
  CpuOptions options = options_in(directory.path());
  BuildFlags fast = BuildFlags::strict();
  fast.uses_fastest_compiler = true;
  const std::string usual = CpuDevice(options).build_command(BuildFlags::strict());
  EXPECT_EQ(CpuDevice(options).build_command(fast), usual);
  options.uses_fastest_compiler = true;
  const CpuDevice device(options);
  EXPECT_EQ(device.build_command(BuildFlags::strict()), usual);
  const std::optional<Compiler> fastest = Compiler::find_fastest(nullptr);
  if (!fastest) GTEST_SKIP() << "clang++ is missing";
  EXPECT_EQ(device.build_command(fast), fastest->library_command(fast));
  EXPECT_THAT(device.can_build().tool_or_reason, HasSubstr(fastest->version()));
  options.compiler = "c++";
  EXPECT_EQ(CpuDevice(options).build_command(fast), CpuDevice(options).build_command(BuildFlags::strict()));
}

TEST(CpuDevice, BuildsBatchIntoOneLibrary) {
  const TemporaryDirectory directory;
  CpuDevice device(options_in(directory.path()));
  ASSERT_TRUE(device.can_run().is_available) << device.can_run().tool_or_reason;
  const std::vector<BuildOutcome> outcomes = device.build(five_kernels(), BuildFlags::strict());
  const BuiltKernel first = require_built(outcomes.front());
  const BuiltKernel last = require_built(outcomes.back());
  EXPECT_EQ(first.artifacts[0], last.artifacts[0]);
  EXPECT_NE(first.find(Pass::kForward, Precision::kPromoted)->symbol,
            last.find(Pass::kForward, Precision::kPromoted)->symbol);
  EXPECT_EQ(first.find(Pass::kBackward, Precision::kNative)->parameter_count, 2U);
}

/// The value of x after the device ran x = 2 x + 1/3 on x = 2.
float scaled(CpuDevice& device) {
  const std::vector<EmittedKernel> kernels{scale_kernel("scale")};
  const BuiltKernel built = require_built(device.build(kernels, BuildFlags::strict()).front());
  const std::unique_ptr<DeviceSession> session = device.open({.buffer_bytes = 4096}).take();
  const BufferId buffer = session->allocate(sizeof(float)).value();
  auto* const x = reinterpret_cast<float*>(session->bytes(buffer).data());
  *x = 2;
  const LaunchRequest launch{.kernel = &built,
                             .threads = 1,
                             .arguments = {KernelArgument::array(BufferAddress{buffer, 0}, std::array{1},
                                                                 std::array{std::int64_t{sizeof(float)}}),
                                           KernelArgument::value(2.0F)}};
  EXPECT_EQ(describe(session->run({&launch, 1}).front()), "completed");
  return *x;
}

TEST(CpuDevice, ConfinesKernelProcessOnlyIfRequested) {
  const TemporaryDirectory directory;
  for (const bool confine : {true, false}) {
    CpuOptions options = options_in(directory.path());
    options.confine_worker = confine;
    CpuDevice device(std::move(options));
    const Result<worker::Confinement> confinement = device.probe_confinement();
    ASSERT_TRUE(confinement.ok()) << confinement.error().text();
    EXPECT_EQ(confinement->system_call_filter_error != worker::Confinement::kNotRequested, confine);
    EXPECT_EQ(scaled(device), 4.0F + 1.0F / 3.0F);
  }
}

TEST(CpuDevice, CompileErrorIsReportedWithKernelFileAndLine) {
  const EmittedKernel broken = kernel_of("broken", "element(x, i) = undeclared;");
  const BuildFailed failed = failure_of_third(broken);
  EXPECT_EQ(failed.kind, BuildFailed::Kind::kRejected);
  const int line = broken.first_body_line() + 6;
  EXPECT_THAT(failed.log, HasSubstr("broken.cpp:" + std::to_string(line) + ":"));
  EXPECT_THAT(failed.log, HasSubstr("undeclared"));
}

TEST(CpuDevice, KernelWithUnclosedBraceFailsButRestOfBatchIsBuilt) {
  EmittedKernel open = scale_kernel("open");
  open.body += "void unclosed() {\n";
  EXPECT_EQ(failure_of_third(open).kind, BuildFailed::Kind::kRejected);
}

TEST(CpuDevice, KernelWithUndefinedSymbolFailsButRestOfBatchIsBuilt) {
  EmittedKernel missing = kernel_of("missing", "element(x, i) = nowhere(a);");
  missing.body.insert(0, "extern \"C\" double nowhere(double);\n");
  const BuildFailed failed = failure_of_third(missing);
  EXPECT_EQ(failed.kind, BuildFailed::Kind::kRejected);
  EXPECT_THAT(failed.log, HasSubstr("nowhere"));
}

TEST(CpuDevice, KernelThatExitsInStaticInitializerFailsButRestOfBatchIsBuilt) {
  EmittedKernel leaving = scale_kernel("leaving");
  leaving.body += "extern \"C\" void exit(int);\nint left = (exit(0), 1);\n";
  const BuildFailed failed = failure_of_third(leaving);
  EXPECT_EQ(failed.kind, BuildFailed::Kind::kCrashed);
  EXPECT_THAT(failed.log, HasSubstr("exited early with status 0"));
}

TEST(CpuDevice, KernelThatCrashesInStaticInitializerFailsButRestOfBatchIsBuilt) {
  EmittedKernel crashing = scale_kernel("crashing");
  crashing.body += "int crash() { return *(volatile int*)8; }\nint crashed = crash();\n";
  const BuildFailed failed = failure_of_third(crashing);
  EXPECT_EQ(failed.kind, BuildFailed::Kind::kCrashed);
  EXPECT_THAT(failed.log, HasSubstr("SIGSEGV"));
}

TEST(CpuDevice, KillsCompilerAtTimeLimit) {
  const TemporaryDirectory directory;
  CpuOptions options = options_in(directory.path());
  options.compile_time_limit = std::chrono::milliseconds{1};
  options.compile_time_limit_per_kernel = {};
  CpuDevice device(options);
  const std::vector<EmittedKernel> kernels{scale_kernel("a")};
  const BuildOutcome outcome = device.build(kernels, BuildFlags::strict()).front();
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(outcome));
  EXPECT_EQ(std::get<BuildFailed>(outcome).kind, BuildFailed::Kind::kTimedOut);
}

TEST(CpuDevice, GivesTheCompilerMoreTimeForLongSource) {
  const TemporaryDirectory directory;
  CpuOptions options = options_in(directory.path());
  options.compile_time_limit = std::chrono::milliseconds{1};
  options.compile_time_limit_per_kernel = {};
  options.compile_time_limit_per_mebibyte = std::chrono::seconds{60};
  CpuDevice device(options);
  EmittedKernel kernel = scale_kernel("long");
  kernel.body += "// " + std::string(std::size_t{1} << 20U, '-') + "\n";
  require_built(device.build(std::vector{kernel}, BuildFlags::strict()).front());
}

TEST(CpuDevice, ReusesCachedBuildIfFlagsMatch) {
  const TemporaryDirectory directory;
  const std::vector<EmittedKernel> kernels = five_kernels();
  EXPECT_FALSE(require_built(CpuDevice(options_in(directory.path())).build(kernels, BuildFlags::strict()).front())
                   .is_from_cache);
  CpuDevice device(options_in(directory.path()));
  const BuiltKernel again = require_built(device.build(kernels, BuildFlags::strict()).front());
  EXPECT_TRUE(again.is_from_cache);
  EXPECT_TRUE(std::filesystem::exists(again.artifacts[0]->path));
  EXPECT_FALSE(require_built(device.build(kernels, {.optimization_level = 2}).front()).is_from_cache)
      << "different flags must not share a cache entry";
}

TEST(CpuDevice, RebuildsDamagedCachedLibrary) {
  const TemporaryDirectory directory;
  const std::vector<EmittedKernel> kernels = five_kernels();
  require_built(CpuDevice(options_in(directory.path())).build(kernels, BuildFlags::strict()).front());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path() / "builds")) {
    if (entry.is_regular_file()) std::ofstream(entry.path()) << std::string(entry.file_size(), '\0');
  }
  EXPECT_FALSE(require_built(CpuDevice(options_in(directory.path())).build(kernels, BuildFlags::strict()).front())
                   .is_from_cache);
  EXPECT_TRUE(require_built(CpuDevice(options_in(directory.path())).build(kernels, BuildFlags::strict()).front())
                  .is_from_cache);
}

TEST(CpuDevice, RemovesRunDirectoryOnDestruction) {
  const TemporaryDirectory directory;
  {
    CpuDevice device(options_in(directory.path()));
    require_built(device.build(five_kernels(), BuildFlags::strict()).front());
    EXPECT_FALSE(std::filesystem::is_empty(directory.path() / "runs"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() / "runs"));
}

TEST(CpuDevice, CompilesEveryTimeIfCacheIsDisabled) {
  const TemporaryDirectory directory;
  CpuOptions options = options_in(directory.path());
  options.uses_build_cache = false;
  options.batch_size = 2;
  options.jobs = 2;
  CpuDevice device(options);
  for (int i = 0; i < 2; ++i) {
    const std::vector<BuildOutcome> outcomes = device.build(five_kernels(), BuildFlags::strict());
    EXPECT_FALSE(require_built(outcomes[4]).is_from_cache);
    EXPECT_NE(require_built(outcomes[0]).artifacts[0], require_built(outcomes[4]).artifacts[0]);
  }
}

TEST(CpuDevice, ReportsMissingCompiler) {
  const TemporaryDirectory directory;
  CpuOptions options = options_in(directory.path());
  options.compiler = "no-such-compiler";
  CpuDevice device(options);
  EXPECT_FALSE(device.can_build().is_available);
  EXPECT_THAT(device.can_build().tool_or_reason, HasSubstr("no-such-compiler"));
  const std::vector<BuildOutcome> outcomes = device.build(five_kernels(), BuildFlags::strict());
  ASSERT_EQ(outcomes.size(), 5U);
  EXPECT_EQ(std::get<BuildFailed>(outcomes[4]).kind, BuildFailed::Kind::kResourceFailure);
}

}  // namespace
}  // namespace assay::cpu
