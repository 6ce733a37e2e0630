#include "generators/grower.hpp"

#include <gtest/gtest.h>

namespace assay::generators {
namespace {

using ir::Op;

/// A sketch with one input, of which terms are made.
class GrowerTest : public ::testing::Test {
 protected:
  GrowerTest() : sketch_("k", Rng(1)), x_(sketch_.array("x", ir::kF32, 1)), grower_(sketch_, ir::kF32, {Op::kAbs}) {
    sketch_.start();
  }

  Term input(Interval range) { return {sketch_.element(x_, sketch_.here()).expr, range}; }
  bool is_abs(ir::ExprId id) {
    const ir::Expr& expr = sketch_.b().function().expr(id);
    return expr.kind == ir::ExprKind::kOperation && expr.op == Op::kAbs;
  }

  Sketch sketch_;
  ir::VarId x_;
  Grower grower_;
};

TEST_F(GrowerTest, TakesTheMagnitudeOfWhatHasBothSigns) {
  EXPECT_TRUE(is_abs(grower_.apply(Op::kAbs, {input({-2, 2})}).expr));
  EXPECT_TRUE(is_abs(grower_.apply(Op::kAbs, {input({-0.5, 4})}).expr));
}

// log(cosh(x)) is at least zero, and so near to it for small x that no bound tells on which side.
TEST_F(GrowerTest, TakesNoMagnitudeOfWhatOnlyReachesZero) {
  for (const Interval range : {Interval{0, 3}, Interval{-3, 0}, Interval{-0x1p-6, 3}, Interval{0.5, 3}}) {
    const Term term = input(range);
    EXPECT_EQ(grower_.apply(Op::kAbs, {term}).expr, term.expr) << range.low << " to " << range.high;
  }
}

TEST_F(GrowerTest, MovesWhatOnlyReachesZeroIntoItsTargetWithoutAMagnitude) {
  const Term fitted = grower_.fit(input({0, 4}), {0.5, 8});
  EXPECT_GE(fitted.range.low, 0.5);
  EXPECT_LE(fitted.range.high, 8);
  for (const ir::Expr& expr : sketch_.b().function().expressions)
    EXPECT_FALSE(expr.kind == ir::ExprKind::kOperation && expr.op == Op::kAbs);
}

}  // namespace
}  // namespace assay::generators
