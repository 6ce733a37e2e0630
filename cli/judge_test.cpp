// assay judge: candidates in CUDA and PTX, correct ones and wrong ones.
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
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

/// A block for each row; the sum of the row in shared memory.
constexpr std::string_view kSums = R"(#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>
__global__ void sums(const float* x, int columns, float factor, float* out) {
  __shared__ float part[64];
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 64) sum += x[blockIdx.x * columns + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = factor * part[0];
}
)";

constexpr std::string_view kContract = R"({
  "schema_version": "1.0.0",
  "arguments": ["x", "x.shape[1]", "factor", "out"],
  "grid": ["threads"],
  "block": [64]
})";

constexpr std::string_view kScale = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $done;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  mul.f32 %f2, %f1, 0f40500000;
  st.global.f32 [%rd7], %f2;
$done:
  ret;
}
)";

constexpr std::string_view kSoftmaxSpecification = R"(import warp as wp


@wp.kernel
def softmax(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    largest = x[i, 0]
    for j in range(1, x.shape[1]):
        largest = wp.max(largest, x[i, j])
    total = float(0.0)
    for j in range(x.shape[1]):
        total += wp.exp(x[i, j] - largest)
    for j in range(x.shape[1]):
        out[i, j] = wp.exp(x[i, j] - largest) / total
)";

/// One thread for each row.
constexpr std::string_view kSoftmax = R"(
__global__ void softmax(const float* x, float* out, int columns, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float largest = x[i * columns];
  for (int j = 1; j < columns; ++j) largest = fmaxf(largest, x[i * columns + j]);
  float total = 0;
  for (int j = 0; j < columns; ++j) total += expf(x[i * columns + j] - largest);
  for (int j = 0; j < columns; ++j) out[i * columns + j] = expf(x[i * columns + j] - largest) / total;
}
)";

class JudgeTest : public ::testing::Test {
 protected:
  JudgeTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("sums.py", kSpecification);
    workshop_.write("sums.assay.json", kContract);
    workshop_.write("sums.cu", kSums);
    workshop_.write("scale.py",
                    "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), out: "
                    "wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = 3.25 * x[i]\n");
    workshop_.write("scale.ptx", kScale);
    workshop_.write("scale.assay.json", R"({"schema_version": "1.0.0", "arguments": ["x", "out", "threads"]})");
  }

  CommandResult judge(const std::string& candidate, const std::string& specification) const {
    return workshop_.run("assay judge " + candidate + " --against " + specification);
  }
  /// The result for kSums in which a text is replaced.
  CommandResult judge_sums(std::string_view old, std::string_view changed) const {
    std::string source(kSums);
    const std::size_t at = source.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    workshop_.write("sums.cu", source.replace(at, old.size(), changed));
    return judge("sums.cu", "sums.py");
  }
  CommandResult judge_with_contract(std::string_view contract) const {
    workshop_.write("sums.assay.json", contract);
    return judge("sums.cu", "sums.py");
  }

  Workshop workshop_;
};

TEST_F(JudgeTest, CorrectCandidateWithDifferentSummationOrderPasses) {
  const CommandResult run = judge("sums.cu", "sums.py:sums");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("The only case passes"));
}

TEST_F(JudgeTest, CorrectPtxCandidatePasses) {
  const CommandResult run = judge("scale.ptx", "scale.py");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, ContainsRegex("greatest errors, as shares of the allowed error: algorithm 0, rounded results "
                                     "0\\.[0-9]+\n$"));
}

TEST_F(JudgeTest, CandidateWithSmallErrorInFactorFails) {
  const CommandResult run = judge_sums("factor * part[0]", "1.00001f * factor * part[0]");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("fail(algorithm)"), HasSubstr("without rounding, expected"),
                             HasSubstr("assay judge 'sums.cu' --against 'sums.py:sums'")));
}

TEST_F(JudgeTest, ErrorOfFactorThatRoundingMayHideFails) {
  // Two ulp: the results are within the bound that allows for rounding errors.
  EXPECT_THAT(judge_sums("factor * part[0]", "1.0000002f * factor * part[0]").out, HasSubstr("fail(algorithm)"));
  // The nearest float to a constant may be off by half an ulp.
  const CommandResult rounded = judge_sums("factor * part[0]", "(factor * 0.1f * part[0]) / 0.1f");
  EXPECT_EQ(rounded.status, 0) << rounded.out << rounded.err;
}

TEST_F(JudgeTest, ReportsWhetherComparisonWithToleranceAcceptsFailingCandidate) {
  constexpr std::string_view kAccepts = "a comparison with tolerance 0.01 accepts the results on 5 input sets";
  EXPECT_THAT(judge_sums("factor * part[0]", "1.00001f * factor * part[0]").out, HasSubstr(kAccepts));
  EXPECT_THAT(judge_sums("factor * part[0]", "1.5f * factor * part[0]").out, Not(HasSubstr(kAccepts)));
}

