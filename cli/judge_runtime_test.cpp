// assay judge: the state of the simulated CUDA runtime between calls of host code, libraries that use the runtime, and
// candidates that only nvcc compiles. Skips without nvcc.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/candidate/host/compiler.hpp"
#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

class JudgeRuntimeTest : public ::testing::Test {
 protected:
  JudgeRuntimeTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("doubles.py",
                    "import warp as wp\n\n\n@wp.kernel\ndef doubles(x: wp.array(dtype=float), out: "
                    "wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
    state_arguments(R"("x", "out", "x.shape[0]")");
  }
  void SetUp() override {
    if (const auto nvcc = candidate::find_nvcc(); !nvcc.ok()) GTEST_SKIP() << nvcc.error().text();
  }
  void state_arguments(const std::string& arguments) const {
    workshop_.write("doubles.assay.json",
                    R"({"schema_version": "1.5.0", "function": "solve", "arguments": [)" + arguments + "]}");
  }
  /// The result for a function solve(x, out, n) with this body.
  CommandResult judge_body(const std::string& body, const std::string& parameters = "int n") const {
    workshop_.write("doubles.cu",
                    "#include <cassert>\n#include <cuda_runtime.h>\n"
                    "__global__ void doubles(const float* x, float* out, int n) {\n"
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = 2.0f * x[i];\n}\n"
                    "__global__ void doubles_in_shared_memory(const float* x, float* out, int n) {\n"
                    "  extern __shared__ float tile[];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  if (i >= n) return;\n  tile[threadIdx.x] = x[i];\n  out[i] = 2.0f * tile[threadIdx.x];\n}\n"
                    "extern \"C\" void solve(const float* x, float* out, " +
                        parameters + ") {\n" + body + "\n}\n");
    return workshop_.run("assay judge doubles.cu --against doubles.py");
  }

  Workshop workshop_;
};

TEST_F(JudgeRuntimeTest, WorkspaceInStaticPointerKeepsItsMemory) {
  const std::string use =
      "doubles<<<(n + 255) / 256, 256>>>(x, work, n); "
      "cudaMemcpy(out, work, n * 4, cudaMemcpyDeviceToDevice);";
  const CommandResult once = judge_body("static float* work; if (!work) cudaMalloc(&work, 1 << 22); " + use);
  EXPECT_EQ(once.status, 0) << once.out << once.err;
  const CommandResult managed = judge_body("static float* work; if (!work) cudaMallocManaged(&work, 1 << 22); " + use);
  EXPECT_EQ(managed.status, 0) << managed.out << managed.err;
  const CommandResult grown = judge_body(
      "static float* work; static int size; if (n > size) { cudaFree(work); "
      "cudaMalloc(&work, n * 4); size = n; } " +
      use);
  EXPECT_EQ(grown.status, 0) << grown.out << grown.err;
  EXPECT_THAT(judge_body("static float* work; if (!work) cudaMalloc(&work, n * 4); " + use).out,
              AllOf(HasSubstr("out_of_bounds"), HasSubstr("of the host code, from an earlier call'")));
  EXPECT_EQ(judge_body("static float* work; static bool is_freed; if (!work) cudaMalloc(&work, 1 << 22); " + use +
                       " if (!is_freed) cudaFree(work); is_freed = true;")
                .status,
            1);
}

TEST_F(JudgeRuntimeTest, AllowedSharedMemoryLastsForLaterCalls) {
  const CommandResult run = judge_body(
      "static bool is_allowed = cudaFuncSetAttribute(doubles_in_shared_memory, "
      "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536) == cudaSuccess; assert(is_allowed); "
      "doubles_in_shared_memory<<<(n + 255) / 256, 256, 65536>>>(x, out, n);");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeRuntimeTest, FailedAssertionOfHostCodeIsShown) {
  EXPECT_THAT(judge_body("assert(n % 64 == 0 && \"n must be a multiple of 64\");").out,
              AllOf(HasSubstr("SIGABRT"), HasSubstr("its output ends with"), HasSubstr("n must be a multiple of 64")));
}

