// Numbers outside of kernels and literals. They follow Python's arithmetic, exact integers and doubles, and get a type
// of the kernel language only when a kernel uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/warp/syntax/syntax.hpp"
#include "ir/builder.hpp"

namespace assay::frontend {

/// One scalar component of a constant.
struct ScalarConstant {
  bool is_real = false;  ///< whether it is a floating-point number (Python's float); otherwise it is an integer or bool
  std::int64_t integer = 0;    ///< value of an integer or bool; the low 64 bits of an integer from 2^63 to 2^64 - 1
  double real = 0;             ///< value of a floating-point number
  bool exceeds_int64 = false;  ///< whether it is an integer from 2^63 to 2^64 - 1

  double as_real() const;
  std::int64_t as_integer() const;  ///< reals are truncated, as by Python's int()
};

/// A value that is known while the file is parsed.
struct Constant {
  ir::Type type;  ///< a scalar type or an aggregate of scalars; Python's int, float and bool are i32, f32 and bool
  bool is_typed = false;  ///< whether a constructor specified its type, which then does not adapt to the context
  std::vector<ScalarConstant> components;  ///< values of the scalar components; one value for a scalar

  static Constant integer(std::int64_t value);
  static Constant real(double value);
  static Constant boolean(bool value);

  const ScalarConstant& number() const { return components.front(); }
  /// As a constant of the scalar type, its value converted as a cast would.
  Constant as(ir::Type scalar) const;
};

/// A literal of the source: integer, float, True or False. Empty for other nodes and unsupported numbers ("1j", an
/// integer of 2^64 or more).
std::optional<Constant> literal_constant(SyntaxNode node);

/// `left symbol right` as Python computes it for numbers; empty if that fails or is not a plain number.
std::optional<Constant> compute(std::string_view symbol, const Constant& left, const Constant& right);
std::optional<Constant> negate(const Constant& value);

/// Whether an untyped integer lies outside the i32 that the kernel language gives it.
bool overflows(const Constant& constant);
/// The constant as an expression of its own type.
ir::ExprId make_expression(ir::Builder& builder, const Constant& constant);

}  // namespace assay::frontend
