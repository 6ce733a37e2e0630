// assay judge: candidates with host code, which nvcc compiles. Skips without nvcc.
#include <string>
#include <string_view>

#include <fmt/format.h>
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

constexpr std::string_view kSpecification = R"(import warp as wp


@wp.kernel
def sums(x: wp.array2d(dtype=float), factor: float, out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[i, j]
    out[i] = factor * total
)";

/// The sum of each row in two launches, with a temporary tensor, dynamic shared memory and a constant.
constexpr std::string_view kCandidate = R"py(import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__constant__ float factors[2];

template <typename T>
__global__ void row_sums(const T* x, T* sums, int columns) {
  extern __shared__ float part[];
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += x[blockIdx.x * columns + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void scale(const float* sums, float* out, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) out[i] = factors[1] * sums[i];
}

torch::Tensor sums(torch::Tensor x, double factor) {
  TORCH_CHECK(x.dim() == 2, "x must have two dimensions");
  const int rows = x.size(0), columns = x.size(1);
  auto sums = torch::empty({rows}, x.options());
  auto out = torch::empty({rows}, x.options());
  const float values[2] = {0.0f, static_cast<float>(factor)};
  cudaMemcpyToSymbol(factors, values, sizeof(values));
  if (rows == 0) return out;
  const int threads = 64;
  row_sums<float><<<rows, threads, threads * sizeof(float)>>>(x.data_ptr<float>(), sums.data_ptr<float>(), columns);
  scale<<<(rows + 255) / 256, 256>>>(sums.data_ptr<float>(), out.data_ptr<float>(), rows);
  return out;
}
"""

module = load_inline(
    name="sums",
    cpp_sources="torch::Tensor sums(torch::Tensor x, double factor);",
    cuda_sources=source,
    functions=["sums"],
)
)py";

class JudgeHostTest : public ::testing::Test {
 protected:
  JudgeHostTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("sums.py", kSpecification);
    workshop_.write("candidate.py", kCandidate);
  }
  void SetUp() override {
    if (const auto nvcc = candidate::find_nvcc(); !nvcc.ok()) GTEST_SKIP() << nvcc.error().text();
  }

  CommandResult judge(const std::string& name = "candidate.py") const {
    return workshop_.run("assay judge " + name + " --against sums.py --quick");
  }
  /// The result for kCandidate in which a text is replaced.
  CommandResult judge_changed(std::string_view old, std::string_view changed) const {
    std::string source(kCandidate);
    const std::size_t at = source.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    workshop_.write("candidate.py", source.replace(at, old.size(), changed));
    return judge();
  }

  Workshop workshop_;
};

TEST_F(JudgeHostTest, CorrectLoadInlineFilePasses) {
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("The only case passes"));
}

TEST_F(JudgeHostTest, SmallErrorInFactorFails) {
  EXPECT_THAT(judge_changed("factors[1] * sums[i]", "1.00001f * factors[1] * sums[i]").out,
              HasSubstr("fail(algorithm)"));
}

TEST_F(JudgeHostTest, KernelsOfHostCodeHaveDocumentedErrorsOfApproximations) {
  const std::string scaled = "out[i] = factors[1] * sums[i];";
  const auto judge_tanh = [&](const std::string& tanh) {
    return judge_changed("if (i < rows) " + scaled,
                         "float t; " + tanh + " if (i < rows) out[i] = factors[1] * sums[i] * (t / 0.76159416f);");
  };
  EXPECT_THAT(judge_tanh("t = tanhf(1.0f);").out, HasSubstr("The only case passes"));
  EXPECT_THAT(judge_tanh(R"(asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(1.0f));)").out,
              AllOf(HasSubstr("fail(rounding)"), HasSubstr("the cause is the documented error of tanh.approx")));
}

TEST_F(JudgeHostTest, MissingBarrierIsReportedWithLineOfThePythonFile) {
  const CommandResult run =
      judge_changed("  part[threadIdx.x] = sum;\n  __syncthreads();\n", "  part[threadIdx.x] = sum;\n");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("read_write_race in row_sums<float>:"), HasSubstr("source line 15")));
}

TEST_F(JudgeHostTest, LaunchBeyondGpuLimitsFails) {
  EXPECT_THAT(judge_changed("threads * sizeof(float)>>>", "60000>>>").out,
              HasSubstr("blocks use 60000 bytes of shared memory, but at most 49152 are possible"));
  EXPECT_THAT(judge_changed("const int threads = 64", "const int threads = 2048").out,
              HasSubstr("blocks must have 1 to 1024 threads, got 2048"));
}

TEST_F(JudgeHostTest, UnwrittenResultFails) {
  EXPECT_EQ(
      judge_changed("  scale<<<(rows + 255) / 256, 256>>>(sums.data_ptr<float>(), out.data_ptr<float>(), rows);\n", "")
          .status,
      1);
}

TEST_F(JudgeHostTest, CandidateThatReusesArgumentOfEarlierCallFails) {
  const CommandResult run = judge_changed("  auto out = torch::empty({rows}, x.options());\n",
                                          "  static float cached = factor;\n  factor = cached;\n"
                                          "  auto out = torch::empty({rows}, x.options());\n");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
}

TEST_F(JudgeHostTest, DeviceVariableKeepsItsValueBetweenCalls) {
  const auto judge_with_offset = [this](std::string_view change_of_offset) {
    std::string source(kCandidate);
    const auto replace = [&source](std::string_view old, std::string_view changed) {
      const std::size_t at = source.find(old);
      ASSERT_NE(at, std::string::npos) << old;
      source.replace(at, old.size(), changed);
    };
    replace("__constant__ float factors[2];", "__constant__ float factors[2];\n__device__ float offset;");
    replace(
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows) out[i] = factors[1] * sums[i];\n",
        "  for (int i = 0; i < rows; ++i) out[i] = factors[1] * sums[i] + offset;\n" + std::string(change_of_offset));
    replace("<<<(rows + 255) / 256, 256>>>", "<<<1, 1>>>");
    workshop_.write("candidate.py", source);
    return judge();
  };
  const CommandResult restored = judge_with_offset("  offset += 1;\n  offset -= 1;\n");
  EXPECT_EQ(restored.status, 0) << restored.out << restored.err;
  EXPECT_THAT(judge_with_offset("  offset += 1;\n").out, HasSubstr("fail(algorithm)"));
}

/// kCandidate, with both launches in other streams.
struct StreamUse {
  const char* name;
  const char* before;         ///< code before the launches
  const char* first_stream;   ///< of the first launch
  const char* between;        ///< code between the launches
  const char* second_stream;  ///< of the second launch
  const char* after;          ///< code after the launches
  const char* message;        ///< part of the output; empty: the candidate passes
};
constexpr const char* kTwoStreams =
    "cudaStream_t first, second; cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);"
    " cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking); cudaEvent_t done; cudaEventCreate(&done);";
constexpr StreamUse kStreamUses[] = {
    {"EventOrdersStreams", kTwoStreams, "first", "cudaEventRecord(done, first); cudaStreamWaitEvent(second, done, 0);",
     "second", "cudaStreamSynchronize(second);", ""},
    {"MissingEventBetweenStreams", kTwoStreams, "first", "", "second", "cudaDeviceSynchronize();", "fail"},
    {"EventOfTheWrongStream", kTwoStreams, "first",
     "cudaEventRecord(done, second); cudaStreamWaitEvent(second, done, 0);", "second", "cudaDeviceSynchronize();",
     "fail"},
    // The fill is the first work of the stream that waits, which says nothing about the other one.
    {"EventOrdersOnlyWhatFollowsTheWait",
     "cudaStream_t first, second; cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);"
     " cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking); cudaEvent_t done; cudaEventCreate(&done);"
     " cudaMemsetAsync(sums.data_ptr<float>(), 0, rows * sizeof(float), second);",
     "first", "cudaEventRecord(done, first); cudaStreamWaitEvent(second, done, 0);", "second",
     "cudaStreamSynchronize(second);", "fail"},
    {"BlockingStreamIsOrderedWithTheDefaultStream", "cudaStream_t first; cudaStreamCreate(&first);", "first", "", "0",
     "", ""},
    {"NonBlockingStreamIsNotOrderedWithTheDefaultStream", kTwoStreams, "0", "", "second",
     "cudaStreamSynchronize(second);", "fail"},
    {"NothingWaitsForStream", kTwoStreams, "first", "", "first", "",
     "the host code returns before 2 kernels, copies or fills have run in a stream that it created"},
    {"StreamOfPyTorchWithEvent",
     "auto side = c10::cuda::getStreamFromPool(); at::cuda::CUDAEvent ready, done; ready.record(); ready.block(side);",
     "side", "", "side", "done.record(side); done.block(c10::cuda::getCurrentCUDAStream());", ""},
};

class JudgeStreamsTest : public JudgeHostTest, public ::testing::WithParamInterface<StreamUse> {};

TEST_P(JudgeStreamsTest, FindsWhetherStreamsAreOrdered) {
  const StreamUse& use = GetParam();
  std::string source(kCandidate);
  const auto replace = [&](const std::string& old, const std::string& changed) {
    const std::size_t at = source.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    source.replace(at, old.size(), changed);
  };
  replace("#include <cuda_runtime.h>",
          "#include <cuda_runtime.h>\n#include <c10/cuda/CUDAStream.h>\n#include <ATen/cuda/CUDAEvent.h>");
  replace("row_sums<float><<<rows, threads, threads * sizeof(float)>>>",
          std::string(use.before) + "\n  row_sums<float><<<rows, threads, threads * sizeof(float), " +
              use.first_stream + ">>>");
  replace("  scale<<<(rows + 255) / 256, 256>>>",
          std::string("  ") + use.between + "\n  scale<<<(rows + 255) / 256, 256, 0, " + use.second_stream + ">>>");
  replace("  return out;\n}\n\"\"\"", std::string("  ") + use.after + "\n  return out;\n}\n\"\"\"");
  workshop_.write("candidate.py", source);
  const CommandResult run = judge();
  const bool passes = std::string_view(use.message).empty();
  EXPECT_EQ(run.status, passes ? 0 : 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr(use.message));
}

INSTANTIATE_TEST_SUITE_P(Uses, JudgeStreamsTest, ::testing::ValuesIn(kStreamUses),
                         [](const auto& use) { return std::string(use.param.name); });

TEST_F(JudgeHostTest, FailedTorchCheckOfHostCodeIsReported) {
  EXPECT_THAT(judge_changed("x.dim() == 2, \"x must", "x.dim() == 3, \"x must").out,
              HasSubstr("the host code's check failed: x must have two dimensions"));
}

TEST_F(JudgeHostTest, IncorrectResultShapeIsReported) {
  EXPECT_THAT(judge_changed("auto out = torch::empty({rows}", "auto out = torch::empty({rows, 2}").out,
              AllOf(HasSubstr("returns a tensor of the shape"), HasSubstr("but 'out' has the shape")));
}

TEST_F(JudgeHostTest, CompilerErrorHasLineOfThePythonFile) {
  const CommandResult run = judge_changed("factors[1] * sums[i]", "factrs[1] * sums[i]");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("candidate.py(26): error"), HasSubstr("identifier \"factrs\" is undefined")));
}

TEST_F(JudgeHostTest, LibraryFunctionOrHeaderThatAssayLacksIsUnsupported) {
  const CommandResult function =
      judge_changed("  return out;\n}\n\"\"\"", "  return torch::softmax(out, 0);\n}\n\"\"\"");
  EXPECT_EQ(function.status, 77) << function.out << function.err;
  EXPECT_THAT(function.out, AllOf(HasSubstr("the candidate uses torch::softmax, which Assay does not provide"),
                                  HasSubstr("candidate.py(40): error")));
  const CommandResult method = judge_changed("  return out;\n}\n\"\"\"", "  return out.softmax(0);\n}\n\"\"\"");
  EXPECT_EQ(method.status, 77) << method.out << method.err;
  EXPECT_THAT(method.out, HasSubstr("::softmax, which Assay does not provide"));
  const CommandResult header =
      judge_changed("#include <torch/extension.h>", "#include <torch/extension.h>\n#include <cutlass/cutlass.h>");
  EXPECT_EQ(header.status, 77) << header.out << header.err;
  EXPECT_THAT(header.out, HasSubstr("the candidate uses cutlass/cutlass.h, which Assay does not provide"));
}

TEST_F(JudgeHostTest, MissingHeaderOfCandidateIsBuildFailure) {
  const CommandResult run =
      judge_changed("#include <torch/extension.h>", "#include <torch/extension.h>\n#include \"my_kernels.cuh\"");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("build_failed"), HasSubstr("my_kernels.cuh")));
}

TEST_F(JudgeHostTest, CandidateThatDoesNotMatchSpecificationIsReported) {
  workshop_.write(
      "scale.py",
      "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
      "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
  workshop_.write("candidate.py", kCandidate);
  const CommandResult run = workshop_.run("assay judge candidate.py --against scale.py");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("parameter"));
}

TEST_F(JudgeHostTest, HostCodeThatDamagesItsProcessIsContained) {
  EXPECT_THAT(judge_changed("const int threads = 64;", "const int threads = 64; exit(0);").out,
              HasSubstr("exited early with status 0"));
  EXPECT_THAT(judge_changed("const int threads = 64;", "const int threads = 64; system(\"true\");").out,
              HasSubstr("made a forbidden system call"));
}

TEST_F(JudgeHostTest, CudaSourcePassesIfContractStatesFunction) {
  std::string source(kCandidate);
  source = source.substr(source.find("#include"), source.find("\"\"\"\n\nmodule") - source.find("#include"));
  workshop_.write("sums.cu", source);
  workshop_.write("sums.assay.json",
                  R"({"schema_version": "1.0.0", "function": "sums", "arguments": ["x", "factor"]})");
  const CommandResult run = judge("sums.cu");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeHostTest, ArgumentsThatDoNotMatchParametersAreReported) {
  EXPECT_THAT(judge_changed("torch::Tensor sums(torch::Tensor x, double factor) {",
                            "torch::Tensor sums(torch::Tensor x, double factor, int a, int b) {")
                  .out,
              HasSubstr("candidate.py"));
  workshop_.write("candidate.assay.json", R"({"schema_version": "1.0.0", "arguments": ["x", "x"]})");
  workshop_.write("candidate.py", kCandidate);
  EXPECT_THAT(judge().out, HasSubstr("parameter 2 of the candidate's function does not accept 'x', which is an array"));
}

/// The sum of each row in one cooperative launch of two blocks for each row.
constexpr std::string_view kCooperative = R"py(from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cooperative_groups.h>

__global__ void row_sums(const float* x, float factor, float* halves, float* out, int columns) {
  const float* row = x + blockIdx.x / 2 * columns;
  float sum = 0;
  for (int j = blockIdx.x % 2; j < columns; j += 2) sum += row[j];
  halves[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x % 2 == 0) out[blockIdx.x / 2] = factor * (halves[blockIdx.x] + halves[blockIdx.x + 1]);
}

torch::Tensor sums(torch::Tensor x, double scale) {
  float factor = scale;
  int rows = x.size(0), columns = x.size(1);
  auto out = torch::empty({rows}, x.options());
  auto halves = torch::empty({2 * rows}, x.options());
  const float* input = x.data_ptr<float>();
  float *middle = halves.data_ptr<float>(), *result = out.data_ptr<float>();
  void* arguments[] = {&input, &factor, &middle, &result, &columns};
  cudaLaunchCooperativeKernel((void*)row_sums, dim3(2 * rows), dim3(1), arguments, 0, nullptr);
  return out;
}
"""

module = load_inline(name="sums", cpp_sources="", cuda_sources=source, functions=["sums"])
)py";

