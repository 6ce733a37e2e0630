// Each finding about a user's kernel is reported once at the correct line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/guard_array.hpp"
#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::AtomicOp;
using ir::Op;
using testing::OracleFixture;
using Kind = Finding::Kind;

/// A kernel over x[4] (f64), n[4] (i32), out[4] and the vector v[1] with thread index i; statements start at line 10.
struct FindingsTest : ::testing::Test {
  OracleFixture w;
  ir::VarId x = w.floats("x", {1, 2, 3, 4});
  ir::VarId n = w.integers("n", {0, 1, 2, 3});
  ir::VarId out = w.zeros("out", ir::kF64, {4});
  ir::VarId v = w.zeros("v", ir::vector_type(ir::Scalar::kF64, 4), {1});
  ir::VarId i = w.thread_index(4);

  void line(int number) { w.b().at({.line = number, .column = 3}); }
  ir::ExprId index() { return w.var(i); }

  Finding only(const ReferenceResult& r, Kind kind, int at_line) {
    EXPECT_EQ(r.findings.size(), 1U);
    if (r.findings.empty()) return {};
    EXPECT_EQ(r.findings[0].kind, kind) << describe(r.findings[0], w.module(), w.kernel());
    EXPECT_EQ(r.findings[0].loc.line, at_line);
    return r.findings[0];
  }
};

TEST_F(FindingsTest, ReportsNothingForValidKernel) {
  line(10);
  w.b().store(out, {index()}, w.at(x, i));
  EXPECT_TRUE(w.evaluate().findings.empty());
}

TEST_F(FindingsTest, ReportsOutOfBoundsLoad) {
  line(11);
  w.b().store(out, {index()}, w.b().load(x, {w.op(Op::kAdd, {index(), w.b().i32(1)})}));
  const Finding finding = only(w.evaluate(), Kind::kOutOfBounds, 11);
  EXPECT_EQ(finding.parameter, x);
  EXPECT_EQ(finding.thread, 3);
  EXPECT_THAT(finding.index, ::testing::ElementsAre(4));
  EXPECT_THAT(finding.shape, ::testing::ElementsAre(4));
  EXPECT_EQ(describe(finding, w.module(), w.kernel()), "line 11: index out of bounds: x[4] of shape (4), thread 3");
}

TEST_F(FindingsTest, ReportsStoreAtNegativeIndex) {
  line(12);
  w.b().store(out, {w.op(Op::kSub, {index(), w.b().i32(1)})}, w.f64(1));
  EXPECT_THAT(only(w.evaluate(), Kind::kOutOfBounds, 12).index, ::testing::ElementsAre(-1));
}

TEST_F(FindingsTest, ReportsVariableUsedBeforeAssignment) {
  line(13);
  const ir::VarId guard =
      w.b().let_zero("s" + std::string(ir::kUnassignedGuardArraySuffix), ir::kUnassignedGuardArrayType);
  const ir::ExprId is_last = w.op(Op::kDiv, {index(), w.b().i32(3)});
  w.b().store(out, {index()}, w.b().cast(ir::kF64, w.b().load(guard, {is_last})));
  const Finding finding = only(w.evaluate(), Kind::kOutOfBounds, 13);
  EXPECT_EQ(describe(finding, w.module(), w.kernel()), "line 13: variable s is used before it is assigned in thread 3");
}

TEST_F(FindingsTest, ReportsOutOfBoundsLocalArrayAccess) {
  line(13);
  const ir::VarId local = w.b().let_zero("a", ir::kF64.local_array_of(3));
  w.b().store(out, {index()}, w.b().load(local, {index()}));
  const Finding finding = only(w.evaluate(), Kind::kOutOfBounds, 13);
  EXPECT_EQ(finding.parameter, ir::kNone);
  EXPECT_THAT(finding.index, ::testing::ElementsAre(3));
  EXPECT_EQ(describe(finding, w.module(), w.kernel()), "line 13: index out of bounds: a[3] of shape (3), thread 3");
}

TEST_F(FindingsTest, ReportsOutOfBoundsLocalArrayStore) {
  const ir::VarId local = w.b().let_zero("a", ir::kF64.local_array_of(3));
  line(13);
  w.b().store(local, {index()}, w.f64(1));
  EXPECT_EQ(describe(only(w.evaluate(), Kind::kOutOfBounds, 13), w.module(), w.kernel()),
            "line 13: index out of bounds: a[3] of shape (3), thread 3");
}

