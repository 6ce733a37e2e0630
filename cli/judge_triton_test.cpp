// assay judge: Python files with Triton kernels. Most tests are skipped if no Python has Triton.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/candidate/triton/compiler.hpp"
#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

constexpr std::string_view kSpecification = R"(import warp as wp


@wp.kernel
def row_mean(x: wp.array2d(dtype=float), factor: float, out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[i, j]
    out[i] = factor * total / float(x.shape[1])
)";

/// With host code that uses PyTorch.
constexpr std::string_view kCandidate = R"(import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ratio(total, count):
    return total / count


@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["columns"])
@triton.jit
def row_mean(x_ptr, out_ptr, factor, columns, BLOCK: tl.constexpr, SKIPPED: tl.constexpr = 0):
    row = tl.program_id(0)
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + row * columns + j, mask=j < columns - SKIPPED, other=0.0)
    tl.store(out_ptr + row, factor * ratio(tl.sum(sums, axis=0), columns))


class RowMean(nn.Module):
    def forward(self, x: torch.Tensor, factor: float) -> torch.Tensor:
        out = torch.empty(x.shape[0], device="cuda")
        row_mean[(x.shape[0],)](x, out, factor, x.shape[1])
        return out
)";

constexpr std::string_view kContract = R"({
  "schema_version": "1.1.0",
  "arguments": ["x", "out", "factor", "x.shape[1]"],
  "grid": ["threads"],
  "constexpr": {"BLOCK": 64},
  "num_warps": 2
})";

class JudgeTritonTest : public ::testing::Test {
 protected:
  JudgeTritonTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("specification.py", kSpecification);
    workshop_.write("mean.py", kCandidate);
    workshop_.write("mean.assay.json", kContract);
  }
  static void skip_without_triton() {
    if (const auto triton = candidate::find_triton(""); !triton.ok()) GTEST_SKIP() << triton.error().text();
  }

  CommandResult judge(const std::string& options = "") const {
    return workshop_.run("assay judge mean.py --against specification.py --quick " + options);
  }
  /// The result for a file in which a text is replaced.
  CommandResult judge_changed(const std::string& file, std::string_view old, std::string_view changed) const {
    std::string text(file == "mean.py" ? kCandidate : kContract);
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    workshop_.write(file, text.replace(at, old.size(), changed));
    CommandResult result = judge();
    workshop_.write("mean.py", kCandidate);
    workshop_.write("mean.assay.json", kContract);
    return result;
  }
  CommandResult judge_kernel(std::string_view old, std::string_view changed) const {
    return judge_changed("mean.py", old, changed);
  }
  CommandResult judge_contract(std::string_view old, std::string_view changed) const {
    return judge_changed("mean.assay.json", old, changed);
  }

  Workshop workshop_;
};

class InstalledTritonTest : public JudgeTritonTest {
 protected:
  void SetUp() override { skip_without_triton(); }
};

TEST_F(InstalledTritonTest, CorrectKernelPasses) {
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(InstalledTritonTest, KernelMayHaveTheNameOfAFunctionOfTriton) {
  const CommandResult run = judge_kernel("def row_mean(", "def sum(");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(InstalledTritonTest, DecimalNumberIsPassedAsFloat) {
  std::string kernel(kCandidate), contract(kContract);
  const auto replace = [](std::string& text, std::string_view old, std::string_view changed) {
    const std::size_t at = text.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), changed);
  };
  replace(kernel, "factor, columns, BLOCK", "factor, columns, half, BLOCK");
  replace(kernel, "row, factor * ratio", "row, 2.0 * half * factor * ratio");
  replace(contract, R"("x.shape[1]"])", R"("x.shape[1]", "5e-1"])");
  workshop_.write("mean.py", kernel);
  workshop_.write("mean.assay.json", contract);
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(InstalledTritonTest, ExampleOfGuidePasses) {
  const CommandResult run =
      workshop_.run("assay judge " ASSAY_SOURCE_DIR "/examples/candidates/softmax_triton.py --against " ASSAY_SOURCE_DIR
                    "/examples/softmax.py:softmax --quick");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(InstalledTritonTest, ProductsOfWarpgroupsAreJudgedForArchitecture90) {
  const auto judge_candidate = [&](const std::string& name) {
    return workshop_.run("assay judge " ASSAY_SOURCE_DIR "/testdata/candidates/" + name +
                         " --against " ASSAY_SOURCE_DIR "/conformance/specifications/matmul_half.py --quick --arch 90");
  };
  const CommandResult correct = judge_candidate("correct/matmul_half_triton_tiles.py");
  EXPECT_EQ(correct.status, 0) << correct.out << correct.err;
  const CommandResult incorrect = judge_candidate("wrong/matmul_half_triton_tiles_lost_products.py");
  EXPECT_EQ(incorrect.status, 1) << incorrect.out << incorrect.err;
  EXPECT_THAT(incorrect.out, HasSubstr("fail(algorithm)"));
}

TEST_F(InstalledTritonTest, KernelWithSmallErrorInFactorFails) {
  const CommandResult run = judge_kernel("factor * ratio", "1.00001 * factor * ratio");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("fail(algorithm)"));
}

TEST_F(InstalledTritonTest, LoadWithoutMaskIsReportedWithPythonLine) {
  EXPECT_THAT(judge_kernel("+ j, mask=j < columns - SKIPPED, other=0.0)", "+ j)").out,
              AllOf(HasSubstr("out_of_bounds"), HasSubstr("source line 19")));
}

TEST_F(InstalledTritonTest, GridMayDependOnConstexprParameters) {
  EXPECT_EQ(judge_contract(R"("grid": ["threads"])", R"("grid": ["threads + BLOCK - 64"])").status, 0);
  EXPECT_THAT(judge_contract(R"("grid": ["threads"])", R"json("grid": ["ceil(threads / BLOCK)"])json").out,
              HasSubstr("fail"));
}

TEST_F(InstalledTritonTest, ConstexprValueInContractReplacesDefault) {
  const CommandResult run = judge_contract(R"("BLOCK": 64)", R"("BLOCK": 64, "SKIPPED": 1)");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("fail(algorithm)"));
}

