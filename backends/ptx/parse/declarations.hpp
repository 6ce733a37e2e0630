// Variables and parameters: what modules and bodies of functions share. Private to the parser.
#pragma once

#include "backends/ptx/parse/cursor.hpp"

namespace assay::ptx {

/// The state space of a directive as ".global"; kGeneric when it is none.
Space space_of(std::string_view directive);

/// Reads from behind the state space up to and without the ';' or ',': `.align 8 .b8 name[24] = {1, 2}`.
Variable parse_variable(Cursor& cursor, Space space);

/// Gives parameters, in order, their offsets, and returns the size of all.
std::uint64_t lay_out(std::vector<Variable>& parameters);

}  // namespace assay::ptx
