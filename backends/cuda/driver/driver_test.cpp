#include "backends/cuda/driver/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/cuda/driver/same_call.hpp"

#if __has_include(<cuda.h>)
#include <cuda.h>
// CUDA 13 gives this name to a newer function. Its libcuda exports both; that of CUDA 12 exports only the older one.
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
#endif
#endif

namespace assay::cuda {
namespace {

using ::testing::HasSubstr;

TEST(Driver, LoadFindsGpuOrReportsWhatIsMissing) {
  const Result<Driver> driver = Driver::load();
  if (driver) {
    EXPECT_GT(driver->device_count(), 0);
    EXPECT_NE(driver->version(), "0.0");
  } else {
    const std::string& reason = driver.error().message;
    EXPECT_TRUE(reason == "no CUDA driver" || reason == "no CUDA device") << reason;
    EXPECT_FALSE(driver.error().where.empty());
  }
}

TEST(Driver, ErrorMentionsFunctionThatLibraryLacks) {
  ::setenv("ASSAY_CUDA_DRIVER", "libm.so.6", 1);
  const Result<Driver> driver = Driver::load();
  ::unsetenv("ASSAY_CUDA_DRIVER");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().text(), "libm.so.6 lacks cuInit: no CUDA driver");
}

TEST(CallError, MessageContainsFunctionErrorCodeAndSourceLocation) {
  const CallError error("cuMemAlloc_v2", "device memory of 8 bytes", 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory");
  EXPECT_THAT(error.what(), HasSubstr("cuMemAlloc_v2 of device memory of 8 bytes: out of memory "
                                      "(CUDA_ERROR_OUT_OF_MEMORY, 2), at driver_test.cpp:"));
}

TEST(CallError, ClassifiesUnknownErrorCodeAsSystemError) {
  EXPECT_EQ(classify(CUDA_ERROR_ILLEGAL_ADDRESS).cause, ErrorCause::kInvalidAccess);
  EXPECT_TRUE(classify(CUDA_ERROR_ILLEGAL_ADDRESS).is_sticky);
  EXPECT_FALSE(classify(CUDA_ERROR_OUT_OF_MEMORY).is_sticky);
  EXPECT_EQ(classify(12345).cause, ErrorCause::kMachineFailure);
  EXPECT_TRUE(classify(12345).is_sticky);
}

#if __has_include(<cuda.h>)
TEST(Driver, DeclarationsMatchCudaHeaders) {
  static_assert(sizeof(::CUresult) == sizeof(CUresult));
  const DriverSymbols symbols;
#define ASSAY_COMPARE(name, parameters) EXPECT_TRUE(testing::has_same_signature(symbols.name, &::name)) << #name;
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_COMPARE)
#if CUDA_VERSION >= 12040
  ASSAY_CUDA_DRIVER_OPTIONAL_SYMBOLS(ASSAY_COMPARE)
#endif
#undef ASSAY_COMPARE
#define ASSAY_EQUAL(constant) EXPECT_EQ(static_cast<int>(::constant), constant) << #constant;
  ASSAY_EQUAL(CUDA_ERROR_OUT_OF_MEMORY)
  ASSAY_EQUAL(CUDA_ERROR_DEVICE_UNAVAILABLE)
  ASSAY_EQUAL(CUDA_ERROR_NO_BINARY_FOR_GPU)
  ASSAY_EQUAL(CUDA_ERROR_ECC_UNCORRECTABLE)
  ASSAY_EQUAL(CUDA_ERROR_INVALID_PTX)
  ASSAY_EQUAL(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
  ASSAY_EQUAL(CUDA_ERROR_NOT_FOUND)
  ASSAY_EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS)
  ASSAY_EQUAL(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
  ASSAY_EQUAL(CUDA_ERROR_LAUNCH_TIMEOUT)
  ASSAY_EQUAL(CUDA_ERROR_ASSERT)
  ASSAY_EQUAL(CUDA_ERROR_HARDWARE_STACK_ERROR)
  ASSAY_EQUAL(CUDA_ERROR_ILLEGAL_INSTRUCTION)
  ASSAY_EQUAL(CUDA_ERROR_MISALIGNED_ADDRESS)
  ASSAY_EQUAL(CUDA_ERROR_INVALID_ADDRESS_SPACE)
  ASSAY_EQUAL(CUDA_ERROR_INVALID_PC)
  ASSAY_EQUAL(CUDA_ERROR_LAUNCH_FAILED)
  ASSAY_EQUAL(CUDA_ERROR_NOT_SUPPORTED)
  ASSAY_EQUAL(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
  ASSAY_EQUAL(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
  ASSAY_EQUAL(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
  ASSAY_EQUAL(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
  ASSAY_EQUAL(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
  ASSAY_EQUAL(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
  ASSAY_EQUAL(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
  ASSAY_EQUAL(CU_FUNC_ATTRIBUTE_NUM_REGS)
#undef ASSAY_EQUAL
}
#endif

}  // namespace
}  // namespace assay::cuda
