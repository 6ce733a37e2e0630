// assay judge: CUDA programs with main(), which nvcc compiles. Skips without nvcc.
#include <string>
#include <string_view>

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
def scale(factor: float, x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = factor * x[i]
)";

constexpr std::string_view kContract = R"({"schema_version": "1.0.0", "program_arguments": ["x.shape[0]"],
 "parameters": {"factor": "scale[0]", "x": "scale[1]", "out": "scale[2]"}})";

constexpr std::string_view kProgram = R"(#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

__global__ void scale(float factor, const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i];
}

__device__ int run_count;
int static_count = 0;

int main(int argc, char** argv) {
  const int n = std::atoi(argv[1]);
  std::vector<float> x(n), out(n);
  for (int i = 0; i < n; ++i) x[i] = i;
  float *d_x, *d_out;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(n + 63) / 64, 64>>>(3.0f, d_x, d_out, n);
  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    if (out[i] == 3.0f * x[i]) continue;
    std::printf("element %d is wrong\n", i);
  }
  std::exit(0);
}
)";

class JudgeProgramTest : public ::testing::Test {
 protected:
  JudgeProgramTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("scale.py", kSpecification);
    workshop_.write("program.assay.json", kContract);
  }
  void SetUp() override {
    if (const auto nvcc = candidate::find_nvcc(); !nvcc.ok()) GTEST_SKIP() << nvcc.error().text();
  }

  CommandResult judge(std::string_view source) const {
    workshop_.write("program.cu", source);
    return workshop_.run("assay judge program.cu --against scale.py --quick");
  }
  /// The result for kProgram in which a text is replaced.
  CommandResult judge_changed(std::string_view old, std::string_view changed) const {
    std::string source(kProgram);
    const std::size_t at = source.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return judge(source.replace(at, old.size(), changed));
  }

  Workshop workshop_;
};

TEST_F(JudgeProgramTest, CorrectProgramPasses) {
  const CommandResult run = judge(kProgram);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("The only case passes"));
}

TEST_F(JudgeProgramTest, InputsOfTheSpecificationReplaceThoseOfTheProgram) {
  // The result is correct for the program's own input, 0, 1, 2, ...
  EXPECT_THAT(judge_changed("out[i] = factor * x[i]", "out[i] = factor * i").out, HasSubstr("fail"));
}

TEST_F(JudgeProgramTest, FailedCheckOfTheProgramFails) {
  EXPECT_THAT(judge_changed("std::exit(0)", "std::puts(\"FAILED\"); std::exit(3)").out,
              HasSubstr("the program ends with exit status 3 when it runs with its own data; its output ends with "
                        "'FAILED'"));
  EXPECT_THAT(judge_changed("std::exit(0);", "return 4;").out, HasSubstr("exit status 4"));
}

TEST_F(JudgeProgramTest, ProgramThatNeedsAFileIsUnsupported) {
  const CommandResult run = judge_changed(
      "  const int n", "  if (std::fopen(\"input.bin\", \"rb\") == nullptr) std::exit(2);\n  const int n");
  EXPECT_EQ(run.status, 77) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("ends with exit status 2 before it starts a kernel"));
}

TEST_F(JudgeProgramTest, EachRunStartsWithInitialValuesOfVariables) {
  const CommandResult run =
      judge_changed("  const int n",
                    "  if (static_count++ > 0) return 5;\n  int count = 0;\n"
                    "  cudaMemcpyFromSymbol(&count, run_count, 4);\n  if (count++ > 0) return 6;\n"
                    "  cudaMemcpyToSymbol(run_count, &count, 4);\n  const int n");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeProgramTest, ResultThatIsNotCopiedFails) {
  EXPECT_THAT(judge_changed("cudaMemcpy(out.data(), d_out, n * sizeof(float)", "cudaMemcpy(out.data(), d_out, n").out,
              HasSubstr("of the result 'out' to the host"));
  EXPECT_THAT(judge_changed("  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);\n", "").out,
              HasSubstr("the program ends before 1 kernel, copy or fill has run"));
}

TEST_F(JudgeProgramTest, TooSmallCopyOfAnInputIsReportedWithLine) {
  const CommandResult run = judge_changed("cudaMemcpy(d_x, x.data(), n * sizeof(float)", "cudaMemcpy(d_x, x.data(), n");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("uninit"), HasSubstr("source line 9")));
}

TEST_F(JudgeProgramTest, AccessOutsideOfAllocationIsReportedWithLine) {
  const CommandResult run = judge_changed("if (i < n) out", "if (i <= n) out");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("out_of_bounds"), HasSubstr("source line 9")));
}

TEST_F(JudgeProgramTest, LaunchThatFailsIsReported) {
  EXPECT_THAT(judge_changed("(n + 63) / 64, 64", "1, 2048").out, HasSubstr("blocks must have 1 to 1024 threads"));
}

TEST_F(JudgeProgramTest, ProgramThatStartsNoKernelFails) {
  EXPECT_THAT(judge_changed("  scale<<<(n + 63) / 64, 64>>>(3.0f, d_x, d_out, n);\n", "").out,
              HasSubstr("the program starts no kernel"));
}