TEST_F(JudgeTest, HalfPrecisionSumFailsIfSpecificationSumsInSinglePrecision) {
  workshop_.write("means.py", R"(import warp as wp


@wp.kernel
def means(x: wp.array2d(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += float(x[i, j])
    out[i] = wp.float16(total / float(x.shape[1]))
)");
  workshop_.write("means.assay.json",
                  R"({"schema_version": "1.0.0", "arguments": ["x", "out", "x.shape[1]", "threads"]})");
  const std::string source = R"(#include <cuda_fp16.h>
__global__ void means(const __half* x, __half* out, int columns, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float total = 0;
  for (int j = columns - 1; j >= 0; --j) total += __half2float(x[i * columns + j]);
  out[i] = __float2half(total / columns);
}
)";
  workshop_.write("means.cu", source);
  const CommandResult correct = judge("means.cu", "means.py");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  std::string narrow = source;
  const std::string sum = "total += __half2float(x[i * columns + j]);";
  narrow.replace(narrow.find(sum), sum.size(),
                 "total = __half2float(__hadd(__float2half(total), x[i * columns + j]));");
  workshop_.write("means.cu", narrow);
  EXPECT_THAT(judge("means.cu", "means.py").out,
              AllOf(HasSubstr("fail(rounding)"), HasSubstr("without rounding, the values would be correct")));
  // The rounding of the result hides this error.
  std::string scaled = source;
  const std::string result = "total / columns";
  workshop_.write("means.cu", scaled.replace(scaled.find(result), result.size(), "1.00001f * total / columns"));
  EXPECT_THAT(judge("means.cu", "means.py").out, HasSubstr("fail(algorithm)"));
}

/// Judges candidates that compute a function of each element.
class JudgeFunctionTest : public JudgeTest {
 protected:
  /// The output for a specification that computes `specified` from x[i], and a candidate that computes `computed`.
  std::string judge_function(const std::string& specified, const std::string& computed,
                             const std::string& domain = "-10 <= x <= 10") {
    workshop_.write("map.assay.json", R"json({"schema_version": "1.0.0", "arguments": ["x", "out", "x.shape[0]"],
      "grid": ["ceil(x.shape[0] / 128)"], "block": [128]})json");
    workshop_.write("map.py", "import warp as wp\n\n\n# domain: " + domain +
                                  "\n@wp.kernel\ndef map(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                                  "    i = wp.tid()\n    out[i] = " +
                                  specified + "\n");
    workshop_.write("map.cu",
                    "__device__ float fast_tanh(float x) {\n  float t;\n"
                    "  asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(t) : \"f\"(x));\n  return t;\n}\n"
                    "__global__ void map(const float* x, float* out, int n) {\n  int i = blockIdx.x * blockDim.x + "
                    "threadIdx.x;\n  if (i < n) out[i] = " +
                        computed + ";\n}\n");
    return judge("map.cu", "map.py").out;
  }
};

TEST_F(JudgeFunctionTest, FunctionsOfTheMathLibraryHaveTheirDocumentedErrors) {
  EXPECT_THAT(judge_function("wp.sin(x[i])", "sinf(x[i])"), HasSubstr("The only case passes"));
  EXPECT_THAT(judge_function("wp.tanh(x[i])", "tanhf(x[i])"), HasSubstr("The only case passes"));
  EXPECT_THAT(judge_function("0.5 * x[i] * (1.0 + wp.erf(x[i] / wp.sqrt(2.0)))",
                             "0.5f * x[i] * (1.0f + erff(x[i] / sqrtf(2.0f)))"),
              HasSubstr("The only case passes"));
  EXPECT_THAT(judge_function("wp.erf(x[i])", "1.00001f * erff(x[i])"), HasSubstr("fail(algorithm)"));
  EXPECT_THAT(judge_function("wp.sin(x[i])", "sinf(1.00001f * x[i])"), HasSubstr("fail(algorithm)"));
}

/// Without their errors, all these candidates would pass.
TEST_F(JudgeFunctionTest, RejectsApproximationsWhoseDocumentedErrorExceedsBound) {
  const auto rejects = [](const std::string& instruction, const std::string& function) {
    return AllOf(HasSubstr("fail(rounding)"), HasSubstr("; the cause is the documented error of " + instruction +
                                                        " on a GPU; use " + function + " where"));
  };
  EXPECT_THAT(judge_function("wp.tanh(x[i])", "fast_tanh(x[i])"), rejects("tanh.approx", "tanhf"));
  EXPECT_THAT(judge_function("wp.sin(x[i])", "__sinf(x[i])"), rejects("sin.approx", "sinf"));
  EXPECT_THAT(judge_function("wp.log(1.0 + wp.exp(x[i]))", "__logf(1.0f + expf(x[i]))"),
              rejects("lg2.approx", "log2f or logf"));
  // Only one of the approximations is the cause.
  EXPECT_THAT(judge_function("wp.exp(x[i]) + 4.0 * wp.tanh(x[i])", "__expf(x[i]) + 4.0f * fast_tanh(x[i])"),
              rejects("tanh.approx", "tanhf"));
  EXPECT_THAT(judge_function("wp.exp(x[i]) + 4.0 * wp.tanh(x[i])", "__expf(x[i]) + 4.0f * tanhf(x[i])"),
              HasSubstr("The only case passes"));
}