TEST_F(FindingsTest, ReportsNameOfVectorWithOutOfBoundsComponent) {
  const auto made = w.b().make(ir::vector_type(ir::Scalar::kF64, 3), {w.f64(1), w.f64(2), w.f64(3)});
  const ir::VarId vector = w.b().let("p", made);
  line(14);
  w.b().store(out, {index()}, w.op(Op::kExtract, {w.var(vector), index()}));
  EXPECT_EQ(describe(only(w.evaluate(), Kind::kOutOfBounds, 14), w.module(), w.kernel()),
            "line 14: index out of bounds: p[3] of shape (3), thread 3");
}

TEST_F(FindingsTest, ReportsOutOfBoundsVectorComponent) {
  line(14);
  const auto made = w.b().make(ir::vector_type(ir::Scalar::kF64, 3), {w.at(x, i), w.f64(2), w.f64(3)});
  w.b().store(out, {index()}, w.op(Op::kExtract, {made, index()}));
  EXPECT_EQ(describe(only(w.evaluate(), Kind::kOutOfBounds, 14), w.module(), w.kernel()),
            "line 14: index out of bounds: [3] of shape (3), thread 3");
}

TEST_F(FindingsTest, ReportsReadOfUninitializedElement) {
  line(15);
  w.b().if_(w.op(Op::kEq, {index(), w.b().i32(2)}), [&] {
    w.b().store(out, {index()}, w.op(Op::kAdd, {w.at(out, i), w.f64(1)}));
  });
  auto run = w.run();
  EXPECT_TRUE(w.oracle().evaluate(run).findings.empty()) << "arrays are initialised by default";
  run.uninitialized = {false, false, true};
  const Finding finding = only(w.oracle().evaluate(run), Kind::kUninitializedRead, 15);
  EXPECT_EQ(finding.parameter, out);
  EXPECT_THAT(finding.index, ::testing::ElementsAre(2));
}

TEST_F(FindingsTest, ReportsNothingIfThreadReadsElementThatItWrote) {
  w.b().store(out, {index()}, w.f64(2));
  w.b().store(out, {index()}, w.op(Op::kAdd, {w.at(out, i), w.f64(1)}));
  auto run = w.run();
  run.uninitialized = {false, false, true};
  EXPECT_TRUE(w.oracle().evaluate(run).findings.empty());
}

TEST_F(FindingsTest, ReportsRaceIfTwoThreadsWriteSameElement) {
  line(16);
  w.b().store(out, {w.op(Op::kDiv, {index(), w.b().i32(3)})}, w.at(x, i));
  const ReferenceResult r = w.evaluate();
  ASSERT_EQ(r.findings.size(), 2U);
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
  EXPECT_EQ(r.findings[0].thread, 1);
  EXPECT_EQ(r.findings[0].earlier_thread, 0);
  EXPECT_EQ(r.findings[0].earlier_loc.line, 16);
}

TEST_F(FindingsTest, ThreadsThatStoreTheSameConstantDoNotRace) {
  w.b().store(out, {w.b().i32(0)}, w.op(Op::kAdd, {w.f64(1), w.f64(0.5)}));
  w.b().if_(w.op(Op::kEq, {index(), w.b().i32(2)}), [&] { w.b().store(out, {w.b().i32(0)}, w.f64(1.5)); });
  EXPECT_TRUE(w.evaluate().findings.empty());
}

TEST_F(FindingsTest, ThreadsThatStoreDifferentConstantsRace) {
  line(16);
  w.b().store(n, {w.b().i32(0)}, w.b().i32(7));
  line(17);
  w.b().if_(w.op(Op::kEq, {index(), w.b().i32(2)}), [&] { w.b().store(n, {w.b().i32(0)}, w.b().i32(8)); });
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
  EXPECT_EQ(r.findings[0].loc.line, 17);
  EXPECT_EQ(r.findings[0].thread, 2);
}

TEST_F(FindingsTest, ThreadsThatStoreZerosOfBothSignsRace) {
  w.b().if_(
      w.op(Op::kEq, {index(), w.b().i32(1)}), [&] { w.b().store(out, {w.b().i32(0)}, w.f64(-0.0)); },
      [&] { w.b().store(out, {w.b().i32(0)}, w.f64(0)); });
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
}

TEST_F(FindingsTest, ConstantRacesWithEqualValueThatVaries) {
  line(16);
  // Every thread stores 1, but thread 0 takes it from x.
  w.b().if_(
      w.op(Op::kEq, {index(), w.b().i32(0)}), [&] { w.b().store(out, {w.b().i32(0)}, w.at(x, i)); },
      [&] { w.b().store(out, {w.b().i32(0)}, w.f64(1)); });
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
}

