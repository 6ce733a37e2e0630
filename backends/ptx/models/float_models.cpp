// Arithmetic of single floats and of pairs of halves.
#include <map>

#include "backends/ptx/models/instruction_models.hpp"

namespace assay::ptx::models {

namespace {

std::uint64_t sign_bit(const FloatFormat& format) { return std::uint64_t{1} << (format.total_bits - 1); }
std::uint64_t magnitude_mask(const FloatFormat& format) { return sign_bit(format) - 1; }

/// Up to three operands of one format.
struct Floats {
  std::uint64_t bits[3];
  ExactValue value[3];
};

using Definition = std::uint64_t (*)(const InstructionForm&, const FloatFormat&, const Floats&);

/// Applies the definition to a number, or to both elements of a pair.
template <Definition kDefinition>
InstructionResults apply(const InstructionForm& s, const Operands& in) {
  const FloatFormat& format = format_of(s.type);
  const unsigned count = single(s.type) != s.type ? 2 : 1;
  const auto width = static_cast<unsigned>(format.total_bits);
  InstructionResults results;
  for (unsigned half = 0; half < count; ++half) {
    Floats floats;
    for (unsigned i = 0; i < 3; ++i) {
      const std::uint64_t mask = sign_bit(format) | magnitude_mask(format);
      floats.bits[i] = flushed(s, single(s.type), in[i] >> (width * half % 64) & mask);
      floats.value[i] = exact_float(format, floats.bits[i]);
    }
    results.result_bits |= kDefinition(s, format, floats) << (width * half % 64);
  }
  return results;
}

std::uint64_t rounded(const InstructionForm& s, const FloatFormat& format, const ExactValue& value) {
  return finished(s, float_bits(format, value, rounding_of(s)));
}

std::uint64_t add(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, sum(in.value[0], in.value[1], rounding_of(s)));
}
std::uint64_t sub(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, sum(in.value[0], in.value[1].negated(), rounding_of(s)));
}
std::uint64_t mul(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, product(in.value[0], in.value[1]));
}
std::uint64_t fma(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, sum(product(in.value[0], in.value[1]), in.value[2], rounding_of(s)));
}
std::uint64_t div(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, quotient(in.value[0], in.value[1]));
}
std::uint64_t rcp(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, quotient({.significand = 1}, in.value[0]));
}
std::uint64_t sqrt(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return rounded(s, format, square_root(in.value[0]));
}

/// -0 is less than +0. Of a number and a NaN, the number is the result; with .NaN, the NaN.
std::uint64_t extreme(const InstructionForm& s, const FloatFormat& format, const Floats& in, bool greatest) {
  const ExactValue& a = in.value[0];
  const ExactValue& b = in.value[1];
  const std::uint64_t nan = magnitude_mask(format);
  if (a.is_nan() || b.is_nan()) {
    if (s.has("NaN") || (a.is_nan() && b.is_nan())) return nan;
    return in.bits[a.is_nan() ? 1 : 0];
  }
  int order = compare(a, b);
  if (order == 0) order = int{b.is_negative} - int{a.is_negative};
  return in.bits[(order < 0) == greatest ? 1 : 0];
}
std::uint64_t min(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return extreme(s, format, in, false);
}
std::uint64_t max(const InstructionForm& s, const FloatFormat& format, const Floats& in) {
  return extreme(s, format, in, true);
}

std::uint64_t abs(const InstructionForm&, const FloatFormat& format, const Floats& in) {
  return in.bits[0] & magnitude_mask(format);
}
std::uint64_t neg(const InstructionForm&, const FloatFormat& format, const Floats& in) {
  return in.bits[0] ^ sign_bit(format);
}
/// The second operand with the sign of the first.
std::uint64_t copysign(const InstructionForm&, const FloatFormat& format, const Floats& in) {
  return (in.bits[1] & magnitude_mask(format)) | (in.bits[0] & sign_bit(format));
}

}  // namespace

const FloatFormat& format_of(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kF16x2: return kF16;
    case Type::kBf16:
    case Type::kBf16x2: return kBf16;
    case Type::kF64: return kF64;
    default: return kF32;
  }
}

Rounding rounding_of(const InstructionForm& spelling) {
  if (spelling.has("rz") || spelling.has("rzi")) return Rounding::kTowardZero;
  if (spelling.has("rm") || spelling.has("rmi")) return Rounding::kDown;
  if (spelling.has("rp") || spelling.has("rpi")) return Rounding::kUp;
  return Rounding::kNearest;
}

std::uint64_t flushed(const InstructionForm& spelling, Type type, std::uint64_t bits) {
  const bool subnormal = (bits & 0x7f800000U) == 0;
  return type == Type::kF32 && spelling.has("ftz") && subnormal ? bits & 0x80000000U : bits;
}

std::uint64_t finished(const InstructionForm& spelling, std::uint64_t bits) {
  const FloatFormat& format = format_of(spelling.type);
  bits = flushed(spelling, single(spelling.type), bits);
  const ExactValue value = exact_float(format, bits);
  if (spelling.has("relu")) return value.is_negative && !value.is_nan() ? 0 : bits;
  if (!spelling.has("sat")) return bits;
  if (value.is_nan() || value.is_negative) return 0;
  const ExactValue one{.significand = 1};
  return compare(value, one) > 0 ? float_bits(format, one, Rounding::kNearest) : bits;
}

Model find_float_model(Opcode opcode) {
  static const std::map<Opcode, Model> kModels = {
      {Opcode::kAdd, apply<add>},           {Opcode::kSub, apply<sub>},   {Opcode::kMul, apply<mul>},
      {Opcode::kFma, apply<fma>},           {Opcode::kMad, apply<fma>},   {Opcode::kDiv, apply<div>},
      {Opcode::kRcp, apply<rcp>},           {Opcode::kSqrt, apply<sqrt>}, {Opcode::kMin, apply<min>},
      {Opcode::kMax, apply<max>},           {Opcode::kAbs, apply<abs>},   {Opcode::kNeg, apply<neg>},
      {Opcode::kCopysign, apply<copysign>},
  };
  const auto found = kModels.find(opcode);
  return found == kModels.end() ? nullptr : found->second;
}

}  // namespace assay::ptx::models
