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

TEST(CustomGradient, MayHaveOtherRoundedConstantsThanTheCode) {
  const auto kernel = [](const std::string& factor) {
    return R"(
import math

@wp.func
def angle(x: float):
    return wp.degrees(x)

@wp.func_grad(angle)
def adj_angle(x: float, adj_ret: float):
    wp.adjoint[x] += )" +
           factor + R"( * adj_ret

@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = angle(x[i])
)";
  };
  const CpuRun run(
      {{.name = "rounded", .python = kernel("180.0 / math.pi")}, {.name = "off", .python = kernel("57.29579")}});
  EXPECT_EQ(run.backward("rounded").outcome, Outcome::pass) << summary(run.backward("rounded"));
  EXPECT_EQ(run.backward("off").outcome_detail, "custom_gradient") << summary(run.backward("off"));
}

TEST(CustomGradient, OfANativeFunctionIsZero) {
  const std::string python = R"(
@wp.func_native("return 2.0f * a;")
def twice(a: float) -> float: ...

@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = twice(x[i])
)";
  const std::vector<harness::testing::TestKernel> kernels{{.name = "native", .python = python}};
  const CpuRun run(kernels);
  EXPECT_EQ(run.forward("native").outcome, Outcome::pass) << summary(run.forward("native"));
  EXPECT_EQ(run.backward("native").outcome_detail, "custom_gradient");
  EXPECT_THAT(run.backward("native").message,
              HasSubstr("is 0 according to the custom gradient of 'twice' (line 4; it is zero, as that of a native "
                        "function without adj_snippet), but the derivative of the code is 1.93"));
}

/// A kernel that calls a function of an array with this custom gradient.
std::string kernel_of_array_with(const std::string& gradient) {
  return R"(
@wp.func
def product(a: wp.array(dtype=float), i: int, b: float):
    return a[i] * a[i + 1] * b

@wp.func_grad(product)
def adj_product(a: wp.array(dtype=float), i: int, b: float, adj_ret: float):
    wp.adjoint[b] += a[i] * a[i + 1] * adj_ret
)" + gradient +
         R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = product(x, i, y[i])
)";
}
constexpr const char* kOneElement = "    wp.adjoint[a][i] += a[i + 1] * b * adj_ret\n";
constexpr const char* kOtherElement = "    wp.adjoint[a][i + 1] += a[i] * b * adj_ret\n";

TEST(CustomGradient, OfAnArrayIsComparedWithTheDerivative) {
  const CpuRun run({{.name = "correct", .python = kernel_of_array_with(std::string(kOneElement) + kOtherElement)},
                    {.name = "missing", .python = kernel_of_array_with(kOneElement)},
                    {.name = "none", .python = kernel_of_array_with("")}});
  EXPECT_EQ(run.forward("correct").outcome, Outcome::pass) << summary(run.forward("correct"));
  EXPECT_EQ(run.backward("correct").outcome, Outcome::pass) << summary(run.backward("correct"));
  for (const char* name : {"missing", "none"}) {
    EXPECT_EQ(run.backward(name).outcome, Outcome::defect) << summary(run.backward(name));
    EXPECT_THAT(run.backward(name).message, HasSubstr("the custom gradient of 'product' (line "));
    EXPECT_THAT(run.backward(name).message, HasSubstr("the gradient of x["));
  }
}

/// A contribution to an element is an access: here other threads store the element.
TEST(CustomGradient, OfAnArrayThatOtherThreadsStoreIsARace) {
  const std::vector<testing::TestKernel> kernels{{.name = "race", .python = R"(
@wp.func
def own(a: wp.array(dtype=float), i: int):
    return a[i]

@wp.func_grad(own)
def adj_own(a: wp.array(dtype=float), i: int, adj_ret: float):
    wp.adjoint[a][0] += adj_ret

@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0 * x[i]
    out[i] = own(x, i)
)"}};
  const CpuRun run(kernels);
  EXPECT_EQ(run.backward("race").outcome_detail, "race") << summary(run.backward("race"));
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