TEST_F(JudgeFunctionTest, RejectsGradientThatDocumentedErrorMakesIncorrect) {
  workshop_.write("tanh.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef tanh(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                  "    i = wp.tid()\n    out[i] = wp.tanh(x[i])\n");
  const std::string launch = R"json("grid": ["ceil(x.shape[0] / 128)"], "block": [128])json";
  workshop_.write("tanh.assay.json",
                  R"({"schema_version": "1.3.0", "entry": "y", "arguments": ["x", "out", "x.shape[0]"], )" + launch +
                      R"(, "backward": {"entry": "dx", "arguments": ["out.grad", "x", "x.grad", "x.shape[0]"], )" +
                      launch + "}}");
  const auto judge_gradient = [&](const std::string& tanh) {
    workshop_.write("tanh.cu",
                    "__global__ void y(const float* x, float* y, int n) {\n"
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = tanhf(x[i]);\n}\n"
                    "__global__ void dx(const float* dy, const float* x, float* dx, int n) {\n"
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float t;\n  " +
                        tanh + "\n  dx[i] = dy[i] * (1.0f - t * t);\n}\n");
    return judge("tanh.cu", "tanh.py").out;
  };
  EXPECT_THAT(judge_gradient("t = tanhf(x[i]);"), HasSubstr("All 2 cases pass"));
  EXPECT_THAT(judge_gradient(R"(asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(x[i]));)"),
              AllOf(HasSubstr("fail(rounding)"), HasSubstr("grad_x[0] is "),
                    HasSubstr("the cause is the documented error of tanh.approx")));
}

TEST_F(JudgeFunctionTest, AcceptsApproximationsWhoseDocumentedErrorIsWithinBound) {
  const std::string domain = "0.01 <= x <= 10";
  for (const auto& [specified, computed] : std::vector<std::pair<std::string, std::string>>{
           {"wp.exp(-x[i])", "__expf(-x[i])"},
           {"1.0 / wp.sqrt(x[i])", "rsqrtf(x[i])"},
           {"3.0 / x[i]", "__fdividef(3.0f, x[i])"},
           {"wp.pow(2.0, x[i])", "exp2f(x[i])"},
           {"1.0 / (1.0 + wp.exp(-x[i]))", "__fdividef(1.0f, 1.0f + __expf(-x[i]))"},
           {"0.5 * x[i] * (1.0 + wp.tanh(x[i]))", "__fdividef(x[i], 1.0f + __expf(-2.0f * x[i]))"},
           {"wp.log(x[i])", "__logf(x[i])"},
           {"wp.cosh(x[i])", "coshf(x[i])"},
           {"wp.pow(x[i], 1.7)", "powf(x[i], 1.7f)"}})
    EXPECT_THAT(judge_function(specified, computed, domain), HasSubstr("The only case passes")) << computed;
}

TEST_F(JudgeTest, ConstantsOfTheSpecificationMayBeRounded) {
  workshop_.write("mix.assay.json", R"json({"schema_version": "1.0.0", "arguments": ["x", "y", "out", "x.shape[0]"],
    "grid": ["ceil(x.shape[0] / 128)"], "block": [128]})json");
  const auto judge_mix = [&](const std::string& specified, const std::string& computed) {
    workshop_.write("mix.py",
                    "import warp as wp\n\n\n@wp.kernel\ndef mix(x: wp.array(dtype=float), y: wp.array(dtype=float), "
                    "out: wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = " +
                        specified + "\n");
    workshop_.write("mix.cu",
                    "__global__ void mix(const float* x, const float* y, float* out, int n) {\n  int i = blockIdx.x * "
                    "blockDim.x + threadIdx.x;\n  if (i < n) out[i] = " +
                        computed + ";\n}\n");
    return judge("mix.cu", "mix.py").out;
  };
  // The sum of the float32 constants is 0.99999998.
  EXPECT_THAT(judge_mix("0.9 * (x[i] - y[i]) + 0.1 * x[i]", "x[i] - 0.9f * y[i]"), HasSubstr("The only case passes"));
  EXPECT_THAT(judge_mix("0.9 * (x[i] - y[i]) + 0.1 * x[i]", "1.00001f * x[i] - 0.9f * y[i]"),
              HasSubstr("fail(algorithm)"));
  EXPECT_THAT(judge_mix("x[i] / wp.sqrt(y[i] * y[i] + 1e-5)", "x[i] / sqrtf(y[i] * y[i] + 1e-6f)"),
              HasSubstr("fail(algorithm)"));
}

TEST_F(JudgeTest, UnwrittenElementsAreNotAttributedToRounding) {
  const CommandResult unwritten = judge_sums("if (threadIdx.x == 0)", "if (threadIdx.x == 0 && blockIdx.x % 7 != 6)");
  EXPECT_THAT(unwritten.out, AllOf(HasSubstr("is nan, expected"), Not(HasSubstr("without rounding"))));
}

