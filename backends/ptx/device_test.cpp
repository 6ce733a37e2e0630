// End-to-end tests from CUDA C++ to results, through NVRTC and the emulator.
#include "backends/ptx/device.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace assay::ptx {
namespace {

using namespace backends;
using ::testing::HasSubstr;
using ::testing::StartsWith;

EmittedKernel kernel_of(const std::string& statement) {
  return {
      .name = "f",
      .helpers = {{"array", "template <class T>\nstruct Array { T* data; int shape[1]; long long strides[1]; };\n"}},
      .body =
          "#ifndef ASSAY_REAL\n#define ASSAY_REAL float\n#endif\nusing real = ASSAY_REAL;\n"
          "extern \"C\" __global__ void f_forward(long long count, Array<real> x, real a) {\n"
          "  const long long step = (long long)gridDim.x * blockDim.x;\n"
          "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {\n"
          "    " +
          statement + "\n  }\n}\n",
      .entry_points = {{.pass = Pass::kForward, .symbol = "f_forward", .parameter_types = {"Array<real>", "real"}}}};
}

class PtxDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    device_ = std::make_unique<PtxDevice>(PtxOptions{.cache_directory = directory_});
    if (const Capability capability = device_->can_run(); !capability.is_available)
      GTEST_SKIP() << capability.tool_or_reason;
    session_ = device_->open({}).take();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// Runs the statement on x = {1, 2, 3, ...} with a = 0.1, in the precision in which floats have type T. The array
  /// lies between two guard bands of 64 bytes.
  template <class T>
  RunOutcome run(const std::string& statement, std::vector<T>& x, LaunchRequest launch = {}, MemoryRegion region = {}) {
    const EmittedKernel kernel = kernel_of(statement);
    const BuildOutcome outcome = device_->build({&kernel, 1}, BuildFlags::strict()).front();
    if (const auto* failed = std::get_if<BuildFailed>(&outcome)) return LaunchFailed{failed->log};
    return this->launch(std::get<BuiltKernel>(outcome), x, std::move(launch), std::move(region));
  }

  /// As run, with a built kernel.
  template <class T>
  RunOutcome launch(const BuiltKernel& built, std::vector<T>& x, LaunchRequest launch = {}, MemoryRegion region = {}) {
    session_->reset();
    const std::size_t size = x.size() * sizeof(T);
    const BufferId buffer = session_->allocate(size + 128).value();
    const std::span<std::byte> bytes = session_->bytes(buffer).subspan(64, size);
    std::memcpy(bytes.data(), x.data(), bytes.size());
    region.name = "x";
    region.bytes = size;
    const auto shape = static_cast<std::int32_t>(x.size());
    const std::int64_t stride = sizeof(T);
    launch.kernel = &built;
    launch.precision = sizeof(T) == 8 ? Precision::kPromoted : Precision::kNative;
    launch.threads = launch.threads == 0 ? shape : launch.threads;
    launch.arguments = {KernelArgument::array(BufferAddress{buffer, 64}, {&shape, 1}, {&stride, 1}, region),
                        KernelArgument::value(T(0.1))};
    const RunOutcome result = session_->run({&launch, 1}).front();
    std::memcpy(x.data(), bytes.data(), bytes.size());
    return result;
  }

  std::filesystem::path directory_;
  std::unique_ptr<PtxDevice> device_;
  std::unique_ptr<DeviceSession> session_;
};

template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(i + 1);
  return x;
}

TEST_F(PtxDeviceTest, ResultsEqualCpuResultsBitForBitInFloatAndDouble) {
  const std::string statement = "x.data[i] = sqrt(x.data[i] * a + real(1) / x.data[i]) - x.data[i];";
  const auto expect_bits = [&]<class T>(T) {
    std::vector<T> x = numbers<T>(1000);
    EXPECT_TRUE(std::holds_alternative<Completed>(run(statement, x)));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto n = static_cast<T>(i + 1);
      ASSERT_EQ(x[i], std::sqrt(n * T(0.1) + T(1) / n) - n) << i;
    }
  };
  expect_bits(float{});
  expect_bits(double{});
}

