// Validates an instruction's operands against the opcode table. Private to the parser.
#pragma once

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Throws SyntaxError for an invalid number, kind or width of operands.
void validate(const Instruction& instruction, const Function& function);

}  // namespace assay::ptx