TEST_F(JudgeTest, RejectsGridsAndBlocksWithoutThreads) {
  const auto contract = [](const std::string& grid, const std::string& block) {
    return R"({"schema_version": "1.0.0", "arguments": ["x", "x.shape[1]", "factor", "out"], "grid": [)" + grid +
           R"(], "block": [)" + block + "]}";
  };
  const auto launch_failed = [](const std::string& reason) {
    return AllOf(HasSubstr("launch_failed"), HasSubstr(reason));
  };
  EXPECT_THAT(judge_with_contract(contract(R"("threads")", "0")).out,
              launch_failed("extent x of the block must be from 1 to 1024, got 0"));
  EXPECT_THAT(judge_with_contract(contract(R"("threads")", "64, 0")).out,
              launch_failed("extent y of the block must be from 1 to 1024, got 0"));
  EXPECT_THAT(judge_with_contract(contract(R"("threads")", R"("threads - threads")")).out,
              launch_failed("extent x of the block must be from 1 to 1024, got 0"));
  EXPECT_THAT(judge_with_contract(contract("0", "64")).out,
              launch_failed("extent x of the grid must be from 1 to 2147483647, got 0"));
}

TEST_F(JudgeTest, FormulaForFloatingPointParameterMayBeDecimal) {
  workshop_.write("norm.py", R"(import warp as wp


@wp.kernel
def norm(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 0.3 / wp.sqrt(x[i] * x[i] + 0.00001)
)");
  workshop_.write("norm.cu", R"(__global__ void norm(const float* x, float* out, float eps, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = scale / sqrtf(x[i] * x[i] + eps);
}
)");
  const auto judge_with = [&](const std::string& eps, const std::string& scale) {
    workshop_.write("norm.assay.json", R"({"schema_version": "1.5.0", "arguments": ["x", "out", )" + eps + ", " +
                                           scale + R"(, "threads"]})");
    return judge("norm.cu", "norm.py");
  };
  for (const std::string eps : {"1e-5", R"("0.00001")", R"("1 / 100000")"}) {
    const CommandResult run = judge_with(eps, "0.3");
    EXPECT_EQ(run.status, 0) << eps << ": " << run.out << run.err;
  }
  EXPECT_EQ(judge_with("0.0001", "0.3").status, 1);
  EXPECT_EQ(judge_with("0", "0.3").status, 1);
}

TEST_F(JudgeTest, InvalidFormulaIsAUsageErrorAndNoFailureOfTheCandidate) {
  const auto contract = [](const std::string& columns) {
    return R"({"schema_version": "1.0.0", "arguments": ["x", ")" + columns +
           R"(", "factor", "out"], "grid": ["threads"], "block": [64]})";
  };
  const CommandResult malformed = judge_with_contract(contract("x.shape[1] +"));
  EXPECT_EQ(malformed.status, 2) << malformed.out;
  EXPECT_THAT(malformed.err, AllOf(HasSubstr("sums.assay.json"), HasSubstr("/arguments/1: formula 'x.shape[1] +'")));
  const CommandResult unknown = judge_with_contract(contract("columns"));
  EXPECT_EQ(unknown.status, 2) << unknown.out;
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("unknown name 'columns'"), HasSubstr("specification are x, factor, out")));
}

TEST_F(JudgeTest, RejectsBlocksLargerThanLaunchBoundsAllow) {
  EXPECT_THAT(
      judge_sums("__global__ void", "__global__ void __launch_bounds__(32)").out,
      AllOf(HasSubstr("launch_failed"), HasSubstr("compiled for blocks of at most 32 threads"), HasSubstr("got 64")));
}

TEST_F(JudgeTest, DeviceVariablesKeepTheirValuesBetweenLaunches) {
  const auto judge_with_ending = [this](const std::string& ending) {
    workshop_.write("sums.cu", R"(__device__ int call_count;
__global__ void sums(const float* x, int columns, float factor, float* out) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int j = 0; j < columns; ++j) sum += x[blockIdx.x * columns + j];
  out[blockIdx.x] = call_count == 0 ? factor * sum : 0;
  )" + ending + "\n}\n");
    workshop_.write("sums.assay.json", R"json({"schema_version": "1.0.0",
      "arguments": ["x", "x.shape[1]", "factor", "out"], "grid": ["threads"], "block": [64]})json");
    return judge("sums.cu", "sums.py");
  };
  const CommandResult constant = judge_with_ending("");
  EXPECT_EQ(constant.status, 0) << constant.out << constant.err;
  EXPECT_EQ(judge_with_ending("if (gridDim.x == 1) call_count = 1;").status, 1);
}

TEST_F(JudgeTest, RecursionIsUnsupported) {
  workshop_.write("sums.cu", R"(__device__ __noinline__ float sum(const float* x, int from, int to) {
  if (to - from <= 1) return to > from ? x[from] : 0;
  const int middle = (from + to) / 2;
  return sum(x, from, middle) + sum(x, middle, to);
}
__global__ void sums(const float* x, int columns, float factor, float* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = factor * sum(x + blockIdx.x * columns, 0, columns);
}
)");
  EXPECT_THAT(judge("sums.cu", "sums.py").out, AllOf(HasSubstr("unsupported"), HasSubstr("recursive call of")));
}

