// Integer arithmetic. All operations wrap; those undefined in C++ use unsigned types of at least 32 bits.
#include <algorithm>
#include <limits>

#include "backends/ptx/instructions/lanes/lane_loop.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

template <class T>
using Unsigned = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;
/// The type twice as wide.
template <class T>
using Double = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, Int128, Uint128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>>;

template <class T>
constexpr Unsigned<T> u(T value) {
  return static_cast<Unsigned<T>>(value);
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(u(a) + u(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(u(a) - u(b));
  }
};
struct MulLo {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(u(a) * u(b));
  }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Double<T>(Double<T>(a) * Double<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <class T>
  static Double<T> apply(T a, T b) {
    return static_cast<Double<T>>(Double<T>(a) * Double<T>(b));
  }
};
struct MadLo {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulLo::apply(a, b), c);
  }
};
struct MadHi {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHi::apply(a, b), c);
  }
};
struct MadHiSaturated {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    const std::int64_t exact = std::int64_t{MulHi::apply(a, b)} + c;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(exact, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
  }
};
struct MadWide {
  template <class T>
  static Double<T> apply(T a, T b, Double<T> c) {
    return Add::apply(MulWide::apply(a, b), c);
  }
};
/// Lower 24 bits of both factors, by sign: the lower or, from bit 16, the upper 32 of the 48 bits.
template <bool kHigh>
struct Mul24 {
  template <class T>
  static T apply(T a, T b) {
    const auto low = [](T x) { return std::int64_t{static_cast<T>(u(x) << 8U) >> 8}; };
    const std::int64_t product = low(a) * low(b);
    return static_cast<T>(kHigh ? product >> 16 : product);
  }
};
template <bool kHigh>
struct Mad24 {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(Mul24<kHigh>::apply(a, b), c);
  }
};
template <bool kIsSub>
struct Saturated {
  template <class T>
  static T apply(T a, T b) {
    const std::int64_t exact = kIsSub ? std::int64_t{a} - std::int64_t{b} : std::int64_t{a} + std::int64_t{b};
    return static_cast<T>(
        std::clamp<std::int64_t>(exact, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
};
/// Division by zero gives all ones and the dividend as remainder, as on hardware; PTX leaves it unspecified.
struct Div {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~u(T{0}));
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - u(a));
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(0 - u(a));
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    return a < 0 ? static_cast<T>(0 - u(a)) : a;
  }
};
struct Sad {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(u(c) + (a < b ? u(b) - u(a) : u(a) - u(b)));
  }
};

/// add.cc, addc, sub.cc and subc; mad adds a product. The carry of a subtraction is its borrow.
template <class T, bool kIsSub, bool kCarryIn, bool kCarryOut, int kProduct>
void with_carry(WarpState& lanes, const Op& op, std::uint32_t mask) {
  using Wide = std::conditional_t<sizeof(T) == 8, Uint128, std::uint64_t>;
  auto* const d = slot_words<T>(lanes, op.d);
  const auto* const a = slot_words<T>(lanes, op.a);
  const auto* const b = slot_words<T>(lanes, op.b);
  const auto* const c = slot_words<T>(lanes, op.c);
  std::uint32_t carry = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    const Wide in = kCarryIn ? (lanes.carry_flags >> i) & 1U : 0;
    Wide x = static_cast<std::make_unsigned_t<T>>(a[i]);
    Wide y = static_cast<std::make_unsigned_t<T>>(b[i]);
    if constexpr (kProduct != 0) {
      const T product = kProduct == 1 ? MulLo::apply(static_cast<T>(a[i]), static_cast<T>(b[i]))
                                      : MulHi::apply(static_cast<T>(a[i]), static_cast<T>(b[i]));
      x = static_cast<std::make_unsigned_t<T>>(product);
      y = static_cast<std::make_unsigned_t<T>>(c[i]);
    }
    const Wide sum = kIsSub ? x - y - in : x + y + in;
    d[i] = static_cast<Word<T>>(sum);
    carry |= static_cast<std::uint32_t>((sum >> (8 * sizeof(T))) & 1U) << i;
  }
  if (kCarryOut) lanes.carry_flags = (lanes.carry_flags & ~mask) | carry;
}

template <class T, bool kIsSub, int kProduct>
InstructionHandlers carry_handlers(bool in, bool out) {
  const Handler handler =
      in ? (out ? with_carry<T, kIsSub, true, true, kProduct> : with_carry<T, kIsSub, true, false, kProduct>)
         : with_carry<T, kIsSub, false, true, kProduct>;
  return {handler, handler};
}

