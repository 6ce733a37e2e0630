// Tests that the executor releases all driver objects, with the fake driver in this process.

#include "backends/cuda/executor.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/cuda/testing/sessions.hpp"
#include "backends/device/shared_object.hpp"
#include "backends/worker/command_writer.hpp"

namespace assay::cuda {
namespace {

using namespace backends;

class GpuExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("ASSAY_CUDA_DRIVER", ASSAY_FAKE_CUDA, 1);
    const auto library = SharedObject::open(std::array<std::string, 1>{ASSAY_FAKE_CUDA});
    ASSERT_TRUE(library.ok() && library->find("assay_fake_gpu_reset", reset) &&
                library->find("assay_fake_gpu_live", live));
    ASSERT_EQ(reset(""), 0);
  }
  void TearDown() override { ::unsetenv("ASSAY_CUDA_DRIVER"); }

  /// The commands of one launch of `kernel` over the first floats of the buffers.
  std::vector<std::byte> commands(const BuiltKernel& kernel, std::size_t bytes, int samples = 0) const {
    std::vector<std::byte> text(4096);
    worker::CommandWriter writer(text, [&](BufferId) { return worker::BufferExtent{0, bytes}; });
    KernelArgument pointer;
    pointer.bytes.resize(sizeof(void*));
    pointer.pointers.push_back({.byte_offset = 0, .address = {{0}, 0}});
    const LaunchRequest request{
        .threads = 1, .arguments = {pointer, KernelArgument::value(10.0F)}, .sample_count = samples};
    EXPECT_TRUE(writer.add_launch(request, kernel.entry_points.front(), kernel.artifacts.front()->path.native()));
    return {text.begin() + 16, text.end()};
  }

  TemporaryDirectory directory;
  std::vector<std::byte> buffers = std::vector<std::byte>(std::size_t{8} << 20);
  int (*reset)(const char*) = nullptr;
  int (*live)() = nullptr;
};

TEST_F(GpuExecutorTest, LaunchesDoNotLeakDriverObjects) {
  const Driver driver = Driver::load().take();
  {
    GpuExecutor executor(driver, {}, buffers);
    int first = 0;
    for (int i = 0; i < 1000; ++i) {
      // Ten kernels, with growing memory.
      const BuiltKernel kernel = testing::built_kernel(directory.path(), "k" + std::to_string(i % 10), testing::kScale);
      const worker::LaunchResult end =
          executor.run(worker::LaunchRecordReader(commands(kernel, static_cast<std::size_t>(i + 1) * 4096).data()));
      ASSERT_EQ(end.progress, worker::LaunchProgress::kCompleted) << end.message;
      if (i == 10) first = live();
    }
    EXPECT_EQ(live(), first) << "a launch leaks a driver object";
  }
  EXPECT_EQ(live(), 0);
}

TEST_F(GpuExecutorTest, MeasurementsDoNotLeakDriverObjects) {
  const BuiltKernel kernel = testing::built_kernel(directory.path(), "scale", testing::kScale);
  const std::vector<std::byte> measured = commands(kernel, 4096, 3);
  // Without failure, and with a call that fails after others have created objects.
  for (const std::string plan : {"", "cuEventCreate@4=2", "cuLaunchKernel@3=2"}) {
    ASSERT_EQ(reset(plan.c_str()), 0);
    const Driver driver = Driver::load().take();
    GpuExecutor executor(driver, {}, buffers);
    const int before = live();
    const worker::LaunchResult end = executor.run(worker::LaunchRecordReader(measured.data()));
    EXPECT_EQ(end.progress == worker::LaunchProgress::kCompleted, plan.empty()) << end.message;
    EXPECT_EQ(live(), before + 1) << plan << ": a driver object other than the module is left";
  }
}

TEST_F(GpuExecutorTest, GpuQueryErrorMentionsFailedDriverCall) {
  for (const std::string call : testing::kGpuQueryCalls) {
    for (const std::string action : {"1", "46", "999"}) {
      ASSERT_EQ(reset((call + "@1=" + action).c_str()), 0);
      const Driver driver = Driver::load().take();
      try {
        static_cast<void>(query_gpu(driver, 0));
        ADD_FAILURE() << call;
      } catch (const CallError& error) {
        EXPECT_EQ(error.call(), call);
      }
    }
  }
}

TEST_F(GpuExecutorTest, FailedConstructionLeaksNoDriverObjects) {
  for (const char* plan : {"cuCtxSetCurrent@1=46", "cuStreamCreate@3=2", "cuEventCreate@2=2"}) {
    ASSERT_EQ(reset(plan), 0);
    const Driver driver = Driver::load().take();
    EXPECT_THROW(GpuExecutor(driver, {}, buffers), CallError) << plan;
    EXPECT_EQ(live(), 0) << plan;
  }
}

TEST_F(GpuExecutorTest, StaysUsableAfterOutOfMemoryError) {
  ASSERT_EQ(reset("memory=2M"), 0);
  const Driver driver = Driver::load().take();
  GpuExecutor executor(driver, {}, buffers);
  const BuiltKernel kernel = testing::built_kernel(directory.path(), "scale", testing::kScale);
  const worker::LaunchResult large =
      executor.run(worker::LaunchRecordReader(commands(kernel, std::size_t{4} << 20).data()));
  EXPECT_EQ(large.progress, worker::LaunchProgress::kResourceError);
  EXPECT_TRUE(large.process_is_usable);
  const worker::LaunchResult small = executor.run(worker::LaunchRecordReader(commands(kernel, 4096).data()));
  EXPECT_EQ(small.progress, worker::LaunchProgress::kCompleted) << small.message;
}

}  // namespace
}  // namespace assay::cuda
