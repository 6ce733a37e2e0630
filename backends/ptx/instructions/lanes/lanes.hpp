// Handlers of computations: everything except memory, control flow and communication between lanes.
//
// The files of this folder are compiled twice, for the architecture's baseline and for AVX2 with FMA, into the
// namespaces given by ASSAY_PTX_ISA. One of them is chosen at run time.
#pragma once

#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// The handlers for an instruction's opcode, modifiers and types; empty if there are none.
InstructionHandlers select_handlers(const Instruction& instruction);
/// Moves between registers of 4 and 8 bytes: the lower part, or an extension by the type's sign.
InstructionHandlers select_narrowing();
InstructionHandlers select_widening(bool is_signed);
/// d = not a, for every lane's predicate.
InstructionHandlers select_predicate_not();
/// Halves of a 64-bit register, bits [shift, shift + 32) or 16 bits, into one; and the reverse, d |= a << immediate.
InstructionHandlers select_extract(unsigned from_bytes, unsigned bytes);
InstructionHandlers select_insert(unsigned to_bytes, unsigned bytes);

#define ASSAY_PTX_DECLARE_ISA(isa)                                         \
  namespace isa {                                                          \
  InstructionHandlers select_integer(const Instruction& instruction);      \
  InstructionHandlers select_bits(const Instruction& instruction);         \
  InstructionHandlers select_float(const Instruction& instruction);        \
  InstructionHandlers select_half(const Instruction& instruction);         \
  InstructionHandlers select_special(const Instruction& instruction);      \
  InstructionHandlers select_convert(const Instruction& instruction);      \
  InstructionHandlers select_predicate(const Instruction& instruction);    \
  InstructionHandlers select_move(const Instruction& instruction);         \
  InstructionHandlers select_narrowing();                                  \
  InstructionHandlers select_widening(bool is_signed);                     \
  InstructionHandlers select_predicate_not();                              \
  InstructionHandlers select_extract(unsigned from_bytes, unsigned bytes); \
  InstructionHandlers select_insert(unsigned to_bytes, unsigned bytes);    \
  }
ASSAY_PTX_DECLARE_ISA(baseline)
ASSAY_PTX_DECLARE_ISA(avx2)
#undef ASSAY_PTX_DECLARE_ISA

}  // namespace assay::ptx