TEST_F(JudgeHostTest, BlocksOfCooperativeLaunchWaitForEachOther) {
  const auto judge_cooperative = [&](std::string_view old, std::string_view changed) {
    std::string source(kCooperative);
    if (!old.empty()) source.replace(source.find(old), old.size(), changed);
    workshop_.write("candidate.py", source);
    return workshop_.run("assay judge candidate.py --against sums.py --quick");
  };
  const CommandResult correct = judge_cooperative("", "");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  EXPECT_THAT(judge_cooperative("  cooperative_groups::this_grid().sync();\n", "").out, HasSubstr("race"));
  EXPECT_THAT(judge_cooperative("  float sum = 0;", "  if (blockIdx.x == 1) return;\n  float sum = 0;").out,
              HasSubstr("barrier_divergence"));
  EXPECT_THAT(judge_cooperative("cudaLaunchCooperativeKernel(", "cudaLaunchKernel(").out, HasSubstr("trap"));
  EXPECT_THAT(judge_cooperative("dim3(2 * rows), dim3(1)", "dim3(4000), dim3(1)").out,
              HasSubstr("starts 4000 blocks cooperatively, but a GPU with 108 multiprocessors can hold at most 3456"));
}

/// The forward and backward pass of y = factor * x * x.
constexpr std::string_view kSquares = R"py(from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void squares(const float* x, float factor, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i] * x[i];
}
__global__ void squares_backward(const float* grad_y, const float* x, float factor, float* grad_x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) grad_x[i] = 2.0f * factor * x[i] * grad_y[i];
}