TEST_F(JudgeTest, FailedAssertionIsReportedAndPrintfHasNoEffect) {
  constexpr std::string_view kLoop = "  float sum = 0;\n";
  const CommandResult holds = judge_sums(
      kLoop, "  float sum = 0;\n  assert(columns >= 1);\n  if (threadIdx.x == 0) printf(\"%d columns\", columns);\n");
  EXPECT_EQ(holds.status, 0) << holds.out << holds.err;
  workshop_.write("sums.cu", kSums);
  EXPECT_THAT(judge_sums(kLoop, "  float sum = 0;\n  assert(columns < 100);\n").out,
              AllOf(HasSubstr("crashed"), HasSubstr("the assertion 'columns < 100' failed in thread 0")));
}

TEST_F(JudgeTest, CandidateThatOmitsLastColumnFails) {
  EXPECT_THAT(judge_sums("j < columns", "j < columns - 1").out, HasSubstr("fail(algorithm)"));
}

TEST_F(JudgeTest, VerdictShowsSmallestInputsThatFail) {
  const auto columns_of_failure = [this] {
    const auto inputs =
        nlohmann::json::parse(workshop_.read("out/failures/user.sums.sums.f32.candidate.forward/kernel.json"));
    return inputs.at("given").at(0).at("shape").at(1).get<int>();
  };
  EXPECT_EQ(judge_sums("factor * part[0]", "1.5f * factor * part[0]").status, 1);
  EXPECT_LT(columns_of_failure(), 3) << "fails for all inputs";
  workshop_.write("sums.cu", kSums);
  EXPECT_EQ(judge_sums("factor * part[0]", "(columns > 1 ? 1.5f : 1.0f) * factor * part[0]").status, 1);
  EXPECT_THAT(columns_of_failure(), AllOf(::testing::Gt(1), ::testing::Lt(8)));
}

TEST_F(JudgeTest, FailureIsArchivedWithSmallestInputs) {
  // No drawn input set has 40 to 42 columns.
  EXPECT_THAT(judge_sums("factor * part[0]", "(columns > 39 ? 1.5f : 1.0f) * factor * part[0]").out,
              HasSubstr("reproduce.sh  (fails with x 1 x 40, out 1)"));
  workshop_.write("sums.cu", kSums);
  EXPECT_THAT(judge_sums("factor * part[0]", "(blockIdx.x > 4 ? 1.5f : 1.0f) * factor * part[0]").out,
              HasSubstr("reproduce.sh  (fails with x 6 x 1, out 6)"));
}

TEST_F(JudgeTest, MissingBarrierIsReportedWithLine) {
  const CommandResult run =
      judge_sums("  part[threadIdx.x] = sum;\n  __syncthreads();\n", "  part[threadIdx.x] = sum;\n");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("read_write_race"), HasSubstr("source line 8")));
}

TEST_F(JudgeTest, OutOfBoundsAccessIsReported) {
  EXPECT_THAT(judge_sums("j < columns", "j <= columns").out, HasSubstr("out_of_bounds"));
}

TEST_F(JudgeTest, UninitializedSharedMemoryIsReported) {
  EXPECT_THAT(judge_sums("  part[threadIdx.x] = sum;\n", "  if (sum != 0) part[threadIdx.x] = sum;\n").out,
              HasSubstr("uninitialised"));
}

TEST_F(JudgeTest, CandidateThatWritesNothingFails) {
  EXPECT_EQ(judge_sums("if (threadIdx.x == 0)", "if (threadIdx.x > 64)").status, 1);
}

TEST_F(JudgeTest, CandidateThatNeedsTooMuchSharedMemoryFailsToLaunch) {
  const CommandResult run = judge_sums("part[64]", "part[16000]");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("uses 64000 bytes of shared memory, but at most 49152 are allowed"));
}

TEST_F(JudgeTest, SourceThatDoesNotCompileIsReportedWithLine) {
  const CommandResult run = judge_sums("factor * part[0]", "factr * part[0]");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("sums.cu(14): error"), HasSubstr("\"factr\" is undefined")));
}

TEST_F(JudgeTest, RejectsContractThatDoesNotMatchCandidate) {
  EXPECT_THAT(judge_with_contract(R"({"schema_version": "1.0.0", "arguments": ["x", "out"]})").out,
              HasSubstr("the contract states 2 arguments, but 'sums' has 4 parameters"));
  EXPECT_THAT(judge_with_contract(R"({"schema_version": "1.0.0"})").out,
              HasSubstr("has 4 parameters, but the specification has 3; state the arguments in the contract"));
  EXPECT_THAT(
      judge_with_contract(R"({"schema_version": "1.0.0", "arguments": ["x", "y.shape[1]", "factor", "out"]})").err,
      HasSubstr("'y' must be an array that has a dimension 1"));
  EXPECT_THAT(judge_with_contract(R"({"schema_version": "1.0.0", "arguments": ["x", "factor", "out", "x"]})").out,
              HasSubstr("parameter 3 of 'sums' has type .f32 and 4 bytes, got the array 'out'"));
  EXPECT_THAT(judge_with_contract(R"({"schema_version": "1.0.0", "entry": "other"})").out,
              HasSubstr("the candidate has no kernel 'other'; its kernels are sums"));
}