TEST_F(FindingsTest, ConstantThatAllThreadsStoreRacesWithRead) {
  line(16);
  w.b().store(n, {w.b().i32(0)}, w.b().i32(3));
  line(17);
  w.b().store(out, {index()}, w.b().cast(ir::kF64, w.at(n, i)));
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
}

/// A kernel in which thread i changes component `component(i)` of the vector v[0].
struct ComponentFindingsTest : FindingsTest {
  ir::ExprId element() { return w.b().load(v, {w.b().i32(0)}); }
  void store(ir::ExprId component, ir::ExprId value) {
    w.b().store(v, {w.b().i32(0)}, w.op(Op::kInsert, {element(), component, value}));
  }
};

TEST_F(ComponentFindingsTest, ThreadsThatStoreDifferentComponentsDoNotRace) {
  store(index(), w.op(Op::kAdd, {w.at(x, i), w.op(Op::kExtract, {element(), index()})}));
  const ReferenceResult r = w.evaluate();
  EXPECT_TRUE(r.findings.empty());
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(r.outputs[static_cast<std::size_t>(v)]->elements.at(k).value, static_cast<double>(k + 1)) << k;
}

TEST_F(ComponentFindingsTest, ThreadsThatStoreTheSameComponentRace) {
  line(21);
  store(w.op(Op::kDiv, {index(), w.b().i32(3)}), w.at(x, i));
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
  EXPECT_EQ(r.findings[0].thread, 1);
}

TEST_F(ComponentFindingsTest, ReadOfWholeElementRacesWithStoreOfComponent) {
  line(22);
  store(index(), w.op(Op::kDot, {element(), element()}));
  ASSERT_FALSE(w.evaluate().findings.empty());
  EXPECT_EQ(w.evaluate().findings[0].kind, Kind::kRace);
}

TEST_F(ComponentFindingsTest, ReportsStoreToComponentOutOfBounds) {
  line(23);
  store(w.op(Op::kAdd, {index(), w.b().i32(1)}), w.f64(1));
  only(w.evaluate(), Kind::kOutOfBounds, 23);
}

TEST_F(ComponentFindingsTest, AtomicAdditionToOneComponentDoesNotRaceWithStoreToAnother) {
  const ir::Type vector = ir::vector_type(ir::Scalar::kF64, 4);
  w.b().if_(
      w.op(Op::kLt, {index(), w.b().i32(2)}), [&] { store(index(), w.f64(1)); },
      [&] {
        w.b().atomic(AtomicOp::kAdd, v, {w.b().i32(0)}, w.op(Op::kInsert, {w.b().zero(vector), index(), w.f64(1)}));
      });
  EXPECT_TRUE(w.evaluate().findings.empty());
}

TEST_F(ComponentFindingsTest, AllowsReadOfWrittenComponentOfUninitializedElement) {
  line(24);
  store(index(), w.f64(2));
  line(25);
  w.b().store(out, {index()}, w.op(Op::kExtract, {element(), index()}));
  auto run = w.run();
  run.uninitialized = {false, false, false, true};
  EXPECT_TRUE(w.oracle().evaluate(run).findings.empty()) << "each thread reads what it wrote";
}

TEST_F(FindingsTest, ReportsReadOfElementThatOtherThreadWritesAsRace) {
  line(17);
  const ir::VarId t =
      w.b().let("t", w.b().load(x, {w.op(Op::kMod, {w.op(Op::kAdd, {index(), w.b().i32(1)}), w.b().i32(2)})}));
  line(18);
  w.b().if_(w.op(Op::kEq, {index(), w.b().i32(1)}), [&] { w.b().store(x, {index()}, w.var(t)); });
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
  EXPECT_EQ(r.findings[0].parameter, x);
  EXPECT_EQ(r.findings[0].loc.line, 18);
  EXPECT_EQ(r.findings[0].earlier_loc.line, 17);
  EXPECT_EQ(r.findings[0].earlier_thread, 0);
}

TEST_F(FindingsTest, ReportsRaceBetweenAtomicUpdateAndPlainRead) {
  line(19);
  w.b().atomic(AtomicOp::kAdd, out, {w.b().i32(0)}, w.at(x, i));
  line(20);
  w.b().if_(w.op(Op::kEq, {index(), w.b().i32(3)}),
            [&] { w.b().store(x, {index()}, w.b().load(out, {w.b().i32(0)})); });
  EXPECT_EQ(only(w.evaluate(), Kind::kRace, 20).parameter, out);
}

