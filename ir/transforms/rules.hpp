// The adjoint rules: for y = op(x0, x1, ...) and the adjoint w of y, the contribution of w to the adjoint of each
// operand.
//
// A rule is one formula. It also declares which primal values it reads, so that the sweeps keep only those.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/builder.hpp"

namespace assay::transforms {

/// The inputs of a rule. Expressions are built in the backward kernel.
struct AdjointRuleContext {
  ir::Builder& builder;
  ir::ExprId w;                             ///< adjoint of the result
  std::span<const ir::ExprId> args;         ///< operands; kNone for those that the rule does not read
  ir::ExprId result;                        ///< result of the operation; kNone if the rule does not read it
  std::span<const ir::Type> operand_types;  ///< types of the operands
  std::int32_t index;                       ///< index of the field, for kWithField
};

inline constexpr std::uint8_t kReadsFirstOperand = 1, kReadsSecondOperand = 2, kReadsThirdOperand = 4, kReadsResult = 8;

/// Whether a zero w needs an explicit test to contribute zero: zero times an infinite partial derivative would be NaN.
enum class ZeroAdjointTest : std::uint8_t {
  kNever,                ///< the partial derivative is finite for all operands, or w is selected and not multiplied
  kForUnselectedValues,  ///< it is finite unless an operand or the result is not, which is allowed only for unselected
                         ///< values
  kAlways,               ///< it may be infinite where the operation is finite, or the result may overflow
};

struct AdjointRule {
  /// The contribution to operand k, of the type of the operand. Null if the operation has no rule.
  ir::ExprId (*term)(AdjointRuleContext&, int k) = nullptr;
  /// Mask of the primal values that term(k) reads, for k = 0, 1, 2; operands above 2 use the mask of 2.
  std::array<std::uint8_t, 3> primal_masks_by_operand{};
  ZeroAdjointTest zero_adjoint_test = ZeroAdjointTest::kNever;  ///< whether a zero w needs an explicit test
};

const AdjointRule& rule_of(ir::Op op);

/// Primal values that the contribution to operand k reads.
inline std::uint8_t reads_of(const AdjointRule& rule, std::size_t k) {
  return rule.primal_masks_by_operand[k < 2 ? k : 2];
}

}  // namespace assay::transforms
