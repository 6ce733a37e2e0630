// Conversions, comparisons, selections and moves.
#include <algorithm>
#include <map>

#include "backends/ptx/models/instruction_models.hpp"

namespace assay::ptx::models {

namespace {

std::uint64_t masked(std::uint64_t bits, unsigned bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

ExactValue number(const InstructionForm& s, Type type, std::uint64_t bits) {
  const unsigned width = 8 * bytes_of(type);
  if (!is_float(type)) return exact_integer(bits, width, is_signed(type));
  return exact_float(format_of(type), flushed(s, type, masked(bits, bytes_of(type))));
}

/// An integer in its register, sign-extended.
std::uint64_t in_register(const InstructionForm& s, std::uint64_t bits) {
  const ExactValue value = exact_integer(bits, 8 * bytes_of(s.type), is_signed(s.type));
  const auto magnitude = static_cast<std::uint64_t>(value.significand);
  return masked(value.is_negative ? 0 - magnitude : magnitude, result_bytes(s));
}

/// NaN gives 0, but if either type has 64 bits, only the highest bit set.
std::uint64_t integer_of_nan(const InstructionForm& s) {
  if (bytes_of(s.type) < 8 && bytes_of(s.source_type) < 8) return 0;
  return std::uint64_t{1} << (8 * bytes_of(s.type) - 1);
}

/// Rounds to 11 digits; ties are rounded away from zero.
std::uint64_t tf32_bits(std::uint64_t bits) {
  ExactValue value = exact_float(kF32, masked(bits, 4));
  if (value.is_nan()) return 0x7fffffff;
  int digits = 0;
  while (value.kind == ExactValue::Kind::kFinite && value.significand >> digits != 0)
    ++digits;
  constexpr int kLeastExponent = -126 - 10;
  const int dropped = std::max(digits - 11, kLeastExponent - value.exponent);
  if (dropped > 0) {
    const Bits128 half = Bits128{1} << (dropped - 1);
    value.significand = (value.significand + half) >> dropped;
    value.exponent += dropped;
  }
  return float_bits(kF32, value, Rounding::kNearest);
}

/// The first operand becomes the upper half.
std::uint64_t pair_bits(const InstructionForm& s, const Operands& in) {
  const auto half = [&](std::uint64_t bits) {
    const ExactValue value = number(s, Type::kF32, bits);
    if (s.has("relu") && value.is_negative && !value.is_nan()) return std::uint64_t{0};
    return float_bits(format_of(s.type), value, rounding_of(s));
  };
  return half(in[0]) << 16U | half(in[1]);
}

InstructionResults cvt(const InstructionForm& s, const Operands& in) {
  if (s.type == Type::kTf32) return {tf32_bits(in[0])};
  if (s.type == Type::kF16x2 || s.type == Type::kBf16x2) return {pair_bits(s, in)};
  const ExactValue value = number(s, s.source_type, in[0]);
  const bool to_integer = s.has("rni") || s.has("rzi") || s.has("rmi") || s.has("rpi");
  const ExactValue integral = to_integer ? rounded_to_integer(value, rounding_of(s)) : value;
  if (is_float(s.type)) return {finished(s, float_bits(format_of(s.type), integral, rounding_of(s)))};
  const unsigned width = 8 * bytes_of(s.type);
  if (value.is_nan()) return {in_register(s, integer_of_nan(s))};
  if (is_float(s.source_type) || s.has("sat")) {
    return {in_register(s, clamped_integer_bits(integral, width, is_signed(s.type)))};
  }
  const auto magnitude = static_cast<std::uint64_t>(value.significand);
  return {in_register(s, value.is_negative ? 0 - magnitude : magnitude)};
}

bool holds(const InstructionForm& s, const ExactValue& a, const ExactValue& b) {
  const bool unordered = a.is_nan() || b.is_nan();
  if (s.has("num")) return !unordered;
  if (s.has("nan")) return unordered;
  if (unordered) {
    return s.has("equ") || s.has("neu") || s.has("ltu") || s.has("leu") || s.has("gtu") || s.has("geu");
  }
  const int order = compare(a, b);
  if (s.has("eq") || s.has("equ")) return order == 0;
  if (s.has("ne") || s.has("neu")) return order != 0;
  if (s.has("lt") || s.has("ltu") || s.has("lo")) return order < 0;
  if (s.has("le") || s.has("leu") || s.has("ls")) return order <= 0;
  if (s.has("gt") || s.has("gtu") || s.has("hi")) return order > 0;
  return order >= 0;
}

bool combined(const InstructionForm& s, bool compared, std::uint64_t predicate) {
  const bool other = (predicate & 1U) != 0;
  if (s.has("and")) return compared && other;
  if (s.has("or")) return compared || other;
  if (s.has("xor")) return compared != other;
  return compared;
}

InstructionResults setp(const InstructionForm& s, const Operands& in) {
  const bool compared = holds(s, number(s, s.source_type, in[0]), number(s, s.source_type, in[1]));
  return {combined(s, compared, in[2]), combined(s, !compared, in[2])};
}

/// 1.0 or all ones if the comparison holds.
InstructionResults set(const InstructionForm& s, const Operands& in) {
  const bool compared = holds(s, number(s, s.source_type, in[0]), number(s, s.source_type, in[1]));
  if (!combined(s, compared, in[2])) return {0};
  if (is_float(s.type)) return {float_bits(format_of(s.type), {.significand = 1}, Rounding::kNearest)};
  return {masked(~std::uint64_t{0}, bytes_of(s.type))};
}

InstructionResults selp(const InstructionForm& s, const Operands& in) {
  return {masked((in[2] & 1U) != 0 ? in[0] : in[1], bytes_of(s.type))};
}

/// The first operand if c >= 0; otherwise, or if c is a NaN, the second.
InstructionResults slct(const InstructionForm& s, const Operands& in) {
  const ExactValue c = number(s, s.source_type, in[2]);
  const bool first = !c.is_nan() && (!c.is_negative || c.is_zero());
  return {masked(first ? in[0] : in[1], bytes_of(s.type))};
}

InstructionResults mov(const InstructionForm& s, const Operands& in) {
  return {s.type == Type::kPred ? in[0] & 1U : masked(in[0], bytes_of(s.type))};
}

InstructionResults testp(const InstructionForm& s, const Operands& in) {
  const FloatFormat& format = format_of(s.type);
  const ExactValue value = number(s, s.type, in[0]);
  const bool finite = value.kind == ExactValue::Kind::kFinite;
  const bool has_hidden_bit = finite && value.significand >> (format.significand_digits - 1) != 0;
  if (s.has("finite")) return {finite};
  if (s.has("infinite")) return {value.kind == ExactValue::Kind::kInfinite};
  if (s.has("number")) return {!value.is_nan()};
  if (s.has("notanumber")) return {value.is_nan()};
  if (s.has("normal")) return {has_hidden_bit};
  return {finite && !value.is_zero() && !has_hidden_bit};
}

}  // namespace

Model find_other_model(Opcode opcode) {
  static const std::map<Opcode, Model> kModels = {
      {Opcode::kCvt, cvt},   {Opcode::kSetp, setp}, {Opcode::kSet, set},     {Opcode::kSelp, selp},
      {Opcode::kSlct, slct}, {Opcode::kMov, mov},   {Opcode::kTestp, testp},
  };
  const auto found = kModels.find(opcode);
  return found == kModels.end() ? nullptr : found->second;
}

Model find_model(const InstructionForm& spelling) {
  const Opcode opcode = spelling.opcode_row->opcode;
  if (const Model model = find_other_model(opcode)) return model;
  return is_float(spelling.type) ? find_float_model(opcode) : find_integer_model(opcode);
}

}  // namespace assay::ptx::models
