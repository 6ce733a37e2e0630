// Tests which branches are recorded for conditionals, loops and piecewise operations.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/guard_array.hpp"
#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::ExprId;
using ir::Op;
using ir::VarId;
using testing::OracleFixture;
using Taken = std::array<std::int64_t, 3>;

/// Five threads over x; out[i] = the expression that `make` builds from x[i].
template <class Make>
std::vector<BranchPoint> choices_of(Make make) {
  OracleFixture w;
  const VarId x = w.floats("x", {-2, -0.5, 0, 0.5, 2});
  const VarId out = w.zeros("out", ir::kF64, {5});
  const VarId i = w.thread_index(5);
  w.b().store(out, {w.var(i)}, make(w, w.at(x, i)));
  return w.evaluate().branch_points;
}

struct OperationEntry {
  Op op;
  std::vector<double> constants;
  BranchPoint::Kind kind;
  Taken branch_counts;
};

TEST(RecordedChoices, CountTakenBranchesOfPiecewiseOperations) {
  const OperationEntry rows[] = {{Op::kMin, {0.5}, BranchPoint::Kind::kMinMax, {3, 2, 0}},
                                 {Op::kMax, {-1}, BranchPoint::Kind::kMinMax, {1, 4, 0}},
                                 {Op::kAbs, {}, BranchPoint::Kind::kSign, {2, 3, 0}},
                                 {Op::kSign, {}, BranchPoint::Kind::kSign, {2, 3, 0}},
                                 {Op::kClamp, {-1, 1}, BranchPoint::Kind::kClampRange, {3, 1, 1}},
                                 {Op::kClamp, {-3, 3}, BranchPoint::Kind::kClampRange, {5, 0, 0}},
                                 {Op::kClamp, {-0.5, 0}, BranchPoint::Kind::kClampRange, {2, 1, 2}}};
  for (const OperationEntry& row : rows) {
    const auto choices = choices_of([&](OracleFixture& w, ExprId x) {
      std::vector<ExprId> operands{x};
      for (const double constant : row.constants)
        operands.push_back(w.f64(constant));
      return w.b().op(row.op, operands);
    });
    SCOPED_TRACE(ir::row(row.op).mnemonic);
    ASSERT_EQ(choices.size(), 1U);
    EXPECT_EQ(choices[0].kind, row.kind);
    EXPECT_EQ(choices[0].branch_counts, row.branch_counts);
  }
  EXPECT_TRUE(choices_of([](OracleFixture& w, ExprId x) { return w.op(Op::kSin, {x}); }).empty());
}

TEST(RecordedChoices, IncludeConditionalsAndLogicalOperators) {
  const auto positive = [](OracleFixture& w, ExprId x) { return w.op(Op::kGt, {x, w.f64(0)}); };
  const auto small = [](OracleFixture& w, ExprId x) { return w.op(Op::kLt, {x, w.f64(1)}); };
  const auto chosen = choices_of([&](OracleFixture& w, ExprId x) {
    return w.op(Op::kConditional, {w.op(Op::kAnd, {positive(w, x), small(w, x)}), x, w.f64(7)});
  });
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].branch_counts, (Taken{2, 3, 0})) << "the left side of and";
  EXPECT_EQ(chosen[1].branch_counts, (Taken{1, 4, 0}));
  const auto selected = choices_of([&](OracleFixture& w, ExprId x) {
    return w.op(Op::kWhere, {positive(w, x), w.f64(1), w.f64(2)});
  });
  ASSERT_EQ(selected.size(), 1U);
  EXPECT_EQ(selected[0].branch_counts, (Taken{2, 3, 0}));
}

TEST(RecordedChoices, ExcludeChecksThatVariablesAreAssigned) {
  EXPECT_TRUE(choices_of([](OracleFixture& w, ExprId x) {
                const VarId guard =
                    w.b().let_zero("t" + std::string(ir::kUnassignedGuardArraySuffix), ir::kUnassignedGuardArrayType);
                const ExprId is_assigned = w.op(Op::kEq, {w.b().load(guard, {w.b().i32(0)}), w.b().i32(0)});
                return w.op(Op::kWhere, {is_assigned, x, x});
              }).empty());
}

TEST(RecordedChoices, IncludeLoopsWithSourceLocation) {
  OracleFixture w;
  const VarId counts = w.integers("counts", {0, 2, 3});
  const VarId out = w.zeros("out", ir::kF64, {3});
  const VarId i = w.thread_index(3);
  w.b().at({.line = 9, .column = 5});
  const VarId sum = w.b().let("sum", w.f64(0));
  w.b().for_("k", w.b().i32(0), w.at(counts, i), w.b().i32(1), [&](VarId) {
    w.b().assign(sum, w.op(Op::kAdd, {w.var(sum), w.f64(1)}));
  });
  w.b().store(out, {w.var(i)}, w.var(sum));
  const auto choices = w.evaluate().branch_points;
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].kind, BranchPoint::Kind::kRangeLoop);
  EXPECT_EQ(choices[0].loc.line, 9);
  EXPECT_EQ(choices[0].branch_counts, (Taken{5, 3, 0})) << "the body 0 + 2 + 3 times, the end once in each thread";
}

TEST(RecordedChoices, EveryBranchHasADescription) {
  for (const auto kind : {BranchPoint::Kind::kBranch, BranchPoint::Kind::kRangeLoop, BranchPoint::Kind::kMinMax,
                          BranchPoint::Kind::kSign, BranchPoint::Kind::kClampRange}) {
    const BranchPoint choice{.kind = kind};
    for (std::size_t branch = 0; branch < choice.branch_count(); ++branch)
      EXPECT_FALSE(describe_uncovered(kind, branch).empty());
  }
  EXPECT_EQ(describe_uncovered(BranchPoint::Kind::kBranch, 1), "the condition is never false");
}

}  // namespace
}  // namespace assay::reference