TEST_F(FindingsTest, AtomicUpdatesDoNotRaceWithEachOther) {
  w.b().atomic(AtomicOp::kAdd, out, {w.b().i32(0)}, w.at(x, i));
  w.b().atomic(AtomicOp::kSub, out, {w.b().i32(0)}, w.f64(1));
  w.b().atomic(AtomicOp::kMax, out, {w.b().i32(1)}, w.at(x, i));
  EXPECT_TRUE(w.evaluate().findings.empty());
}

TEST_F(FindingsTest, ReportsOrderDependenceOfNoncommutingAtomics) {
  line(21);
  w.b().atomic(AtomicOp::kAdd, out, {w.b().i32(0)}, w.at(x, i));
  line(22);
  w.b().atomic(AtomicOp::kMax, out, {w.b().i32(0)}, w.at(x, i));
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kOrderDependentAtomic);
}

TEST_F(FindingsTest, ReportsStoreIndexFromAtomicCounterAsOrderDependent) {
  line(23);
  const ir::VarId slot = w.b().atomic_result("slot", AtomicOp::kAdd, n, {w.b().i32(0)}, w.b().i32(1));
  line(24);
  w.b().store(out, {w.var(slot)}, w.at(x, i));
  const ReferenceResult r = w.evaluate();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kOrderDependentAtomic);
  EXPECT_EQ(r.findings[0].loc.line, 23);
  EXPECT_EQ(r.findings[0].parameter, n);
}

TEST_F(FindingsTest, OrderDependenceIsNoFindingIfTheOrderIsFixed) {
  const ir::VarId slot = w.b().atomic_result("slot", AtomicOp::kAdd, n, {w.b().i32(0)}, w.b().i32(1));
  w.b().store(out, {w.var(slot)}, w.at(x, i));
  OracleRun run = w.run();
  run.fixes_thread_order = true;
  EXPECT_TRUE(w.oracle().evaluate(run).findings.empty());
}

TEST_F(FindingsTest, ConflictingStoreIsFindingThoughTheOrderIsFixed) {
  w.b().store(out, {w.b().i32(0)}, w.at(x, i));
  OracleRun run = w.run();
  run.fixes_thread_order = true;
  const ReferenceResult r = w.oracle().evaluate(run);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, Kind::kRace);
}

TEST_F(FindingsTest, ResultOfAtomicUpdateToThreadPrivateElementIsNotOrderDependent) {
  const ir::VarId old = w.b().atomic_result("old", AtomicOp::kAdd, x, {index()}, w.f64(1));
  w.b().store(out, {index()}, w.var(old));
  const ReferenceResult r = w.evaluate();
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(static_cast<double>(r.outputs[2]->elements[3].value), 4);
}

TEST_F(FindingsTest, ReportsIntegerDivisionByZero) {
  line(25);
  w.b().store(n, {index()}, w.op(Op::kDiv, {w.b().i32(6), w.at(n, i)}));
  EXPECT_EQ(only(w.evaluate(), Kind::kInvalidIntegerDivision, 25).thread, 0);
}

TEST_F(FindingsTest, ReportsMinimumIntegerDividedByMinusOne) {
  line(26);
  w.b().store(n, {index()}, w.op(Op::kMod, {w.b().i32(-2147483648LL), w.op(Op::kSub, {w.at(n, i), w.b().i32(3 + 1)})}));
  EXPECT_EQ(only(w.evaluate(), Kind::kInvalidIntegerDivision, 26).thread, 3);
}

TEST_F(FindingsTest, ReportsShiftByBitWidth) {
  line(27);
  w.b().store(n, {index()}, w.op(Op::kShiftLeft, {w.b().i32(1), w.op(Op::kAdd, {w.at(n, i), w.b().i32(29)})}));
  EXPECT_EQ(only(w.evaluate(), Kind::kShiftOutOfRange, 27).thread, 3);
}

TEST_F(FindingsTest, ReportsFloatToIntegerConversionOutOfRange) {
  line(28);
  w.b().store(n, {index()}, w.b().cast(ir::kI32, w.op(Op::kMul, {w.at(x, i), w.f64(1e9)})));
  const ReferenceResult r = w.evaluate();
  ASSERT_EQ(r.findings.size(), 2U);
  EXPECT_EQ(r.findings[0].kind, Kind::kConversionOutOfRange);
  EXPECT_EQ(r.findings[0].thread, 2);
}

