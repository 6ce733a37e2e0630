// The approximate instructions: each gives the correctly rounded result of its function where the function of the type
// twice as wide does (f32), or the closest that the host's library gives (f64). They count as approximate. Only
// div.approx differs for divisors above 2^126, where the PTX ISA defines its result.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backends/ptx/instructions/lanes/float_ops.hpp"
#include "backends/ptx/instructions/lanes/rounding.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

// Functions of f32 are computed in double.
struct Ex2 {
  static double wide(double x) { return std::exp2(x); }
};
struct Lg2 {
  static double wide(double x) { return std::log2(x); }
};
struct Sin {
  static double wide(double x) { return std::sin(x); }
};
struct Cos {
  static double wide(double x) { return std::cos(x); }
};
struct Tanh {
  static double wide(double x) { return std::tanh(x); }
};
struct RsqrtOfFloat {
  static double wide(double x) { return 1.0 / std::sqrt(x); }
};
struct Sqrt {
  static double wide(double x) { return std::sqrt(x); }
};
struct Rcp {
  static double wide(double x) { return 1.0 / x; }
};
struct Rsqrt {
  static double apply(double x) { return static_cast<double>(1.0L / std::sqrt(static_cast<long double>(x))); }
};
/// div.approx multiplies by the reciprocal, which is flushed to zero for a divisor between 2^126 and 2^128.
struct QuotientByReciprocal {
  static float apply(float a, float b) {
    const float magnitude = std::fabs(b);
    const bool flushes = magnitude > 0x1p126F && magnitude <= std::numeric_limits<float>::max();
    return flushes ? a * std::copysign(0.0F, b) : a / b;
  }
};
/// The 64-bit forms read and return only the upper half of a double.
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

/// Rounds the double to the nearest float or half.
template <class F>
struct Nearest {
  static float apply(float x) { return static_cast<float>(F::wide(double{x})); }
  template <class T>
  static T apply(T x) {
    return from_double<T>(F::wide(double{to_float(x)}));
  }
};

/// A handler whose results are corrected if the launch has a correction. T: type of the operands and the result.
template <Handler kHandler, class T, int kOperands>
void corrected(WarpState& lanes, const Op& op, std::uint32_t mask) {
  if (lanes.result_correction == nullptr) return kHandler(lanes, op, mask);
  // Copied, because the result may overwrite the register of an operand.
  std::array<std::array<Word<T>, kLanesPerWarp>, kOperands> copies;
  std::copy_n(slot_words<T>(lanes, op.a), kLanesPerWarp, copies.front().begin());
  if constexpr (kOperands > 1) std::copy_n(slot_words<T>(lanes, op.b), kLanesPerWarp, copies.back().begin());
  kHandler(lanes, op, mask);
  ResultCorrection::Operands operands{.a = reinterpret_cast<const std::byte*>(copies.front().data())};
  if constexpr (kOperands > 1) operands.b = reinterpret_cast<const std::byte*>(copies.back().data());
  lanes.result_correction->apply(op, mask, operands, reinterpret_cast<std::byte*>(slot_words<T>(lanes, op.d)));
}
template <class F, class T>
InstructionHandlers corrected_handlers() {
  return {corrected<run_unary<true, F, T, T>, T, 1>, corrected<run_unary<false, F, T, T>, T, 1>};
}
template <class F, class T>
InstructionHandlers corrected_binary_handlers() {
  return {corrected<run_binary<true, F, T, T, T>, T, 2>, corrected<run_binary<false, F, T, T, T>, T, 2>};
}

template <class F>
InstructionHandlers select_unary(const Instruction& instruction) {
  using N = Nearest<F>;
  if (instruction.type == Type::kF16) return corrected_handlers<N, F16>();
  if (instruction.type == Type::kBf16) return corrected_handlers<N, Bf16>();
  if (instruction.type != Type::kF32) return {};
  return instruction.modifiers.has(Modifier::kFtz) ? corrected_handlers<FtzSatVariant<N, true, false>, float>()
                                                   : corrected_handlers<FtzSatVariant<N, false, false>, float>();
}

}  // namespace

InstructionHandlers select_special(const Instruction& instruction) {
  const bool is_double = instruction.type == Type::kF64;
  const bool ftz = instruction.modifiers.has(Modifier::kFtz);
  switch (instruction.opcode) {
    case Opcode::kEx2: return select_unary<Ex2>(instruction);
    case Opcode::kLg2: return select_unary<Lg2>(instruction);
    case Opcode::kSin: return select_unary<Sin>(instruction);
    case Opcode::kCos: return select_unary<Cos>(instruction);
    case Opcode::kTanh: return select_unary<Tanh>(instruction);
    case Opcode::kSqrt: return select_unary<Sqrt>(instruction);
    case Opcode::kRcp: return is_double ? corrected_handlers<RcpHalf, double>() : select_unary<Rcp>(instruction);
    case Opcode::kRsqrt:
      if (!is_double) return select_unary<RsqrtOfFloat>(instruction);
      return ftz ? corrected_handlers<RsqrtHalf, double>() : corrected_handlers<Rsqrt, double>();
    case Opcode::kDiv:
      if (instruction.modifiers.has(Modifier::kApprox))
        return ftz ? corrected_binary_handlers<FtzSatVariant<QuotientByReciprocal, true, false>, float>()
                   : corrected_binary_handlers<FtzSatVariant<QuotientByReciprocal, false, false>, float>();
      return ftz ? corrected_binary_handlers<FtzSatVariant<FloatDiv, true, false>, float>()
                 : corrected_binary_handlers<FtzSatVariant<FloatDiv, false, false>, float>();
    default: return {};
  }
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