torch::Tensor forward(torch::Tensor x, double factor) {
  auto y = torch::empty_like(x);
  if (x.numel() > 0) squares<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), factor, y.data_ptr<float>(), x.numel());
  return y;
}
torch::Tensor backward(torch::Tensor grad_y, torch::Tensor x, double factor) {
  auto grad_x = torch::empty_like(x);
  if (x.numel() > 0)
    squares_backward<<<(x.numel() + 63) / 64, 64>>>(grad_y.data_ptr<float>(), x.data_ptr<float>(), factor,
                                                    grad_x.data_ptr<float>(), x.numel());
  return grad_x;
}
"""

module = load_inline(name="squares", cpp_sources="", cuda_sources=source, functions=["forward", "backward"])
)py";

class JudgeBackwardTest : public JudgeHostTest {
 protected:
  JudgeBackwardTest() {
    workshop_.write("squares.py",
                    "import warp as wp\n\n\n@wp.kernel\ndef squares(x: wp.array(dtype=float), factor: float, "
                    "y: wp.array(dtype=float)):\n    i = wp.tid()\n    y[i] = factor * x[i] * x[i]\n");
    state(R"({})");
  }
  void state(const std::string& backward) const {
    workshop_.write("candidate.assay.json", R"({"schema_version": "1.0.0", "backward": )" + backward + "}");
  }
  CommandResult judge_squares(std::string_view old = "", std::string_view changed = "") const {
    std::string source(kSquares);
    for (std::size_t at = source.find(old); !old.empty() && at != std::string::npos; at = source.find(old, at + 1))
      source.replace(at, old.size(), changed);
    workshop_.write("candidate.py", source);
    return workshop_.run("assay judge candidate.py --against squares.py --quick");
  }
};

TEST_F(JudgeBackwardTest, CorrectGradientPasses) {
  const CommandResult run = judge_squares();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("All 2 cases pass"));
}

TEST_F(JudgeBackwardTest, IncorrectGradientIsRejected) {
  EXPECT_THAT(judge_squares("2.0f * factor", "2.00002f * factor").out,
              AllOf(HasSubstr("wrong_gradient"), HasSubstr("grad_x[")));
  EXPECT_THAT(judge_squares("* grad_y[i]", "").out, HasSubstr("wrong_gradient"));
  EXPECT_THAT(judge_squares("{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) grad_x",
                            "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n - 1) grad_x")
                  .out,
              HasSubstr("grad_x["));
}

TEST_F(JudgeBackwardTest, ErrorOfGradientThatRoundingMayHideIsRejected) {
  // Four ulp: the gradients are within the bound that allows for rounding errors.
  EXPECT_THAT(judge_squares("2.0f * factor", "2.000001f * factor").out,
              AllOf(HasSubstr("candidate/backward"), HasSubstr("fail(algorithm)"), HasSubstr("grad_x[")));
}

TEST_F(JudgeBackwardTest, GradientBetweenItsLimitsAtThresholdPasses) {
  workshop_.write("squares.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef squares(x: wp.array(dtype=float), factor: float, "
                  "y: wp.array(dtype=float)):\n    i = wp.tid()\n"
                  "    y[i] = factor * wp.abs(x[i])\n");
  const auto judge_with_slope_at_zero = [&](std::string_view slope) {
    std::string source(kSquares);
    const auto replace = [&](std::string_view old, std::string_view changed) {
      source.replace(source.find(old), old.size(), changed);
    };
    replace("factor * x[i] * x[i]", "factor * fabsf(x[i])");
    replace("2.0f * factor * x[i] * grad_y[i]",
            fmt::format("(x[i] == 0.0f ? {} * factor : factor * copysignf(1.0f, x[i])) * "
                        "grad_y[i]",
                        slope));
    workshop_.write("candidate.py", source);
    return workshop_.run("assay judge candidate.py --against squares.py").out;
  };
  EXPECT_THAT(judge_with_slope_at_zero("1.0f"), HasSubstr("All 2 cases pass"));
  EXPECT_THAT(judge_with_slope_at_zero("-1.0f"), HasSubstr("All 2 cases pass"));
  EXPECT_THAT(judge_with_slope_at_zero("1.001f"), HasSubstr("fail(undecided)"));
}

TEST_F(JudgeBackwardTest, GradientThatIsReadBeforeItIsWrittenIsReported) {
  EXPECT_THAT(judge_squares("grad_x[i] = 2.0f", "grad_x[i] += 2.0f").out, HasSubstr("uninitialised_read"));
}

TEST_F(JudgeBackwardTest, ChangedCotangentIsReported) {
  EXPECT_THAT(judge_squares("if (i < n) grad_x[i]", "if (i < n) const_cast<float*>(grad_y)[i] = 0; grad_x[i]").out,
              HasSubstr("read_only_write"));
}

TEST_F(JudgeBackwardTest, FunctionDeclaredAsAccumulatingMustAddToGradient) {
  state(R"({"arguments": ["y.grad", "x", "factor", "x.grad"], "accumulates": true})");
  std::string source(kSquares);
  const auto change = [&](std::string_view old, std::string_view changed) {
    const std::size_t at = source.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    source.replace(at, old.size(), changed);
  };
  change(
      "torch::Tensor backward(torch::Tensor grad_y, torch::Tensor x, double factor) {\n"
      "  auto grad_x = torch::empty_like(x);\n",
      "void backward(torch::Tensor grad_y, torch::Tensor x, double factor, torch::Tensor grad_x) {\n");
  change("  return grad_x;\n", "");
  workshop_.write("candidate.py", source);
  const CommandResult overwrites = workshop_.run("assay judge candidate.py --against squares.py --quick");
  EXPECT_EQ(overwrites.status, 1) << overwrites.out << overwrites.err;
  change("grad_x[i] = 2.0f", "grad_x[i] += 2.0f");
  workshop_.write("candidate.py", source);
  const CommandResult adds = workshop_.run("assay judge candidate.py --against squares.py --quick");
  EXPECT_EQ(adds.status, 0) << adds.out << adds.err;
}

TEST_F(JudgeBackwardTest, FunctionMayReceiveForwardOutputs) {
  // The derivative of y = factor * x * x is 2 * y / x.
  state(R"({"arguments": ["y.grad", "x", "y"], "results": ["x.grad"]})");
  workshop_.write("squares.py",
                  "import warp as wp\n\n\n# domain: 0.5 <= x <= 2.0\n@wp.kernel\ndef squares(x: wp.array(dtype=float), "
                  "factor: float, y: wp.array(dtype=float)):\n    i = wp.tid()\n    y[i] = factor * x[i] * x[i]\n");
  std::string source(kSquares);
  const auto change = [&](std::string_view old, std::string_view changed) {
    const std::size_t at = source.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    source.replace(at, old.size(), changed);
  };
  change("squares_backward(const float* grad_y, const float* x, float factor",
         "squares_backward(const float* grad_y, const float* x, const float* y");
  change("2.0f * factor * x[i] * grad_y[i]", "2.0f * y[i] / x[i] * grad_y[i]");
  change("backward(torch::Tensor grad_y, torch::Tensor x, double factor)",
         "backward(torch::Tensor grad_y, torch::Tensor x, torch::Tensor y)");
  change("x.data_ptr<float>(), factor,\n", "x.data_ptr<float>(), y.data_ptr<float>(),\n");
  workshop_.write("candidate.py", source);
  const CommandResult run = workshop_.run("assay judge candidate.py --against squares.py --quick");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeBackwardTest, InvalidBackwardContractIsReported) {
  state(R"({"results": ["y"]})");
  EXPECT_THAT(judge_squares().err, HasSubstr("/backward/results/0"));
  state(R"({"results": ["z.grad"]})");
  EXPECT_THAT(judge_squares().out, HasSubstr("must be gradients of arrays with floats, got 'z.grad'"));
  state(R"({"function": "gradient"})");
  EXPECT_THAT(judge_squares().out, HasSubstr("the candidate has no function 'gradient'; its functions are"));
  state(R"({"arguments": ["z.grad", "x", "x"]})");
  EXPECT_THAT(judge_squares().err, HasSubstr("'z.grad' in the contract must be the gradient of an array with floats"));
  state(R"({"arguments": ["y.grad"]})");
  EXPECT_THAT(judge_squares().out, HasSubstr("has 3 parameters, but the contract states 1 arguments"));
}

/// Sources that Python puts together are those that the import of the file passes to PyTorch.
class JudgeImportTest : public JudgeHostTest {
 protected:
  void SetUp() override {
    JudgeHostTest::SetUp();
    if (!IsSkipped() && workshop_.run("python3 -c pass").status != 0) GTEST_SKIP() << "python3 is not installed";
  }
};

TEST_F(JudgeImportTest, SourceFromAnotherFileIsReadByImport) {
  const std::string_view text = kCandidate.substr(kCandidate.find("#include"));
  const std::string source(text.substr(0, text.find("\"\"\"")));
  workshop_.write("sums.cu", source);
  const CommandResult run = judge_changed("cuda_sources=source", "cuda_sources=open('sums.cu').read()");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  std::string wrong = source;
  workshop_.write("sums.cu", wrong.replace(wrong.find("factors[1] * sums[i]"), 20, "factors[1] * sums[i] + 1e-3f"));
  EXPECT_THAT(judge().out, HasSubstr("fail(algorithm)"));
}

TEST_F(JudgeImportTest, FormattedSourceIsReadByImport) {
  const CommandResult run =
      judge_changed("cuda_sources=source", "cuda_sources=source.replace('threads = 64', f'threads = {2 ** 7}')");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeImportTest, SourceThatIsLoadedByModuleOfPyTorchIsReadByImport) {
  std::string source(kCandidate);
  const std::size_t call = source.find("module = load_inline(");
  std::string text = source.substr(call);
  for (std::size_t at = 0; (at = text.find("\n    ", at)) != std::string::npos; at += 9)
    text.replace(at, 5, "\n            ");
  text.replace(text.find("\n)"), 2, "\n        )");
  text.replace(0, 6,
               "class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.sums");
  text.replace(text.find("source,"), 7, "source.replace('a', 'a'),");
  workshop_.write("candidate.py", source.substr(0, call) + text);
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeImportTest, FileOfSourcesOfLoadIsRead) {
  const std::string_view text = kCandidate.substr(kCandidate.find("#include"));
  workshop_.write("sums.cu", std::string(text.substr(0, text.find("\"\"\""))) +
                                 "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"sums\", &sums); }\n");
  workshop_.write("candidate.py",
                  "import torch.utils.cpp_extension\n"
                  "module = torch.utils.cpp_extension.load(name='sums', sources=['sums.cu'])\n");
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeHostTest, SourceThatImportCannotReadIsUnsupported) {
  const CommandResult run = judge_changed("cuda_sources=source", "cuda_sources=open('missing.cu').read()");
  EXPECT_EQ(run.status, 77) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("cannot be read without executing the file"));
}

TEST_F(JudgeHostTest, RejectsPythonWithoutLoadInline) {
  const CommandResult run = judge("sums.py");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("sums.py: the Python file does not call load_inline"));
}

TEST_F(JudgeHostTest, ExternCFunctionGetsPointers) {
  constexpr std::string_view kSource =
      R"(__global__ void sums(const float* x, float factor, float* out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; ++j) sum += x[i * columns + j];
  out[i] = factor * sum;
}
extern "C" void solve(const float* x, float factor, float* out, int rows, int columns) {
  sums<<<(rows + 127) / 128, 128>>>(x, factor, out, rows, columns);
  cudaDeviceSynchronize();
}
)";
  workshop_.write("solve.cu", kSource);
  workshop_.write("solve.assay.json", R"({"schema_version": "1.0.0",
 "arguments": ["x", "factor", "out", "x.shape[0]", "x.shape[1]"]})");
  const CommandResult run = judge("solve.cu");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  std::string changed(kSource);
  changed.replace(changed.find("(rows + 127) / 128"), 18, "1");
  workshop_.write("solve.cu", changed);
  EXPECT_EQ(workshop_.run("assay judge solve.cu --against sums.py").status, 1);
}

/// Candidates in CUDA that call a kernel that doubles numbers.
class JudgeDoublesTest : public JudgeHostTest {
 protected:
  JudgeDoublesTest() {
    workshop_.write("doubles.py",
                    "import warp as wp\n\n\n@wp.kernel\ndef doubles(x: wp.array(dtype=float), out: "
                    "wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
    workshop_.write("doubles.assay.json",
                    R"({"schema_version": "1.0.0", "function": "solve", "arguments": ["x", "out", "x.shape[0]"]})");
  }
  /// The result for a function solve(x, out, n) with this body.
  CommandResult judge_body(const std::string& body, const std::string& before = "") const {
    workshop_.write("doubles.cu",
                    before +
                        "__global__ void doubles(const float* x, float* out, int n) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = 2.0f * x[i];\n}\n"
                        "extern \"C\" void solve(const float* x, float* out, int n) {\n" +
                        body + "\n}\n");
    return workshop_.run("assay judge doubles.cu --against doubles.py");
  }
};

TEST_F(JudgeDoublesTest, UseOfFreedMemoryIsReported) {
  const std::string allocate = "float* t; cudaMalloc(&t, n * 4); ";
  const std::string compute = "doubles<<<(n + 255) / 256, 256>>>(x, t, n); ";
  const std::string copy = "cudaMemcpy(out, t, n * 4, cudaMemcpyDeviceToDevice); ";
  const CommandResult correct = judge_body(allocate + compute + copy + "cudaFree(t);");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  EXPECT_THAT(judge_body(allocate + "cudaFree(t); " + compute + copy).out,
              AllOf(HasSubstr("memory_fault"), HasSubstr("'released allocation 1 of the host code'")));
  EXPECT_EQ(judge_body(allocate + compute + "cudaFree(t); " + copy).status, 1);
  const CommandResult unusual = judge_body("cudaFree(nullptr); static float* old = nullptr; cudaFree(old); " +
                                           allocate + "old = t; " + compute + copy);
  EXPECT_EQ(unusual.status, 0) << unusual.out << unusual.err;
}

TEST_F(JudgeDoublesTest, PointersOfEarlierCallsAreInvalid) {
  const std::string launch = "doubles<<<(n + 255) / 256, 256>>>";
  const CommandResult correct = judge_body(launch + "(x, out, n);");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  EXPECT_EQ(judge_body("static const float* from = x; static float* to = out; " + launch + "(from, to, n);").status, 1);
}

TEST_F(JudgeDoublesTest, NumbersFromTheHostMayBeRounded) {
  const auto judge_results = [&](const std::string& factor) {
    return judge_body(
        "float* t; cudaMalloc(&t, n * 4); doubles<<<(n + 255) / 256, 256>>>(x, t, n); std::vector<float> h(n);\n"
        "  cudaMemcpy(h.data(), t, n * 4, cudaMemcpyDeviceToHost); for (float& v : h) v = v / 3.0f * " +
            factor + ";\n  cudaMemcpy(out, h.data(), n * 4, cudaMemcpyHostToDevice); cudaFree(t);",
        "#include <vector>\n");
  };
  const auto judge_table = [&](const std::string& weight) {
    return judge_body(
        "float weights[] = {" + weight +
            "}, *t; cudaMalloc(&t, 4); cudaMemcpy(t, weights, 4, cudaMemcpyHostToDevice);\n"
            "  weighted<<<(n + 255) / 256, 256>>>(x, t, out, n); cudaFree(t);",
        "__global__ void weighted(const float* x, const float* w, float* out, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = 3.0f * x[i] * w[0];\n}\n");
  };
  for (const CommandResult& correct : {judge_results("3.0f"), judge_table("2.0f / 3.0f")})
    EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  for (const CommandResult& wrong : {judge_results("3.00003f"), judge_table("0.66667f")})
    EXPECT_THAT(wrong.out, HasSubstr("fail(algorithm)"));
}

TEST_F(JudgeDoublesTest, StaticTensorsKeepTheirMemory) {
  const auto judge_tensors = [&](const std::string& is_too_small) {
    workshop_.write("workspace.assay.json", R"({"schema_version": "1.0.0", "function": "solve"})");
    workshop_.write("workspace.cu", R"(#include <torch/extension.h>
__global__ void doubles(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}
torch::Tensor solve(torch::Tensor x) {
  static torch::Tensor workspace;
  const int n = x.numel();
  if ()" + is_too_small + R"() workspace = torch::empty({n}, x.options()).view({1, n});
  doubles<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), workspace.data_ptr<float>(), n);
  return workspace.view({-1}).narrow(0, 0, n).clone();
}
)");
    return workshop_.run("assay judge workspace.cu --against doubles.py");
  };
  const CommandResult correct = judge_tensors("!workspace.defined() || workspace.numel() < n");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  EXPECT_THAT(judge_tensors("!workspace.defined()").out,
              AllOf(HasSubstr("memory_fault"), HasSubstr("of the host code, from an earlier call'")));
}

TEST_F(JudgeDoublesTest, HeadersNextToTheCandidateAreFound) {
  workshop_.write("sub/factor.cuh", "#include \"value.cuh\"\n");
  workshop_.write("sub/value.cuh", "constexpr float kFactor = 2.0f;\n");
  const std::string include = "#include \"sub/factor.cuh\"\n";
  const std::string body = "static_assert(kFactor > 0); doubles<<<(n + 255) / 256, 256>>>(x, out, n);";
  const CommandResult found = judge_body(body, include);
  EXPECT_EQ(found.status, 0) << found.out << found.err;
  workshop_.write("sub/value.cuh", "constexpr float kFactor = -2.0f;\n");
  EXPECT_THAT(judge_body(body, include).out, HasSubstr("build_failed")) << "the cached library must not be used";
}

class JudgeWithClangTest : public JudgeHostTest {
 protected:
  void SetUp() override {
    if (const auto clang = candidate::find_host_compiler("clang"); !clang.ok()) GTEST_SKIP() << clang.error().text();
  }
  CommandResult judge_with_clang(std::string_view old = {}, std::string_view changed = {}) const {
    std::string source(kCandidate);
    workshop_.write("candidate.py", source.replace(source.find(old), old.size(), changed));
    return workshop_.run("assay judge candidate.py --against sums.py --quick --cuda-compiler clang");
  }
};

TEST_F(JudgeWithClangTest, CorrectCandidatePassesAndRecordNamesCompiler) {
  const CommandResult run = judge_with_clang();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(workshop_.read("out/records.jsonl"), HasSubstr("\"clang "));
}

TEST_F(JudgeWithClangTest, MissingBarrierIsReportedWithLine) {
  const CommandResult run =
      judge_with_clang("  part[threadIdx.x] = sum;\n  __syncthreads();\n", "  part[threadIdx.x] = sum;\n");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("read_write_race in row_sums<float>:"), HasSubstr("source line 15"),
                             HasSubstr("--cuda-compiler clang")));
}

TEST_F(JudgeWithClangTest, MissingFunctionOfPyTorchIsUnsupported) {
  const CommandResult run = judge_with_clang("  return out;\n}", "  return torch::softmax(out, 0);\n}");
  EXPECT_EQ(run.status, 77) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("torch::softmax"));
}

TEST_F(JudgeWithClangTest, ErrorOfTheCompilerIsReported) {
  const CommandResult run = judge_with_clang("sum += x[", "sum += y[");
  EXPECT_THAT(run.out + run.err, HasSubstr("use of undeclared identifier 'y'"));
}

}  // namespace
}  // namespace assay::cli