TEST_F(JudgeTest, ContractMayUseExtentsOfLaunch) {
  workshop_.write("outer.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef outer(x: wp.array(dtype=float), y: wp.array(dtype=float), "
                  "out: wp.array2d(dtype=float)):\n    i, j = wp.tid()\n    out[i, j] = x[i] * y[j]\n");
  workshop_.write(
      "outer.cu",
      "__global__ void outer(const float* x, const float* y, float* out, int rows, int columns, int pitch) {\n"
      "  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < rows && j < columns) out[i * pitch + j] = x[i] * y[j];\n}\n");
  workshop_.write("outer.assay.json", R"json({"schema_version": "1.0.0",
      "arguments": ["x", "y", "out", "threads.shape[0]", "threads.shape[1]", "out.shape[1]"],
      "grid": ["ceil(threads.shape[1] / 32)", "threads.shape[0]"], "block": [32]})json");
  const CommandResult run = judge("outer.cu", "outer.py");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeTest, RejectsInvalidContract) {
  const CommandResult malformed = judge_with_contract("{");
  EXPECT_EQ(malformed.status, 2) << malformed.out << malformed.err;
  EXPECT_THAT(malformed.err, HasSubstr("sums.assay.json: invalid JSON"));
  EXPECT_THAT(judge_with_contract(R"({"schema_version": "1.0.0", "blocks": 4})").err,
              AllOf(HasSubstr("invalid contract"), HasSubstr("blocks")));
}

TEST_F(JudgeTest, CandidateThatReadsOnlyFirst128ColumnsFails) {
  EXPECT_THAT(judge_sums("j < columns;", "j < columns && j < 128;").out, HasSubstr("fail(algorithm)"));
}

TEST_F(JudgeTest, CandidateMayAddWithAtomicsInAnyOrder) {
  const CommandResult run = judge_sums("  part[threadIdx.x] = sum;\n  __syncthreads();\n",
                                       "  if (threadIdx.x == 0) part[0] = 0;\n  __syncthreads();\n"
                                       "  atomicAdd(&part[0], sum);\n  __syncthreads();\n"
                                       "  if (threadIdx.x == 0) out[blockIdx.x] = factor * part[0];\n  return;\n");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

// On a GPU, the order of the warps of a block is undefined, and so is that of the lanes of an atomic instruction.
TEST_F(JudgeTest, RankFromSharedAtomicCounterDependsOnOrderOfThreads) {
  workshop_.write("rank.py", R"(import warp as wp


# domain: 0 <= e < 4
@wp.kernel
def rank(e: wp.array(dtype=wp.int32), out: wp.array(dtype=wp.int32)):
    i = wp.tid()
    n = int(0)
    for j in range(i):
        if e[j] == e[i]:
            n += 1
    out[i] = n
)");
  workshop_.write("rank.assay.json", R"json({"schema_version": "1.0.0", "arguments": ["e", "out", "threads"],
                                         "grid": ["ceil(threads / 64)"], "block": [64]
})json");
  const auto judge_rank = [this](const std::string& rank_in_block) {
    workshop_.write("rank.cu",
                    "__global__ void rank(const int* e, int* out, int n) {\n"
                    "  __shared__ int count[4];\n  __shared__ int bucket[64];\n"
                    "  int i = blockIdx.x * 64 + threadIdx.x;\n  if (threadIdx.x < 4) count[threadIdx.x] = 0;\n"
                    "  if (i < n) bucket[threadIdx.x] = e[i];\n  __syncthreads();\n  if (i >= n) return;\n"
                    "  int earlier = 0;\n  for (int j = 0; j < blockIdx.x * 64; ++j) earlier += e[j] == e[i];\n" +
                        rank_in_block + "  out[i] = earlier;\n}\n");
    return judge("rank.cu", "rank.py");
  };
  const CommandResult correct =
      judge_rank("  for (int j = 0; j < threadIdx.x; ++j) earlier += bucket[j] == bucket[threadIdx.x];\n");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  EXPECT_THAT(judge_rank("  earlier += atomicAdd(&count[e[i]], 1);\n").out, HasSubstr("fail(mismatch)"));
  // One atomic for each warp, so that only the order of the warps matters.
  const CommandResult aggregated = judge_rank(
      "  unsigned equal = __match_any_sync(__activemask(), e[i]);\n  int lane = threadIdx.x % 32, start = 0;\n"
      "  if (lane == __ffs(equal) - 1) start = atomicAdd(&count[e[i]], __popc(equal));\n"
      "  start = __shfl_sync(equal, start, __ffs(equal) - 1);\n"
      "  earlier += start + __popc(equal & ((1u << lane) - 1));\n");
  EXPECT_THAT(aggregated.out, HasSubstr("fail(mismatch)"));
}