TEST_F(InstalledTritonTest, ContractMayMakeOrdinaryParameterConstant) {
  workshop_.write("mean.assay.json",
                  R"({"schema_version": "1.1.0", "arguments": ["x", "out", "factor", "x.shape[1]"], "grid": ["threads"],
                      "constexpr": {"BLOCK": 64, "bias_ptr": null}})");
  std::string text(kCandidate);
  text.replace(text.find("BLOCK: tl.constexpr"), 0, "bias_ptr, ");
  text.replace(text.find("    tl.store"), 0, "    if bias_ptr is not None:\n        sums += tl.load(bias_ptr)\n");
  workshop_.write("mean.py", text);
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(InstalledTritonTest, RejectsContractThatDoesNotMatchKernel) {
  EXPECT_THAT(judge_contract(R"({"BLOCK": 64})", "{}").out,
              HasSubstr("the constexpr parameter 'BLOCK' of 'row_mean' needs a value; state it in 'constexpr'"));
  EXPECT_THAT(judge_contract(R"("BLOCK": 64)", R"("BLOCK": 64, "SIZE": 1)").out,
              HasSubstr("states 'SIZE', but 'row_mean' has no such parameter; its parameters are x_ptr, out_ptr"));
  EXPECT_THAT(judge_contract(R"("x", "out", )", R"("x", )").out,
              HasSubstr("'row_mean' has 4 parameters that are not constants (x_ptr, out_ptr, factor, columns), but "
                        "gets 3 arguments"));
  EXPECT_THAT(judge_contract(R"("num_warps": 2)", R"("entry": "means")").out,
              HasSubstr("the candidate has no kernel 'means'; its kernels are ratio, row_mean"));
  EXPECT_THAT(judge_contract(R"("x", "out", "factor")", R"("x", "out", "x")").out, HasSubstr("Triton cannot compile"));
}

TEST_F(InstalledTritonTest, FileWithSeveralKernelsRequiresEntryInContract) {
  const std::string_view other = "@triton.jit\ndef other(x_ptr):\n    pass\n\n\nclass RowMean";
  EXPECT_THAT(judge_kernel("class RowMean", other).out,
              HasSubstr("the candidate has several kernels (row_mean, other); choose one with 'entry'"));
}

TEST_F(InstalledTritonTest, CompileErrorIsReportedWithLine) {
  EXPECT_THAT(judge_kernel("tl.arange(0, BLOCK)", "tl.arange(0, 48)").out,
              HasSubstr("mean.py:18: Triton cannot compile 'row_mean': arange's range must be a power of 2"));
}

TEST_F(InstalledTritonTest, ImportIsConfined) {
  const CommandResult writes = judge_kernel("@triton.jit", "open('leak.txt', 'w')\n\n\n@triton.jit");
  EXPECT_EQ(writes.status, 1) << writes.out << writes.err;
  EXPECT_THAT(writes.out, HasSubstr("mean.py:7: the import failed: PermissionError"));
  EXPECT_THAT(judge_kernel("class RowMean", "import os\nos._exit(3)\n\n\nclass RowMean").out,
              HasSubstr("importing the file and compiling the kernel ended Python with status 3"));
}

TEST_F(InstalledTritonTest, HostCodeThatFailsAfterTheKernelHasNoEffect) {
  workshop_.write("mean.py", std::string(kCandidate) +
                                 "\n\nx = torch.rand(4, 4, device=triton.runtime.driver.active.get_device())\n"
                                 "assert x.device == 'cuda'\n");
  const CommandResult run = judge();
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(judge_kernel("@triton.jit", "assert torch.rand(4).device == 'cuda'\n\n\n@triton.jit").out,
              HasSubstr("mean.py:7: the import failed: AssertionError"));
  EXPECT_THAT(judge_kernel("def ratio(", "def ratio(,").out, HasSubstr("mean.py: the import failed: SyntaxError"));
}

TEST_F(JudgeTritonTest, PythonWithoutTritonIsUnsupported) {
  workshop_.write("python", "#!/bin/sh\ncase \"$*\" in *sys.executable*) echo \"$0\";; *) exit 1;; esac\n");
  const CommandResult run =
      workshop_.run("chmod +x python; assay judge mean.py --against specification.py --quick --python ./python");
  EXPECT_EQ(run.status, 77) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("Python has no Triton; run ci/setup-triton to install it"));
}

TEST_F(JudgeTritonTest, RejectsContractWithMissingOrUnexpectedMembers) {
  EXPECT_THAT(judge_contract(R"("grid": ["threads"],)", "").err,
              HasSubstr("the contract of a Triton kernel must state 'grid'"));
  EXPECT_THAT(judge_contract(R"("num_warps": 2)", R"("block": [64])").err,
              HasSubstr("the contract of a Triton kernel must not state 'block'; remove it and state 'num_warps'"));
  EXPECT_THAT(judge_contract(R"("num_warps": 2)", R"("num_warps": 3)").err,
              AllOf(HasSubstr("mean.assay.json: invalid contract"), HasSubstr("/num_warps")));
  workshop_.write("mean.cu", "__global__ void f() {}\n");
  EXPECT_THAT(workshop_.run("assay judge mean.cu --against specification.py").err,
              HasSubstr("only the contract of a Triton kernel may state 'constexpr', 'num_warps' and 'num_stages'"));
}

}  // namespace
}  // namespace assay::cli