TEST_F(JudgeRuntimeTest, FunctionGetsDecimalNumbers) {
  state_arguments(R"("x", "out", 1e0, "2.0 * 0.5", "x.shape[0]")");
  const std::string body = "assert(one == 1.0f && other == 1.0); doubles<<<(n + 255) / 256, 256>>>(x, out, n);";
  const CommandResult run = judge_body(body, "float one, double other, int n");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(judge_body(body, "float one, int other, int n").out,
              HasSubstr("does not accept '2.0 * 0.5', which is a floating-point number"));
}

TEST_F(JudgeRuntimeTest, FunctionsOfCubAreJudged) {
  workshop_.write("scan.py",
                  "import warp as wp\n\n\n# launch: (len(x))\n@wp.kernel\ndef scan(x: wp.array(dtype=wp.int32), "
                  "out: wp.array(dtype=wp.int32)):\n    i = wp.tid()\n    total = int(0)\n"
                  "    for k in range(i + 1):\n        total += x[k]\n    out[i] = total\n");
  workshop_.write("scan.assay.json",
                  R"({"schema_version": "1.4.0", "function": "solve", "arguments": ["x", "out", "x.shape[0]"]})");
  const auto judge_scan = [&](const std::string& function) {
    workshop_.write("scan.cu",
                    "#include <cub/device/device_scan.cuh>\n"
                    "extern \"C\" void solve(const int* x, int* out, int n) {\n"
                    "  void* work = nullptr; size_t size = 0;\n"
                    "  cub::DeviceScan::" +
                        function +
                        "(work, size, x, out, n);\n  cudaMalloc(&work, size);\n"
                        "  cub::DeviceScan::" +
                        function + "(work, size, x, out, n);\n  cudaFree(work);\n}\n");
    return workshop_.run("assay judge scan.cu --against scan.py --quick");
  };
  const CommandResult correct = judge_scan("InclusiveSum");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  EXPECT_THAT(judge_scan("ExclusiveSum").out, HasSubstr("fail(mismatch)"));
}

TEST_F(JudgeRuntimeTest, KernelsThatOnlyNvccCompilesAreJudged) {
  workshop_.write("negative.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef negative(x: wp.array(dtype=float), out: "
                  "wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = wp.min(x[i], 0.0)\n");
  workshop_.write("negative.assay.json", R"({"schema_version": "1.0.0", "grid": ["threads"], "block": [1]})");
  const auto judge_with = [&](const std::string& includes, const std::string& least, const std::string& further = "") {
    workshop_.write("negative.cu", includes +
                                       "__global__ void negative(const float* x, float* out) {\n"
                                       "  float least = " +
                                       least +
                                       ";\n"
                                       "  out[blockIdx.x] = fminf(fmaxf(x[blockIdx.x], least), 0.0f);\n}\n" +
                                       further);
    return workshop_.run("assay judge negative.cu --against negative.py --quick");
  };
  const CommandResult constants = judge_with("#include <math_constants.h>\n", "-CUDART_INF_F");
  EXPECT_EQ(constants.status, 0) << constants.out << constants.err;
  const CommandResult limits =
      judge_with("#include <limits>\n#include <algorithm>\n", "-std::numeric_limits<float>::infinity()");
  EXPECT_EQ(limits.status, 0) << limits.out << limits.err;
  const CommandResult cub = judge_with("#include <cub/cub.cuh>\n", "-INFINITY");
  EXPECT_EQ(cub.status, 0) << cub.out << cub.err;
  const CommandResult launcher =
      judge_with("", "-INFINITY", "void start(const float* x, float* out, int n) { negative<<<n, 1>>>(x, out); }\n");
  EXPECT_EQ(launcher.status, 0) << launcher.out << launcher.err;
  EXPECT_EQ(judge_with("#include <limits>\n", "std::numeric_limits<float>::lowest() / -2").status, 1);
  EXPECT_THAT(judge_with("#include <limits>\n", "std::numeric_limits<float>::infinite()").out,
              AllOf(HasSubstr("build_failed"), HasSubstr("has no member \"infinite\"")));
}

}  // namespace
}  // namespace assay::cli
