#include "harness/dataset/influence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The parameters behind `out`, the last one, of a kernel with this body: x (0), y (1), c (2), n (3), state (4), out
/// (5).
std::vector<ir::VarId> behind_out(const std::string& body, ir::VarId output = 5) {
  const Result<ir::Module> module = ir::parse_text(
      "kernel k(x: array<f32,1>, y: array<f32,1>, c: f32, n: i32, state: array<f32,1>, out: array<f32,1>; i) {\n" +
      body + "}\n");
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module.ok() ? parameters_behind(*module, module->kernels[0], output) : std::vector<ir::VarId>{};
}

TEST(Influence, IncludesConditions) {
  const std::string body =
      "  let t: f32 = x[i]\n  if lt(c, 0.0) {\n    t = 2.0\n  }\n  out[i] = t\n  state[i] = y[i]\n";
  EXPECT_THAT(behind_out(body), ElementsAre(0, 2));
  EXPECT_THAT(behind_out(body, 4), ElementsAre(1));
  EXPECT_THAT(behind_out(body, 0), IsEmpty());
}

TEST(Influence, FollowsTheOrderOfStatements) {
  EXPECT_THAT(behind_out("  let t: f32 = x[i]\n  t = y[i]\n  out[i] = t\n"), ElementsAre(1)) << "t is overwritten";
  EXPECT_THAT(behind_out("  out[i] = x[i]\n  out[i] = y[i]\n"), ElementsAre(1)) << "the element is overwritten";
  EXPECT_THAT(behind_out("  out[i] = x[i]\n  out[0] = y[i]\n"), ElementsAre(0, 1)) << "another element";
  EXPECT_THAT(behind_out("  let t: f32 = state[i]\n  state[i] = y[i]\n  out[i] = t\n"), ElementsAre(4))
      << "read before";
  EXPECT_THAT(behind_out("  state[i] = y[i]\n  out[i] = state[i]\n"), ElementsAre(1)) << "read after";
  EXPECT_THAT(behind_out("  state[i] = y[i]\n  out[i] = state[0]\n"), ElementsAre(1, 4)) << "may be another element";
  EXPECT_THAT(behind_out("  out[i] = x[i]\n  atomic_add(out[i], y[i])\n"), ElementsAre(0, 1)) << "not overwritten";
}

