// Kernels made by Python functions whose arguments the file does not specify.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A factory with these parameters and this body, indented by four spaces. Its first line is line 3.
std::string factory(std::string_view parameters, std::string_view body) {
  std::string text = "import warp as wp\ndef make(" + std::string(parameters) + "):\n";
  std::istringstream lines{std::string(body)};
  for (std::string line; std::getline(lines, line);)
    text += "    " + line + "\n";
  return text;
}

/// The names of the kernels; rejected ones are in brackets.
std::vector<std::string> kernels(const ParsedFile& file) {
  std::vector<std::string> names;
  for (const FunctionDeclaration& declaration : file.declarations)
    if (declaration.is_kernel) names.push_back(declaration.is_parsed ? declaration.name : "(" + declaration.name + ")");
  return names;
}

constexpr std::string_view kStore = "@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[wp.tid()] = float(n)\n";

TEST(AssumedFactoryArguments, AreParameterDefaultsIfPresent) {
  const ParsedFile file = read(factory("n=7", kStore));
  EXPECT_EQ(messages(file),
            "test.py:4:5: note: in k: def k: no call of the function make has constant arguments; assuming n=7\n");
  EXPECT_THAT(body_text(file), HasSubstr("= 7.0"));
  EXPECT_TRUE(file.declarations.at(0).has_assumptions);
  EXPECT_EQ(file.declarations.at(0).suggested_overload, "") << "no statement can specify them";
}

TEST(AssumedFactoryArguments, MatchTypeAnnotationOfParameter) {
  EXPECT_THAT(messages(read(factory("n: int", kStore))), HasSubstr("assuming n=4\n"));
  EXPECT_THAT(messages(read(factory("n: float", kStore))), HasSubstr("assuming n=0.5\n"));
  EXPECT_THAT(messages(read(factory("n: int = None", kStore))), HasSubstr("assuming n=4\n"));
}

TEST(AssumedFactoryArguments, AreFloatForTypeParameters) {
  for (const std::string_view annotation : {"wp.array(dtype=T)", "wp.array[T]", "T, y: wp.array(dtype=float)"}) {
    const ParsedFile file = read(
        factory("T", "@wp.kernel\ndef k(x: " + std::string(annotation) + "):\n    i = wp.tid()\n    s = T(2.0)\n"));
    EXPECT_THAT(messages(file), HasSubstr("assuming T=float\n")) << annotation;
    EXPECT_EQ(file.module.kernels.size(), 1U) << annotation;
  }
}

TEST(AssumedFactoryArguments, KernelThatUsesUnannotatedParameterIsRejected) {
  const ParsedFile file = read(factory(
      "n, f", std::string(kStore) + "@wp.kernel\ndef calls(x: wp.array(dtype=float)):\n    x[wp.tid()] = f(x[0])\n"));
  EXPECT_THAT(kernels(file), ElementsAre("(k)", "(calls)"));
  EXPECT_THAT(messages(file), HasSubstr("n: the value of this parameter of make is known only when Python runs\n"));
  EXPECT_THAT(messages(file),
              HasSubstr("f(...): the value of this parameter of make is known only when Python runs\n"));
}

TEST(AssumedFactoryArguments, AreReportedOnlyIfKernelUsesThem) {
  const ParsedFile file =
      read(factory("n: int, m: int, unused: bool", "@wp.func\ndef f(x: float):\n    return x * float(m)\n" +
                                                       std::string(kStore) + "    x[wp.tid()] = f(x[0])\n"));
  EXPECT_EQ(messages(file),
            "test.py:7:5: note: in k: def k: no call of the function make has constant arguments; assuming n=4, m=4\n");
}

TEST(AssumedFactoryArguments, AreNotUsedIfACallProvidesArguments) {
  const ParsedFile file = read(factory("n: int", std::string(kStore) + "return k\n") + "k3 = make(3)\n");
  EXPECT_EQ(messages(file), "");
  EXPECT_THAT(kernels(file), ElementsAre("k3"));
  EXPECT_FALSE(file.declarations.at(0).has_assumptions);
}

// ---- bools: kernels that depend on them are instantiated for both values

