// Reading of functions and kernels, statement by statement.
#pragma once

#include "ir/text_cursor.hpp"
#include "ir/text_scope.hpp"

namespace assay::ir::text {

/// Reads what follows the word "func" or "kernel" and adds it to the scope's module.
void parse_function(Cursor& cursor, Scope& scope, bool is_kernel);

}  // namespace assay::ir::text
