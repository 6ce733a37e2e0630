// Conversions, comparisons, selections and moves.
#include <algorithm>
#include <map>
#include <vector>

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

/// Rounds to 11 digits.
std::uint64_t tf32_bits(const InstructionForm& s, std::uint64_t bits) {
  ExactValue value = exact_float(kF32, masked(bits, 4));
  if (value.is_nan()) return 0x7fffffff;
  if (s.has("relu") && value.is_negative) return 0;
  int digits = 0;
  while (value.kind == ExactValue::Kind::kFinite && value.significand >> digits != 0)
    ++digits;
  constexpr int kLeastExponent = -126 - 10;
  const int dropped = std::max(digits - 11, kLeastExponent - value.exponent);
  if (dropped > 0) {
    const Bits128 half = Bits128{1} << (dropped - 1);
    const Bits128 remainder = value.significand & (2 * half - 1);
    value.significand >>= dropped;
    const bool is_odd = (value.significand & 1U) != 0;
    if (s.has("rna") ? remainder >= half : s.has("rn") && (remainder > half || (remainder == half && is_odd)))
      ++value.significand;
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

/// The numbers of a type of at most 8 bits that are not negative, as multiples of its smallest number, in the order of
/// their bits.
std::vector<ExactValue> small_floats(Type pair) {
  struct Format {
    int mantissa_bits, least_exponent, count;
  };
  const Format format = pair == Type::kE4m3x2   ? Format{3, -9, 127}
                        : pair == Type::kE5m2x2 ? Format{2, -16, 124}
                        : pair == Type::kE2m3x2 ? Format{3, -3, 32}
                                                : Format{2, -4, 32};
  std::vector<ExactValue> numbers;
  const int binade = 1 << format.mantissa_bits;
  for (int bits = 0; bits < format.count; ++bits) {
    const int exponent = bits / binade;
    const int significand = bits % binade + (exponent > 0 ? binade : 0);
    numbers.push_back({.significand = static_cast<Bits128>(significand) << std::max(exponent - 1, 0),
                       .exponent = format.least_exponent});
  }
  return numbers;
}
std::uint64_t sign_of_small_float(Type pair) { return pair == Type::kE4m3x2 || pair == Type::kE5m2x2 ? 0x80 : 0x20; }

/// The bits of the nearest number, which a search finds. Of two nearest ones, that with an even last bit.
std::uint64_t small_float_bits(const InstructionForm& s, const ExactValue& value) {
  const std::vector<ExactValue> numbers = small_floats(s.type);
  const bool has_nan = sign_of_small_float(s.type) == 0x80;
  if (value.is_nan()) return has_nan ? 0x7f : numbers.size() - 1;
  if (s.has("relu") && value.is_negative) return 0;
  const std::uint64_t sign = value.is_negative ? sign_of_small_float(s.type) : 0;
  const ExactValue magnitude = value.is_negative ? value.negated() : value;
  std::uint64_t bits = 0;
  while (bits + 1 < numbers.size()) {
    const ExactValue middle{.significand = numbers[bits].significand + numbers[bits + 1].significand,
                            .exponent = numbers[bits].exponent - 1};
    const int order = compare(magnitude, middle);
    if (order < 0 || (order == 0 && bits % 2 == 0)) break;
    ++bits;
  }
  return sign | bits;
}

/// The f16 with the number of a float of at most 8 bits.
std::uint64_t bits_of_small_float(const InstructionForm& s, std::uint64_t bits) {
  const std::vector<ExactValue> numbers = small_floats(s.source_type);
  const std::uint64_t sign_bit = sign_of_small_float(s.source_type);
  const std::uint64_t magnitude = bits & (sign_bit - 1);
  const bool is_infinite = s.source_type == Type::kE5m2x2 && magnitude == numbers.size();
  if (!is_infinite && magnitude >= numbers.size()) return 0x7fff;
  ExactValue value = is_infinite ? ExactValue{.kind = ExactValue::Kind::kInfinite} : numbers[magnitude];
  if ((bits & sign_bit) != 0) value = value.negated();
  if (s.has("relu") && value.is_negative) return 0;
  return float_bits(kF16, value, Rounding::kNearest);
}

InstructionResults cvt(const InstructionForm& s, const Operands& in) {
  if (s.type == Type::kTf32) return {tf32_bits(s, in[0])};
  if (is_pair_of_small_floats(s.source_type))
    return {bits_of_small_float(s, in[0] >> 8U & 0xffU) << 16U | bits_of_small_float(s, in[0] & 0xffU)};
  if (is_pair_of_small_floats(s.type)) {
    const bool is_pair = s.source_type == Type::kF16x2;
    const ExactValue upper =
        exact_float(is_pair ? kF16 : kF32, masked(is_pair ? in[0] >> 16U : in[0], is_pair ? 2 : 4));
    const ExactValue lower = exact_float(is_pair ? kF16 : kF32, masked(is_pair ? in[0] : in[1], is_pair ? 2 : 4));
    return {small_float_bits(s, upper) << 8U | small_float_bits(s, lower)};
  }
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
  if (single(s.type) != s.type) {
    const std::uint64_t one = float_bits(format_of(s.type), {.significand = 1}, Rounding::kNearest);
    std::uint64_t bits = 0;
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const Type half = single(s.source_type);
      if (holds(s, number(s, half, in[0] >> shift), number(s, half, in[1] >> shift))) bits |= one << shift;
    }
    return {bits};
  }
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
