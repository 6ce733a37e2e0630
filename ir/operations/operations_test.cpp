#include "ir/operations/operations.hpp"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::ir {
namespace {

constexpr Type kVec3 = vector_type(Scalar::kF32, 3);
constexpr Type kIntVec3 = vector_type(Scalar::kI32, 3);
constexpr Type kMat = matrix_type(Scalar::kF32, 2, 3);
constexpr Type kVec2 = vector_type(Scalar::kF32, 2);
constexpr Type kSquare = matrix_type(Scalar::kF32, 3, 3);
constexpr Type kTransform = transform_type(Scalar::kF32);
constexpr Type kQuat = quaternion_type(Scalar::kF32);
constexpr Type kU32 = scalar_type(Scalar::kU32);
constexpr Type kStructType = struct_type(0);

/// Operands of an operation and the type that they give; void if the operands are invalid.
struct Case {
  Op op;
  std::vector<Type> operands;
  Type result;
  Type requested = kVoid;
};

std::vector<Case> linear_algebra() {
  return {
      {Op::kAdd, {kF32, kF32}, kF32},
      {Op::kAdd, {kMat, kMat}, kMat},
      {Op::kAdd, {kF32, kF64}, kVoid},
      {Op::kAdd, {kBool, kBool}, kVoid},
      {Op::kAdd, {kF32.array_of(1), kF32.array_of(1)}, kVoid},
      {Op::kAdd, {kF32}, kVoid},
      {Op::kMul, {kVec3, kF32}, kVec3},
      {Op::kMul, {kF32, kVec3}, kVec3},
      {Op::kMul, {kVec3, kVec3}, kVoid},
      {Op::kDiv, {kVec3, kF32}, kVec3},
      {Op::kDiv, {kF32, kVec3}, kVoid},
      {Op::kNeg, {kQuat}, kQuat},
      {Op::kNeg, {kU32}, kVoid},
      {Op::kMul, {kMat, kMat}, kVoid},
      {Op::kMul, {kMat, kSquare}, kMat},
      {Op::kMul, {kMat, kVec3}, kVec2},
      {Op::kMul, {kVec2, kMat}, kVec3},
      {Op::kMul, {kVec3, kMat}, kVoid},
      {Op::kMul, {kMat, kF32}, kMat},
      {Op::kMul, {kF64, kMat}, kVoid},
      {Op::kDiv, {kMat, kF32}, kMat},
      {Op::kMake, {kF32, kF32, kF32}, kVec3, kVec3},
      {Op::kMake, {kF32, kF32}, kVoid, kVec3},
      {Op::kMake, {kF32, kI32, kF32}, kVoid, kVec3},
      {Op::kMake, {kVec3, kVec3}, kMat, kMat},
      {Op::kMake, {kVec3, kF32}, kQuat, kQuat},
      {Op::kMake, {kVec3, kQuat}, transform_type(Scalar::kF32), transform_type(Scalar::kF32)},
      {Op::kMake, {kF32, kF32, kF32}, kVoid},
      {Op::kSplat, {kF32}, kVec3, kVec3},
      {Op::kSplat, {kF64}, kVoid, kVec3},
      {Op::kExtract, {kVec3, kI32}, kF32},
      {Op::kExtract, {kVec3, kI64}, kVoid},
      {Op::kExtract, {kMat, kI32}, kVec3},
      {Op::kExtract, {kQuat, kI32}, kF32},
      {Op::kInsert, {kVec3, kI32, kF32}, kVec3},
      {Op::kInsert, {kVec3, kI32, kF64}, kVoid},
      {Op::kInsert, {kMat, kI32, kVec3}, kMat},
      {Op::kInsert, {kMat, kI32, kF32}, kVoid},
      {Op::kCwMul, {kIntVec3, kIntVec3}, kIntVec3},
      {Op::kCwMul, {kF32, kF32}, kVoid},
      {Op::kDot, {kIntVec3, kIntVec3}, kI32},
      {Op::kDot, {kVec3, kIntVec3}, kVoid},
      {Op::kCross, {kVec3, kVec3}, kVec3},
      {Op::kCross, {vector_type(Scalar::kF32, 2), vector_type(Scalar::kF32, 2)}, kVoid},
      {Op::kLength, {kVec3}, kF32},
      {Op::kLength, {kIntVec3}, kVoid},
      {Op::kLength, {kQuat}, kF32},
      {Op::kLengthSquared, {kIntVec3}, kI32},
      {Op::kDoubleDot, {kMat, kMat}, kF32},
      {Op::kDoubleDot, {kVec3, kVec3}, kVoid},
      {Op::kLengthSquared, {kMat}, kVoid},
      {Op::kTranspose, {kVec3}, kVoid},
      {Op::kTranspose, {kMat}, matrix_type(Scalar::kF32, 3, 2)},
      {Op::kOuter, {kVec2, kVec3}, kMat},
      {Op::kOuter, {kVec2, kIntVec3}, kVoid},
      {Op::kInverse, {kSquare}, kSquare},
      {Op::kInverse, {kMat}, kVoid},
      {Op::kInverse, {matrix_type(Scalar::kF32, 5, 5)}, kVoid},
      {Op::kMul, {kQuat, kQuat}, kQuat},
      {Op::kMul, {kQuat, kVec3}, kVoid},
      {Op::kQuatInverse, {kQuat}, kQuat},
      {Op::kQuatInverse, {kVec3}, kVoid},
      {Op::kTranslation, {kTransform}, kVec3},
      {Op::kTranslation, {kQuat}, kVoid},
      {Op::kRotation, {kTransform}, kQuat},
      {Op::kRotation, {kQuat}, kVoid},
      {Op::kSpatialTop, {vector_type(Scalar::kF32, 6)}, kVec3},
      {Op::kSpatialBottom, {kVec3}, kVoid},
      {Op::kNormalize, {kVec3}, kVec3},
      {Op::kNormalize, {kIntVec3}, kVoid},
  };
}

constexpr Type kTile = tile_type(Scalar::kF32, 3, 4);
constexpr Type kRow = tile_type(Scalar::kF32, 4);
constexpr Type kOne = tile_type(Scalar::kF32, 1);
constexpr Type kTests = tile_type(Scalar::kBool, 3, 4);

std::vector<Case> tiles() {
  return {
      // element by element, with scalars for all elements
      {Op::kAdd, {kTile, kTile}, kTile},
      {Op::kSub, {kF32, kTile}, kTile},
      {Op::kAdd, {kTile, kRow}, kVoid},
      {Op::kMul, {kTile, kF64}, kVoid},
      {Op::kSin, {kRow}, kRow},
      {Op::kLt, {kTile, kF32}, kTests},
      {Op::kWhere, {kTests, kTile, kF32}, kTile},
      {Op::kOr, {kTests, kTests}, kTests},
      {Op::kConditional, {kTests, kTile, kTile}, kVoid},
      {Op::kCast, {kTile}, tile_type(Scalar::kF64, 3, 4), tile_type(Scalar::kF64, 3, 4)},
      {Op::kSplat, {kF32}, kTile, kTile},
      {Op::kExtract, {kRow, kI32}, kVoid},
      {Op::kDot, {kRow, kRow}, kVoid},
      // together
      {Op::kTileProduct, {kTile, tile_type(Scalar::kF32, 4, 2)}, tile_type(Scalar::kF32, 3, 2)},
      {Op::kTileProduct, {kTile, kTile}, kVoid},
      {Op::kTileSum, {kTile}, kOne, kOne},
      {Op::kTileSum, {kTile}, kRow, kRow},
      {Op::kTileSum, {kTile}, tile_type(Scalar::kF32, 3, 1), tile_type(Scalar::kF32, 3, 1)},
      {Op::kTileSum, {kTile}, kVoid, tile_type(Scalar::kF32, 3)},
      {Op::kTileBroadcast, {kRow}, kTile, kTile},
      {Op::kTileBroadcast, {tile_type(Scalar::kF32, 3)}, kVoid, kTile},
      {Op::kTileReshape, {kTile}, tile_type(Scalar::kF32, 12), tile_type(Scalar::kF32, 12)},
      {Op::kTileReshape, {kTile}, kVoid, tile_type(Scalar::kF32, 11)},
      {Op::kTileTranspose, {kTile}, tile_type(Scalar::kF32, 4, 3)},
      {Op::kTileTranspose, {kRow}, kVoid},
      {Op::kTileMin, {kTile}, kOne},
      {Op::kTileMax, {kTests}, kVoid},
      {Op::kTileArgmax, {kTile}, tile_type(Scalar::kI32, 1)},
      {Op::kTileArgmin, {kF32}, kVoid},
      {Op::kTileScan, {kRow}, kRow},
      {Op::kTileScanExclusive, {kTile}, kVoid},
      {Op::kTileExtract, {kTile, kI32, kI32}, kF32},
      {Op::kTileExtract, {kTile, kI32}, kVoid},
      {Op::kTileInsert, {kRow, kI32, kF32}, kRow},
      {Op::kTileInsert, {kRow, kF32}, kVoid},
      {Op::kTileArange, {kF32, kF32}, kRow, kRow},
      {Op::kTileArange, {kF32, kI32}, kVoid, kRow},
      {Op::kTileArange, {kF32, kF32}, kVoid, kTile},
      {Op::kTileView, {kTile, kI32, kI32}, tile_type(Scalar::kF32, 2, 4), tile_type(Scalar::kF32, 2, 4)},
      {Op::kTileView, {kTile, kI32, kI32}, kVoid, tile_type(Scalar::kF32, 4, 4)},
      {Op::kTileView, {kTile, kI32}, kVoid, kRow},
      {Op::kTileAssign, {kTile, kI32, kI32, tile_type(Scalar::kF32, 1, 4)}, kTile},
      {Op::kTileAssign, {kTile, kI32, kI32, tile_type(Scalar::kF32, 1, 5)}, kVoid},
      {Op::kTileAssign, {kTile, kI32, kRow}, kVoid},
      {Op::kTileDiagAdd, {tile_type(Scalar::kF32, 4, 4), kRow}, tile_type(Scalar::kF32, 4, 4)},
      {Op::kTileDiagAdd, {kTile, kRow}, kVoid},
      {Op::kTileScanMax, {kRow}, kRow},
      {Op::kTileScanMin, {kTile}, kVoid},
      {Op::kTileRunSums, {kRow, kRow}, kRow},
      {Op::kTileRunSpread, {kRow, kTile}, kVoid},
  };
}

std::vector<Case> scalars() {
  return {
      {Op::kMin, {kI64, kI64}, kI64},
      {Op::kMin, {kBool, kBool}, kVoid},
      {Op::kSqrt, {kF64}, kF64},
      {Op::kSqrt, {kI32}, kVoid},
      {Op::kFma, {kF32, kF32, kF32}, kF32},
      {Op::kFma, {kF32, kF32, kF64}, kVoid},
      {Op::kIsNan, {kF32}, kBool},
      {Op::kIsNan, {kI32}, kVoid},
      {Op::kLt, {kU32, kU32}, kBool},
      {Op::kLt, {kBool, kBool}, kVoid},
      {Op::kEq, {kBool, kBool}, kBool},
      {Op::kEq, {kVec3, kVec3}, kVoid},
      {Op::kAnd, {kBool, kBool}, kBool},
      {Op::kAnd, {kBool, kI32}, kVoid},
      {Op::kConditional, {kBool, kVec3, kVec3}, kVec3},
      {Op::kWhere, {kBool, kStructType, kStructType}, kStructType},
      {Op::kWhere, {kI32, kF32, kF32}, kVoid},
      {Op::kWhere, {kBool, kF32.array_of(1), kF32.array_of(1)}, kVoid},
      {Op::kShiftLeft, {kU32, kU32}, kU32},
      {Op::kShiftLeft, {kF32, kF32}, kVoid},
      {Op::kCast, {kBool}, kF64, kF64},
      {Op::kCast, {kVec3}, kVoid, kF64},
      {Op::kCast, {kF32}, kVoid},
      {Op::kReinterpret, {kF32}, kI32, kI32},
      {Op::kReinterpret, {kF64}, kI32, kI32},
      {Op::kReinterpret, {kI64}, kF64, kF64},
      {Op::kReinterpret, {kI64}, kVoid, kF32},
      {Op::kReinterpret, {kF32}, kVoid, kF64},
      {Op::kReinterpret, {kI32}, kVoid, kU32},
      {Op::kReinterpret, {kBool}, kVoid, kF32},
      {Op::kWithField, {kStructType, kF32}, kStructType, kStructType},
      {Op::kWithField, {kF32, kF32}, kVoid, kF32},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = scalars();
  for (const Case& c : linear_algebra())
    cases.push_back(c);
  for (const Case& c : tiles())
    cases.push_back(c);
  return cases;
}

TEST(OperationTypes, ResultTypeOrErrorFollowsTypeRuleOfOperation) {
  for (const Case& c : all_cases()) {
    const Result<Type> type = result_type(c.op, c.operands, c.requested);
    EXPECT_EQ(type.ok(), !c.result.is_void()) << row(c.op).mnemonic;
    if (type.ok()) {
      EXPECT_EQ(type.value(), c.result) << row(c.op).mnemonic;
    } else {
      EXPECT_THAT(type.error().message, ::testing::HasSubstr(row(c.op).mnemonic));
    }
  }
}

TEST(OperationTypes, EveryRuleHasValidAndInvalidExamples) {
  std::set<TypeRule> accepted, rejected;
  for (const Case& c : all_cases())
    (c.result.is_void() ? rejected : accepted).insert(row(c.op).rule);
  for (const OperationEntry& operation : kOperations) {
    EXPECT_TRUE(accepted.contains(operation.rule)) << operation.mnemonic;
    EXPECT_TRUE(rejected.contains(operation.rule)) << operation.mnemonic;
  }
}

TEST(OperationTable, MnemonicsAreUnique) {
  std::set<std::string_view> mnemonics;
  for (const OperationEntry& operation : kOperations)
    EXPECT_TRUE(mnemonics.insert(operation.mnemonic).second);
  for (const AtomicOperationEntry& atomic : kAtomics)
    EXPECT_TRUE(mnemonics.insert(atomic.mnemonic).second);
}

TEST(OperationTable, CodePatternsReferenceOnlyExistingOperands) {
  for (const OperationEntry& operation : kOperations) {
    for (const std::string_view pattern : {operation.warp_pattern, operation.cpp_pattern, operation.cuda_pattern}) {
      for (std::size_t at = pattern.find('$'); at != std::string_view::npos; at = pattern.find('$', at + 1)) {
        const char c = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
        const bool operand = c >= '0' && c < '0' + operation.arity;
        EXPECT_TRUE(operand || c == 'T' || c == '*') << operation.mnemonic << ": " << pattern;
      }
    }
  }
}

TEST(OperationTable, DomainsAreValidIntervals) {
  for (const OperationEntry& operation : kOperations) {
    for (const Interval& interval : operation.domain.operand_intervals) {
      EXPECT_LE(interval.low, interval.high) << operation.mnemonic;
    }
  }
}

TEST(OperationTable, AtomicsAreInEnumerationOrderAndNonDifferentiableOnesHaveReason) {
  for (std::size_t i = 0; i < kAtomics.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kAtomics[i].op), i);
    EXPECT_EQ(kAtomics[i].is_differentiable, kAtomics[i].adjoint_reason.empty()) << kAtomics[i].mnemonic;
  }
}

}  // namespace
}  // namespace assay::ir
