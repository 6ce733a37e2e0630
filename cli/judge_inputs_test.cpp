// assay judge: faults of candidates that only particular sizes or values reveal.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using testing::CommandResult;
using testing::Workshop;

/// A kernel of one output element for each input element, and its CUDA code.
struct Candidate {
  const char* name;
  std::string_view python;   ///< expression of v and s
  std::string_view correct;  ///< the same in CUDA; n: number of elements
  std::string_view wrong;
  std::string_view type = "float";       ///< of x and out
  std::string_view cuda_type = "float";  ///< the same type in CUDA
};

constexpr Candidate kCandidates[] = {
    {"VectorizedPath", "2.0 * v", "2 * v", "n % 64 == 0 ? 3 * v : 2 * v"},
    {"WholeBlocks", "2.0 * v", "2 * v", "n % 256 == 0 ? 3 * v : 2 * v"},
    {"LowerClamp", "wp.clamp(v * 0.25 + 0.5, 0.0, 1.0)", "fminf(fmaxf(v * 0.25f + 0.5f, 0.f), 1.f)",
     "fminf(v * 0.25f + 0.5f, 1.f)"},
    {"LargeArguments", "wp.min(v, 300.0)", "fminf(v, 300.f)", "v > 900 && v < 1100 ? 300.f : v"},
    {"NegativeOffset", "wp.min(v + 900.0, 1.0)", "fminf(v + 900.f, 1.f)", "1"},
    {"ParameterOfZero", "s * v + 1.0", "s * v + 1", "s == 0 ? 0.f : s * v + 1"},
    {"ParameterOfOne", "s * v + 1.0", "s * v + 1", "s == 1 ? v : s * v + 1"},
    {"ZeroInput", "v / wp.max(wp.abs(v), 1.0e-6)", "v / fmaxf(fabsf(v), 1e-6f)", "v / fabsf(v)"},
    {"NegativeIntegers", "wp.abs(v)", "abs(v)", "v", "int", "int"},
    {"RestOfVectorizedPath", "2.0 * v", "2 * v", "n % 16 == 0 && n > 256 && i / 256 >= n / 256 ? 0 : 2 * v"},
    {"UnsignedIntegers", "wp.max(v, wp.uint32(7))", "v > 7 ? v : 7", "(int)v > 7 ? v : 7", "wp.uint32", "unsigned"},
    {"LargeIntegers", "v >> 1", "v >> 1", "v > 100000 ? 0 : v >> 1", "int", "int"},
};

class JudgeInputsTest : public ::testing::TestWithParam<Candidate> {
 protected:
  JudgeInputsTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("spec.py", fmt::format(R"py(import warp as wp


@wp.kernel
def k(x: wp.array(dtype={0}), s: float, out: wp.array(dtype={0})):
    i = wp.tid()
    v = x[i]
    out[i] = {1}
)py",
                                           GetParam().type, GetParam().python));
    workshop_.write("k.assay.json", R"json({
      "schema_version": "1.0.0", "arguments": ["x", "s", "out", "x.shape[0]"],
      "grid": ["ceil(x.shape[0] / 64)"], "block": [64]
    })json");
  }

  CommandResult judge(std::string_view expression) const {
    workshop_.write("k.cu", fmt::format(R"cu(
extern "C" __global__ void k(const {0}* x, float s, {0}* out, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const {0} v = x[i];
  out[i] = {1};
}}
)cu",
                                        GetParam().cuda_type, expression));
    return workshop_.run("assay judge k.cu --against spec.py");
  }

  Workshop workshop_;
};

TEST_P(JudgeInputsTest, RejectsFaultAndAcceptsCorrectCode) {
  const CommandResult correct = judge(GetParam().correct);
  if (correct.status == 77) GTEST_SKIP() << "needs NVRTC";
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  const CommandResult wrong = judge(GetParam().wrong);
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
}

INSTANTIATE_TEST_SUITE_P(Faults, JudgeInputsTest, ::testing::ValuesIn(kCandidates),
                         [](const auto& candidate) { return std::string(candidate.param.name); });

// Launches of other sizes have no input set of their own.
TEST(JudgeInputs, WithThoroughIncludeLargeLaunches) {
  const Workshop workshop(ASSAY_PROGRAM);
  workshop.write("spec.py", R"py(import warp as wp


@wp.kernel
def k(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = x[i] ^ 1
)py");
  workshop.write("k.assay.json", R"json({
    "schema_version": "1.0.0", "arguments": ["x", "out", "threads"], "grid": ["ceil(threads / 64)"], "block": [64]
  })json");
  workshop.write("k.cu", R"cu(
extern "C" __global__ void k(const int* x, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] ^ 1;
}
)cu");
  const CommandResult result = workshop.run("assay judge k.cu --against spec.py --thorough");
  if (result.status == 77) GTEST_SKIP() << "needs NVRTC";
  EXPECT_EQ(result.status, 0) << result.out << result.err;
}

}  // namespace
}  // namespace assay::cli
