// Test programs: every operation and every atomic with every combination of operand types that it accepts.
#pragma once

#include <vector>

#include "backends/device/backend.hpp"
#include "ir/module.hpp"

namespace assay::source::testing {

/// One kernel per row of the operation table, named after it, with one statement per combination.
ir::Module every_operation();

/// One kernel per kind of atomic update, with one statement per element type that the target supports.
ir::Module every_atomic(backends::SourceTarget target);

/// How an operation is embedded in its kernel. kNested computes the same value, but the operands are conditional
/// expressions, which have the lowest precedence, and the result is a factor.
enum class Form { kPlain, kNested };

/// A kernel named after operation and type, with the parameters a, b, c and out, arrays of `type`:
/// out[i] = op(a[i], b[i], c[i]), as many operands as the operation takes; a bool result is converted.
ir::Function elementwise(const ir::Module& module, ir::Op op, ir::Type type, Form form);

}  // namespace assay::source::testing
