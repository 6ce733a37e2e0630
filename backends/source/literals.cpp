#include "backends/source/literals.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "support/concat.hpp"

namespace assay::source {
namespace {

using ir::Scalar;

template <typename Float>
std::string shortest(Float value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string float_text(SourceUnit& unit, Scalar scalar, double value, LiteralForm form) {
  const std::string_view type = spelling(scalar);
  if (!std::isfinite(value)) {
    const std::string_view function = std::isnan(value) ? "not_a_number" : "infinity";
    unit.helpers().use(function);
    return fmt::format("{}({}{}())", type, value < 0 ? "-" : "", function);
  }
  if (scalar == Scalar::kF64) return shortest(value);
  const std::string digits = shortest(static_cast<float>(value)) + "f";
  return form == LiteralForm::kUntyped ? digits : concat(type, "(", digits, ")");
}

std::string integer_text(Scalar scalar, std::uint64_t bits) {
  const auto value = static_cast<std::int64_t>(bits);
  switch (scalar) {
    case Scalar::kBool: return bits != 0 ? "true" : "false";
    // The smallest value has no literal of its type.
    case Scalar::kI32:
      return value == std::numeric_limits<std::int32_t>::min() ? "(-2147483647 - 1)" : std::to_string(value);
    case Scalar::kI64:
      return value == std::numeric_limits<std::int64_t>::min() ? "(-9223372036854775807LL - 1)"
                                                               : std::to_string(value) + "LL";
    case Scalar::kU32: return std::to_string(static_cast<std::uint32_t>(bits)) + "u";
    case Scalar::kU64: return std::to_string(bits) + "ull";
    default: return concat("(", spelling(scalar), ")", std::to_string(value));
  }
}

}  // namespace

std::string literal_text(SourceUnit& unit, const ir::Expr& literal, LiteralForm form) {
  const Scalar scalar = literal.type.scalar;
  if (ir::is_float(scalar)) return float_text(unit, scalar, std::bit_cast<double>(literal.bits), form);
  return integer_text(scalar, literal.bits);
}

}  // namespace assay::source
