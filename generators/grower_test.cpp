#include "generators/grower.hpp"

#include <variant>

#include <gtest/gtest.h>

#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

/// A sketch with one input, from which terms are built.
class ExpressionGeneratorTest : public ::testing::Test {
 protected:
  ExpressionGeneratorTest()
      : sketch_("k", Rng(1)), x_(sketch_.array("x", ir::kF32, 1)), generator_(sketch_, ir::kF32, {Op::kAbs}) {
    sketch_.start();
  }

  RangedExpression input(Interval range) { return {sketch_.element(x_, sketch_.thread_indices()).expr, range}; }
  bool is_abs(ir::ExprId id) {
    const ir::Expr& expr = sketch_.b().function().expr(id);
    return expr.kind == ir::ExprKind::kOperation && expr.op == Op::kAbs;
  }

  KernelSketch sketch_;
  ir::VarId x_;
  ExpressionGenerator generator_;
};

TEST_F(ExpressionGeneratorTest, AppliesAbsToValuesOfEitherSign) {
  EXPECT_TRUE(is_abs(generator_.apply(Op::kAbs, {input({-2, 2})}).expr));
  EXPECT_TRUE(is_abs(generator_.apply(Op::kAbs, {input({-0.5, 4})}).expr));
}

// log(cosh(x)) is at least zero, and so close to it for small x that bounds cannot determine the sign.
TEST_F(ExpressionGeneratorTest, OmitsAbsOfValuesWithFixedSign) {
  for (const Interval range : {Interval{0, 3}, Interval{-3, 0}, Interval{-0x1p-6, 3}, Interval{0.5, 3}}) {
    const RangedExpression term = input(range);
    EXPECT_EQ(generator_.apply(Op::kAbs, {term}).expr, term.expr) << range.low << " to " << range.high;
  }
}

TEST_F(ExpressionGeneratorTest, MapsNonNegativeValuesIntoTargetRangeWithoutAbs) {
  const RangedExpression fitted = generator_.fit(input({0, 4}), {0.5, 8});
  EXPECT_GE(fitted.range.low, 0.5);
  EXPECT_LE(fitted.range.high, 8);
  for (const ir::Expr& expr : sketch_.b().function().expressions)
    EXPECT_FALSE(expr.kind == ir::ExprKind::kOperation && expr.op == Op::kAbs);
}

TEST_F(ExpressionGeneratorTest, EveryTemporaryDependsOnInput) {
  sketch_.offer_elements({x_});
  add_temporaries(generator_, 100, 0);
  for (const ir::Stmt& statement : sketch_.b().function().body.statements)
    EXPECT_TRUE(generator_.depends_on_leaves(std::get<ir::Let>(statement.node).value));
}

// t = where(x > 0.5, y, x); t - x would be exactly zero for half of the inputs.
TEST_F(ExpressionGeneratorTest, DoesNotSubtractPossiblyEqualValues) {
  ir::Builder& b = sketch_.b();
  const auto x = [&] { return sketch_.element(x_, sketch_.thread_indices()); };
  const RangedExpression test{b.op(Op::kGt, {x().expr, b.literal(ir::kF32, 0.5)}), {0, 1}};
  const ir::VarId t =
      sketch_.let("t", generator_.apply(Op::kWhere, {test, input({-1, 1}), generator_.literal({0.5, 1})}));
  const RangedExpression difference = generator_.apply(Op::kSub, {sketch_.read(t), x()});
  EXPECT_FALSE(generator_.same_tree(b.function().expr(difference.expr).args[1], x().expr));
  EXPECT_TRUE(generator_.may_equal(x().expr, b.var(t)));
  EXPECT_FALSE(generator_.may_equal(b.var(t), generator_.literal({2, 3}).expr));
}

TEST_F(ExpressionGeneratorTest, UsesEachValueInOnlyOneComparisonPerCondition) {
  sketch_.offer_elements({x_});
  const ir::Function& function = sketch_.b().function();
  for (int i = 0; i < 200; ++i) {
    const ir::Expr condition = function.expr(generator_.condition(1).expr);
    const bool joins = condition.op == Op::kAnd || condition.op == Op::kOr;
    // The only input is x[i]: two comparisons would be of the same.
    EXPECT_FALSE(joins && function.expr(condition.args[0]).kind == ir::ExprKind::kOperation);
  }
}

}  // namespace
}  // namespace assay::generators
