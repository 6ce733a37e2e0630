#include "reference/cpu/evaluators.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "reference/cpu/evaluator_tables.hpp"
#include "support/fault_injection.hpp"

namespace assay::reference {
namespace {

using ir::Op;

constexpr std::array kIntegerOperations{
    Op::kBitAnd, Op::kBitOr, Op::kBitXor, Op::kBitNot, Op::kShiftLeft, Op::kShiftRight, Op::kWrapIndex,
};

/// Operations that are lowered to moves, selections, branches and other operations.
constexpr std::array kComposedOperations{
    Op::kAnd,           Op::kOr,
    Op::kNot,           Op::kConditional,
    Op::kWhere,         Op::kCast,
    Op::kReinterpret,   Op::kMake,
    Op::kSplat,         Op::kExtract,
    Op::kInsert,        Op::kCross,
    Op::kLengthSquared, Op::kNormalize,
    Op::kCwMul,         Op::kCwDiv,
    Op::kDoubleDot,     Op::kTranspose,
    Op::kOuter,         Op::kQuatInverse,
    Op::kTranslation,   Op::kRotation,
    Op::kSpatialTop,    Op::kSpatialBottom,
    Op::kWithField,     Op::kTileProduct,
    Op::kTileSum,       Op::kTileBroadcast,
    Op::kTileReshape,   Op::kTileTranspose,
    Op::kTileMin,       Op::kTileMax,
    Op::kTileArgmin,    Op::kTileArgmax,
    Op::kTileScan,      Op::kTileScanExclusive,
    Op::kTileReverse,   Op::kTileExtract,
    Op::kTileInsert,    Op::kTileArange,
    Op::kTileView,      Op::kTileAssign,
    Op::kTileDiagAdd,   Op::kTileScanMax,
    Op::kTileScanMin,   Op::kTileRunSums,
    Op::kTileRunSpread,
};

class Table {
 public:
  Table() {
    for (const auto& rows :
         {evaluators::compound(), evaluators::matrix(), evaluators::piecewise(), evaluators::smooth()})
      for (const Evaluator& row : rows)
        add(row);
    for (const Op op : kIntegerOperations)
      add({.op = op, .role = EvaluatorRole::kNoFloatOperands});
    for (const Op op : kComposedOperations)
      add({.op = op, .role = EvaluatorRole::kLoweredToOtherOperations});
    for (const ir::OperationEntry& row : ir::kOperations)
      require(present_.at(index_of(row.op)), row.op, "no evaluator");
  }

  const Evaluator& operator[](Op op) const { return rows_.at(index_of(op)); }

 private:
  static std::size_t index_of(Op op) { return static_cast<std::size_t>(op); }
  static void require(bool holds, Op op, const char* what) {
    if (!holds) throw std::logic_error(fmt::format("operation {}: {}", ir::row(op).mnemonic, what));
  }

  void add(const Evaluator& row) {
    require(!present_.at(index_of(row.op)), row.op, "two evaluators are registered for this operation");
    const bool has_derivative = ir::row(row.op).adjoint_kind == ir::AdjointKind::kHasRule;
    require(row.role == EvaluatorRole::kLoweredToOtherOperations || row.is_differentiable == has_derivative, row.op,
            "the evaluator must have a derivative if, and only if, the operation has one");
    present_.at(index_of(row.op)) = true;
    rows_.at(index_of(row.op)) = row;
  }

  std::array<Evaluator, ir::kOpCount> rows_{};
  std::array<bool, ir::kOpCount> present_{};
};

}  // namespace

const Evaluator& original_evaluator(Op op) {
  static const Table table;
  return table[op];
}

const Evaluator& evaluator(Op op) {
  if constexpr (kFaultInjectionEnabled) return with_faulty_rule(original_evaluator(op));
  return original_evaluator(op);
}

}  // namespace assay::reference
