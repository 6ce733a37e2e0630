#include "reference/cpu/choices.hpp"

#include <array>

namespace assay::reference {

std::optional<Choice::Kind> choice_of(ir::Op op) {
  switch (op) {
    case ir::Op::kMin:
    case ir::Op::kMax: return Choice::Kind::kMinMax;
    case ir::Op::kAbs:
    case ir::Op::kSign:
    case ir::Op::kStep: return Choice::Kind::kSign;
    case ir::Op::kClamp: return Choice::Kind::kRange;
    default: return std::nullopt;
  }
}

std::size_t branch_of(Choice::Kind kind, Operands operands) {
  const long double x = operands[0]->v;
  switch (kind) {
    case Choice::Kind::kMinMax: return x < operands[1]->v ? 0 : 1;
    case Choice::Kind::kSign: return x < 0 ? 0 : 1;
    case Choice::Kind::kRange:
      if (x < operands[1]->v) return 1;
      return x > operands[2]->v ? 2 : 0;
    case Choice::Kind::kBranch:
    case Choice::Kind::kLoop: break;
  }
  return 0;
}

std::string_view describe_uncovered(Choice::Kind kind, std::size_t branch) {
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
