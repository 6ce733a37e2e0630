// Names of a module that have several definitions.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"
#include "ir/text.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The text of the functions and kernels of a file.
std::string functions_of(std::string_view source) {
  const ParsedFile file = read("from typing import Any\nimport warp as wp\n" + std::string(source));
  return messages(file) + to_text(file.module);
}

constexpr std::string_view kCallsWeight = "@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = weight(x[1])\n";

TEST(Redefinitions, UsesLastOfTwoFunctionsWithTheSameParameterTypes) {
  const std::string text =
      functions_of("@wp.func\ndef weight(r: float):\n    return 1.0 - r\n" + std::string(kCallsWeight) +
                   "@wp.func\ndef weight(s: wp.float32):\n    return s * s\n");
  EXPECT_THAT(text, HasSubstr("test.py:4:1: note: in weight: def weight: line 10 redefines this function with the same "
                              "parameter types; all calls use that definition\n"));
  EXPECT_THAT(text, HasSubstr("return mul(s, s)"));
  EXPECT_THAT(text, Not(HasSubstr("sub(")));
}

TEST(Redefinitions, RedefinitionReplacesOneOverloadOnly) {
  const std::string text = functions_of(
      "@wp.func\ndef weight(r: int):\n    return 1.0\n"
      "@wp.func\ndef weight(r: float):\n    return 2.0\n"
      "@wp.func\ndef weight(r: int):\n    return 3.0\n"
      "@wp.func\ndef weight(r: Any):\n    return 4.0\n"
      "@wp.func\ndef weight(r: Any):\n    return 5.0\n"
      "@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float), i: int):\n"
      "    x[0] = weight(i)\n    x[1] = weight(x[2])\n    x[3] = weight(wp.int64(i))\n");
  EXPECT_THAT(text, AllOf(HasSubstr("return 3.0"), HasSubstr("return 2.0"), HasSubstr("return 5.0")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("return 1.0")), Not(HasSubstr("return 4.0"))));
}

TEST(Redefinitions, RedefinedFunctionLosesItsCustomGradient) {
  const std::string first = "@wp.func\ndef weight(r: float):\n    return 1.0 - r\n";
  const std::string gradient =
      "@wp.func_grad(weight)\ndef weight_grad(r: float, adj_ret: float):\n    wp.adjoint[r] += 7.0 * adj_ret\n";
  const std::string second = "@wp.func\ndef weight(r: float):\n    return r * r\n";
  EXPECT_THAT(functions_of(first + gradient + second + std::string(kCallsWeight)), Not(HasSubstr("7.0")));
  EXPECT_THAT(functions_of(first + second + gradient + std::string(kCallsWeight)), HasSubstr("7.0"));
}

}  // namespace
}  // namespace assay::frontend::testing
