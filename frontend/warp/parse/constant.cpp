#include "frontend/warp/parse/constant.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace assay::frontend {
namespace {

std::string without_underscores(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  return digits;
}

std::optional<Constant> parse_integer(std::string_view text) {
  std::string digits = without_underscores(text);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    const char marker = static_cast<char>(digits[1] | 0x20);
    base = marker == 'x' ? 16 : marker == 'b' ? 2 : marker == 'o' ? 8 : 10;
    if (base != 10) digits.erase(0, 2);
  }
  errno = 0;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(digits.c_str(), &end, base);
  if (errno != 0 || *end != '\0') return std::nullopt;
  Constant constant = Constant::integer(static_cast<std::int64_t>(value));
  constant.components[0].exceeds_int64 = value > std::numeric_limits<std::int64_t>::max();
  return constant;
}

std::optional<Constant> parse_real(std::string_view text) {
  const std::string digits = without_underscores(text);
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return Constant::real(value);
}

/// The result of the computation; empty if it overflowed.
template <class Arithmetic>
std::optional<Constant> exactly(Arithmetic arithmetic) {
  std::int64_t result = 0;
  if (arithmetic(&result)) return std::nullopt;
  return Constant::integer(result);
}

std::optional<Constant> integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return Constant::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  if (base == 0 || base == 1) return Constant::integer(exponent == 0 ? 1 : base);
  if (base == -1) return Constant::integer(exponent % 2 == 0 ? 1 : -1);
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return Constant::integer(result);
}

/// Python's floor division and the corresponding remainder.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<Constant> compute_integers(std::string_view symbol, std::int64_t a, std::int64_t b) {
  using Result = std::int64_t*;
  if (symbol == "+") return exactly([&](Result r) { return __builtin_add_overflow(a, b, r); });
  if (symbol == "-") return exactly([&](Result r) { return __builtin_sub_overflow(a, b, r); });
  if (symbol == "*") return exactly([&](Result r) { return __builtin_mul_overflow(a, b, r); });
  if (symbol == "**") return integer_power(a, b);
  if (symbol == "<<" && b >= 0 && b < 63) {
    return exactly([&](Result r) { return __builtin_mul_overflow(a, std::int64_t{1} << b, r); });
  }
  if (symbol == ">>" && b >= 0 && b < 63) return Constant::integer(a >> b);
  if (symbol == "&") return Constant::integer(a & b);
  if (symbol == "|") return Constant::integer(a | b);
  if (symbol == "^") return Constant::integer(a ^ b);
  if (b == 0 || b == -1) return b == -1 && symbol == "//" ? compute_integers("-", 0, a) : std::nullopt;
  if (symbol == "/") return Constant::real(static_cast<double>(a) / static_cast<double>(b));
  if (symbol == "//") return Constant::integer(floor_divide(a, b));
  if (symbol == "%") return Constant::integer(a - b * floor_divide(a, b));
  return std::nullopt;
}

std::optional<Constant> compute_reals(std::string_view symbol, double a, double b) {
  if (symbol == "+") return Constant::real(a + b);
  if (symbol == "-") return Constant::real(a - b);
  if (symbol == "*") return Constant::real(a * b);
  if (symbol == "**" && (a > 0 || b == std::floor(b)) && !(a == 0 && b < 0)) return Constant::real(std::pow(a, b));
  if (b == 0) return std::nullopt;
  if (symbol == "/") return Constant::real(a / b);
  if (symbol == "//") return Constant::real(std::floor(a / b));
  if (symbol == "%") return Constant::real(a - b * std::floor(a / b));
  return std::nullopt;
}

}  // namespace

double ScalarConstant::as_real() const {
  if (is_real) return real;
  return exceeds_int64 ? static_cast<double>(static_cast<std::uint64_t>(integer)) : static_cast<double>(integer);
}

std::int64_t ScalarConstant::as_integer() const {
  if (!is_real) return integer;
  constexpr double kLimit = 9223372036854775808.0;
  if (std::isnan(real)) return 0;
  if (real >= kLimit) return real < 2 * kLimit ? static_cast<std::int64_t>(static_cast<std::uint64_t>(real)) : 0;
  return real < -kLimit ? 0 : static_cast<std::int64_t>(real);
}

Constant Constant::integer(std::int64_t value) { return {.type = ir::kI32, .components = {{.integer = value}}}; }
Constant Constant::real(double value) { return {.type = ir::kF32, .components = {{.is_real = true, .real = value}}}; }
Constant Constant::boolean(bool value) { return {.type = ir::kBool, .components = {{.integer = value ? 1 : 0}}}; }

Constant Constant::as(ir::Type scalar) const {
  const ScalarConstant& from = number();
  ScalarConstant to;
  if (scalar.is_float_scalar()) {
    to = {.is_real = true, .real = ir::round_to(scalar.scalar, from.as_real())};
  } else if (scalar.is_bool()) {
    to.integer = from.is_real ? from.real != 0 : from.integer != 0;
  } else {
    to = {.integer = from.as_integer(), .exceeds_int64 = from.exceeds_int64};
  }
  return {.type = scalar, .is_typed = true, .components = {to}};
}

std::optional<Constant> literal_constant(SyntaxNode node) {
  switch (node.kind()) {
    case SyntaxKind::kInteger: return parse_integer(node.text());
    case SyntaxKind::kFloat: return parse_real(node.text());
    case SyntaxKind::kTrue: return Constant::boolean(true);
    case SyntaxKind::kFalse: return Constant::boolean(false);
    default: return std::nullopt;
  }
}

std::optional<Constant> compute(std::string_view symbol, const Constant& left, const Constant& right) {
  if (left.is_typed || right.is_typed) return std::nullopt;
  const ScalarConstant& a = left.number();
  const ScalarConstant& b = right.number();
  if (a.is_real || b.is_real) return compute_reals(symbol, a.as_real(), b.as_real());
  if (a.exceeds_int64 || b.exceeds_int64) return std::nullopt;
  return compute_integers(symbol, a.integer, b.integer);
}

std::optional<Constant> negate(const Constant& value) {
  Constant result = value;
  for (ScalarConstant& number : result.components) {
    if (number.is_real) {
      number.real = -number.real;
    } else if (number.exceeds_int64) {
      if (number.integer != std::numeric_limits<std::int64_t>::min()) return std::nullopt;
      number.exceeds_int64 = false;
    } else {
      number.integer = -number.integer;
    }
  }
  if (result.type.is_bool()) result.type = ir::kI32;
  return result;
}

bool overflows(const Constant& constant) {
  if (constant.is_typed || constant.type != ir::kI32) return false;
  const ScalarConstant& number = constant.number();
  return number.exceeds_int64 || number.integer > std::numeric_limits<std::int32_t>::max() ||
         number.integer < std::numeric_limits<std::int32_t>::min();
}

ir::ExprId make_expression(ir::Builder& builder, const Constant& constant) {
  const ir::Type component = constant.type.component();
  std::vector<ir::ExprId> parts;
  for (const ScalarConstant& number : constant.components) {
    parts.push_back(component.is_float_scalar() ? builder.literal(component, number.as_real())
                                                : builder.literal(component, number.as_integer()));
  }
  return constant.type.is_scalar() ? parts.front() : builder.make(constant.type, parts);
}

}  // namespace assay::frontend