TEST_F(FindingsTest, ReportsEndlessLoop) {
  line(29);
  const ir::VarId t = w.b().let("t", w.f64(1));
  line(30);
  w.b().while_(w.op(Op::kGt, {w.var(t), w.f64(0)}), [&] { w.b().assign(t, w.op(Op::kAdd, {w.var(t), w.f64(1)})); });
  auto run = w.run();
  run.instruction_budget = 10'000;
  const ReferenceResult r = w.oracle().evaluate(run);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].kind, Kind::kInstructionLimit);
  EXPECT_FALSE(r.is_complete);
}

TEST_F(FindingsTest, ReportsAtMostFourFindingsPerSourceLine) {
  OracleFixture many;
  const ir::VarId a = many.floats("a", {1});
  const ir::VarId j = many.thread_index(100);
  many.b().at({.line = 5, .column = 1});
  many.b().store(a, {many.op(Op::kAdd, {many.var(j), many.b().i32(1)})}, many.f64(0));
  many.b().at({.line = 6, .column = 1});
  many.b().store(a, {many.op(Op::kSub, {many.b().i32(-1), many.var(j)})}, many.f64(0));
  const ReferenceResult r = many.evaluate();
  ASSERT_EQ(r.findings.size(), 8U) << "at most four per line";
  EXPECT_THAT(r.findings[0].index, ::testing::ElementsAre(1));
  EXPECT_THAT(r.findings[6].index, ::testing::ElementsAre(100)) << "the farthest index is kept";
}

std::vector<Kind> findings_of_indexed_store(std::int64_t first, std::int64_t step) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {1, 2, 3, 4});
  const ir::VarId out = w.zeros("out", ir::kF64, {4});
  w.thread_index(1);
  const ir::ExprId tile = w.b().load_tile(ir::tile_type(ir::Scalar::kF64, 2), x, {w.b().i32(0)});
  const ir::ExprId indices =
      w.b().op(Op::kTileArange, {w.b().i32(first), w.b().i32(step)}, ir::tile_type(ir::Scalar::kI32, 2));
  w.b().store(out, {indices}, tile);
  std::vector<Kind> kinds;
  for (const Finding& finding : w.evaluate().findings)
    kinds.push_back(finding.kind);
  return kinds;
}

TEST(FindingsOfTiles, ReportsRepeatedIndicesOfStoredTile) {
  EXPECT_THAT(findings_of_indexed_store(1, 0), ::testing::ElementsAre(Kind::kRace));
  EXPECT_THAT(findings_of_indexed_store(1, 1), ::testing::IsEmpty());
}

TEST(FindingsOfTiles, IgnoresIndicesOutsideTheArray) {
  EXPECT_THAT(findings_of_indexed_store(-1, 0), ::testing::IsEmpty());
  EXPECT_THAT(findings_of_indexed_store(3, 1), ::testing::IsEmpty());
  EXPECT_THAT(findings_of_indexed_store(3, -5), ::testing::IsEmpty());
}

/// Findings of a load of two elements, from the given column of the given row of an array with 2 rows of 3 elements.
std::vector<Kind> findings_of_row(std::int64_t row, std::int64_t column) {
  OracleFixture w;
  const ir::VarId x = w.zeros("x", ir::kF64, {2, 3});
  const ir::VarId out = w.zeros("out", ir::kF64, {2});
  w.thread_index(1);
  const ir::ExprId tile = w.b().load_tile(ir::tile_type(ir::Scalar::kF64, 2), x, {w.b().i32(row), w.b().i32(column)});
  w.b().store(out, {w.b().i32(0)}, tile);
  std::vector<Kind> kinds;
  for (const Finding& finding : w.evaluate().findings)
    kinds.push_back(finding.kind);
  return kinds;
}

TEST(FindingsOfTiles, ReportTheIndexOfAPartOfAnArrayThatDoesNotExist) {
  EXPECT_THAT(findings_of_row(1, 0), ::testing::IsEmpty());
  EXPECT_THAT(findings_of_row(1, 2), ::testing::IsEmpty()) << "the second element is behind the end";
  EXPECT_THAT(findings_of_row(2, 0), ::testing::Not(::testing::IsEmpty()));
  EXPECT_THAT(findings_of_row(2, 3), ::testing::Not(::testing::IsEmpty())) << "also if all elements are behind the end";
  EXPECT_THAT(findings_of_row(-1, 0), ::testing::Not(::testing::IsEmpty()));
}

}  // namespace
}  // namespace assay::reference
