// assay judge: backward passes that use results of the forward pass, and backward passes of kernels without host code.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/candidate/host/compiler.hpp"
#include "backends/candidate/triton/compiler.hpp"
#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

/// y = x / sqrt(x * x + 0.5), whose gradient is 0.5 * r * r * r with r = 1 / sqrt(x * x + 0.5).
constexpr std::string_view kSpecification = R"(import warp as wp


@wp.kernel
def squash(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] / wp.sqrt(x[i] * x[i] + 0.5)
)";

/// The forward function also returns r and the number of its elements.
constexpr std::string_view kHostCode = R"py(from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void squash(const float* x, float* y, float* r, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  r[i] = 1.0f / sqrtf(x[i] * x[i] + 0.5f);
  y[i] = x[i] * r[i];
  if (i == 0) count[0] = n;
}
__global__ void squash_backward(const float* grad_y, const float* r, const int* count, float* grad_x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count[0]) grad_x[i] = 0.5f * r[i] * r[i] * r[i] * grad_y[i];
}

std::vector<torch::Tensor> forward(torch::Tensor x) {
  auto r = torch::empty_like(x);
  auto y = torch::empty_like(x);
  auto count = torch::empty({1}, x.options().dtype(torch::kInt));
  squash<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), r.data_ptr<float>(), count.data_ptr<int>(), x.numel());
  return {r, y, count};
}
torch::Tensor backward(torch::Tensor grad_y, torch::Tensor r, torch::Tensor count) {
  auto grad_x = torch::empty_like(r);
  squash_backward<<<(r.numel() + 63) / 64, 64>>>(grad_y.data_ptr<float>(), r.data_ptr<float>(), count.data_ptr<int>(), grad_x.data_ptr<float>());
  return grad_x;
}
"""

module = load_inline(name="squash", cpp_sources="", cuda_sources=source, functions=["forward", "backward"])
)py";

constexpr std::string_view kHostContract = R"json({
  "schema_version": "1.3.0",
  "results": ["r", "y", "count"],
  "backward": {"arguments": ["y.grad", "r", "count"]}
})json";

/// The same kernels without host code.
constexpr std::string_view kKernels = R"(
__global__ void squash(const float* x, float* y, float* r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  r[i] = 1.0f / sqrtf(x[i] * x[i] + 0.5f);
  y[i] = x[i] * r[i];
}
__global__ void squash_backward(const float* grad_y, const float* r, float* grad_x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) grad_x[i] = 0.5f * r[i] * r[i] * r[i] * grad_y[i];
}
)";

constexpr std::string_view kKernelContract = R"json({
  "schema_version": "1.3.0",
  "entry": "squash",
  "arguments": ["x", "y", "r", "x.shape[0]"],
  "saved": {"r": {"type": "float32", "shape": ["x.shape[0]"]}},
  "backward": {
    "entry": "squash_backward",
    "arguments": ["y.grad", "r", "x.grad", "x.shape[0]"],
    "grid": ["ceil(x.shape[0] / 32)"],
    "block": [32]
  }
})json";

std::string replaced(std::string_view text, std::string_view old, std::string_view changed) {
  std::string result(text);
  const std::size_t at = result.find(old);
  if (old.empty()) return result;
  if (at == std::string::npos) ADD_FAILURE() << "the text does not contain " << old;
  else result.replace(at, old.size(), changed);
  return result;
}

class JudgeBackwardPassTest : public ::testing::Test {
 protected:
  JudgeBackwardPassTest() : workshop_(ASSAY_PROGRAM) { workshop_.write("squash.py", kSpecification); }

  CommandResult judge(const std::string& file, const std::string& options = " --quick") const {
    return workshop_.run("assay judge " + file + " --against squash.py" + options);
  }

  Workshop workshop_;
};

class JudgeSavedTensorsTest : public JudgeBackwardPassTest {
 protected:
  void SetUp() override {
    if (const auto nvcc = candidate::find_nvcc(); !nvcc.ok()) GTEST_SKIP() << nvcc.error().text();
  }
  CommandResult judge_changed(std::string_view old = "", std::string_view changed = "") const {
    workshop_.write("candidate.py", replaced(kHostCode, old, changed));
    return judge("candidate.py");
  }
  void state(std::string_view old = "", std::string_view changed = "") const {
    workshop_.write("candidate.assay.json", replaced(kHostContract, old, changed));
  }
};

TEST_F(JudgeSavedTensorsTest, BackwardFunctionGetsThem) {
  state();
  const CommandResult run = judge_changed();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("All 2 cases pass"));
}

TEST_F(JudgeSavedTensorsTest, IncorrectSavedTensorIsRejected) {
  state();
  EXPECT_THAT(judge_changed("y[i] = x[i] * r[i];", "y[i] = x[i] * r[i]; r[i] *= 1.001f;").out,
              AllOf(HasSubstr("wrong_gradient"), HasSubstr("grad_x[")));
  EXPECT_THAT(judge_changed("return {r, y, count};", "return {x, y, count};").out, HasSubstr("wrong_gradient"));
}

TEST_F(JudgeSavedTensorsTest, UnroundedValuesOfSavedTensorsAreKept) {
  state();
  // 2^-26: rounding hides the difference in r, so only its unrounded value shows it.
  const CommandResult run =
      judge_changed("y[i] = x[i] * r[i];", "y[i] = x[i] * r[i]; r[i] += r[i] * 1.490116119384765625e-8f;");
  EXPECT_THAT(run.out, AllOf(HasSubstr("candidate/backward"), HasSubstr("fail(algorithm)"), HasSubstr("grad_x[")));
}

TEST_F(JudgeSavedTensorsTest, ElementThatForwardFunctionDoesNotSaveIsReported) {
  state();
  EXPECT_THAT(judge_changed("if (i == 0) count[0] = n;", "").out, HasSubstr("uninitialised_read"));
}

TEST_F(JudgeSavedTensorsTest, ForwardPassIsJudgedWithoutSavedTensors) {
  workshop_.write("candidate.assay.json", R"({"schema_version": "1.3.0", "results": ["r", "y", "count"]})");
  EXPECT_EQ(judge_changed().status, 0);
  EXPECT_THAT(judge_changed("y[i] = x[i] * r[i]", "y[i] = 1.001f * x[i] * r[i]").out, HasSubstr("y["));
}

TEST_F(JudgeSavedTensorsTest, ResultsThatDoNotMatchForwardFunctionAreReported) {
  workshop_.write("candidate.assay.json", R"({"schema_version": "1.3.0"})");
  EXPECT_THAT(judge_changed().out, HasSubstr("returns 3 tensors, but the specification writes 1 arrays; state the name "
                                             "of each tensor as 'results' in the contract"));
  workshop_.write("candidate.assay.json",
                  replaced(replaced(kHostContract, R"(, "count"],)", "],"), R"("r", "count"])", R"("r", "r"])"));
  EXPECT_THAT(judge_changed().out, HasSubstr("returns 3 tensors, but 'results' of the contract names 2"));
  state(R"("y", "count"],)", R"("z", "count"],)");
  EXPECT_THAT(judge_changed().out, HasSubstr("'results' in the contract lacks 'y', which the specification writes"));
  workshop_.write("candidate.assay.json", replaced(replaced(kHostContract, R"(["r", "y")", R"(["x", "y")"),
                                                   R"("r", "count"])", R"("count", "count"])"));
  EXPECT_THAT(judge_changed().out,
              HasSubstr("'results' in the contract must be outputs of the specification and new names, got 'x'"));
}

TEST_F(JudgeSavedTensorsTest, UnknownArgumentOfBackwardPassIsReported) {
  state(R"("y.grad", "r", "count"])", R"("y.grad", "rr", "count"])");
  const CommandResult run = judge_changed();
  EXPECT_EQ(run.status, 2) << run.out;
  EXPECT_THAT(run.err,
              HasSubstr("'rr' in 'arguments' of the contract's backward pass is unknown; expected a parameter"));
}

TEST_F(JudgeSavedTensorsTest, FunctionMayWriteArraysOfContract) {
  workshop_.write("candidate.assay.json", R"({
    "schema_version": "1.3.0",
    "arguments": ["x", "y", "r", "count"],
    "saved": {"r": {"type": "float32", "shape": ["x.shape[0]"]}, "count": {"type": "int32", "shape": [1]}},
    "backward": {"arguments": ["y.grad", "r", "count"]}
  })");
  const std::string source = replaced(
      replaced(replaced(kHostCode, "std::vector<torch::Tensor> forward(torch::Tensor x) {",
                        "void forward(torch::Tensor x, torch::Tensor y, torch::Tensor r, torch::Tensor count) {"),
               "  auto r = torch::empty_like(x);\n  auto y = torch::empty_like(x);\n  auto count = torch::empty({1}, "
               "x.options().dtype(torch::kInt));\n",
               ""),
      "  return {r, y, count};\n", "");
  workshop_.write("candidate.py", source);
  const CommandResult run = judge("candidate.py");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  workshop_.write("candidate.py", replaced(source, "r[i] * r[i] * r[i]", "r[i] * r[i]"));
  EXPECT_THAT(judge("candidate.py").out, HasSubstr("wrong_gradient"));
}

class JudgeBackwardKernelTest : public JudgeBackwardPassTest {
 protected:
  JudgeBackwardKernelTest() { state(); }
  CommandResult judge_changed(std::string_view old = "", std::string_view changed = "") const {
    workshop_.write("candidate.cu", replaced(kKernels, old, changed));
    return judge("candidate.cu");
  }
  void state(std::string_view old = "", std::string_view changed = "") const {
    workshop_.write("candidate.assay.json", replaced(kKernelContract, old, changed));
  }
};

TEST_F(JudgeBackwardKernelTest, CorrectGradientPasses) {
  const CommandResult run = judge_changed();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("All 2 cases pass"));
}

TEST_F(JudgeBackwardKernelTest, IncorrectGradientIsRejected) {
  EXPECT_THAT(judge_changed("0.5f * r[i] * r[i] * r[i]", "0.5f * r[i] * r[i]").out,
              AllOf(HasSubstr("wrong_gradient"), HasSubstr("grad_x[")));
  EXPECT_THAT(judge_changed("0.5f * r[i]", "0.5f * (r[i] + r[i] * 1.490116119384765625e-8f)").out,
              AllOf(HasSubstr("candidate/backward"), HasSubstr("fail(algorithm)")));
  EXPECT_THAT(judge_changed("if (i < n) grad_x[i]", "if (i < n - 1) grad_x[i]").out, HasSubstr("wrong_gradient"));
  state("ceil(x.shape[0] / 32)", "floor(x.shape[0] / 32)");
  EXPECT_THAT(judge_changed().out, HasSubstr("wrong_gradient"));
}

TEST_F(JudgeBackwardKernelTest, GradientThatIsCorrectWithoutRoundingIsNotCalledWrong) {
  EXPECT_THAT(judge_changed("= 0.5f * r[i] * r[i] * r[i] * grad_y[i];",
                            "= 1000.0f + 0.5f * r[i] * r[i] * r[i] * grad_y[i] - 1000.0f;")
                  .out,
              AllOf(HasSubstr("fail(rounding)"), HasSubstr("without rounding, the values would be correct"),
                    Not(HasSubstr("wrong_gradient"))));
}

TEST_F(JudgeBackwardKernelTest, ErrorInSavedArrayIsSeenInGradient) {
  EXPECT_THAT(judge_changed("y[i] = x[i] * r[i];", "y[i] = x[i] * r[i]; r[i] += r[i] * 1.490116119384765625e-8f;").out,
              AllOf(HasSubstr("candidate/backward"), HasSubstr("fail(algorithm)")));
  EXPECT_THAT(judge_changed("  y[i] = x[i] * r[i];", "  y[i] = x[i] * r[i]; if (i == 0) r[i + n] = 0.0f;").out,
              HasSubstr("out_of_bounds"));
}

TEST_F(JudgeBackwardKernelTest, GradientIsOverwrittenUnlessContractStatesThatItAccumulates) {
  EXPECT_THAT(judge_changed("grad_x[i] = ", "grad_x[i] += ").out, HasSubstr("uninitialised_read"));
  state(R"("block": [32])", R"("block": [32], "accumulates": ["x.grad"])");
  EXPECT_EQ(judge_changed("grad_x[i] = ", "grad_x[i] += ").status, 0);
  EXPECT_EQ(judge_changed().status, 1);
}

TEST_F(JudgeBackwardKernelTest, ChangedInputIsReported) {
  state(R"("y.grad", "r",)", R"("y.grad", "y",)");
  EXPECT_THAT(judge_changed("if (i < n) grad_x[i]", "if (i < n) const_cast<float*>(r)[i] = 1.0f; grad_x[i]").out,
              HasSubstr("read_only_write"));
  EXPECT_THAT(judge_changed("if (i < n) grad_x[i]", "if (i < n) const_cast<float*>(grad_y)[i] = 1.0f; grad_x[i]").out,
              HasSubstr("read_only_write"));
}

TEST_F(JudgeBackwardKernelTest, UsualArgumentsNeedNoStatement) {
  workshop_.write("candidate.cu", R"(
__global__ void forward(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] / sqrtf(x[i] * x[i] + 0.5f);
}
__global__ void backward(const float* grad_y, const float* x, float* grad_x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float r = 1.0f / sqrtf(x[i] * x[i] + 0.5f);
  grad_x[i] = 0.5f * r * r * r * grad_y[i];
}
)");
  workshop_.write("candidate.assay.json", R"({
    "schema_version": "1.3.0", "entry": "forward", "grid": ["threads"], "block": [1],
    "backward": {"entry": "backward", "grid": ["threads"], "block": [1]}
  })");
  const CommandResult run = judge("candidate.cu");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeBackwardKernelTest, ReasonWhyBackwardPassIsNotJudgedIsPrinted) {
  workshop_.write("sum.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef sum(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n"
                  "    i = wp.tid()\n    wp.atomic_add(y, 0, x[i])\n");
  workshop_.write("sum.cu", R"(
__global__ void forward(const float* x, float* y) { atomicAdd(y, x[blockIdx.x]); }
__global__ void backward(const float* grad_y, const float* x, float* grad_x) { grad_x[blockIdx.x] = grad_y[0]; }
)");
  workshop_.write("sum.assay.json", R"({
    "schema_version": "1.3.0", "entry": "forward", "grid": ["threads"], "block": [1],
    "backward": {"entry": "backward", "grid": ["threads"], "block": [1]}
  })");
  const CommandResult run = workshop_.run("assay judge sum.cu --against sum.py --quick");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("backward pass not supported: user/sum.sum, unsupported: the specification changes "
                                 "'y' in place"));
}

TEST_F(JudgeBackwardKernelTest, PtxIsJudged) {
  constexpr std::string_view kPtx = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry cube(.param .u64 x, .param .u64 y)
{
  .reg .f32 %f<4>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  mul.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  ret;
}
.visible .entry cube_backward(.param .u64 grad_y, .param .u64 x, .param .u64 grad_x)
{
  .reg .f32 %f<5>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [grad_y];
  ld.param.u64 %rd2, [x];
  ld.param.u64 %rd3, [grad_x];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  mul.f32 %f3, %f1, %f2;
  add.f32 %f4, %f3, %f3;
  st.global.f32 [%rd7], %f4;
  ret;
}
)";
  workshop_.write("square.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef square(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n"
                  "    i = wp.tid()\n    y[i] = x[i] * x[i]\n");
  workshop_.write("candidate.ptx", kPtx);
  workshop_.write("candidate.assay.json", R"({
    "schema_version": "1.3.0", "entry": "cube", "grid": ["threads"], "block": [1],
    "backward": {"entry": "cube_backward", "grid": ["threads"], "block": [1]}
  })");
  const auto judge_ptx = [&] { return workshop_.run("assay judge candidate.ptx --against square.py --quick"); };
  const CommandResult run = judge_ptx();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  workshop_.write("candidate.ptx", replaced(kPtx, "add.f32 %f4, %f3, %f3;", "add.f32 %f4, %f3, %f2;"));
  EXPECT_THAT(judge_ptx().out, HasSubstr("wrong_gradient"));
}

TEST_F(JudgeBackwardKernelTest, InvalidContractIsReported) {
  state(R"("entry": "squash_backward")", R"("function": "squash_backward")");
  EXPECT_THAT(judge_changed().err,
              HasSubstr("the candidate has no host code, so its contract must state 'entry' instead of 'function'"));
  state(R"(    "entry": "squash_backward",)", "");
  EXPECT_THAT(judge_changed().out, HasSubstr("choose one with 'entry' of 'backward' in the contract"));
  state(R"("saved")", R"("results": ["y"], "saved")");
  EXPECT_THAT(judge_changed().err, HasSubstr("must state 'saved' instead of 'results'"));
  state(R"("y.grad", "r",)", R"("y.grad", "rr",)");
  EXPECT_THAT(judge_changed().err, HasSubstr("'rr' in 'arguments' of the contract's backward pass is unknown"));
  state(R"({"r": {)", R"({"y": {)");
  EXPECT_THAT(judge_changed().err,
              HasSubstr("'saved' in the contract defines 'y', which is a parameter of the specification"));
  state(R"("block": [32])", R"("num_warps": 4)");
  EXPECT_THAT(judge_changed().err, HasSubstr("'num_stages' in 'backward'"));
}

class JudgeBackwardTritonTest : public JudgeBackwardPassTest {
 protected:
  void SetUp() override {
    if (const auto triton = candidate::find_triton(""); !triton.ok()) GTEST_SKIP() << triton.error().text();
  }
};

TEST_F(JudgeBackwardTritonTest, GradientOfTritonKernelIsJudged) {
  constexpr std::string_view kTriton = R"(import triton
import triton.language as tl


@triton.jit
def squash(x_ptr, y_ptr, r_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    r = 1.0 / tl.sqrt(x * x + 0.5)
    tl.store(r_ptr + i, r, mask=i < n)
    tl.store(y_ptr + i, x * r, mask=i < n)


@triton.jit
def squash_backward(dy_ptr, r_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.load(r_ptr + i, mask=i < n)
    dy = tl.load(dy_ptr + i, mask=i < n)
    tl.store(dx_ptr + i, 0.5 * r * r * r * dy, mask=i < n)
)";
  workshop_.write("candidate.py", kTriton);
  workshop_.write("candidate.assay.json", R"json({
    "schema_version": "1.3.0",
    "entry": "squash",
    "arguments": ["x", "y", "r", "x.shape[0]"],
    "grid": ["ceil(x.shape[0] / BLOCK)"],
    "constexpr": {"BLOCK": 64},
    "saved": {"r": {"type": "float32", "shape": ["x.shape[0]"]}},
    "backward": {
      "entry": "squash_backward",
      "arguments": ["y.grad", "r", "x.grad", "x.shape[0]"],
      "grid": ["ceil(x.shape[0] / BLOCK)"],
      "constexpr": {"BLOCK": 128},
      "num_warps": 2
    }
  })json");
  const CommandResult run = judge("candidate.py");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  workshop_.write("candidate.py", replaced(kTriton, "0.5 * r * r * r * dy", "0.5 * r * r * dy"));
  EXPECT_THAT(judge("candidate.py").out, AllOf(HasSubstr("wrong_gradient"), HasSubstr("grad_x[")));
}

}  // namespace
}  // namespace assay::cli