TEST(AssumedFactoryArguments, InstantiateKernelForBothValuesOfBoolParameter) {
  const ParsedFile file = read(factory("square: bool, twice=False",
                                       "@wp.kernel\n"
                                       "def k(x: wp.array(dtype=float)):\n"
                                       "    i = wp.tid()\n"
                                       "    if wp.static(square):\n"
                                       "        x[i] = x[i] * x[i]\n"
                                       "    if wp.static(twice):\n"
                                       "        x[i] = 2.0 * x[i]\n"
                                       "@wp.kernel\n"
                                       "def same(x: wp.array(dtype=float)):\n"
                                       "    x[wp.tid()] = 1.0\n"));
  EXPECT_THAT(kernels(file), ElementsAre("k", "k_2", "same"));
  EXPECT_EQ(
      messages(file),
      "test.py:4:5: note: in k: def k: no call of the function make has constant arguments; assuming square=True, "
      "twice=False\n"
      "test.py:4:5: note: in k_2: def k: no call of the function make has constant arguments; assuming square=False, "
      "twice=True\n");
}

TEST(AssumedFactoryArguments, InstantiateKernelsInBothBranchesOfFactory) {
  const ParsedFile file = read(factory("sparse: bool",
                                       "if sparse:\n"
                                       "    @wp.kernel\n"
                                       "    def rows(x: wp.array(dtype=float)):\n"
                                       "        x[wp.tid()] = 1.0\n"
                                       "    return rows\n"
                                       "@wp.kernel\n"
                                       "def dense(x: wp.array(dtype=float)):\n"
                                       "    x[wp.tid()] = 2.0\n"
                                       "return dense\n"));
  EXPECT_THAT(kernels(file), ElementsAre("rows", "dense"));
  EXPECT_EQ(messages(file), "");
}

TEST(AssumedFactoryArguments, RejectedKernelIsReportedOnlyOnce) {
  const ParsedFile both = read(factory("square: bool",
                                       "@wp.kernel\n"
                                       "def k(x: wp.array(dtype=float)):\n"
                                       "    if wp.static(square):\n"
                                       "        x[0] = 1.0\n"
                                       "    x[0] = wp.nonsense(x[0])\n"));
  EXPECT_THAT(kernels(both), ElementsAre("(k)"));
  EXPECT_EQ(both.diagnostics.size(), 1U) << messages(both);

  const ParsedFile never = read(factory("square: bool, n",
                                        "for i in n:\n"
                                        "    @wp.kernel\n"
                                        "    def k(x: wp.array(dtype=float)):\n"
                                        "        x[0] = float(square)\n"));
  EXPECT_THAT(kernels(never), ElementsAre("(k)"));
  EXPECT_EQ(never.diagnostics.size(), 1U) << messages(never);

  const std::string one_way =
      "@wp.kernel\n"
      "def k(x: wp.array(dtype=float)):\n"
      "    if wp.static(square):\n"
      "        x[0] = wp.nonsense(x[0])\n"
      "    x[wp.tid()] = 1.0\n";
  EXPECT_THAT(kernels(read(factory("square: bool", one_way))), ElementsAre("(k)", "k_2"));
  EXPECT_THAT(kernels(read(factory("square=False", one_way))), ElementsAre("k", "(k_2)"))
      << "the second variant is rejected";
}

TEST(AssumedFactoryArguments, NestedFactoryUsesAssumedArgumentsOfOuterFactory) {
  const ParsedFile file = read(factory("sparse: bool",
                                       "def inner(n: int):\n"
                                       "    @wp.kernel\n"
                                       "    def k(x: wp.array(dtype=float)):\n"
                                       "        if wp.static(sparse):\n"
                                       "            x[wp.tid()] = float(n)\n"
                                       "    @wp.kernel\n"
                                       "    def same(x: wp.array(dtype=float)):\n"
                                       "        x[wp.tid()] = float(n)\n"));
  EXPECT_THAT(kernels(file), ElementsAre("k", "k_2", "same"));
  EXPECT_THAT(messages(file),
              HasSubstr("in k_2: def k: no call of the function make has constant arguments; assuming sparse=False\n"));
  EXPECT_THAT(messages(file),
              HasSubstr("in k_2: def k: no call of the function inner has constant arguments; assuming n=4\n"));
}

}  // namespace
}  // namespace assay::frontend::testing
