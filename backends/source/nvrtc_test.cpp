// Tests that NVRTC accepts the CUDA source.
#include "backends/cuda/nvrtc/nvrtc.hpp"

#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/operation_programs.hpp"
#include "backends/source/testing/printing.hpp"

namespace assay::source {
namespace {

using backends::EmittedKernel;
using backends::Precision;
using backends::SourceTarget;

class NvrtcCompilation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!nvrtc_.ok()) GTEST_SKIP() << nvrtc_.error().text();
  }

  /// The PTX; empty if the source was rejected or caused a warning other than for unused code.
  std::string ptx(const std::string& source, Precision precision, backends::BuildFlags flags = {}) {
    const cuda::CompileOutcome outcome = nvrtc_->compile(source, "kernel.cu", {.flags = flags, .precision = precision});
    if (const auto* failed = std::get_if<backends::BuildFailed>(&outcome)) {
      ADD_FAILURE() << failed->log;
      return "";
    }
    return std::get<cuda::CompiledCode>(outcome).ptx;
  }

  Result<cuda::Nvrtc> nvrtc_ = cuda::Nvrtc::load();
};

TEST_F(NvrtcCompilation, AcceptsEveryOperationAndAtomicInBothPrecisions) {
  const ir::Module operations = testing::every_operation();
  std::vector<EmittedKernel> kernels = testing::print_all(operations, SourceTarget::kCuda);
  for (EmittedKernel& kernel : testing::print_all(testing::every_atomic(SourceTarget::kCuda), SourceTarget::kCuda)) {
    kernels.push_back(std::move(kernel));
  }
  const std::string source = testing::joined(kernels);
  for (const Precision precision : {Precision::kNative, Precision::kPromoted}) {
    const std::string text = ptx(source, precision);
    for (const EmittedKernel& kernel : kernels) {
      EXPECT_NE(text.find(".entry " + kernel.entry_points[0].symbol + "("), std::string::npos) << kernel.name;
    }
  }
}

TEST_F(NvrtcCompilation, NativePrecisionOfFloatKernelUsesNoDoubles) {
  const std::string text = "kernel k(x: array<f32,1>; i) {\n  x[i] = add(mul(sqrt(x[i]), 0.1), floor(x[i]))\n}\n";
  const std::string source = testing::print_first(testing::parse(text), SourceTarget::kCuda).source();
  EXPECT_EQ(ptx(source, Precision::kNative).find(".f64"), std::string::npos);
  EXPECT_NE(ptx(source, Precision::kPromoted).find(".f64"), std::string::npos);
}

TEST_F(NvrtcCompilation, AcceptsEveryKindOfStatement) {
  const std::string text =
      "struct Ball {\n  place: vec<f32,3>\n  data: array<f64,2>\n}\n"
      "func two(a: f32) -> f32, i32 {\n  return neg(a), 2\n}\n"
      "kernel k(x: array<f32,2>, nullable g: array<vec<f32,3>,1>, ball: Ball, n: i64; i, j) {\n"
      "  let memory: local<f32,16>\n  let b: Ball = ball\n  b = with_field(b, place, insert(b.place, 0, inf))\n"
      "  let c: Ball = with_field(b, place, g[i])\n"
      "  for k: i64 in range(0:i64, n, n) {\n    while lt(x[i, j], nan) {\n      if isnan(x[i, j]) {\n        break\n"
      "      }\n      if gt(x[i, j], 1.0) {\n        return\n      }\n      continue\n    }\n"
      "    memory[cast<i32>(k)] = extract(c.place, 1)\n  }\n"
      "  let s: f32, m: i32 = call two(memory[3])\n  atomic_add(g[m], mul(g[i], s))\n"
      "  b.data[i, j] = cast<f64>(s)\n}\n";
  EXPECT_NE(ptx(testing::print_first(testing::parse(text), SourceTarget::kCuda).source(), Precision::kNative), "");
}

TEST_F(NvrtcCompilation, ContractsNoSumOfTheOperandOfAnExtremum) {
  const auto contracts = [&](const std::string& text) {
    const std::string source = testing::print_first(testing::parse(text), SourceTarget::kCuda).source();
    return ptx(source, Precision::kNative, backends::BuildFlags::standard()).find("fma.rn") != std::string::npos;
  };
  for (const testing::ExtremumOperand& operand : testing::extremum_operands()) {
    std::string text = testing::extremum_kernel(operand, "k");
    const std::size_t store = text.find("  out[i]");
    text.erase(store, text.find('\n', store) + 1 - store);
    EXPECT_FALSE(contracts(text)) << operand.expression;
  }
  EXPECT_TRUE(contracts(testing::extremum_kernel(testing::extremum_operands()[0], "k"))) << "a stored value";
}

}  // namespace
}  // namespace assay::source
