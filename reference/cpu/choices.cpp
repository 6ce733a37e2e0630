#include "reference/cpu/choices.hpp"

#include <array>

namespace assay::reference {

std::optional<BranchPoint::Kind> choice_of(ir::Op op) {
  switch (op) {
    case ir::Op::kMin:
    case ir::Op::kMax: return BranchPoint::Kind::kMinMax;
    case ir::Op::kAbs:
    case ir::Op::kSign:
    case ir::Op::kStep: return BranchPoint::Kind::kSign;
    case ir::Op::kClamp: return BranchPoint::Kind::kClampRange;
    default: return std::nullopt;
  }
}

std::size_t branch_of(BranchPoint::Kind kind, Operands operands) {
  const long double x = operands[0]->v;
  switch (kind) {
    case BranchPoint::Kind::kMinMax: return x < operands[1]->v ? 0 : 1;
    case BranchPoint::Kind::kSign: return x < 0 ? 0 : 1;
    case BranchPoint::Kind::kClampRange:
      if (x < operands[1]->v) return 1;
      return x > operands[2]->v ? 2 : 0;
    case BranchPoint::Kind::kBranch:
    case BranchPoint::Kind::kRangeLoop: break;
  }
  return 0;
}

std::string_view describe_uncovered(BranchPoint::Kind kind, std::size_t branch) {
  static constexpr std::array<std::array<std::string_view, 3>, 5> kWords = {{
      {"the condition is never true", "the condition is never false"},
      {"the loop body never runs", "the loop never finishes"},
      {"the first operand is never the smaller one", "the second operand is never the smaller one"},
      {"the operand is never negative", "the operand is never zero or positive"},
      {"the operand is never inside the range", "the operand is never below the range",
       "the operand is never above the range"},
  }};
  return kWords[static_cast<std::size_t>(kind)][branch];
}

}  // namespace assay::reference
