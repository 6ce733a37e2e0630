// The adjoint rules: for y = op(x0, x1, ...) and the adjoint w of y, what w contributes to the adjoint of each operand.
//
// One line of mathematics per rule. A rule also says which primal values it reads, so that the sweeps keep just those.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/builder.hpp"

namespace assay::transforms {

/// What a rule may use. Expressions are made in the backward kernel.
struct RuleContext {
  ir::Builder& builder;
  ir::ExprId w;                      ///< the adjoint of the result
  std::span<const ir::ExprId> args;  ///< the operands; kNone where the rule does not read them
  ir::ExprId result;                 ///< the result, or kNone
  std::span<const ir::Type> types;   ///< of the operands
  std::int32_t index;                ///< field, for kWithField
};

inline constexpr std::uint8_t kReadsFirst = 1, kReadsSecond = 2, kReadsThird = 4, kReadsResult = 8;

/// Whether a zero w must contribute zero by a test: zero times an infinite partial derivative would be NaN.
enum class Guard : std::uint8_t {
  kNever,     ///< the partial derivative is finite whatever the operands, or w is chosen and not multiplied
  kIfMasked,  ///< it is finite unless an operand or the result is not, which only unselected values may be
  kAlways,    ///< it may be infinite where the operation is finite, or the result may overflow
};

struct Rule {
  /// The contribution to operand k; its type is the operand's. Null where the operation has no rule.
  ir::ExprId (*term)(RuleContext&, int k) = nullptr;
  /// Which primal values term(k) reads, as a mask, for k = 0, 1, 2; higher operands read as 2 does.
  std::array<std::uint8_t, 3> reads{};
  Guard guard = Guard::kNever;
};

const Rule& rule_of(ir::Op op);

/// Primal values that the contribution to operand k reads.
inline std::uint8_t reads_of(const Rule& rule, std::size_t k) { return rule.reads[k < 2 ? k : 2]; }

}  // namespace assay::transforms
