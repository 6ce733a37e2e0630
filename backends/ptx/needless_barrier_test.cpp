// Tests the analysis of barriers on NVRTC's PTX, in both precisions and for all architectures.
#include <string>

#include <gtest/gtest.h>

#include "backends/ptx/artifacts.hpp"
#include "backends/ptx/device.hpp"

namespace assay::ptx {
namespace {

using namespace backends;

/// A kernel whose threads exchange values through shared memory, first with elements of type real, then of type
/// `second`; the second write follows the analyzed barrier.
EmittedKernel kernel_with_barriers(const std::string& second) {
  return {.name = "f",
          .helpers = {},
          .body =
              "#ifndef ASSAY_REAL\n#define ASSAY_REAL float\n#endif\nusing real = ASSAY_REAL;\n"
              "template <int bytes> __device__ void* memory() {\n"
              "  __shared__ __align__(16) unsigned char memory[bytes];\n  return memory;\n}\n"
              "template <typename T> __device__ T last(T mine) {\n"
              "  T* const all = (T*)memory<int(sizeof(T)) * 32>();\n"
              "  asm volatile(\"bar.sync 1;\" ::: \"memory\");\n"
              "  all[threadIdx.x] = mine;\n  __syncthreads();\n  return all[31];\n}\n"
              "extern \"C\" __global__ void f_forward(long long, real* x) {\n"
              "  const real first = last(x[threadIdx.x]);\n"
              "  x[threadIdx.x] = real(last(" +
              second + "(first + real(threadIdx.x))));\n}\n",
          .entry_points = {{.pass = Pass::kForward, .symbol = "f_forward", .parameter_types = {"real*"}}}};
}

TEST(RedundantBarrier, IsDeterminedSeparatelyForEachPrecision) {
  PtxDevice device({.uses_build_cache = false});
  if (const Capability capability = device.can_build(); !capability.is_available)
    GTEST_SKIP() << capability.tool_or_reason;
  const auto needless = [&](const std::string& second, Precision precision) {
    const EmittedKernel kernel = kernel_with_barriers(second);
    const BuildOutcome outcome = device.build({&kernel, 1}, BuildFlags::strict()).front();
    const auto* const built = std::get_if<BuiltKernel>(&outcome);
    if (built == nullptr) {
      ADD_FAILURE() << std::get<BuildFailed>(outcome).log;
      return false;
    }
    const Result<bool> found = is_barrier_1_redundant(*built, precision);
    EXPECT_TRUE(found.ok());
    return found.ok() && *found;
  };
  EXPECT_FALSE(needless("float", Precision::kNative)) << "the memory is read before it is written again";
  EXPECT_TRUE(needless("float", Precision::kPromoted)) << "the two have different memory";
  EXPECT_TRUE(needless("double", Precision::kNative));
  EXPECT_FALSE(needless("double", Precision::kPromoted));
}

}  // namespace
}  // namespace assay::ptx
