// Which assignments to parts of vectors and matrices are found.
#include "ir/transforms/part_updates.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::transforms {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A kernel with a vector v and a matrix m, and its updates.
struct Found {
  explicit Found(const std::string& statements) {
    const Result<ir::Module> module = ir::parse_text(
        "kernel k(x: array<f32,1>, vectors: array<vec<f32,3>,1>, matrices: array<mat<f32,2,2>,1>, c: i32; i) {\n"
        "let v: vec<f32,3> = vectors[i]\nlet m: mat<f32,2,2> = matrices[i]\nlet s: f32 = x[i]\n" +
        statements + "\nvectors[i] = v\nmatrices[i] = m\n}\n");
    if (!module.ok()) {
      ADD_FAILURE() << module.error().text();
      return;
    }
    ssa = to_ssa(*module, module->kernels[0]).take();
    const PartUpdates found = find_part_updates(ssa);
    for (const auto& [result, update] : found.by_result) {
      std::string text = name(update.whole);
      for (const Operand& index : update.indices)
        text += fmt::format("[{}]", index.is_constant() ? std::to_string(index.bits) : name(index));
      text += !update.adds_to_part ? " = " : update.subtracts_term ? " -= " : " += ";
      updates.push_back(text + name(update.term));
    }
    for (std::size_t value = 0; value < ssa.values.size(); ++value)
      if (found.values_without_adjoint[value]) without_adjoint.push_back(ssa.values[value].name);
  }
  std::string name(const Operand& operand) const {
    return operand.is_constant() ? "constant" : ssa.values[static_cast<std::size_t>(operand.value)].name;
  }

  SsaKernel ssa;
  std::vector<std::string> updates;
  std::vector<std::string> without_adjoint;
};

TEST(PartUpdates, AreSumsWithTheOldPart) {
  EXPECT_THAT(Found("v = insert(v, c, add(extract(v, c), s))").updates, ElementsAre("v[c] += s"));
  EXPECT_THAT(Found("v = insert(v, 1, add(s, extract(v, 1)))").updates, ElementsAre("v[1] += s"));
  EXPECT_THAT(Found("v = insert(v, 1, sub(extract(v, 1), s))").updates, ElementsAre("v[1] -= s"));
  EXPECT_THAT(Found("m = insert(m, c, add(extract(m, c), splat<vec<f32,2>>(s)))").updates,
              ElementsAre("m[c] += splat"));
}

TEST(PartUpdates, AreElementsOfMatrices) {
  EXPECT_THAT(Found("m = insert(m, c, insert(extract(m, c), 1, add(extract(extract(m, c), 1), s)))").updates,
              ElementsAre("extract[1] += s", "m[c][1] += s"));
  EXPECT_THAT(Found("m = insert(m, 0, insert(extract(m, 0), c, s))").updates, ElementsAre("m[0][c] = s"));
}

TEST(PartUpdates, CompareComputedIndices) {
  EXPECT_THAT(Found("v = insert(v, sub(c, 1), add(extract(v, sub(c, 1)), s))").updates, ElementsAre("v[sub] += s"));
  EXPECT_THAT(Found("v = insert(v, sub(c, 1), add(extract(v, sub(c, 2)), s))").updates, IsEmpty());
  EXPECT_THAT(Found("v = insert(v, sub(c, 1), add(extract(v, sub(1, c)), s))").updates, IsEmpty());
}

TEST(PartUpdates, AreNotOtherAssignments) {
  EXPECT_THAT(Found("v = insert(v, c, s)").updates, IsEmpty());
  EXPECT_THAT(Found("v = insert(v, c, sub(s, extract(v, c)))").updates, IsEmpty());
  EXPECT_THAT(Found("v = insert(v, c, mul(s, extract(v, c)))").updates, IsEmpty());
  EXPECT_THAT(Found("v = insert(v, 0, add(extract(v, 1), s))").updates, IsEmpty());
  EXPECT_THAT(Found("let w: vec<f32,3> = vectors[0]\nv = insert(v, 0, add(extract(w, 0), s))").updates, IsEmpty());
  EXPECT_THAT(Found("m = insert(m, 0, insert(extract(m, 1), 1, add(extract(extract(m, 1), 1), s)))").updates,
              ElementsAre("extract[1] += s"));
}

TEST(PartUpdates, AreInOneRegion) {
  EXPECT_THAT(Found("if gt(s, 0.0) {\n  v = insert(v, 0, add(extract(v, 0), s))\n}").updates, ElementsAre("v[0] += s"));
  EXPECT_THAT(Found("let t: f32 = add(extract(v, 0), s)\nif gt(s, 0.0) {\n  v = insert(v, 0, t)\n}").updates,
              IsEmpty());
}

TEST(PartUpdates, LeaveOnlyUsedOperationsWithAdjoint) {
  EXPECT_THAT(Found("v = insert(v, c, add(extract(v, c), s))").without_adjoint, ElementsAre("extract", "add"));
  EXPECT_THAT(Found("let old: f32 = extract(v, c)\nv = insert(v, c, add(old, s))\nx[i] = old").without_adjoint,
              ElementsAre("add"));
  EXPECT_THAT(Found("let t: f32 = add(extract(v, c), s)\nv = insert(v, c, t)\nx[i] = t").without_adjoint, IsEmpty());
  EXPECT_THAT(Found("let old: f32 = extract(v, c)\nv = insert(v, c, add(old, old))").without_adjoint,
              ElementsAre("add"));
  EXPECT_THAT(Found("m = insert(m, 0, insert(extract(m, 0), 1, s))").without_adjoint, ElementsAre("extract", "insert"));
}

}  // namespace
}  // namespace assay::transforms