template <bool kIsSub, int kProduct>
InstructionHandlers select_carry(const Instruction& instruction, bool in) {
  const bool out = instruction.modifiers.has(Modifier::kCc);
  return with_integer_type(instruction.type, [&](auto type) -> InstructionHandlers {
    if constexpr (sizeof(type) >= 4) {
      return carry_handlers<decltype(type), kIsSub, kProduct>(in, out);
    } else {
      return {};
    }
  });
}

template <class F>
InstructionHandlers select_binary(Type type) {
  return with_integer_type(type, [](auto t) { return binary_handlers<F, decltype(t)>(); });
}
template <class F>
InstructionHandlers select_ternary(Type type) {
  return with_integer_type(type, [](auto t) { return ternary_handlers<F, decltype(t)>(); });
}
template <class F>
InstructionHandlers select_unary(Type type) {
  return with_integer_type(type, [](auto t) { return unary_handlers<F, decltype(t), decltype(t)>(); });
}

InstructionHandlers select_product(const Instruction& instruction) {
  const bool high = instruction.modifiers.has(Modifier::kHi);
  if (instruction.opcode == Opcode::kMul24 || instruction.opcode == Opcode::kMad24) {
    const bool is_mad = instruction.opcode == Opcode::kMad24;
    return with_integer_type(instruction.type, [&](auto type) -> InstructionHandlers {
      using T = decltype(type);
      if constexpr (sizeof(T) == 4) {
        if (is_mad) return high ? ternary_handlers<Mad24<true>, T>() : ternary_handlers<Mad24<false>, T>();
        return high ? binary_handlers<Mul24<true>, T>() : binary_handlers<Mul24<false>, T>();
      } else {
        return {};
      }
    });
  }
  if (instruction.opcode == Opcode::kMul) {
    return high ? select_binary<MulHi>(instruction.type) : select_binary<MulLo>(instruction.type);
  }
  if (instruction.modifiers.has(Modifier::kCc)) {
    return high ? select_carry<false, 2>(instruction, false) : select_carry<false, 1>(instruction, false);
  }
  if (instruction.modifiers.has(Modifier::kSat)) {
    if (!high || instruction.type != Type::kS32) return {};
    return ternary_handlers<MadHiSaturated, std::int32_t>();
  }
  return high ? select_ternary<MadHi>(instruction.type) : select_ternary<MadLo>(instruction.type);
}

InstructionHandlers select_wide(const Instruction& instruction) {
  return with_integer_type(instruction.type, [&](auto type) -> InstructionHandlers {
    using T = decltype(type);
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
      if (instruction.opcode == Opcode::kMulWide) return binary_handlers<MulWide, Double<T>, T>();
      return ternary_handlers<MadWide, Double<T>, T, T, Double<T>>();
    } else {
      return {};
    }
  });
}

InstructionHandlers select_saturated(const Instruction& instruction) {
  if (instruction.type != Type::kS32) return {};
  return instruction.opcode == Opcode::kAdd ? binary_handlers<Saturated<false>, std::int32_t>()
                                            : binary_handlers<Saturated<true>, std::int32_t>();
}

}  // namespace

InstructionHandlers select_integer(const Instruction& instruction) {
  const Type type = instruction.type;
  const bool carries = instruction.modifiers.has(Modifier::kCc);
  switch (instruction.opcode) {
    case Opcode::kAdd:
      if (carries) return select_carry<false, 0>(instruction, false);
      return instruction.modifiers.has(Modifier::kSat) ? select_saturated(instruction) : select_binary<Add>(type);
    case Opcode::kSub:
      if (carries) return select_carry<true, 0>(instruction, false);
      return instruction.modifiers.has(Modifier::kSat) ? select_saturated(instruction) : select_binary<Sub>(type);
    case Opcode::kAddc: return select_carry<false, 0>(instruction, true);
    case Opcode::kSubc: return select_carry<true, 0>(instruction, true);
    case Opcode::kMadc:
      return instruction.modifiers.has(Modifier::kHi) ? select_carry<false, 2>(instruction, true)
                                                      : select_carry<false, 1>(instruction, true);
    case Opcode::kMul:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kMad: return select_product(instruction);
    case Opcode::kMulWide:
    case Opcode::kMadWide: return select_wide(instruction);
    case Opcode::kDiv: return select_binary<Div>(type);
    case Opcode::kRem: return select_binary<Rem>(type);
    case Opcode::kMin: return select_binary<Min>(type);
    case Opcode::kMax: return select_binary<Max>(type);
    case Opcode::kNeg: return select_unary<Neg>(type);
    case Opcode::kAbs: return select_unary<Abs>(type);
    case Opcode::kSad: return select_ternary<Sad>(type);
    default: return {};
  }
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
