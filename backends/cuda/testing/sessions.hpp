// Sessions over the fake driver, for the tests of this folder.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/cuda/device.hpp"
#include "backends/cuda/testing/kernels.hpp"

namespace assay::cuda::testing {

inline constexpr std::size_t kBufferBytes = std::size_t{16} << 20;

/// The driver calls that a measured launch makes in addition: its own calls, and those of the runs that CUPTI observes.
inline constexpr std::array kMeasuringCalls{
    "cuDeviceGetAttribute@1", "cuMemAlloc_v2@1",      "cuMemcpyHtoDAsync_v2@1",
    "cuEventCreate@3",        "cuEventRecord@1",      "cuMemcpyDtoDAsync_v2@1",
    "cuMemsetD8Async@1",      "cuLaunchKernel@1",     "cuStreamSynchronize@1",
    "cuEventElapsedTime@1",   "cuFuncGetAttribute@1", "cuOccupancyMaxActiveBlocksPerMultiprocessor@1",
    "cuCtxGetCurrent@1",      "cuLaunchKernel@5",     "cuLaunchKernel@6",
    "cuMemGetInfo_v2@1"};
/// The calls that query the properties of a GPU.
inline constexpr std::array kGpuQueryCalls{"cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2",
                                           "cuDeviceGetAttribute"};

class CudaSession : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("ASSAY_CUDA_DRIVER", ASSAY_FAKE_CUDA, 1);
    ::setenv("ASSAY_CUPTI", ASSAY_FAKE_CUDA, 1);
    plan("");
  }
  void TearDown() override {
    ::unsetenv("ASSAY_CUDA_DRIVER");
    ::unsetenv("ASSAY_CUPTI");
    ::unsetenv("ASSAY_FAKE_GPU");
  }

  /// Sets the plan of the workers started from now on.
  static void plan(const std::string& text) { ::setenv("ASSAY_FAKE_GPU", text.c_str(), 1); }

  static Result<std::unique_ptr<backends::DeviceSession>> open(std::size_t device_memory_limit_bytes = 0) {
    return open_session(
        {.buffer_bytes = kBufferBytes},
        {.gpu_ordinal = 0, .name = "fake", .compute_capability_major = 7, .compute_capability_minor = 5},
        device_memory_limit_bytes, ASSAY_CUDA_WORKER);
  }

  /// A launch of the kernel over its own buffer of `count` floats, all 2, with a = 10.
  static backends::LaunchRequest launch(backends::DeviceSession& session, const backends::BuiltKernel& kernel,
                                        std::int64_t count) {
    const backends::BufferId buffer = session.allocate(static_cast<std::size_t>(count) * sizeof(float)).value();
    std::ranges::fill(floats(session, buffer), 2.0F);
    backends::KernelArgument pointer;
    pointer.bytes.resize(sizeof(void*));
    pointer.pointers.push_back({.byte_offset = 0, .address = {buffer, 0}});
    return {.kernel = &kernel,
            .threads = count,
            .arguments = {pointer, backends::KernelArgument::value(10.0F)},
            .time_limit = std::chrono::milliseconds{150}};
  }

  static std::span<float> floats(backends::DeviceSession& session, backends::BufferId buffer) {
    const std::span<std::byte> bytes = session.bytes(buffer);
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
  static std::span<float> result(backends::DeviceSession& session, const backends::LaunchRequest& launch) {
    return floats(session, launch.arguments[0].pointers[0].address.buffer);
  }

  TemporaryDirectory directory;
  backends::BuiltKernel scale = built_kernel(directory.path(), "scale", kScale);
  backends::BuiltKernel other = built_kernel(directory.path(), "other", kScale);
};

}  // namespace assay::cuda::testing
