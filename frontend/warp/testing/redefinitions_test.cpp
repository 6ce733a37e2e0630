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

/// A module in which code that the parser does not execute changes N.
struct ReboundCase {
  std::string_view name;     ///< name of the test
  std::string_view code;     ///< statements of the module
  std::string_view message;  ///< part of the message; empty: the kernel is accepted
};

void PrintTo(const ReboundCase& rebound, std::ostream* stream) { *stream << rebound.name; }

class ReboundNameTest : public ::testing::TestWithParam<ReboundCase> {};

TEST_P(ReboundNameTest, KernelIsAcceptedOnlyIfTheValueIsKnown) {
  const ReboundCase& rebound = GetParam();
  const ParsedFile file = read(kernel("x: wp.array(dtype=float)", "x[0] = N", rebound.code));
  if (rebound.message.empty()) {
    EXPECT_THAT(messages(file) + to_text(file.module), HasSubstr("x[0] = 3.0"));
  } else {
    EXPECT_TRUE(file.module.kernels.empty());
    EXPECT_THAT(messages(file), HasSubstr(std::string(rebound.message)));
  }
}

constexpr ReboundCase kReboundCases[] = {
    {.name = "GlobalInFunction",
     .code = "N = 3.0\ndef configure(n):\n    global N\n    N = n\nconfigure(4.0)\n",
     .message = "N: a function with a global statement in line 5 also binds this name, so its value is known only when "
                "Python runs; to use that value, run with --import"},
    {.name = "GlobalInMethod",
     .code = "N = 3.0\nclass C:\n    def set(self):\n        if self:\n            global N\n            N += 1.0\n",
     .message = "a function with a global statement in line 7 also binds"},
    {.name = "GlobalThatIsOnlyRead", .code = "N = 3.0\ndef show():\n    global N\n    print(N)\n"},
    {.name = "LocalVariableOfFunction", .code = "N = 3.0\ndef show():\n    N = 4.0\n    return N\n"},
    {.name = "MemberOfClass", .code = "N = 3.0\nclass C:\n    N = 4.0\n"},
    {.name = "LoopVariable",
     .code = "N = 3.0\nfor N in (4.0, 8.0):\n    pass\n",
     .message = "a loop in line 3 also binds this name"},
    {.name = "ConstantComputedFromLoopVariable",
     .code = "M = 2.0\nfor a, M in ((1, 2.0), (2, 4.0)):\n    pass\nN = M + 1.0\n",
     .message = "the value 'M + 1.0' is known only when Python runs"},
    {.name = "VariableOfComprehension", .code = "N = 3.0\nS = [N for N in (4.0, 8.0)]\n"},
    {.name = "AssignmentExpression",
     .code = "N = 3.0\nprint((N := 15.0))\n",
     .message = "the operator := in line 3 also binds this name"},
    {.name = "AssignmentExpressionInComprehension",
     .code = "N = 3.0\nS = [(N := k) for k in (4.0, 8.0)]\n",
     .message = "the operator := in line 3 also binds this name"},
    {.name = "WithStatement",
     .code = "N = 3.0\nwith open('n') as N:\n    pass\n",
     .message = "an 'as' clause in line 3 also binds this name"},
    {.name = "Deletion", .code = "N = 3.0\ndel N\n", .message = "a del statement in line 3 also binds this name"},
    {.name = "TupleUnderCondition",
     .code = "N = 3.0\nif flag():\n    M, N = 1.0, 4.0\n",
     .message = "assigned under a condition that is known only when Python runs"},
};

INSTANTIATE_TEST_SUITE_P(Redefinitions, ReboundNameTest, ::testing::ValuesIn(kReboundCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Redefinitions, FunctionThatLaterCodeReplacesIsNotCalled) {
  const std::string first = "@wp.func\ndef weight(r: float):\n    return 1.0 - r\n";
  const std::string other = "@wp.func\ndef square(r: float):\n    return r * r\n";
  EXPECT_THAT(functions_of(first + other + "weight = square\n" + std::string(kCallsWeight)),
              HasSubstr("in k: weight(...): the value 'square' is known only when Python runs"));
  EXPECT_THAT(functions_of(first + "if flag():\n    @wp.func\n    def weight(r: float):\n        return r\n" +
                           std::string(kCallsWeight)),
              HasSubstr("in k: weight(...): the function is defined under a condition that is known only when Python "
                        "runs"));
}

TEST(Redefinitions, MultipleAssignmentOfAKnownNameMakesItUnknown) {
  EXPECT_THAT(messages(read(kernel("x: wp.array(dtype=float)", "x[0] = N", "M, N = 1.0, 2.0\nM, N = N, M\n"))),
              HasSubstr("in k: N: the name is assigned more than once"));
}

TEST(Redefinitions, MultipleAssignmentCallsFactories) {
  const std::string text = functions_of(
      "def make(n):\n    @wp.kernel\n    def k(x: wp.array(dtype=int)):\n        x[0] = n\n    return k\n"
      "k2, k5 = make(2), make(5)\n");
  EXPECT_THAT(text,
              AllOf(HasSubstr("kernel k2("), HasSubstr("x[0] = 2"), HasSubstr("kernel k5("), HasSubstr("x[0] = 5")));
}

TEST(Redefinitions, LoopInFactoryBindsName) {
  const std::string text = functions_of(
      "def make(n):\n    for n in (1, 2):\n        pass\n"
      "    @wp.kernel\n    def k(x: wp.array(dtype=int)):\n        x[0] = n\n    return k\n"
      "k5 = make(5)\n");
  EXPECT_THAT(text, HasSubstr("a loop in line 4 also binds this name"));
}

}  // namespace
}  // namespace assay::frontend::testing
