// Integer and bool operations: exact, wrapping as in C.
//
// Values are held as 64 bits, sign-extended for signed types, zero-extended for unsigned ones; u64 as its bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/operations/operations.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// The result of an integer operation, and the defect if C does not define it.
struct IntegerResult {
  std::int64_t value = 0;                    ///< the result; 0 if there is a defect
  std::optional<Finding::Kind> defect = {};  ///< the defect if C does not define the result; otherwise nullopt
};

/// One operation of the table on operands of type `scalar`; tests give 0 or 1.
IntegerResult evaluate_integer(ir::Op op, ir::Scalar scalar, std::span<const std::int64_t> x);
/// The content after an atomic update of `old` by `value`. kCompareAndSwap is not supported.
std::int64_t update_integer(ir::AtomicOp op, ir::Scalar scalar, std::int64_t old, std::int64_t value);
/// Whether a truncated float is in the range of an integer type.
bool fits(ir::Scalar scalar, long double truncated);
/// A truncated float as the bits of an integer type; it must be in the range of the type.
std::int64_t to_integer(ir::Scalar scalar, long double truncated);
/// The number represented by the bits of an integer type.
long double to_real(ir::Scalar scalar, std::int64_t bits);

}  // namespace assay::reference
