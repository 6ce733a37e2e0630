// The inputs on which instructions are compared with their models.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/ptx/models/instruction_models.hpp"

namespace assay::ptx::models {

/// The number of inputs for each instruction. The default is small, for every test run; the slow test uses more.
struct InputCounts {
  /// Number of random inputs of an instruction with one operand of 32 or 64 bits.
  std::size_t random_operand_count = 1U << 12U;
  std::size_t random_tuple_count = 1U << 10U;  ///< number of random inputs of an instruction with several operands
  bool combines_all_with_specials =
      false;  ///< all 2^16 values of the first operand with each special value of the second

  static InputCounts large() { return {std::size_t{1} << 24U, std::size_t{1} << 16U, true}; }
};

/// NaN, infinities, zeros, limits of subnormal and normal numbers, numbers near one; for integers, powers of two and
/// their neighbors with both signs; for shift amounts, values around every width.
std::vector<std::uint64_t> special_values(const SourceOperand& source);

/// Operands for an instruction. A single operand takes all values if it has 16 bits, otherwise all special values, the
/// ends of every binade and random values. Two operands take all pairs of special values; a first operand of 16 bits
/// also takes all values with one or each special value of the second. A third and fourth operand cycle through their
/// values, or take all if they are few (in the small form, only for the pairs).
std::vector<Operands> operands_for(const InstructionForm& spelling, const InputCounts& extent);

}  // namespace assay::ptx::models