TEST_F(JudgeTest, SoftmaxThatDoesNotSubtractMaximumFailsForLargeInputs) {
  workshop_.write("softmax.py", kSoftmaxSpecification);
  workshop_.write("softmax.assay.json",
                  R"({"schema_version": "1.0.0", "arguments": ["x", "out", "x.shape[1]", "threads"]})");
  workshop_.write("softmax.cu", kSoftmax);
  const CommandResult correct = judge("softmax.cu", "softmax.py");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  std::string naive(kSoftmax);
  for (std::size_t at = naive.find(" - largest"); at != std::string::npos; at = naive.find(" - largest"))
    naive.erase(at, 10);
  workshop_.write("softmax.cu", naive);
  EXPECT_THAT(judge("softmax.cu", "softmax.py").out, HasSubstr("fail(rounding)"));
}

TEST_F(JudgeTest, CandidateMayTakeOneExtentForSeveralArrays) {
  workshop_.write("softmax.py", kSoftmaxSpecification);
  workshop_.write("softmax.assay.json",
                  R"({"schema_version": "1.0.0", "arguments": ["x", "out", "x.shape[1]", "threads"]})");
  workshop_.write("softmax.cu", kSoftmax);
  for (const char* seed : {"2", "3", "4", "6"}) {
    const CommandResult run = judge("softmax.cu", std::string("softmax.py --seed ") + seed);
    EXPECT_EQ(run.status, 0) << run.out << run.err;
  }
}

TEST_F(JudgeTest, AnotherOneOfEqualValuesIsRejected) {
  workshop_.write("argmax.py", R"(import warp as wp


@wp.kernel
def argmax(x: wp.array2d(dtype=float), out: wp.array(dtype=int)):
    row = wp.tid()
    first = int(0)
    for j in range(1, x.shape[1]):
        if x[row, j] > x[row, first]:
            first = j
    out[row] = first
)");
  workshop_.write("argmax.assay.json", R"({"schema_version": "1.0.0", "arguments": ["x", "out", "x.shape[1]"],
    "grid": ["threads"], "block": [1]})");
  std::string source = R"(extern "C" __global__ void argmax(const float* x, int* out, int columns) {
  const float* row = x + blockIdx.x * columns;
  int best = 0;
  for (int j = 1; j < columns; ++j)
    if (row[j] > row[best]) best = j;
  out[blockIdx.x] = best;
}
)";
  workshop_.write("argmax.cu", source);
  const CommandResult correct = judge("argmax.cu", "argmax.py");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  workshop_.write("argmax.cu", source.replace(source.find("row[j] >"), 8, "row[j] >="));
  EXPECT_THAT(judge("argmax.cu", "argmax.py").out, HasSubstr("fail(mismatch)"));
}

TEST_F(JudgeTest, SuiteCountsVerdictsAndRejudgesOnlyChangedCandidates) {
  std::string wrong(kSums);
  workshop_.write("wrong.cu", wrong.replace(wrong.find("j < columns"), 11, "j < columns - 1"));
  workshop_.write("wrong.assay.json", kContract);
  workshop_.write("candidates.csv",
                  "candidate,specification\nsums.cu,sums.py:sums\nwrong.cu,sums.py\nscale.ptx,scale.py\n");
  const CommandResult run = workshop_.run("assay judge --suite . --quick --output verdicts");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("3 candidates\n     1  fail(algorithm)\n     2  pass\n"),
                             HasSubstr("a comparison with tolerance 0.01 accepts 0 of the 1 rejected candidates"),
                             HasSubstr("verdicts: verdicts/candidates.json"), Not(HasSubstr("earlier verdict"))));
  workshop_.write("wrong.cu", kSums);
  const CommandResult again = workshop_.run("assay judge --suite . --quick --output verdicts");
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("     3  pass\n"), ContainsRegex("sums.cu +.earlier verdict.")));
  // Another program judges all candidates again. A byte at the end of an executable has no effect.
  const CommandResult other =
      workshop_.run("cp \"$program\" other && printf x >> other && ./other judge --suite . --quick --output verdicts");
  EXPECT_EQ(other.status, 0) << other.out << other.err;
  EXPECT_THAT(other.out, AllOf(HasSubstr("     3  pass\n"), Not(HasSubstr("earlier verdict"))));
}

TEST_F(JudgeTest, SuiteSaysThatCandidateWithInvalidContractWasNotRun) {
  workshop_.write("sums.assay.json", R"({"schema_version": "1.0.0", "arguments": ["x", "nothing"]})");
  workshop_.write("candidates.csv", "candidate,specification\nsums.cu,sums.py\n");
  const CommandResult run = workshop_.run("assay judge --suite . --quick --output verdicts");
  EXPECT_EQ(run.status, 4) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("not_run(invalid_input)"), HasSubstr("sums.assay.json")));
}

