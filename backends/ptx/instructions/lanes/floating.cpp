// f32 and f64. Directed rounding sets the CPU's mode around the loop over lanes. This does not need -frounding-math,
// with which GCC does not vectorize loops with std::fma or std::sqrt: all operands are loaded after the mode is set,
// and none of the operations can be evaluated at compile time.
#include "backends/ptx/instructions/lanes/float_ops.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

/// Runs a handler in a rounding mode. The loops load operands after the mode is set and store before it is restored,
/// because the calls that set it may access any memory.
template <Handler kHandler, int kMode>
void rounded(WarpState& lanes, const Op& op, std::uint32_t mask) {
  std::fesetround(kMode);
  kHandler(lanes, op, mask);
  std::fesetround(FE_TONEAREST);
}

template <Handler kFull, Handler kMasked>
InstructionHandlers in_mode(const Modifiers& modifiers) {
  if (modifiers.has(Modifier::kRz)) return {rounded<kFull, FE_TOWARDZERO>, rounded<kMasked, FE_TOWARDZERO>};
  if (modifiers.has(Modifier::kRm)) return {rounded<kFull, FE_DOWNWARD>, rounded<kMasked, FE_DOWNWARD>};
  if (modifiers.has(Modifier::kRp)) return {rounded<kFull, FE_UPWARD>, rounded<kMasked, FE_UPWARD>};
  return {kFull, kMasked};
}

/// Both halves of a pair of f32.
template <class F>
struct FloatPair {
  using Word64 = std::uint64_t;
  static float half(Word64 word, unsigned shift) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word >> shift));
  }
  static Word64 join(float lower, float upper) {
    return std::bit_cast<std::uint32_t>(lower) | Word64{std::bit_cast<std::uint32_t>(upper)} << 32U;
  }
  static Word64 apply(Word64 a, Word64 b) {
    return join(F::apply(half(a, 0), half(b, 0)), F::apply(half(a, 32), half(b, 32)));
  }
  static Word64 apply(Word64 a, Word64 b, Word64 c) {
    return join(F::apply(half(a, 0), half(b, 0), half(c, 0)), F::apply(half(a, 32), half(b, 32), half(c, 32)));
  }
};
/// The least or the greatest of three numbers.
template <class F>
struct OfThree {
  template <class T>
  static T apply(T a, T b, T c) {
    return F::apply(F::apply(a, b), c);
  }
};

template <class F>
InstructionHandlers select_unary(const Instruction& instruction) {
  return with_float_type(instruction.type, [&](auto type) {
    using T = decltype(type);
    return with_ftz_sat_variant<F>(instruction.modifiers, [&](auto finished) {
      using G = decltype(finished);
      return in_mode<run_unary<true, G, T, T>, run_unary<false, G, T, T>>(instruction.modifiers);
    });
  });
}
template <class F>
InstructionHandlers select_binary(const Instruction& instruction) {
  if (instruction.type == Type::kF32x2) {
    return with_ftz_sat_variant<F>(instruction.modifiers, [&](auto finished) {
      using G = FloatPair<decltype(finished)>;
      using T = std::uint64_t;
      return in_mode<run_binary<true, G, T, T, T>, run_binary<false, G, T, T, T>>(instruction.modifiers);
    });
  }
  return with_float_type(instruction.type, [&](auto type) {
    using T = decltype(type);
    return with_ftz_sat_variant<F>(instruction.modifiers, [&](auto finished) {
      using G = decltype(finished);
      return in_mode<run_binary<true, G, T, T, T>, run_binary<false, G, T, T, T>>(instruction.modifiers);
    });
  });
}
template <class F>
InstructionHandlers select_ternary(const Instruction& instruction) {
  if (instruction.type == Type::kF32x2) {
    return with_ftz_sat_variant<F>(instruction.modifiers, [&](auto finished) {
      using G = FloatPair<decltype(finished)>;
      using T = std::uint64_t;
      return in_mode<run_ternary<true, G, T, T, T, T>, run_ternary<false, G, T, T, T, T>>(instruction.modifiers);
    });
  }
  return with_float_type(instruction.type, [&](auto type) {
    using T = decltype(type);
    return with_ftz_sat_variant<F>(instruction.modifiers, [&](auto finished) {
      using G = decltype(finished);
      return in_mode<run_ternary<true, G, T, T, T, T>, run_ternary<false, G, T, T, T, T>>(instruction.modifiers);
    });
  });
}

// Sign operations keep NaNs as they are.
template <bool kFtz>
struct FloatAbs {
  template <class T>
  static T apply(T a) {
    return std::fabs(kFtz ? flush_subnormal(a) : a);
  }
};
template <bool kFtz>
struct FloatNeg {
  template <class T>
  static T apply(T a) {
    return -(kFtz ? flush_subnormal(a) : a);
  }
};
/// The second operand with the sign of the first.
struct Copysign {
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

template <class F>
InstructionHandlers select_sign(Type type) {
  return with_float_type(type, [](auto t) { return unary_handlers<F, decltype(t), decltype(t)>(); });
}

}  // namespace

InstructionHandlers select_float(const Instruction& instruction) {
  const Modifiers& modifiers = instruction.modifiers;
  const bool ftz = modifiers.has(Modifier::kFtz);
  const bool propagate = modifiers.has(Modifier::kNaN);
  constexpr std::size_t kThreeAndResult = 4;
  const bool has_three_operands = instruction.operands.size() == kThreeAndResult;
  if (modifiers.has(Modifier::kRelu)) return {};
  switch (instruction.opcode) {
    case Opcode::kAdd: return select_binary<FloatAdd>(instruction);
    case Opcode::kSub: return select_binary<FloatSub>(instruction);
    case Opcode::kMul: return select_binary<FloatMul>(instruction);
    case Opcode::kDiv: return select_binary<FloatDiv>(instruction);
    case Opcode::kFma:
    case Opcode::kMad: return select_ternary<FloatFma>(instruction);
    case Opcode::kSqrt: return select_unary<FloatSqrt>(instruction);
    case Opcode::kRcp: return select_unary<FloatRcp>(instruction);
    case Opcode::kMin:
      if (has_three_operands)
        return propagate ? select_ternary<OfThree<FloatMin<true>>>(instruction)
                         : select_ternary<OfThree<FloatMin<false>>>(instruction);
      return propagate ? select_binary<FloatMin<true>>(instruction) : select_binary<FloatMin<false>>(instruction);
    case Opcode::kMax:
      if (has_three_operands)
        return propagate ? select_ternary<OfThree<FloatMax<true>>>(instruction)
                         : select_ternary<OfThree<FloatMax<false>>>(instruction);
      return propagate ? select_binary<FloatMax<true>>(instruction) : select_binary<FloatMax<false>>(instruction);
    case Opcode::kAbs:
      return ftz ? select_sign<FloatAbs<true>>(instruction.type) : select_sign<FloatAbs<false>>(instruction.type);
    case Opcode::kNeg:
      return ftz ? select_sign<FloatNeg<true>>(instruction.type) : select_sign<FloatNeg<false>>(instruction.type);
    case Opcode::kCopysign:
      return with_float_type(instruction.type, [](auto t) { return binary_handlers<Copysign, decltype(t)>(); });
    default: return {};
  }
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
