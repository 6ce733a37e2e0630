#include "backends/cuda/driver/driver.hpp"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace assay::cuda {
namespace {

TEST(Driver, IsThereOrSaysWhyNot) {
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

#if __has_include(<cuda.h>)
TEST(Driver, AgreesWithTheHeader) {
  static_assert(sizeof(CUresult) == sizeof(CudaResult));
  EXPECT_EQ(static_cast<CudaResult>(CUDA_SUCCESS), kCudaSuccess);
}
#endif

}  // namespace
}  // namespace assay::cuda