TEST(Influence, KeepsWhatABranchOrALoopMayNotOverwrite) {
  EXPECT_THAT(behind_out("  out[i] = x[i]\n  if lt(c, 0.0) {\n    out[i] = y[i]\n  }\n"), ElementsAre(0, 1, 2));
  EXPECT_THAT(behind_out("  out[i] = x[i]\n  for j: i32 in range(0, n, 1) {\n    out[i] = y[i]\n  }\n"),
              ElementsAre(0, 1, 3));
  EXPECT_THAT(behind_out("  out[i] = x[i]\n  if lt(c, 0.0) {\n    return\n  }\n  out[i] = y[i]\n"),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(
      behind_out("  for j: i32 in range(0, n, 1) {\n    if lt(c, 0.0) {\n      return\n    }\n  }\n  out[i] = x[i]\n"),
      ElementsAre(0, 2, 3))
      << "the kernel may return in the loop";
  EXPECT_THAT(behind_out("  let t: f32 = x[i]\n  for j: i32 in range(0, n, 1) {\n    t = 1.0\n    if lt(c, 0.0) {\n"
                         "      break\n    }\n    t = y[i]\n  }\n  out[i] = t\n"),
              ElementsAre(0, 1, 2, 3));
}

TEST(Influence, FollowsValuesThroughSeveralIterations) {
  EXPECT_THAT(
      behind_out("  let a: f32\n  let b: f32\n  let t: f32 = 0.0\n  for j: i32 in range(0, 5, 1) {\n    t = b\n    b = "
                 "a\n    a = x[i]\n  }\n  out[i] = t\n"),
      ElementsAre(0));
  EXPECT_THAT(behind_out("  let t: f32 = 0.0\n  while lt(t, c) {\n    t = add(t, 1.0)\n  }\n  out[i] = t\n"),
              ElementsAre(2));
}

TEST(Influence, OfArraysPassedToFunctionsDependsOnWhatTheFunctionsDo) {
  const std::string functions =
      "func get(a: array<f32,1>, k: i32) -> f32 {\n  return a[k]\n}\n"
      "func put(a: array<f32,1>, k: i32, t: f32) {\n  a[k] = t\n}\n";
  const auto behind_out_with_calls = [&](const std::string& body) {
    const Result<ir::Module> module = ir::parse_text(
        functions + "kernel k(x: array<f32,1>, y: array<f32,1>, z: array<f32,1>, out: array<f32,1>; i) {\n" + body +
        "}\n");
    EXPECT_TRUE(module.ok()) << module.error().text();
    return module.ok() ? parameters_behind(*module, module->kernels[0], 3) : std::vector<ir::VarId>{};
  };
  EXPECT_THAT(behind_out_with_calls("  z[i] = mul(get(y, i), x[i])\n  out[i] = y[i]\n"), ElementsAre(1))
      << "get() changes nothing";
  EXPECT_THAT(behind_out_with_calls("  call put(y, 0, x[i])\n  out[i] = y[i]\n"), ElementsAre(0, 1));
  EXPECT_THAT(behind_out_with_calls("  z[i] = x[i]\n  out[i] = get(z, i)\n"), ElementsAre(0, 2));
}

TEST(Influence, IncludesFunctionsWhoseResultsReachTheOutput) {
  const std::string functions =
      "func twice(t: f32) -> f32 {\n  return mul(t, 2.0)\n}\n"
      "func put(a: array<f32,1>, t: f32) {\n  a[0] = t\n}\n";
  const Result<ir::Module> module =
      ir::parse_text(functions +
                     "kernel k(x: array<f32,1>, y: array<f32,1>, z: array<f32,1>; i) {\n"
                     "  let unused: f32 = tanh(x[i])\n  let t: f32 = twice(sin(x[i]))\n  z[i] = tan(x[i])\n"
                     "  if lt(cos(x[i]), 0.0) {\n    y[i] = t\n  }\n  call put(z, exp(x[i]))\n}\n");
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_THAT(constructs_behind(*module, module->kernels[0], 0).functions, IsEmpty());
  EXPECT_THAT(constructs_behind(*module, module->kernels[0], 1).functions, ElementsAre("cos", "sin", "twice"));
  EXPECT_THAT(constructs_behind(*module, module->kernels[0], 2).functions, ElementsAre("exp", "put", "tan"));
}

TEST(Influence, IncludesLoopsAndBranchesThatReachTheOutput) {
  const Result<ir::Module> module = ir::parse_text(
      "kernel k(x: array<f32,1>, y: array<f32,1>, z: array<f32,1>; i) {\n"
      "  let t: f32 = 0.0\n  let u: f32 = 1.0\n  for j: i32 in range(0, 5, 1) {\n    t = add(t, x[j])\n  }\n"
      "  if lt(x[i], 0.0) {\n    u = 2.0\n  }\n  y[i] = t\n  z[i] = u\n}\n");
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_EQ(constructs_behind(*module, module->kernels[0], 1), (ConstructsBehind{.functions = {}, .loop = true}));
  EXPECT_EQ(constructs_behind(*module, module->kernels[0], 2), (ConstructsBehind{.functions = {}, .branch = true}));
}

TEST(Influence, DistinguishesFieldsOfStructs) {
  const auto behind = [](const std::string& body) {
    const Result<ir::Module> module = ir::parse_text(
        "struct Body {\n  mass: f32\n  force: f32\n}\n"
        "kernel k(x: array<f32,1>, y: array<f32,1>, start: Body, out: array<f32,1>; i) {\n"
        "  let own: Body = start\n" +
        body + "}\n");
    EXPECT_TRUE(module.ok()) << module.error().text();
    return module.ok() ? parameters_behind(*module, module->kernels[0], 3) : std::vector<ir::VarId>{};
  };
  EXPECT_THAT(
      behind("  own = with_field(own, mass, x[i])\n  own = with_field(own, force, y[i])\n  out[i] = own.mass\n"),
      ElementsAre(0));
  EXPECT_THAT(behind("  own = with_field(own, mass, x[i])\n  own = with_field(own, mass, y[i])\n  out[i] = own.mass\n"),
              ElementsAre(1));
  EXPECT_THAT(behind("  own = with_field(own, mass, x[i])\n  let all: Body = own\n  out[i] = all.force\n"),
              ElementsAre(0, 2));
  EXPECT_THAT(behind("  if lt(y[i], 0.0) {\n    own = with_field(own, mass, x[i])\n  }\n  out[i] = own.mass\n"),
              ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace assay::dataset
