// Test programs: every operation and every atomic with every combination of operand types that it accepts.
#pragma once

#include <span>
#include <string>
#include <string_view>
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

/// The operand of an atomic maximum of floats: an expression over the inputs of extremum_kernel.
struct ExtremumOperand {
  const char* type;        ///< type of the value
  const char* expression;  ///< in the text form of the language
};
/// One for each operation that adds floats, with the shapes of its operands.
std::span<const ExtremumOperand> extremum_operands();
/// The text of a kernel that stores the value in `out` and makes it the maximum in `most`. The inputs before these
/// arrays are x, y, z (numbers), v, w (vectors of 3), m, n (3x3 matrices), two, four (2x2 and 4x4), p, q (quaternions).
std::string extremum_kernel(const ExtremumOperand& operand, std::string_view name);

}  // namespace assay::source::testing
