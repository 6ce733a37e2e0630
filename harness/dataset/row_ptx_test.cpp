#include "harness/dataset/row_ptx.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/print.hpp"
#include "harness/dataset/render.hpp"
#include "harness/suite/select/random_kernels.hpp"

namespace assay::dataset {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader =
    "//\n// Cuda compilation tools, release 13.0, V13.0.88\n//\n\n.version 9.0\n.target sm_90a\n";

TEST(RowPtx, SummaryNamesArchitectureAndCompiler) {
  const RowPtxSummary summary = summarize_ptx(kHeader);
  EXPECT_EQ(summary.architecture, "compute_90a");
  EXPECT_EQ(summary.compiler, "Cuda compilation tools, release 13.0, V13.0.88");
  EXPECT_EQ(summary.sha256.size(), 64U);
  EXPECT_NE(summary.sha256, summarize_ptx(kHeader + std::string("ret;")).sha256);
  EXPECT_EQ(summarize_ptx("ret;").architecture, "");
  EXPECT_EQ(summarize_ptx("").sha256, "");
}

TEST(RowPtx, NamesFunctionThatPtxDoesNotDefine) {
  DatasetRow row;
  row.cuda_source =
      "extern \"C\" __global__ void scale_forward(int n) {}\nextern \"C\" __global__ void scale_backward(int n) {}\n";
  row.ptx = ".visible .entry scale_forward(\n)\n.visible .entry scale_backward(\n)\n";
  EXPECT_EQ(missing_ptx_entry(row), "");
  row.ptx = ".visible .entry scale_forward(\n)\n";
  EXPECT_EQ(missing_ptx_entry(row), "scale_backward");
}

TEST(RowPtx, CompilesTheCudaSourceOfARow) {
  DatasetPlan plan;
  ASSERT_TRUE(make_ptx_compiler(plan).ok());
  EXPECT_FALSE(*make_ptx_compiler(plan)) << "rows without PTX need no compiler";
  const Result<PtxCompiler> found = find_ptx_compiler("compute_75");
  if (!found.ok()) GTEST_SKIP() << found.error().text();
  EXPECT_THAT(found->version, HasSubstr("NVRTC 1"));
  plan.ptx = *found;
  const Result<RowPtxCompiler> compile = make_ptx_compiler(plan);
  ASSERT_TRUE(compile.ok()) << compile.error().text();
  const Result<RenderedKernel> rendered =
      render(harness::random_kernel("loop/r2_7").take(), source::print_cpp_and_cuda);
  ASSERT_TRUE(rendered.ok());
  DatasetRow row = rendered->row;
  const Result<std::string> ptx = (*compile)(row);
  ASSERT_TRUE(ptx.ok()) << ptx.error().text();
  row.ptx = *ptx;
  EXPECT_EQ(summarize_ptx(row.ptx).architecture, "compute_75");
  EXPECT_EQ(missing_ptx_entry(row), "");

  row.cuda_source += "\nthis is no CUDA\n";
  EXPECT_THAT((*compile)(row).error().text(), HasSubstr("NVRTC rejects the CUDA source of the row"));
  EXPECT_THAT(find_ptx_compiler("compute_12").error().text(), HasSubstr("does not support compute_12"));
}

}  // namespace
}  // namespace assay::dataset
