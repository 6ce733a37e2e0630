// What each instruction is defined to compute, written from the manual of PTX over exact.hpp and integers of 128 bits,
// without a line of the executor. For tests.
#pragma once

#include <array>
#include <cstdint>

#include "backends/ptx/models/exact.hpp"
#include "backends/ptx/models/spelling.hpp"

namespace assay::ptx::models {

/// The operands' bits, each in the lower part of its word. The fourth is the carry flag for what reads it.
using Operands = std::array<std::uint64_t, 4>;

/// The result's bits in its register, and the carry flag or the second predicate.
struct Results {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

/// An instruction's definition. Operands' unused upper bits are arbitrary.
using Model = Results (*)(const Spelling& spelling, const Operands& operands);

/// The model of a computing instruction; null where there is none.
Model find_model(const Spelling& spelling);

// By field: integers and bits; floats; conversions, comparisons and selections.
Model find_integer_model(Opcode opcode);
Model find_float_model(Opcode opcode);
Model find_other_model(Opcode opcode);

/// The format of a float, or of each half of a pair.
const FloatFormat& format_of(Type type);
Rounding rounding_of(const Spelling& spelling);
/// Bits of subnormal numbers of single precision made those of a zero of the same sign, where the spelling has .ftz.
std::uint64_t flushed(const Spelling& spelling, Type type, std::uint64_t bits);
/// A result, flushed, limited to [0, 1] or from below to 0, as the spelling says.
std::uint64_t finished(const Spelling& spelling, std::uint64_t bits);

}  // namespace assay::ptx::models
