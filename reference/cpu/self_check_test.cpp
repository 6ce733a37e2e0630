#include "reference/cpu/self_check.hpp"

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using testing::Workbench;

struct SelfCheckTest : ::testing::Test {
  Workbench w;
  ir::VarId x = w.floats("x", {0.25, 0.5, 2});
  ir::VarId scale = w.value("scale", ir::kF64, {1.5});
  ir::VarId out = w.zeros("out", ir::kF64, {3});
  ir::VarId i = w.thread_index(3);

  void build() { w.b().store(out, {w.var(i)}, w.op(Op::kSin, {w.op(Op::kMul, {w.at(x, i), w.var(scale)})})); }
};

TEST_F(SelfCheckTest, AgreesOnASmoothKernel) {
  build();
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.seeds_for(out, {1, -2, 0.5}));
  const SelfCheck check = self_check(oracle, run, oracle.evaluate(run), 1);
  EXPECT_TRUE(check.agrees) << check.message;
  EXPECT_TRUE(check.conclusive);
}

TEST_F(SelfCheckTest, SeesAGradientThatIsSlightlyOff) {
  build();
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.seeds_for(out, {1, -2, 0.5}));
  Reference swept = oracle.evaluate(run);
  swept.gradients[0]->elements[1].value *= 1 + 1e-12L;
  const SelfCheck check = self_check(oracle, run, swept, 1);
  EXPECT_FALSE(check.agrees);
  EXPECT_NE(check.message.find("sweep"), std::string::npos);
}

TEST_F(SelfCheckTest, IsInconclusiveOnAKink) {
  w.b().store(out, {w.var(i)}, w.op(Op::kAbs, {w.op(Op::kSub, {w.at(x, i), w.f64(0.5)})}));
  const Oracle oracle = w.oracle();
  const auto run = w.gradient_run(w.seeds_for(out));
  EXPECT_FALSE(self_check(oracle, run, oracle.evaluate(run), 1).conclusive);
}

}  // namespace
}  // namespace assay::reference
