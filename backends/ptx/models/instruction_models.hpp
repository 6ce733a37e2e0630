// The definition of each instruction, written from the PTX manual with exact.hpp and 128-bit integers, independent of
// the interpreter.
#pragma once

#include <array>
#include <cstdint>

#include "backends/ptx/models/exact.hpp"
#include "backends/ptx/models/spelling.hpp"

namespace assay::ptx::models {

/// The operands' bits, each in the lower part of its word. The fourth is the carry flag for instructions that read it.
using Operands = std::array<std::uint64_t, 4>;

/// The results of an instruction, as bits.
struct InstructionResults {
  std::uint64_t result_bits = 0;         ///< bits of the destination register
  std::uint64_t second_result_bits = 0;  ///< carry flag or second predicate; 0 if the instruction has neither
};

/// An instruction's definition. Operands' unused upper bits are arbitrary.
using Model = InstructionResults (*)(const InstructionForm& spelling, const Operands& operands);

/// The model of a computing instruction; null if there is none.
Model find_model(const InstructionForm& spelling);

// By field: integers and bits; floats; conversions, comparisons and selections.
Model find_integer_model(Opcode opcode);
Model find_float_model(Opcode opcode);
Model find_other_model(Opcode opcode);

/// The format of a float, or of each half of a pair.
const FloatFormat& format_of(Type type);
Rounding rounding_of(const InstructionForm& spelling);
/// Replaces single-precision subnormals by zeros of the same sign if the spelling has .ftz.
std::uint64_t flushed(const InstructionForm& spelling, Type type, std::uint64_t bits);
/// Flushes a result, and clamps it to [0, 1] or to at least 0, as the spelling specifies.
std::uint64_t finished(const InstructionForm& spelling, std::uint64_t bits);

}  // namespace assay::ptx::models
