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

/// The inputs of an adjoint rule. It builds expressions in the backward kernel.
struct AdjointRuleContext {
  ir::Builder& builder;                     ///< builds expressions in the backward kernel
  ir::ExprId w;                             ///< adjoint of the result
  std::span<const ir::ExprId> args;         ///< operands; kNone for those that the rule does not read
  ir::ExprId result;                        ///< result of the operation; kNone if the rule does not read it
  std::span<const ir::Type> operand_types;  ///< types of the operands
  std::int32_t index;                       ///< for kWithField: index of the field
};

/// Bits of AdjointRule::primal_masks_by_operand: which primal values a rule reads.
inline constexpr std::uint8_t kReadsFirstOperand = 1, kReadsSecondOperand = 2, kReadsThirdOperand = 4, kReadsResult = 8;

/// Whether a rule must test if the adjoint w is zero. Without the test, a zero w times an infinite partial derivative
/// would give NaN instead of zero.
enum class ZeroAdjointTest : std::uint8_t {
  kNever,  ///< no test, because the partial derivative is always finite, or w is selected and not multiplied
  /// A test only for values that a later selection may not choose (Activity::possibly_unused_values): the partial
  /// derivative is infinite only where an operand or the result is, and only such values may be infinite.
  kForUnselectedValues,
  /// Always a test, because the partial derivative may be infinite where the operation is finite, or the result may
  /// overflow.
  kAlways,
};

/// How an operation contributes to the adjoints of its operands.
struct AdjointRule {
  /// The contribution to operand k, of the type of the operand. Null if the operation has no rule.
  ir::ExprId (*term)(AdjointRuleContext&, int k) = nullptr;
  /// Mask of the primal values that term(k) reads, for k = 0, 1, 2 (kReadsFirstOperand and so on). Operands after the
  /// third use the mask for k = 2.
  std::array<std::uint8_t, 3> primal_masks_by_operand{};
  ZeroAdjointTest zero_adjoint_test = ZeroAdjointTest::kNever;  ///< whether the rule must test if w is zero
};

const AdjointRule& rule_of(ir::Op op);

/// Returns the mask of the primal values that the contribution to operand k reads.
inline std::uint8_t reads_of(const AdjointRule& rule, std::size_t k) {
  return rule.primal_masks_by_operand[k < 2 ? k : 2];
}

}  // namespace assay::transforms
