// Declarations of variables and parameters, common to modules and function bodies. Private to the parser.
#pragma once

#include "backends/ptx/parse/cursor.hpp"

namespace assay::ptx {

/// The state space of a directive such as ".global"; kGeneric for other directives.
Space space_of(std::string_view directive);

/// Parses from after the state space up to but excluding the ';' or ',': `.align 8 .b8 name[24] = {1, 2}`.
Variable parse_variable(TokenCursor& cursor, Space space);

/// Assigns offsets to the parameters in order and returns their total size.
std::uint64_t lay_out(std::vector<Variable>& parameters);

}  // namespace assay::ptx
