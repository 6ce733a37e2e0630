// Parser of functions and kernels.
#pragma once

#include "ir/text_cursor.hpp"
#include "ir/text_scope.hpp"

namespace assay::ir::text {

/// Parses a function or kernel after the keyword "func" or "kernel" and adds it to the module of the scope.
void parse_function(Cursor& cursor, Scope& scope, bool is_kernel);

}  // namespace assay::ir::text
