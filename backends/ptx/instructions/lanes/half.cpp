// f16, bf16 and pairs of them. One operation in single precision, rounded to half, is correctly rounded, because 24 >=
// 2 * 11 + 2 bits. A fused multiply-add goes through double, rounded to odd, so that double rounding is harmless.
#include "backends/ptx/instructions/lanes/float_ops.hpp"
#include "backends/ptx/instructions/lanes/rounding.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

/// a * b + c rounded to odd; a * b is exact.
inline double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  if (error == 0 || !std::isfinite(sum)) return sum;
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if ((bits & 1U) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

template <class T>
T canonical_half(T x) {
  const std::uint32_t infinity = format_of(x).mantissa_bits == 10 ? 0x7c00 : 0x7f80;
  return (x.bits & 0x7fffU) > infinity ? T{0x7fff} : x;
}

template <class F>
struct Binary {
  template <class T>
  static T apply(T a, T b) {
    return from_float<T>(F::apply(to_float(a), to_float(b)));
  }
};
struct Fma {
  template <class T>
  static T apply(T a, T b, T c) {
    return from_double<T>(fma_to_odd(double{to_float(a)}, double{to_float(b)}, double{to_float(c)}));
  }
};
template <bool kRelu>
struct SaturateHalf {
  template <class T>
  static T apply(T x) {
    const float value = to_float(x);
    if (kRelu) return value != value ? canonical_half(x) : (value > 0 ? x : T{0});
    return from_float<T>(saturate(value));
  }
};
template <class F, class After>
struct Then {
  template <class T>
  static T apply(T a, T b) {
    return After::apply(F::apply(a, b));
  }
  template <class T>
  static T apply(T a, T b, T c) {
    return After::apply(F::apply(a, b, c));
  }
};
struct AbsHalf {
  template <class T>
  static T apply(T a) {
    return T{static_cast<std::uint16_t>(a.bits & 0x7fffU)};
  }
};
struct NegHalf {
  template <class T>
  static T apply(T a) {
    return T{static_cast<std::uint16_t>(a.bits ^ 0x8000U)};
  }
};

/// Both halves of a word.
template <class F, class T>
struct Pair {
  static T low(std::uint32_t word) { return T{static_cast<std::uint16_t>(word)}; }
  static T high(std::uint32_t word) { return T{static_cast<std::uint16_t>(word >> 16U)}; }
  static std::uint32_t join(T first, T second) { return first.bits | std::uint32_t{second.bits} << 16U; }
  static std::uint32_t apply(std::uint32_t a) { return join(F::apply(low(a)), F::apply(high(a))); }
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    return join(F::apply(low(a), low(b)), F::apply(high(a), high(b)));
  }
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return join(F::apply(low(a), low(b), low(c)), F::apply(high(a), high(b), high(c)));
  }
};

template <class F, int kOperands, class T, class G>
constexpr InstructionHandlers handlers_of() {
  if constexpr (kOperands == 1) {
    return unary_handlers<G, T, T>();
  } else if constexpr (kOperands == 2) {
    return binary_handlers<G, T>();
  } else {
    return ternary_handlers<G, T>();
  }
}
template <class F, int kOperands>
InstructionHandlers select_type(Type type) {
  switch (type) {
    case Type::kF16: return handlers_of<F, kOperands, F16, F>();
    case Type::kBf16: return handlers_of<F, kOperands, Bf16, F>();
    case Type::kF16x2: return handlers_of<F, kOperands, std::uint32_t, Pair<F, F16>>();
    case Type::kBf16x2: return handlers_of<F, kOperands, std::uint32_t, Pair<F, Bf16>>();
    default: return {};
  }
}
template <class F, int kOperands>
InstructionHandlers select_after(const Instruction& instruction) {
  if (instruction.modifiers.has(Modifier::kSat))
    return select_type<Then<F, SaturateHalf<false>>, kOperands>(instruction.type);
  if (instruction.modifiers.has(Modifier::kRelu))
    return select_type<Then<F, SaturateHalf<true>>, kOperands>(instruction.type);
  return select_type<F, kOperands>(instruction.type);
}

}  // namespace

InstructionHandlers select_half(const Instruction& instruction) {
  const Modifiers& modifiers = instruction.modifiers;
  const bool propagate = modifiers.has(Modifier::kNaN);
  // Half precision has no directed rounding, and flushing is not supported.
  if (modifiers.has(Modifier::kFtz) || modifiers.has(Modifier::kRz) || modifiers.has(Modifier::kRm) ||
      modifiers.has(Modifier::kRp)) {
    return {};
  }
  switch (instruction.opcode) {
    case Opcode::kAdd: return select_after<Binary<FloatAdd>, 2>(instruction);
    case Opcode::kSub: return select_after<Binary<FloatSub>, 2>(instruction);
    case Opcode::kMul: return select_after<Binary<FloatMul>, 2>(instruction);
    case Opcode::kFma: return select_after<Fma, 3>(instruction);
    case Opcode::kMin:
      return propagate ? select_type<Binary<FloatMin<true>>, 2>(instruction.type)
                       : select_type<Binary<FloatMin<false>>, 2>(instruction.type);
    case Opcode::kMax:
      return propagate ? select_type<Binary<FloatMax<true>>, 2>(instruction.type)
                       : select_type<Binary<FloatMax<false>>, 2>(instruction.type);
    case Opcode::kAbs: return select_type<AbsHalf, 1>(instruction.type);
    case Opcode::kNeg: return select_type<NegHalf, 1>(instruction.type);
    default: return {};
  }
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