/// Three kernels, the second with the given statement, built in one batch with BuildFlags::fast_compile.
std::vector<BuildOutcome> build_three(PtxDevice& device, const std::string& second) {
  const std::vector<EmittedKernel> kernels{kernel_of("x.data[i] = a * x.data[i];"), kernel_of(second),
                                           kernel_of("x.data[i] = sin(x.data[i]) + a;")};
  return device.build(kernels, BuildFlags::fast_to_compile());
}

TEST_F(PtxDeviceTest, BatchBuiltInFastCompileModeMatchesSeparateBuilds) {
  const std::string statement = "x.data[i + 1] = sqrt(x.data[i] * a) + sin(x.data[i]);";
  const std::vector<BuildOutcome> outcomes = build_three(*device_, statement);
  std::vector<float> alone = numbers<float>(20);
  std::vector<float> batched = alone;
  const RunOutcome expected = run(statement, alone);
  const RunOutcome actual = launch(std::get<BuiltKernel>(outcomes[1]), batched);
  EXPECT_EQ(alone, batched);
  ASSERT_TRUE(std::holds_alternative<MemoryFault>(actual));
  const MemoryFinding& finding = std::get<MemoryFault>(actual).findings.at(0);
  const MemoryFinding& known = std::get<MemoryFault>(expected).findings.at(0);
  EXPECT_EQ(finding.kernel, "f_forward");
  EXPECT_EQ(finding.site.source_line, known.site.source_line);
  EXPECT_EQ(finding.offset, known.offset);
}

TEST_F(PtxDeviceTest, FastCompileModeBuildsOneArchitectureAndReusesCachedBuild) {
  const auto first = std::get<BuiltKernel>(build_three(*device_, "x.data[i] = a;")[1]);
  EXPECT_EQ(first.target_architectures.size(), 1U);
  EXPECT_FALSE(first.is_from_cache);
  const auto second = std::get<BuiltKernel>(build_three(*device_, "x.data[i] = a;")[1]);
  EXPECT_TRUE(second.is_from_cache);
  EXPECT_EQ(second.artifacts[1]->content, first.artifacts[1]->content);
}

TEST_F(PtxDeviceTest, OptimizedBatchUsesChosenArchitectureAndItsOwnCacheEntries) {
  const std::vector<EmittedKernel> kernels{kernel_of("x.data[i] = a;"), kernel_of("x.data[i] = a * a;")};
  BuildFlags flags = BuildFlags::strict();
  flags.architectures = ArchitectureChoice::kLast;
  flags.compiles_batches = true;
  const auto first = [&] { return std::get<BuiltKernel>(device_->build(kernels, flags).front()); };
  const BuiltKernel built = first();
  EXPECT_EQ(built.target_architectures, std::vector<std::string>{"compute_100"});
  EXPECT_FALSE(built.is_from_cache);
  EXPECT_TRUE(first().is_from_cache);
  flags.compiles_batches = false;
  EXPECT_FALSE(first().is_from_cache);
}

TEST_F(PtxDeviceTest, OmitsPromotedVariantInBatchesAndSeparateBuilds) {
  const std::vector<EmittedKernel> kernels{kernel_of("x.data[i] = a;"), kernel_of("x.data[i] = a * a;")};
  for (const bool is_batch : {true, false}) {
    BuildFlags flags = BuildFlags::strict();
    flags.architectures = ArchitectureChoice::kFirst;
    flags.compiles_batches = is_batch;
    flags.omits_promoted = true;
    const auto first = [&] { return std::get<BuiltKernel>(device_->build(kernels, flags).front()); };
    for (const bool is_cached : {false, true}) {
      const BuiltKernel built = first();
      EXPECT_EQ(built.is_from_cache, is_cached);
      EXPECT_EQ(built.artifacts.size(), 1U);
      EXPECT_NE(built.find(Pass::kForward, Precision::kNative), nullptr);
      EXPECT_EQ(built.find(Pass::kForward, Precision::kPromoted), nullptr);
    }
    flags.omits_promoted = false;
    EXPECT_FALSE(first().is_from_cache) << "the other variant is not in the cache";
  }
}

