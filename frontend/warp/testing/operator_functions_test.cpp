// Operators that call functions of the file, as in Warp.

#include <string>

#include <gmock/gmock.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::HasSubstr;

TEST(OperatorFunctions, ReplaceTheOperatorsTheyAccept) {
  const ParsedFile file = read(R"(import warp as wp
@wp.struct
class Complex:
    re: float
    im: float
@wp.func
def mod(a: int, b: int) -> int:
    return a - (a / b) * b
@wp.func
def mul(a: Complex, b: Complex) -> Complex:
    c = Complex()
    c.re = a.re * b.re - a.im * b.im
    c.im = a.re * b.im + a.im * b.re
    return c
@wp.func
def neg(a: float) -> float:
    return 7.0
@wp.kernel
def k(x: wp.array(dtype=int), y: wp.array(dtype=float), z: wp.array(dtype=Complex)):
    i = wp.tid()
    x[i] = x[i] % 7
    y[i] = y[i] % 7.0
    n = x[i]
    n %= 5
    x[i + 1] = n
    z[i] = z[i] * z[i]
    y[i + 1] = -y[i]
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const std::string text = ir::to_text(file.module);
  EXPECT_THAT(text, HasSubstr(R"(
  x[i] = mod_1(x[i], 7)
  y[i] = mod(y[i], 7.0)
  let n: i32 = x[i]
  n = mod_1(n, 5)
  x[add(i, 1)] = n
  z[i] = mul_1(z[i], z[i])
  y[add(i, 1)] = neg(y[i])
)"));
}

TEST(OperatorFunctions, CallThemselvesInTheirOwnBody) {
  const ParsedFile file = read(
      "import warp as wp\n@wp.func\ndef add(a: float, b: float):\n    return a + b\n@wp.kernel\n"
      "def k(x: wp.array(dtype=float)):\n    x[0] = x[0] + x[1]\n");
  EXPECT_TRUE(file.module.kernels.empty());
  EXPECT_THAT(messages(file), HasSubstr("recursive functions are not supported"));
}

TEST(OperatorFunctions, DoNotIncludeKernels) {
  const ParsedFile file = read(
      "import warp as wp\n@wp.kernel\ndef add(a: float, b: float):\n    pass\n"
      "@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = x[0] + x[1]\n");
  EXPECT_EQ(file.module.kernels.size(), 2U) << messages(file);
}

}  // namespace
}  // namespace assay::frontend::testing
