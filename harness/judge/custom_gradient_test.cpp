// The check custom_gradient, and the verdict on kernels with custom gradients.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using testing::CpuRun;
using ::testing::HasSubstr;
using testing::summary;

/// A kernel that calls a function of two values with this custom gradient.
std::string kernel_with(const std::string& gradient, const std::string& comment = "") {
  return R"(
@wp.func
def blend(a: float, b: float):
    return a * a * a + wp.sin(b)

@wp.func_grad(blend)
def adj_blend(a: float, b: float, adj_ret: float):
)" + gradient +
         "\n" + comment + R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = blend(x[i], y[i])
)";
}

constexpr const char* kCorrect =
    "    wp.adjoint[a] += 3.0 * a * a * adj_ret\n    wp.adjoint[b] += wp.cos(b) * adj_ret\n";
constexpr const char* kDerivativeOffByOnePercent =
    "    wp.adjoint[a] += 3.03 * a * a * adj_ret\n    wp.adjoint[b] += wp.cos(b) * adj_ret\n";
constexpr const char* kMissing = "    wp.adjoint[a] += 3.0 * a * a * adj_ret\n";

TEST(CustomGradient, IsVerifiedIfItEqualsTheDerivative) {
  const CpuRun run({{.name = "correct", .python = kernel_with(kCorrect)}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
}

TEST(CustomGradient, IsADefectIfItDiffersFromTheDerivative) {
  const CpuRun run({{.name = "off", .python = kernel_with(kDerivativeOffByOnePercent)},
                    {.name = "missing", .python = kernel_with(kMissing)}});
  for (const char* name : {"off", "missing"}) {
    EXPECT_EQ(run.forward(name).outcome, Outcome::pass) << summary(run.forward(name));
    EXPECT_EQ(run.backward(name).outcome, Outcome::defect) << summary(run.backward(name));
    EXPECT_EQ(run.backward(name).outcome_detail, "custom_gradient");
    EXPECT_THAT(run.backward(name).message, HasSubstr("the custom gradient of 'blend' (line "));
  }
  EXPECT_THAT(run.backward("off").message, HasSubstr("the gradient of x["));
  EXPECT_THAT(run.backward("missing").message, HasSubstr("the gradient of y["));
}

TEST(CustomGradient, PassesDespiteDifferenceFromDerivativeIfDeclaredTrusted) {
  const std::string comment = "# custom gradients: trusted";
  const CpuRun annotated({{.name = "off", .python = kernel_with(kDerivativeOffByOnePercent, comment)}});
  EXPECT_EQ(annotated.backward("off").outcome, Outcome::pass) << summary(annotated.backward("off"));
  RunOptions options = CpuRun::quick();
  options.trusts_custom_gradients = true;
  const CpuRun trusted({{.name = "off", .python = kernel_with(kDerivativeOffByOnePercent)}}, options);
  EXPECT_EQ(trusted.backward("off").outcome, Outcome::pass) << summary(trusted.backward("off"));
}

TEST(CustomGradient, IsNotComparedWhereTheDerivativeIsInfinite) {
  const std::vector<testing::TestKernel> kernels{{.name = "root", .python = R"(
@wp.func
def safe_root(a: float):
    return wp.sqrt(a)

@wp.func_grad(safe_root)
def adj_safe_root(a: float, adj_ret: float):
    if a > 0.0:
        wp.adjoint[a] += adj_ret * 0.5 / wp.sqrt(a)

# domain: 0 <= x <= 0
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = safe_root(x[i])
)"}};
  const CpuRun run(kernels);
  EXPECT_NE(run.backward("root").outcome, Outcome::defect) << summary(run.backward("root"));
}

TEST(CustomGradient, IsVerifiedEvenIfItsTermsCancel) {
  const std::vector<testing::TestKernel> kernels{{.name = "zero", .python = R"(
@wp.func
def both(a: float, b: float):
    return (wp.tanh(a) - b) - wp.tanh(a)

@wp.func_grad(both)
def adj_both(a: float, b: float, adj_ret: float):
    wp.adjoint[a] += ((1.0 - wp.tanh(a) * wp.tanh(a)) - (1.0 - wp.tanh(a) * wp.tanh(a))) * adj_ret
    wp.adjoint[b] -= adj_ret

@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = both(x[i], y[i])
)"}};
  const CpuRun run(kernels);
  EXPECT_EQ(run.backward("zero").outcome, Outcome::pass) << summary(run.backward("zero"));
}

}  // namespace
}  // namespace assay::harness
