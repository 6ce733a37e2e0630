// What each instruction of a kernel does to unrounded values, decided once for a launch.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/unrounded/numbers.hpp"

namespace assay::ptx {

/// The effect of an instruction on unrounded values.
enum class UnroundedEffect : std::uint8_t {
  kNone,        ///< no effect: it reads and writes no register that may have unrounded values
  kForget,      ///< its result is exact or is rounded on purpose, so that only the rounded value counts
  kArithmetic,  ///< it computes floats
  kComparison,  ///< it compares floats; the comparison of rounded values decides
  kConversion,  ///< it converts between types of floats
  kCopy,        ///< it copies a register
  kSelection,   ///< it copies one of two registers
  kPacking,     ///< it writes one half of a register
  kUnpacking,   ///< it reads one half of a register
  kBits,        ///< it treats floats as integers
};

/// A source of an instruction.
struct UnroundedOperand {
  std::int32_t register_index = -1;          ///< index of the UnroundedRegister; -1: never has unrounded values
  const UnroundedLanes* constant = nullptr;  ///< numbers of a constant float; null: not a constant
  FrameSlot slot;                            ///< place of the rounded values
};

/// One instruction.
struct UnroundedOp {
  UnroundedEffect effect = UnroundedEffect::kNone;
  Type type = Type::kNone;   ///< type of the operands; for a pair of halves, of one half
  bool is_pair = false;      ///< whether it computes two halves
  UnroundedOperand a, b, c;  ///< sources
  /// Whether a rounded constant is added to a product, as in the polynomials of math libraries.
  bool is_polynomial_step = false;
  std::int32_t destination_index = -1;  ///< index of the UnroundedRegister that it writes; -1: none
};

/// The plan of a kernel.
class UnroundedPlan {
 public:
  explicit UnroundedPlan(const Kernel& kernel);
  UnroundedPlan(const UnroundedPlan&) = delete;
  UnroundedPlan& operator=(const UnroundedPlan&) = delete;

  [[nodiscard]] const UnroundedOp& op(std::size_t index) const { return ops_[index]; }
  /// The number of registers that may have unrounded values.
  [[nodiscard]] std::size_t register_count() const { return index_by_slot_.size(); }
  /// The register in this place; -1 if it never has unrounded values.
  [[nodiscard]] std::int32_t register_index(FrameSlot slot) const {
    const auto found = index_by_slot_.find(slot.bits);
    return found == index_by_slot_.end() ? -1 : found->second;
  }
  /// The stored values or destinations of a memory access.
  [[nodiscard]] const std::array<UnroundedOperand, 4>& memory_operands(std::size_t memory_op_index) const {
    return memory_operands_[memory_op_index];
  }

 private:
  void find_constant_registers();
  void find_coefficient_registers(const std::unordered_map<std::uint32_t, int>& write_counts);
  void find_registers();
  bool mark(FrameSlot slot);
  [[nodiscard]] bool is_marked(FrameSlot slot) const { return index_by_slot_.contains(slot.bits); }
  [[nodiscard]] UnroundedOperand operand(FrameSlot slot, Type type);
  [[nodiscard]] bool is_rounded_coefficient(FrameSlot slot, Type type);
  [[nodiscard]] UnroundedOp plan(const Op& op);
  [[nodiscard]] bool may_write(const Op& op) const;

  const Kernel& kernel_;
  std::unordered_map<std::uint32_t, std::int32_t> index_by_slot_;  ///< register indices, by FrameSlot::bits
  /// Place of the constant that a register always holds, by FrameSlot::bits of the register.
  std::unordered_map<std::uint32_t, FrameSlot> constant_slot_by_register_;
  /// Places of the constants that a register holds at different times, by FrameSlot::bits of the register. Only for
  /// registers that never hold anything else.
  std::unordered_map<std::uint32_t, std::vector<FrameSlot>> coefficients_by_register_;
  /// Constants, by FrameSlot::bits and type. References to the elements stay valid.
  std::unordered_map<std::uint64_t, UnroundedLanes> constants_;
  std::vector<UnroundedOp> ops_;                                  ///< by op of the kernel
  std::vector<std::array<UnroundedOperand, 4>> memory_operands_;  ///< by memory access of the kernel
};

}  // namespace assay::ptx
