// Tests of the CUDA device over the fake driver: launches, and the outcome of every failure of every driver call.

#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/cuda/testing/sessions.hpp"

namespace assay::cuda {
namespace {

using namespace backends;
using namespace testing;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CudaSession, RunsLaunchesOfDifferentBlockSizes) {
  const auto session = open();
  ASSERT_TRUE(session.ok()) << session.error().text();
  std::vector<LaunchRequest> launches;
  for (const std::int64_t block : {0, 32, 33, 128, 1024}) {
    launches.push_back(launch(**session, scale, 1000));
    launches.back().threads_per_block = block;
  }
  for (const RunOutcome& outcome : (*session)->run(launches)) {
    ASSERT_TRUE(std::holds_alternative<Completed>(outcome)) << describe(outcome);
    EXPECT_GT(std::get<Completed>(outcome).duration.count(), 0);
  }
  for (const LaunchRequest& each : launches)
    EXPECT_THAT(result(**session, each), Each(20.0F));
}

TEST_F(CudaSession, RejectsArgumentsThatDoNotMatchParameters) {
  const auto session = open();
  LaunchRequest wide = launch(**session, scale, 1);
  wide.arguments[1] = KernelArgument::value(10.0);
  LaunchRequest few = launch(**session, scale, 1);
  few.arguments.pop_back();
  LaunchRequest huge_block = launch(**session, scale, 1);
  huge_block.threads_per_block = 2048;
  const std::array launches{wide, few, huge_block, launch(**session, scale, 1)};
  const std::vector<RunOutcome> outcomes = (*session)->run(launches);
  EXPECT_EQ(describe(outcomes[0]), "launch failed: argument 1 must have 4 bytes, got 8");
  EXPECT_EQ(describe(outcomes[1]), "launch failed: the kernel takes 2 arguments, got 1");
  EXPECT_THAT(describe(outcomes[2]), StartsWith("launch failed: cuLaunchKernel of scale_forward: invalid argument"));
  EXPECT_EQ(describe(outcomes[3]), "completed");
}

TEST_F(CudaSession, RunsLaunchesIfDriverLacksCuFuncGetParamInfo) {
  ::setenv("ASSAY_CUDA_DRIVER", ASSAY_FAKE_CUDA_12_0, 1);
  const auto session = open();
  ASSERT_TRUE(session.ok()) << session.error().text();
  const LaunchRequest request = launch(**session, scale, 3);
  EXPECT_EQ(describe((*session)->run({&request, 1}).front()), "completed");
  EXPECT_THAT(result(**session, request), Each(20.0F));
}

TEST_F(CudaSession, FallsBackToPtxIfCubinIsForAnotherGpu) {
  BuiltKernel both = scale;
  Artifact cubin{.kind = Artifact::Kind::kCubin, .architecture = "sm_75", .path = directory.path() / "scale.cubin"};
  std::ofstream(cubin.path) << "\x7f"
                            << "ELF and the rest of a cubin";
  both.artifacts.insert(both.artifacts.begin(), std::make_shared<const Artifact>(std::move(cubin)));
  const auto session = open();
  const LaunchRequest request = launch(**session, both, 3);
  EXPECT_EQ(describe((*session)->run({&request, 1}).front()), "completed");
  EXPECT_THAT(result(**session, request), Each(20.0F));
}

TEST_F(CudaSession, ReportsCauseOfEachKindOfKernelFault) {
  struct Fault {
    const char* name;
    const char* body;
    const char* outcome;
  };
  constexpr std::array kFaults{
      Fault{"stray", "st.global.f32 [%rd1+134217728], %f1;",
            "memory fault: cuStreamSynchronize of stray_forward: an illegal memory access was encountered "
            "(CUDA_ERROR_ILLEGAL_ADDRESS, 700)"},
      Fault{"crooked", "st.global.f32 [%rd1+1], %f1;",
            "memory fault: cuStreamSynchronize of crooked_forward: misaligned address"},
      Fault{"trapped", "trap;", "crashed: cuStreamSynchronize of trapped_forward: unspecified launch failure"},
      Fault{"endless", "AGAIN:\nbra AGAIN;", "timed out after 150 ms"},
      Fault{"nonsense", "nonsense.f32 %f1, %f2;", "launch failed: "},
  };
  const auto session = open();
  for (const Fault& fault : kFaults) {
    const BuiltKernel kernel = built_kernel(directory.path(), fault.name, fault.body);
    const std::array launches{launch(**session, scale, 2), launch(**session, kernel, 2), launch(**session, scale, 2)};
    const std::vector<RunOutcome> outcomes = (*session)->run(launches);
    EXPECT_THAT(describe(outcomes[1]), StartsWith(fault.outcome)) << fault.name;
    EXPECT_THAT(result(**session, launches[1]), Each(2.0F)) << fault.name;
    for (const std::size_t i : {0U, 2U}) {
      EXPECT_EQ(describe(outcomes[i]), "completed") << fault.name;
      EXPECT_THAT(result(**session, launches[i]), Each(20.0F)) << fault.name;
    }
  }
}

/// The same launch over the same memory with few threads, so that it is fast even under sanitizers.
LaunchRequest few_threads(LaunchRequest launch) {
  launch.threads = 100;
  return launch;
}

TEST_F(CudaSession, RejectsLaunchBeyondDeviceMemoryLimit) {
  const auto session = open(1 << 20);
  const std::array launches{few_threads(launch(**session, scale, 1 << 17)), launch(**session, scale, 1 << 18)};
  const std::vector<RunOutcome> outcomes = (*session)->run(launches);
  EXPECT_EQ(describe(outcomes[0]), "completed");
  EXPECT_EQ(describe(outcomes[1]),
            "resource error: the launch needs 1572864 bytes of device memory, but only 1048576 are allowed");
}

// ------------------------------------------------------------------------------------------- each call x each failure

/// A failure and the resulting outcome of the launch.
struct Failure {
  const char* action;
  const char* outcome;  ///< prefix of the outcome
};
constexpr std::array kFailures{
    Failure{"1", "launch failed: {}"},     Failure{"2", "resource error: {}"},
    Failure{"46", "resource error: {}"},   Failure{"700", "memory fault: {}"},
    Failure{"702", "timed out after 150"}, Failure{"716", "memory fault: {}"},
    Failure{"719", "crashed: {}"},         Failure{"999", "resource error: {}"},
    Failure{"lose", "resource error: {}"}, Failure{"hang", "timed out after 150"},
    Failure{"die", "crashed: SIGKILL"},
};

/// A driver call of the second of three launches, which loads other code and grows the memory, so it makes every call.
struct LaunchCall {
  const char* call;
  int turn;
  bool results_are_back = false;  ///< the results may already have been copied
};
constexpr std::array kLaunchCalls{
    LaunchCall{"cuModuleLoadDataEx", 2},
    LaunchCall{"cuModuleGetFunction", 2},
    LaunchCall{"cuMemAlloc_v2", 2},
    LaunchCall{"cuMemsetD8Async", 2},
    LaunchCall{"cuStreamSynchronize", 4},
    LaunchCall{"cuMemcpyHtoDAsync_v2", 2},
    LaunchCall{"cuEventRecord", 3},
    LaunchCall{"cuLaunchKernel", 2},
    LaunchCall{"cuEventRecord", 4},
    LaunchCall{"cuStreamSynchronize", 5},
    LaunchCall{"cuMemcpyDtoHAsync_v2", 2},
    LaunchCall{"cuStreamSynchronize", 6, true},
    LaunchCall{"cuEventElapsedTime", 2, true},
};

class FailedDriverCall : public CudaSession, public ::testing::WithParamInterface<LaunchCall> {};

TEST_P(FailedDriverCall, FailsOnlyTheLaunchThatMadeTheCall) {
  const LaunchCall& failing = GetParam();
  for (const Failure& failure : kFailures) {
    SCOPED_TRACE(fmt::format("{}@{}={}", failing.call, failing.turn, failure.action));
    plan(fmt::format("{}@{}={}", failing.call, failing.turn, failure.action));
    const auto session = open();
    ASSERT_TRUE(session.ok()) << session.error().text();
    const std::array launches{launch(**session, scale, 3), few_threads(launch(**session, other, 1 << 19)),
                              launch(**session, scale, 3)};
    const std::vector<RunOutcome> outcomes = (*session)->run(launches);
    EXPECT_EQ(describe(outcomes[0]), "completed");
    EXPECT_THAT(describe(outcomes[1]), StartsWith(fmt::format(fmt::runtime(failure.outcome), failing.call)));
    EXPECT_EQ(describe(outcomes[2]), "completed");
    EXPECT_THAT(result(**session, launches[0]), Each(20.0F));
    EXPECT_THAT(result(**session, launches[2]), Each(20.0F));
    if (!failing.results_are_back) {
      EXPECT_EQ(result(**session, launches[1])[0], 2.0F);
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<LaunchCall>& info) {
  return fmt::format("{}_{}", info.param.call, info.param.turn);
}
INSTANTIATE_TEST_SUITE_P(Table, FailedDriverCall, ::testing::ValuesIn(kLaunchCalls), name_of);

/// The driver calls of a starting worker, and how the session reports that they failed.
struct SetupCall {
  const char* call;
  const char* reason;
};
constexpr std::array kSetupCalls{
    SetupCall{"cuInit", "no CUDA device"},
    SetupCall{"cuDeviceGetCount", "no CUDA device"},
    SetupCall{"cuDriverGetVersion", "no CUDA device"},
    SetupCall{"cuDeviceGet", "cuDeviceGet of GPU 0"},
    SetupCall{"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain of GPU 0"},
    SetupCall{"cuCtxSetCurrent", "cuCtxSetCurrent of GPU 0"},
    SetupCall{"cuStreamCreate", "cuStreamCreate of a stream"},
    SetupCall{"cuEventCreate", "cuEventCreate of an event"},
};

TEST_F(CudaSession, ReportsWhyContextCannotBeCreated) {
  for (const SetupCall& failing : kSetupCalls) {
    for (const char* action : {"2", "46", "100", "999", "lose"}) {
      SCOPED_TRACE(fmt::format("{}@1={}", failing.call, action));
      plan(fmt::format("{}@1={}", failing.call, action));
      const auto session = open();
      ASSERT_FALSE(session.ok());
      EXPECT_THAT(session.error().text(), HasSubstr(failing.reason));
      EXPECT_THAT(session.error().text(), HasSubstr(failing.call));
    }
    plan(fmt::format("{}@1=die", failing.call));
    EXPECT_THAT(open().error().text(), HasSubstr("the worker process did not start"));
  }
}

/// Calls whose failure has no effect: the context releases the objects anyway, and not every driver reports the sizes
/// of parameters.
constexpr std::array kHarmlessCalls{"cuModuleUnload", "cuStreamDestroy_v2", "cuEventDestroy_v2",
                                    "cuMemFree_v2",   "cuFuncGetParamInfo", "cuDevicePrimaryCtxRelease_v2"};

TEST_F(CudaSession, LaunchSucceedsIfOptionalDriverCallFails) {
  for (const char* call : kHarmlessCalls) {
    SCOPED_TRACE(call);
    plan(fmt::format("{}@1=1", call));
    const auto session = open();
    ASSERT_TRUE(session.ok());
    // The second launch needs more memory than the first, so the first image is released.
    const std::array launches{launch(**session, scale, 3), few_threads(launch(**session, scale, 1 << 19))};
    for (const RunOutcome& outcome : (*session)->run(launches))
      EXPECT_EQ(describe(outcome), "completed");
    EXPECT_EQ(result(**session, launches[1])[0], 20.0F);
  }
}

TEST(DriverCalls, EveryDriverFunctionHasAFailureTest) {
  // These two only describe the failure of another call.
  std::set<std::string> covered{"cuGetErrorName", "cuGetErrorString"};
  for (const LaunchCall& row : kLaunchCalls)
    covered.insert(row.call);
  for (const SetupCall& row : kSetupCalls)
    covered.insert(row.call);
  for (const std::string call : kMeasuringCalls)
    covered.insert(call.substr(0, call.find('@')));
  covered.insert(kGpuQueryCalls.begin(), kGpuQueryCalls.end());
  covered.insert(kHarmlessCalls.begin(), kHarmlessCalls.end());
#define ASSAY_IS_COVERED(name, parameters) EXPECT_EQ(covered.erase(#name), 1U) << #name << " has no failure test";
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_IS_COVERED)
  ASSAY_CUDA_DRIVER_OPTIONAL_SYMBOLS(ASSAY_IS_COVERED)
#undef ASSAY_IS_COVERED
  EXPECT_THAT(covered, ::testing::IsEmpty()) << "the tables contain calls that are not in the driver";
}

TEST_F(CudaSession, ReportsLostDeviceForEachLaunch) {
  const auto session = open();
  ASSERT_TRUE(session.ok());
  const std::array launches{launch(**session, scale, 3), launch(**session, scale, 3)};
  (*session)->run(launches);
  // The worker that replaces the killed one no longer finds a device.
  plan("cuDevicePrimaryCtxRetain@1=46");
  const BuiltKernel trapped = built_kernel(directory.path(), "trapped", "trap;");
  const LaunchRequest trap = launch(**session, trapped, 1);
  (*session)->run({&trap, 1});
  for (const RunOutcome& outcome : (*session)->run(launches)) {
    EXPECT_THAT(describe(outcome), StartsWith("resource error: cuDevicePrimaryCtxRetain of GPU 0: CUDA-capable"));
  }
}

// ----------------------------------------------------------------------------------------------------------------
// leaks

std::size_t entries_of(const char* directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

std::string children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(CudaSession, LeaksNoFileDescriptorsOrProcesses) {
  const std::size_t descriptors = entries_of("/proc/self/fd");
  const std::string processes = children();
  const BuiltKernel trapped = built_kernel(directory.path(), "trapped", "trap;");
  constexpr int kSessions = 10;
  constexpr int kLaunches = 100;
  for (int i = 0; i < kSessions; ++i) {
    const auto session = open();
    std::vector<LaunchRequest> launches;
    for (int k = 0; k < kLaunches; ++k)
      launches.push_back(launch(**session, k % 25 == 7 ? trapped : scale, 5));
    const std::vector<RunOutcome> outcomes = (*session)->run(launches);
    EXPECT_EQ(std::ranges::count_if(outcomes, [](const auto& o) { return std::holds_alternative<Completed>(o); }), 96);
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  EXPECT_EQ(children(), processes);
}

}  // namespace
}  // namespace assay::cuda
