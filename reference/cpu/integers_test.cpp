#include "reference/cpu/integers.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using ir::Scalar;

std::int64_t apply(Op op, Scalar scalar, std::vector<std::int64_t> x) { return evaluate_integer(op, scalar, x).value; }

TEST(OracleIntegers, DivisionTruncatesAndFloorDivisionRoundsDown) {
  EXPECT_EQ(apply(Op::kDiv, Scalar::kI32, {-7, 2}), -3);
  EXPECT_EQ(apply(Op::kMod, Scalar::kI32, {-7, 2}), -1);
  EXPECT_EQ(apply(Op::kFloorDiv, Scalar::kI32, {-7, 2}), -4);
  EXPECT_EQ(apply(Op::kFloorDiv, Scalar::kI32, {5, -1}), -5);
  EXPECT_EQ(apply(Op::kFloorDiv, Scalar::kI32, {7, 2}), 3);
}

TEST(OracleIntegers, ArithmeticWrapsAroundOnOverflow) {
  EXPECT_EQ(apply(Op::kAdd, Scalar::kI32, {2147483647, 1}), -2147483648LL);
  EXPECT_EQ(apply(Op::kMul, Scalar::kI8, {100, 3}), 44);
  EXPECT_EQ(apply(Op::kSub, Scalar::kU16, {0, 1}), 65535);
  EXPECT_EQ(apply(Op::kNeg, Scalar::kU8, {1}), 255);
  EXPECT_EQ(apply(Op::kBitNot, Scalar::kU8, {0}), 255);
  EXPECT_EQ(apply(Op::kAbs, Scalar::kI32, {-2147483648LL}), -2147483648LL);
  EXPECT_EQ(apply(Op::kMul, Scalar::kI64, {std::numeric_limits<std::int64_t>::max(), 2}), -2);
}

TEST(OracleIntegers, ReportsSignedOverflowOf32And64BitTypes) {
  const auto overflows = [](Op op, Scalar scalar, std::vector<std::int64_t> x) {
    return evaluate_integer(op, scalar, x).defect == Finding::Kind::kIntegerOverflow;
  };
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_TRUE(overflows(Op::kAdd, Scalar::kI32, {2147483647, 1}));
  EXPECT_TRUE(overflows(Op::kSub, Scalar::kI32, {-2147483648LL, 1}));
  EXPECT_TRUE(overflows(Op::kMul, Scalar::kI64, {kGreatest, 2}));
  EXPECT_TRUE(overflows(Op::kNeg, Scalar::kI64, {kLeast}));
  EXPECT_TRUE(overflows(Op::kAbs, Scalar::kI32, {-2147483648LL}));
  EXPECT_FALSE(overflows(Op::kAdd, Scalar::kI32, {2147483646, 1}));
  EXPECT_FALSE(overflows(Op::kMul, Scalar::kI64, {kGreatest, -1}));
  EXPECT_FALSE(overflows(Op::kAdd, Scalar::kI16, {32767, 1})) << "narrow types are computed as int";
  EXPECT_FALSE(overflows(Op::kMul, Scalar::kU32, {4294967295LL, 2})) << "unsigned types wrap";
}

TEST(OracleIntegers, UnsignedOperationsTreatBitsAsUnsigned) {
  constexpr std::int64_t kGreatest = -1;  // greatest u64, as its bits
  EXPECT_EQ(apply(Op::kGt, Scalar::kU64, {kGreatest, 1}), 1);
  EXPECT_EQ(apply(Op::kLe, Scalar::kU64, {kGreatest, 1}), 0);
  EXPECT_EQ(apply(Op::kDiv, Scalar::kU64, {kGreatest, 2}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(apply(Op::kShiftRight, Scalar::kU64, {kGreatest, 63}), 1);
  EXPECT_EQ(apply(Op::kShiftRight, Scalar::kI32, {-8, 1}), -4);
  EXPECT_EQ(apply(Op::kMax, Scalar::kU64, {kGreatest, 1}), kGreatest);
  EXPECT_EQ(to_real(Scalar::kU64, kGreatest), 18446744073709551615.0L);
}

TEST(OracleIntegers, SignStepClampAndMinHaveExpectedValues) {
  EXPECT_EQ(apply(Op::kSign, Scalar::kI32, {0}), 1);
  EXPECT_EQ(apply(Op::kSign, Scalar::kI32, {-5}), -1);
  EXPECT_EQ(apply(Op::kStep, Scalar::kI32, {-5}), 1);
  EXPECT_EQ(apply(Op::kNonzero, Scalar::kI32, {-5}), 1);
  EXPECT_EQ(apply(Op::kClamp, Scalar::kI32, {9, 0, 4}), 4);
  EXPECT_EQ(apply(Op::kMin, Scalar::kI32, {-1, 4}), -1);
}

TEST(OracleIntegers, ConversionAcceptsOnlyFloatsInRangeOfIntegerType) {
  EXPECT_TRUE(fits(Scalar::kI32, 2147483647.0L));
  EXPECT_FALSE(fits(Scalar::kI32, 2147483648.0L));
  EXPECT_TRUE(fits(Scalar::kI32, -2147483648.0L));
  EXPECT_FALSE(fits(Scalar::kU8, -1.0L));
  EXPECT_FALSE(fits(Scalar::kI64, std::numeric_limits<long double>::quiet_NaN()));
  EXPECT_EQ(to_integer(Scalar::kU64, 18446744073709551615.0L), -1);
}

TEST(OracleIntegers, EveryIntegerOperationIsImplemented) {
  for (const ir::OperationEntry& row : ir::kOperations) {
    const bool takes_integers = row.rule == ir::TypeRule::kNumericScalars || row.rule == ir::TypeRule::kIntegerScalars;
    if (!takes_integers) continue;
    // With operands 50, 3 and 4 only step returns 0.
    if (row.op == Op::kStep) continue;
    EXPECT_NE(apply(row.op, Scalar::kI32, {50, 3, 4}), 0) << row.mnemonic;
  }
}

TEST(OracleIntegers, ConvertsFloatsToIntegersAndBackInKernel) {
  testing::OracleFixture w;
  const ir::VarId x = w.floats("x", {-2.75, 300.5});
  const ir::VarId out = w.integers("out", {0, 0});
  const ir::VarId small = w.integers("small", {0, 0}, Scalar::kU8);
  const ir::VarId back = w.floats("back", {0, 0}, Scalar::kF32);
  const ir::VarId i = w.thread_index(2);
  const ir::ExprId whole = w.b().cast(ir::kI32, w.at(x, i));
  w.b().store(out, {w.var(i)}, whole);
  w.b().store(small, {w.var(i)}, w.b().cast(ir::scalar_type(Scalar::kU8), whole));
  w.b().store(back, {w.var(i)},
              w.op(Op::kMul, {w.b().cast(ir::kF32, whole), w.b().cast(ir::kF32, w.b().cast(ir::kBool, whole))}));
  const ReferenceResult r = w.evaluate();
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(r.outputs[1]->elements[0].integer, -2);
  EXPECT_EQ(r.outputs[2]->elements[0].integer, 254);
  EXPECT_EQ(r.outputs[2]->elements[1].integer, 44);
  EXPECT_EQ(static_cast<double>(r.outputs[3]->elements[1].value), 300);
  EXPECT_EQ(r.outputs[3]->elements[1].bound[kNative], 0);
}

}  // namespace
}  // namespace assay::reference
