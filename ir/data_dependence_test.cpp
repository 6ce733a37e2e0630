#include "ir/data_dependence.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::ir {
namespace {

using ::testing::ElementsAre;

std::vector<DataDependence> dependences_in(const std::string& kernel) {
  const Result<Module> module = parse_text(kernel);
  if (!module.ok()) {
    ADD_FAILURE() << module.error().text();
    return {};
  }
  return data_dependences(module.value(), module.value().kernels[0]);
}

std::vector<bool> dependence_in(const std::string& body, const std::string& before = "") {
  std::vector<bool> is_dependent;
  for (const DataDependence& dependence : dependences_in(
           before + "kernel k(x: array<f32,1>, index: array<i32,1>, y: array<f32,1>, n: i32; i) {\n" + body + "}\n"))
    is_dependent.push_back(dependence.any());
  return is_dependent;
}

TEST(DataDependence, IsAbsentWhereIndicesAndConditionsComeFromTheLaunch) {
  EXPECT_THAT(dependence_in("  if lt(i, n) {\n"
                            "    for j: i32 in range(0, n, 1) {\n"
                            "      y[i] = add(x[j], y[i])\n"
                            "    }\n"
                            "  }\n"),
              ElementsAre(false, false, false, false));
}

TEST(DataDependence, IsFoundInBothBranchesOfConditionOnLoadedValue) {
  EXPECT_THAT(dependence_in("  if lt(x[i], 0.0) {\n    y[i] = 1.0\n  }\n"), ElementsAre(false, false, true, false));
  EXPECT_THAT(dependence_in("  let a: f32 = x[i]\n"
                            "  let b: bool = lt(a, 0.0)\n"
                            "  if b {\n  } else {\n    y[i] = 1.0\n  }\n"),
              ElementsAre(false, false, true, false));
}

TEST(DataDependence, IsAbsentIfAnUnconditionalAccessHasTheSameIndices) {
  EXPECT_THAT(dependence_in("  if lt(x[i], 0.0) {\n    y[i] = x[i]\n  }\n"), ElementsAre(false, false, true, false));
  EXPECT_THAT(dependence_in("  let j: i32 = i\n"
                            "  let a: f32 = x[j]\n"
                            "  j = add(j, 1)\n"
                            "  if lt(a, 0.0) {\n    y[i] = x[j]\n  }\n"),
              ElementsAre(true, false, true, false));
}

TEST(DataDependence, IsFoundInIndices) {
  EXPECT_THAT(dependence_in("  y[i] = x[index[i]]\n"), ElementsAre(true, false, false, false));
}

TEST(DataDependence, DistinguishesDimensionsAndConditions) {
  const std::string kernel = "kernel k(x: array<f32,2>, index: array<i32,1>, y: array<f32,2>; i, j) {\n";
  const DataDependence none{.has_computed_index = {false, false}};
  EXPECT_THAT(dependences_in(kernel + "  y[i, j] = x[i, index[j]]\n}\n"),
              ElementsAre(DataDependence{.has_computed_index = {false, true}},
                          DataDependence{.has_computed_index = {false}}, none));
  EXPECT_THAT(dependences_in(kernel + "  if lt(index[j], 0) {\n    y[i, j] = x[index[j], i]\n  }\n}\n"),
              ElementsAre(DataDependence{.is_conditional = true, .has_computed_index = {true, false}},
                          DataDependence{.has_computed_index = {false}},
                          DataDependence{.is_conditional = true, .has_computed_index = {false, false}}));
}

TEST(DataDependence, IsFoundIfTheConditionReadsAVariableThatTheBranchAssigns) {
  EXPECT_THAT(dependence_in("  let a: f32 = x[i]\n"
                            "  if lt(a, 0.0) {\n    a = mul(a, y[i])\n  }\n"),
              ElementsAre(false, false, true, false));
}

TEST(DataDependence, IsFoundAfterAConditionalReturn) {
  EXPECT_THAT(dependence_in("  if lt(x[i], 0.0) {\n    return\n  }\n  y[i] = 1.0\n"),
              ElementsAre(false, false, true, false));
  EXPECT_THAT(dependence_in("  if lt(i, n) {\n    return\n  }\n  y[i] = x[i]\n"),
              ElementsAre(false, false, false, false));
}

TEST(DataDependence, IsFoundInTheStatementsOfALoopBeforeAConditionalBreak) {
  EXPECT_THAT(dependence_in("  for j: i32 in range(0, n, 1) {\n"
                            "    y[j] = 1.0\n"
                            "    if lt(x[i], 0.0) {\n      break\n    }\n"
                            "  }\n"),
              ElementsAre(true, false, true, false));
}

TEST(DataDependence, FollowsVariablesThatALaterIterationReads) {
  EXPECT_THAT(dependence_in("  let a: i32 = 0\n"
                            "  for j: i32 in range(0, n, 1) {\n"
                            "    y[a] = 1.0\n"
                            "    a = index[j]\n"
                            "  }\n"),
              ElementsAre(false, false, true, false));
}

TEST(DataDependence, FollowsArraysAndValuesIntoFunctions) {
  const std::string put = "func put(to: array<f32,1>, at: i32) -> f32 {\n  to[at] = 1.0\n  return 0.0\n}\n";
  EXPECT_THAT(dependence_in("  let a: f32 = call put(y, i)\n", put), ElementsAre(false, false, false, false));
  EXPECT_THAT(dependence_in("  let a: f32 = call put(y, index[i])\n", put), ElementsAre(false, false, true, false));
}

TEST(DataDependence, IsFoundInTheSecondOperandOfAnd) {
  EXPECT_THAT(dependence_in("  let a: bool = and(lt(x[i], 0.0), lt(y[i], 0.0))\n"),
              ElementsAre(false, false, true, false));
}

}  // namespace
}  // namespace assay::ir
