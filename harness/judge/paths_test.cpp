// Kernels with uncertain decisions: every path that the bounds allow is evaluated once.
#include "harness/judge/paths.hpp"

#include <set>

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::harness {
namespace {

using ir::Op;
using reference::ReferenceResult;
using reference::testing::OracleFixture;

/// out[i] = (x[i] * 0.1 > 0.3) ? 1 : 2 in f32, where it is uncertain whether 3 * 0.1 > 0.3.
struct Comparisons {
  OracleFixture w;
  explicit Comparisons(const std::vector<double>& values) {
    const ir::VarId x = w.floats("x", values, ir::Scalar::kF32);
    const ir::VarId out = w.zeros("out", ir::kF32, {static_cast<std::int32_t>(values.size())});
    const ir::VarId i = w.thread_index(static_cast<std::int32_t>(values.size()));
    const ir::ExprId product = w.op(Op::kMul, {w.at(x, i), w.b().f32(0.1)});
    const ir::ExprId test = w.op(Op::kGt, {product, w.b().f32(static_cast<double>(3 * 0.1F))});
    w.b().store(out, {w.var(i)}, w.op(Op::kConditional, {test, w.b().f32(1), w.b().f32(2)}));
  }
  std::vector<ReferenceResult> others(Precision precision) const {
    const auto run = w.run();
    return find_alternative_paths(w.oracle(), run, w.oracle().evaluate(run), precision);
  }
};

std::vector<double> values_of(const ReferenceResult& reference) {
  std::vector<double> values;
  for (const auto& element : reference.outputs[1]->elements)
    values.push_back(static_cast<double>(element.value));
  return values;
}

TEST(AlternativeExecutionPaths, DoNotExistIfAllBranchDecisionsAreCertain) {
  EXPECT_TRUE(Comparisons({1, 2, 4}).others(Precision::kNative).empty());
  EXPECT_TRUE(Comparisons({3, 3}).others(Precision::kPromoted).empty()) << "3 * 0.1F is exact in double";
}

TEST(AlternativeExecutionPaths, CoverAllCombinationsOfThreeUncertainBranchDecisions) {
  const Comparisons comparisons({3, 1, 3, 3});
  std::set<std::vector<double>> outcomes{values_of(comparisons.w.evaluate())};
  const auto others = comparisons.others(Precision::kNative);
  for (const ReferenceResult& other : others)
    outcomes.insert(values_of(other));
  EXPECT_EQ(others.size(), 7U);
  EXPECT_EQ(outcomes.size(), 8U) << "each of three elements 1 or 2";
  for (const auto& outcome : outcomes)
    EXPECT_EQ(outcome[1], 2) << "the certain decision is kept";
}

TEST(AlternativeExecutionPaths, AreNotEnumeratedBeyondThreeUncertainBranchDecisions) {
  EXPECT_TRUE(Comparisons({3, 3, 3, 3}).others(Precision::kNative).empty());
}

}  // namespace
}  // namespace assay::harness