TEST_F(PtxDeviceTest, BuildsPromotedVariantForFirstArchitectureOnlyIfRequested) {
  const EmittedKernel kernel = kernel_of("x.data[i] = a;");
  BuildFlags flags = BuildFlags::strict();
  flags.promotes_for_first_architecture = true;
  const auto built = std::get<BuiltKernel>(device_->build({&kernel, 1}, flags).front());
  ASSERT_EQ(built.target_architectures, (std::vector<std::string>{"compute_75", "compute_100"}));
  for (const std::string& architecture : built.target_architectures) {
    EXPECT_TRUE(built.is_built_for(architecture, Precision::kNative)) << architecture;
    EXPECT_EQ(built.is_built_for(architecture, Precision::kPromoted), architecture == "compute_75") << architecture;
  }
  EXPECT_TRUE(built.is_built_for("", Precision::kPromoted));
}

TEST_F(PtxDeviceTest, FastCompileModeStillOptimizesKernelsWithLongLoops) {
  EmittedKernel kernel = kernel_of("x.data[i] = a;");
  const auto content = [&](std::int64_t trips) {
    kernel.most_constant_trips = trips;
    const auto built = std::get<BuiltKernel>(device_->build({&kernel, 1}, BuildFlags::fast_to_compile()).front());
    return built.artifacts[0]->content;
  };
  const std::string fast = content(1);
  EXPECT_EQ(content(100), fast);
  EXPECT_NE(content(100'000), fast);
}

TEST_F(PtxDeviceTest, BuildsForTheChosenArchitectureOnly) {
  const EmittedKernel kernel = kernel_of("x.data[i] = a;");
  BuildFlags flags = BuildFlags::strict();
  flags.architectures = backends::ArchitectureChoice::kLast;
  const auto built = std::get<BuiltKernel>(device_->build({&kernel, 1}, flags).front());
  EXPECT_THAT(built.target_architectures, ::testing::ElementsAre("compute_100"));
  EXPECT_EQ(built.artifact(Artifact::Kind::kPtx, Precision::kNative, "compute_75"), nullptr);
  EXPECT_THAT(device_->build_command(flags), HasSubstr("compute_100"));
}

TEST_F(PtxDeviceTest, FastCompileModeRejectsOnlyTheInvalidKernelOfBatch) {
  const std::vector<BuildOutcome> outcomes = build_three(*device_, "x.data[i] = undeclared;");
  EXPECT_TRUE(std::holds_alternative<BuiltKernel>(outcomes[0]));
  EXPECT_TRUE(std::holds_alternative<BuiltKernel>(outcomes[2]));
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(outcomes[1]));
  EXPECT_THAT(std::get<BuildFailed>(outcomes[1]).log, HasSubstr("f.cu(10): error: identifier \"undeclared\""));
}

TEST_F(PtxDeviceTest, BuildsForEachArchitectureAndReusesCachedBuild) {
  const EmittedKernel kernel = kernel_of("x.data[i] = a;");
  const auto first = std::get<BuiltKernel>(device_->build({&kernel, 1}, BuildFlags::strict()).front());
  EXPECT_FALSE(first.is_from_cache);
  EXPECT_NE(first.artifact(Artifact::Kind::kPtx, Precision::kNative, "compute_75"), nullptr);
  EXPECT_NE(first.artifact(Artifact::Kind::kPtx, Precision::kPromoted, "compute_75"), nullptr);
  EXPECT_TRUE(std::get<BuiltKernel>(device_->build({&kernel, 1}, BuildFlags::strict()).front()).is_from_cache);
  const EmittedKernel wrong = kernel_of("x.data[i] = undeclared;");
  const auto failed = std::get<BuildFailed>(device_->build({&wrong, 1}, BuildFlags::strict()).front());
  EXPECT_EQ(failed.kind, BuildFailed::Kind::kRejected);
  EXPECT_THAT(failed.log, HasSubstr("undeclared"));
}

TEST_F(PtxDeviceTest, ReportsOutOfBoundsAccessAndRaceAsMemoryFaults) {
  std::vector<float> x = numbers<float>(100);
  const RunOutcome outside = run("x.data[i + 1] = a;", x);
  ASSERT_TRUE(std::holds_alternative<MemoryFault>(outside)) << describe(outside);
  EXPECT_THAT(std::get<MemoryFault>(outside).message, StartsWith("out_of_bounds in f_forward"));
  EXPECT_THAT(std::get<MemoryFault>(outside).message, HasSubstr("source line"));
  const RunOutcome race = run("x.data[0] += a;", x);
  ASSERT_TRUE(std::holds_alternative<MemoryFault>(race)) << describe(race);
  EXPECT_THAT(std::get<MemoryFault>(race).message, HasSubstr("race"));
  EXPECT_TRUE(std::holds_alternative<Completed>(run("atomicAdd(x.data, a);", x)));
}

TEST_F(PtxDeviceTest, OutOfBoundsFindingContainsSourceLocationAndArrayName) {
  std::vector<float> x = numbers<float>(100);
  for (const std::string target : {"compute_75", "compute_100"}) {
    const auto fault = std::get<MemoryFault>(run("x.data[i] = x.data[i + 1];", x, {.target = target}));
    const auto outside = std::ranges::find(fault.findings, "out_of_bounds", &MemoryFinding::kind);
    ASSERT_NE(outside, fault.findings.end()) << fault.message;
    EXPECT_EQ(outside->allocation_name, "x");
    EXPECT_EQ(outside->offset, 400);
    EXPECT_EQ(outside->allocation_bytes, 400U);
    EXPECT_EQ(outside->target, target);
    EXPECT_EQ(outside->site.thread, (std::array<std::uint32_t, 3>{99, 0, 0}));
    EXPECT_GT(outside->site.code_line, 0U);
    EXPECT_GT(outside->site.source_line, 0U);
    EXPECT_THAT(outside->site.instruction, StartsWith("ld.global"));
    const auto race = std::ranges::find(fault.findings, "read_write_race", &MemoryFinding::kind);
    ASSERT_NE(race, fault.findings.end()) << fault.message;
    ASSERT_TRUE(race->conflicting_access.has_value());
    EXPECT_NE(race->conflicting_access->thread, race->site.thread);
  }
}

/// A kernel with a fault in its use of shared or local memory, barriers or shuffles, and the same kernel without it.
struct FaultyKernel {
  const char* kind;
  const char* faulty;
  const char* clean;
};
constexpr FaultyKernel kFaulty[] = {
    {"uninitialised_read", "__shared__ real s[64]; if (i != 7) s[i] = a; __syncthreads(); x.data[i] = s[63 - i];",
     "__shared__ real s[64]; s[i] = a; __syncthreads(); x.data[i] = s[63 - i];"},
    {"uninitialised_read", "int l[8]; l[i % 8] = 1; l[(i + 3) % 8] = 2; x.data[i] = l[int(x.data[i]) % 8];",
     "int l[8]; for (int k = 0; k < 8; ++k) l[k] = k * k; l[(i + 3) % 8] = 2; x.data[i] = l[int(x.data[i]) % 8];"},
    {"read_write_race", "__shared__ real s[64]; s[i] = a; x.data[i] = s[63 - i];",
     "__shared__ real s[64]; s[i] = a; __syncthreads(); x.data[i] = s[63 - i];"},
    {"write_write_race", "__shared__ real s[1]; s[0] = i; __syncthreads(); x.data[i] = s[0];",
     "__shared__ real s[1]; if (i == 5) s[0] = i; __syncthreads(); x.data[i] = s[0];"},
    {"barrier_divergence", "if (i < 40) __syncthreads(); x.data[i] = a;", "__syncthreads(); x.data[i] = a;"},
    {"inactive_lane", "if (i % 2 == 0) x.data[i] = __shfl_sync(0x55555555u, x.data[i], int(i % 32) + 1);",
     "x.data[i] = __shfl_sync(0xffffffffu, x.data[i], int(i % 32) ^ 1);"},
    {"write_write_race", "x.data[i / 2] = a * i;", "x.data[i] = a * i;"},
    {"read_write_race", "x.data[i] = a + x.data[(i + 1) % 64];", "x.data[i] = a + x.data[i];"},
};

TEST_F(PtxDeviceTest, DetectsInjectedFaultsAndAcceptsFaultFreeKernels) {
  for (const FaultyKernel& injected : kFaulty) {
    for (const std::string target : {"compute_75", "compute_100"}) {
      SCOPED_TRACE(fmt::format("{} of {}", target, injected.faulty));
      std::vector<float> x = numbers<float>(64);
      const RunOutcome faulty = run(injected.faulty, x, {.target = target, .threads_per_block = 64});
      ASSERT_TRUE(std::holds_alternative<MemoryFault>(faulty)) << describe(faulty);
      // The race also causes a read before the write.
      const std::vector<MemoryFinding>& findings = std::get<MemoryFault>(faulty).findings;
      const auto found = std::ranges::find(findings, injected.kind, &MemoryFinding::kind);
      ASSERT_NE(found, findings.end()) << describe(faulty);
      EXPECT_GT(found->site.source_line, 0U);
      x = numbers<float>(64);
      const RunOutcome clean = run(injected.clean, x, {.target = target, .threads_per_block = 64});
      EXPECT_TRUE(std::holds_alternative<Completed>(clean)) << describe(clean);
    }
  }
}

TEST_F(PtxDeviceTest, DetectsWriteToReadOnlyArrayAndReadOfUninitializedArray) {
  std::vector<float> x = numbers<float>(64);
  const auto kind = [&](const std::string& statement, MemoryRegion region) {
    const RunOutcome outcome = run(statement, x, {}, std::move(region));
    const auto* fault = std::get_if<MemoryFault>(&outcome);
    return fault == nullptr ? describe(outcome) : fault->kind;
  };
  EXPECT_EQ(kind("x.data[i] = a;", {.read_only = true}), "read_only_write");
  EXPECT_EQ(kind("x.data[i] += a;", {.uninitialized = true}), "uninitialised_read");
  EXPECT_EQ(kind("x.data[i] = a;", {.uninitialized = true}), "completed");
  EXPECT_EQ(kind("x.data[i] += a;", {}), "completed");
}

TEST_F(PtxDeviceTest, ReturnsProfileOnlyIfRequested) {
  std::vector<float> x = numbers<float>(64);
  EXPECT_FALSE(std::get<Completed>(run("x.data[i] = a;", x)).profile.has_value());
  const auto done = std::get<Completed>(run("x.data[i] = expf(x.data[i]);", x, {.profile = true}));
  ASSERT_TRUE(done.profile.has_value());
  EXPECT_EQ(done.profile->target, "compute_75");
  EXPECT_EQ(done.profile->threads, 64);
  EXPECT_EQ(done.profile->exactness.approximate_instruction_count, 64U);
  EXPECT_TRUE(done.profile->exactness.approximation_reaches_result);
  EXPECT_EQ(done.profile->measures.at("sectors_per_access"), 4.0);
}

TEST_F(PtxDeviceTest, InfiniteLoopTimesOut) {
  std::vector<float> x = numbers<float>(1);
  const std::string endless = "volatile float* p = (volatile float*)x.data; while (*p != 0) *p = 1;";
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run(endless, x, {.time_limit = std::chrono::milliseconds(5)})));
}

