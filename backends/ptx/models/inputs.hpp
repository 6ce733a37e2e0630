// What the models' instructions are tried on. For tests.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/ptx/models/instruction_models.hpp"

namespace assay::ptx::models {

/// How much is tried: the small form in each run of the tests, the large one as the slow test.
struct Extent {
  std::size_t conversions = 1U << 12U;  ///< random operands of an instruction with one, of 32 or 64 bits
  std::size_t tuples = 1U << 10U;       ///< random operands of one with more
  bool all_specials = false;            ///< all 2^16 values of the first operand with each special one of the second

  static Extent large() { return {std::size_t{1} << 24U, std::size_t{1} << 16U, true}; }
};

/// NaN, infinities, zeros, ends of the subnormal and the normal numbers, numbers near one; of integers, powers of two
/// and their neighbours with both signs; of amounts, those around every width.
std::vector<std::uint64_t> special_values(const Source& source);

/// Operands for an instruction: one operand of 16 bits takes all values and one of more bits all special ones, the ends
/// of every binade and random ones; two take all pairs of special values, and the first of 16 bits all values with one
/// or each special value of the second; a third and a fourth operand pass through theirs, or take all where they are
/// few, in the small form for the pairs only.
std::vector<Operands> operands_for(const Spelling& spelling, const Extent& extent);

}  // namespace assay::ptx::models
