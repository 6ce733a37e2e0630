#include "ir/compared_constants.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Module module_of(const std::string& body, const std::string& before) {
  Result<Module> module = parse_text(before + "kernel k(kind: array<i32,1>, y: array<f32,1>; i) {\n" + body + "}\n");
  if (!module.ok()) ADD_FAILURE() << module.error().text();
  return module.ok() ? module.take() : Module();
}

std::vector<std::int64_t> constants_in(const std::string& body, const std::string& before = "") {
  const Module module = module_of(body, before);
  return compared_constants(module, module.kernels.at(0));
}

bool are_extents_used_in(const std::string& body, const std::string& before = "") {
  const Module module = module_of(body, before);
  return uses_extents(module, module.kernels.at(0));
}

TEST(ComparedConstants, AreLiteralsThatIntegersAreComparedWith) {
  EXPECT_THAT(constants_in("  if eq(kind[i], 7) {\n    y[i] = 1.0\n  }\n"), ElementsAre(7));
  EXPECT_THAT(constants_in("  if lt(kind[i], -1) {\n    y[i] = 1.0\n  }\n"), ElementsAre(-2, -1, 0));
  EXPECT_THAT(constants_in("  if ne(bit_and(kind[i], 4), 0) {\n    y[i] = 1.0\n  }\n"), ElementsAre(0, 4));
}

TEST(ComparedConstants, DoNotIncludeOtherLiterals) {
  EXPECT_THAT(constants_in("  if lt(y[i], 3.0) {\n    y[add(i, 2)] = 1.0\n  }\n"), IsEmpty());
}

TEST(ComparedConstants, OfCalledFunctionsAreIncludedButNotOfOthers) {
  const std::string functions =
      "func is_free(kind: i32) -> bool {\n  return eq(kind, 5)\n}\n"
      "func is_fixed(kind: i32) -> bool {\n  return eq(kind, 6)\n}\n";
  EXPECT_THAT(constants_in("  if is_free(kind[i]) {\n    y[i] = 1.0\n  }\n", functions), ElementsAre(5));
}

TEST(TestsFiniteness, IfAFloatIsTestedInTheKernelOrACalledFunction) {
  const auto tests = [](const std::string& body, const std::string& before = "") {
    const Module module = module_of(body, before);
    return tests_finiteness(module, module.kernels.at(0));
  };
  for (const char* test : {"isnan", "isinf", "isfinite"})
    EXPECT_TRUE(tests(std::string("  if ") + test + "(y[i]) {\n    y[i] = 1.0\n  }\n")) << test;
  const std::string function = "func is_bad(x: f32) -> bool {\n  return isnan(x)\n}\n";
  EXPECT_TRUE(tests("  if is_bad(y[i]) {\n    y[i] = 1.0\n  }\n", function));
  EXPECT_FALSE(tests("  if lt(y[i], 3.0) {\n    y[i] = 1.0\n  }\n", function));
}

TEST(UsesExtents, IfAnExtentIsComparedOrComputedWith) {
  EXPECT_TRUE(are_extents_used_in("  if lt(i, shape(kind, 0)) {\n    y[i] = 1.0\n  }\n"));
  EXPECT_TRUE(are_extents_used_in("  let n: i32 = div(shape(kind, 0), 2)\n  y[n] = 1.0\n"));
  EXPECT_TRUE(are_extents_used_in("  if is_inside(kind, i) {\n    y[i] = 1.0\n  }\n",
                                  "func is_inside(kind: array<i32,1>, i: i32) -> bool {\n"
                                  "  return lt(i, shape(kind, 0))\n}\n"));
}

TEST(UsesExtents, NotToWrapAnIndex) {
  EXPECT_FALSE(are_extents_used_in("  y[i] = 1.0\n"));
  EXPECT_FALSE(are_extents_used_in("  y[wrap_index(kind[i], shape(y, 0))] = 1.0\n"));
}

}  // namespace
}  // namespace assay::ir