TEST_F(PtxDeviceTest, StopOnFailureSkipsLaunchesAfterFailure) {
  const BuiltKernel without_entries;
  LaunchRequest launch{.kernel = &without_entries};
  EXPECT_EQ(session_->run(std::vector{launch, launch}).size(), 2U);
  launch.stops_on_failure = true;
  EXPECT_EQ(session_->run(std::vector{launch, launch}).size(), 1U);
}

TEST_F(PtxDeviceTest, ResultsDoNotDependOnBlockSizeOrThreadOrder) {
  for (const std::int64_t block : {1, 32, 100, 128}) {
    for (const ThreadOrder order : {ThreadOrder::kForward, ThreadOrder::kReverse, ThreadOrder::kShuffled}) {
      std::vector<float> x = numbers<float>(257);
      const RunOutcome outcome =
          run("x.data[i] = i * a;", x, {.threads_per_block = block, .order = order, .shuffle_seed = 3});
      ASSERT_TRUE(std::holds_alternative<Completed>(outcome)) << describe(outcome);
      EXPECT_EQ(x[256], 256 * 0.1F);
    }
  }
}

TEST_F(PtxDeviceTest, AnswersLaunchThatEqualsEarlierOneWithoutRunningIt) {
  const EmittedKernel kernel = kernel_of("x.data[i] = x.data[i] * x.data[i];");
  const auto built = std::get<BuiltKernel>(device_->build({&kernel, 1}, BuildFlags::strict()).front());
  const std::vector<std::vector<float>> contents{{1, 2, 3}, {1, 2, 3}, {1, 2, 4}};
  constexpr std::int32_t kShape = 3;
  constexpr std::int64_t kStride = sizeof(float);
  std::vector<LaunchRequest> launches;
  std::vector<BufferId> buffers;
  for (const std::vector<float>& content : contents) {
    buffers.push_back(session_->allocate(12).value());
    std::memcpy(session_->bytes(buffers.back()).data(), content.data(), 12);
    launches.push_back({.kernel = &built, .threads = 3});
    launches.back().arguments = {KernelArgument::array(BufferAddress{buffers.back(), 0}, {&kShape, 1}, {&kStride, 1},
                                                       {.name = "x", .bytes = 12}),
                                 KernelArgument::value(1.0F)};
  }
  const std::vector<RunOutcome> outcomes = session_->run(launches);
  const auto duration = [&](std::size_t i) { return std::get<Completed>(outcomes[i]).duration; };
  const auto last = [&](std::size_t i) {
    return reinterpret_cast<const float*>(session_->bytes(buffers[i]).data())[2];
  };
  EXPECT_EQ(duration(0), duration(1)) << "the second launch did not run";
  EXPECT_NE(duration(0), duration(2));
  EXPECT_EQ(last(0), 9);
  EXPECT_EQ(last(1), 9);
  EXPECT_EQ(last(2), 16);
}

