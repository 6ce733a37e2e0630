// The approximate instructions: each gives the correctly rounded result of its function where the function of the type
// twice as wide does (f32), or the closest that the host's library gives (f64). The lane counts them as approximate.
#include "backends/ptx/lanes/float_ops.hpp"
#include "backends/ptx/lanes/rounding.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

struct Ex2 {
  static float apply(float x) { return static_cast<float>(std::exp2(double{x})); }
};
struct Lg2 {
  static float apply(float x) { return static_cast<float>(std::log2(double{x})); }
};
struct Sin {
  static float apply(float x) { return static_cast<float>(std::sin(double{x})); }
};
struct Cos {
  static float apply(float x) { return static_cast<float>(std::cos(double{x})); }
};
struct Tanh {
  static float apply(float x) { return static_cast<float>(std::tanh(double{x})); }
};
struct Rsqrt {
  static float apply(float x) { return static_cast<float>(1.0 / std::sqrt(double{x})); }
  static double apply(double x) { return static_cast<double>(1.0L / std::sqrt(static_cast<long double>(x))); }
};
/// The 64-bit forms read and give the upper half of a double only.
inline double upper_half(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xffffffff00000000);
}
inline double round_to_upper_half(double x) {
  if (x != x) return std::bit_cast<double>(std::uint64_t{0x7fffffff00000000});
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t rounded = bits + 0x7fffffff + (bits >> 32U & 1U);
  return upper_half(std::bit_cast<double>(rounded));
}
inline double flush_double(double x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x; }
struct RcpHalf {
  static double apply(double x) { return round_to_upper_half(flush_double(1.0 / flush_double(upper_half(x)))); }
};
struct RsqrtHalf {
  static double apply(double x) { return round_to_upper_half(1.0 / std::sqrt(flush_double(upper_half(x)))); }
};

template <class F, class T>
struct ThroughFloat {
  static T apply(T x) { return from_float<T>(canonical(F::apply(to_float(x)))); }
};

template <class F>
Handlers select_unary(const Instruction& instruction) {
  if (instruction.type == Type::kF16) return unary_handlers<ThroughFloat<F, F16>, F16, F16>();
  if (instruction.type == Type::kBf16) return unary_handlers<ThroughFloat<F, Bf16>, Bf16, Bf16>();
  if (instruction.type != Type::kF32) return {};
  return instruction.modifiers.has(Modifier::kFtz) ? unary_handlers<Finished<F, true, false>, float, float>()
                                                   : unary_handlers<Finished<F, false, false>, float, float>();
}

}  // namespace

Handlers select_special(const Instruction& instruction) {
  const bool is_double = instruction.type == Type::kF64;
  const bool ftz = instruction.modifiers.has(Modifier::kFtz);
  switch (instruction.opcode) {
    case Opcode::kEx2: return select_unary<Ex2>(instruction);
    case Opcode::kLg2: return select_unary<Lg2>(instruction);
    case Opcode::kSin: return select_unary<Sin>(instruction);
    case Opcode::kCos: return select_unary<Cos>(instruction);
    case Opcode::kTanh: return select_unary<Tanh>(instruction);
    case Opcode::kSqrt: return select_unary<FloatSqrt>(instruction);
    case Opcode::kRcp:
      return is_double ? unary_handlers<RcpHalf, double, double>() : select_unary<FloatRcp>(instruction);
    case Opcode::kRsqrt:
      if (!is_double) return select_unary<Rsqrt>(instruction);
      return ftz ? unary_handlers<RsqrtHalf, double, double>() : unary_handlers<Rsqrt, double, double>();
    case Opcode::kDiv:
      return ftz ? binary_handlers<Finished<FloatDiv, true, false>, float>()
                 : binary_handlers<Finished<FloatDiv, false, false>, float>();
    default: return {};
  }
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