TEST_F(JudgeTest, SuiteRejudgesCandidatesWhoseHeadersOrModulesChanged) {
  workshop_.write("factor.cuh", "constexpr float kFactor = 3.25f;\n");
  workshop_.write("factor.py", "FACTOR = 3.25\n");
  workshop_.write("scaled.cu", R"(#include "factor.cuh"
__global__ void scaled(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kFactor * x[i];
}
)");
  workshop_.write("scaled.assay.json", R"({"schema_version": "1.0.0", "arguments": ["x", "out", "threads"]})");
  workshop_.write("scaled.py",
                  "import warp as wp\nfrom factor import FACTOR\n\n\n@wp.kernel\ndef scaled(x: wp.array(dtype=float), "
                  "out: wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = FACTOR * x[i]\n");
  workshop_.write("candidates.csv", "candidate,specification\nscaled.cu,scaled.py\n");
  const auto judge_suite = [&] { return workshop_.run("assay judge --suite . --quick --output verdicts").out; };
  EXPECT_THAT(judge_suite(), HasSubstr("     1  pass\n"));
  EXPECT_THAT(judge_suite(), HasSubstr("earlier verdict"));
  workshop_.write("factor.cuh", "constexpr float kFactor = 3.5f;\n");
  EXPECT_THAT(judge_suite(), HasSubstr("     1  fail(algorithm)\n"));
  workshop_.write("factor.py", "FACTOR = 3.5\n");
  EXPECT_THAT(judge_suite(), HasSubstr("     1  pass\n"));
}

TEST_F(JudgeTest, PrintsVerdictAsLineOfJson) {
  std::string wrong(kSums);
  workshop_.write("wrong.cu", wrong.replace(wrong.find("j < columns"), 11, "j < columns - 1"));
  workshop_.write("wrong.assay.json", kContract);
  const CommandResult one = workshop_.run("assay judge wrong.cu --against sums.py --quick --json");
  EXPECT_EQ(one.status, 1) << one.out << one.err;
  const auto verdict = nlohmann::json::parse(one.out);
  EXPECT_EQ(verdict.at("outcome"), "fail");
  EXPECT_EQ(verdict.at("kind"), "algorithm");
  EXPECT_THAT(verdict.at("message").get<std::string>(), Not(::testing::IsEmpty()));
  EXPECT_GT(verdict.at("algorithm_error").get<double>(), 1) << "more than allowed";
  EXPECT_GT(verdict.at("result_error").get<double>(), 1);
  EXPECT_EQ(verdict.at("reports"), "out");
  ASSERT_EQ(verdict.at("tolerances").size(), 2U);
  EXPECT_EQ(verdict.at("tolerances")[0].at("tolerance"), 0.01);
  EXPECT_FALSE(verdict.at("tolerances")[0].at("accepts"));
  EXPECT_GT(verdict.at("seconds").get<double>(), 0);

  workshop_.write("candidates.csv", "candidate,specification\nsums.cu,sums.py:sums\nwrong.cu,sums.py\n");
  const CommandResult suite = workshop_.run("assay judge --suite . --quick --json --jobs 1 --output verdicts");
  EXPECT_EQ(suite.status, 1) << suite.out << suite.err;
  std::istringstream lines(suite.out);
  std::vector<std::string> outcomes;
  for (std::string line; std::getline(lines, line);)
    outcomes.push_back(nlohmann::json::parse(line).at("outcome"));
  EXPECT_EQ(outcomes, (std::vector<std::string>{"pass", "fail"}));
  const auto diagnostics = schemas::Validator(schemas::kCandidateVerdictsSchemaText)
                               .diagnostics(nlohmann::json::parse(workshop_.read("verdicts/candidates.json")));
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.front().text();
}

TEST_F(JudgeTest, RejectsMissingCandidateOrCandidateList) {
  const CommandResult nothing = workshop_.run("assay judge");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("nothing to judge: give CANDIDATE --against SPEC.py, or --suite DIR"));
  const CommandResult suite = workshop_.run("assay judge --suite .");
  EXPECT_EQ(suite.status, 2);
  EXPECT_THAT(suite.err, HasSubstr("candidates.csv: the folder has no list of candidates"));
}

TEST_F(JudgeTest, RejectsCandidateFileThatIsMissingOrContainsNoKernel) {
  EXPECT_EQ(judge("missing.cu", "sums.py").status, 2);
  workshop_.write("sums.txt", kSums);
  const CommandResult text = judge("sums.txt", "sums.py");
  EXPECT_EQ(text.status, 2);
  EXPECT_THAT(text.err, HasSubstr("the candidate must be a CUDA source (.cu), PTX (.ptx), or a Python file"));
  workshop_.write("empty.cu", "__device__ int zero() { return 0; }\n");
  EXPECT_THAT(judge("empty.cu", "sums.py").out, HasSubstr("the candidate has no kernel"));
  workshop_.write("host.cu", "int twice(int x) { return 2 * x; }\n");
  EXPECT_THAT(judge("host.cu", "sums.py").out, HasSubstr("the candidate has no kernel"));
  workshop_.write("other.cu", "#include \"kernels.cuh\"\n");
  EXPECT_THAT(judge("other.cu", "sums.py").out, HasSubstr("open source file \"kernels.cuh\""));
}

}  // namespace
}  // namespace assay::cli