TEST_F(PtxDeviceTest, SharesCodeBetweenPrecisionsIfNothingIsPromoted) {
  EmittedKernel kernel = kernel_of("x.data[i] = a;");
  kernel.body = "using real = double;" + kernel.body.substr(kernel.body.find("\nextern"));
  for (const bool is_batch : {true, false}) {
    const std::vector<EmittedKernel> kernels(2, kernel);
    BuildFlags flags = is_batch ? BuildFlags::fast_to_compile() : BuildFlags::strict();
    flags.architectures = ArchitectureChoice::kFirst;
    for (const bool is_cached : {false, true}) {
      const auto built = std::get<BuiltKernel>(device_->build(kernels, flags).front());
      EXPECT_EQ(built.is_from_cache, is_cached);
      EXPECT_EQ(built.artifacts.size(), 1U);
      std::vector<double> x = numbers<double>(3);
      EXPECT_TRUE(std::holds_alternative<Completed>(launch(built, x)));
      EXPECT_EQ(x[2], 0.1);
      EXPECT_NE(built.find(Pass::kForward, Precision::kNative), nullptr);
    }
    flags.omits_promoted = true;
    const auto native = std::get<BuiltKernel>(device_->build(kernels, flags).front());
    EXPECT_EQ(native.find(Pass::kForward, Precision::kPromoted), nullptr);
  }
}

TEST_F(PtxDeviceTest, RunsOnlyRequestedSampleOfThreads) {
  std::vector<float> x = numbers<float>(1000);
  const RunOutcome outcome = run("x.data[i] = -1;", x, {.checked_threads = {0, 1, 500, 999}});
  ASSERT_TRUE(std::holds_alternative<Completed>(outcome)) << describe(outcome);
  for (const std::size_t asked : {0U, 1U, 500U, 999U})
    EXPECT_EQ(x[asked], -1) << asked;
  EXPECT_EQ(std::ranges::count(x, -1.0F), 32 + 32 + 8);  // the warps of the asked threads; the last one has 8 threads
}

TEST(PtxDevice, ReportsMissingNvrtc) {
  ::setenv("ASSAY_NVRTC", "/nonexistent", 1);
  PtxDevice device({.uses_build_cache = false});
  ::unsetenv("ASSAY_NVRTC");
  EXPECT_EQ(device.can_run().tool_or_reason, "no NVRTC");
  EXPECT_FALSE(device.open({}).ok());
}

}  // namespace
}  // namespace assay::ptx