TEST_F(JudgeProgramTest, ManagedMemoryIsAccessibleAfterSynchronization) {
  std::string source(kProgram);
  source.replace(source.find("  std::vector<float> x(n), out(n);"), 34,
                 "  float *x, *out;\n  cudaMallocManaged(&x, 4 * n);\n  cudaMallocManaged(&out, 4 * n);");
  const std::size_t begin = source.find("  float *d_x"), end = source.find("  scale<<<");
  source.replace(begin, end - begin, "  float *d_x = x, *d_out = out;\n");
  const std::string copy = "  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);\n";
  std::string unsynchronized = source;
  source.replace(source.find(copy), copy.size(), "  cudaDeviceSynchronize();\n");
  const CommandResult run = judge(source);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  // The result counts although the memory is freed before the program ends.
  std::string freed = source;
  freed.insert(freed.rfind("  std::exit"), "  cudaFree(d_out);\n");
  const CommandResult with_free = judge(freed);
  EXPECT_EQ(with_free.status, 0) << with_free.out << with_free.err;
  unsynchronized.replace(unsynchronized.find(copy), copy.size(), "");
  EXPECT_THAT(judge(unsynchronized).out,
              HasSubstr("the host accesses managed memory while a kernel that gets it may be running"));
}

TEST_F(JudgeProgramTest, ParametersAreInferredFromPointers) {
  workshop_.write("scale.py", std::string(kSpecification)
                                  .replace(kSpecification.find("factor: float, "), 15, "")
                                  .replace(kSpecification.find("factor * ") - 15, 9, "3.0 * "));
  workshop_.write("program.assay.json", R"({"schema_version": "1.0.0", "program_arguments": ["x.shape[0]"]})");
  const CommandResult run = judge(kProgram);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeProgramTest, ProgramWithoutStatedSizesIsUnsupported) {
  workshop_.write("program.assay.json", R"({"schema_version": "1.0.0",
 "parameters": {"factor": "scale[0]", "x": "scale[1]", "out": "scale[2]"}})");
  const CommandResult run = judge_changed("std::atoi(argv[1])", "2000");
  EXPECT_EQ(run.status, 77) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("'program_arguments'"));
}

TEST_F(JudgeProgramTest, ConstantSizesComeFromTheContract) {
  workshop_.write("program.assay.json", R"({"schema_version": "1.2.0",
 "shapes": {"x": [2000], "out": [2000]}, "threads": [2000],
 "parameters": {"factor": "scale[0]", "x": "scale[1]", "out": "scale[2]"}})");
  const CommandResult run = judge_changed("std::atoi(argv[1])", "2000");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(JudgeProgramTest, ManyThreadsOfConstantSizesAreSampled) {
  workshop_.write("program.assay.json", R"({"schema_version": "1.2.0",
 "shapes": {"x": [40000], "out": [40000]}, "threads": [40000],
 "parameters": {"factor": "scale[0]", "x": "scale[1]", "out": "scale[2]"}})");
  const CommandResult run = judge_changed("std::atoi(argv[1])", "40000");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  std::string source(kProgram);
  source.replace(source.find("std::atoi(argv[1])"), 18, "40000");
  source.replace(source.find("(n + 63) / 64"), 13, "(n - 1) / 64");
  EXPECT_EQ(judge(source).status, 1);
}

TEST_F(JudgeProgramTest, ShapesOfUnknownArraysAreRejected) {
  workshop_.write("program.assay.json", R"({"schema_version": "1.2.0", "shapes": {"z": [2000]}, "threads": [2000]})");
  const CommandResult run = judge(kProgram);
  EXPECT_NE(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("'shapes' in the contract must name arrays of the specification, got 'z'"));
}

TEST_F(JudgeProgramTest, ContractOfAKernelIsRejected) {
  workshop_.write("program.assay.json", R"({"schema_version": "1.0.0", "grid": ["threads"]})");
  const CommandResult run = judge(kProgram);
  EXPECT_EQ(run.status, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("the candidate has a main(), which starts its kernels; remove 'grid' from its"));
}

TEST_F(JudgeProgramTest, SavedArraysAndBackwardPassesAreRejected) {
  workshop_.write("program.assay.json", R"({"schema_version": "1.3.0", "results": ["out"],
 "saved": {"mean": {"type": "float32", "shape": [1]}}, "backward": {"entry": "scale_backward"}})");
  const CommandResult run = judge(kProgram);
  EXPECT_EQ(run.status, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("remove 'results', 'saved', 'backward' from its contract"));
}

TEST_F(JudgeProgramTest, ParametersOfAnotherCandidateAreRejected) {
  const CommandResult run = judge("__global__ void scale(float factor, const float* x, float* out) {}");
  EXPECT_EQ(run.status, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("only the contract of a program with main() may state"));
}

TEST_F(JudgeProgramTest, MissingLibraryIsUnsupportedWithItsLine) {
  std::string source(kProgram);
  source.replace(source.find("int static_count"), 0, "extern \"C\" int curandCreateGenerator(void**, int);\n");
  source.replace(source.find("  const int n"), 0, "  void* generator;\n  curandCreateGenerator(&generator, 100);\n");
  const CommandResult run = judge(source);
  EXPECT_EQ(run.status, 77) << run.out << run.err;
  EXPECT_THAT(run.out + run.err,
              HasSubstr("program.cu:18: the host code calls 'curandCreateGenerator', which Assay does not provide"));
  const CommandResult missing =
      judge_changed("#include <vector>", "#include <cublasNoSuchHeader.h>\n#include <vector>");
  EXPECT_EQ(missing.status, 77) << missing.out << missing.err;
  EXPECT_THAT(missing.out + missing.err, AllOf(HasSubstr("cublasNoSuchHeader.h"), HasSubstr("program.cu:3")));
}

}  // namespace
}  // namespace assay::cli
