// Logic, shifts, bit fields and counts.
#include "backends/ptx/instructions/lanes/lane_loop.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  static T apply(T a) {
    return a == 0 ? T{1} : T{0};
  }
};
// Shift amounts are clamped to the width.
struct Shl {
  template <class T>
  static T apply(T a, std::uint32_t n) {
    constexpr unsigned kWidth = 8 * sizeof(T);
    return n >= kWidth ? T{0} : static_cast<T>(static_cast<Word<T>>(a) << (n & (kWidth - 1)));
  }
};
struct Shr {
  template <class T>
  static T apply(T a, std::uint32_t n) {
    constexpr unsigned kWidth = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (n >= kWidth ? kWidth - 1 : n));
    } else {
      return n >= kWidth ? T{0} : static_cast<T>(a >> (n & (kWidth - 1)));
    }
  }
};
/// shf: the upper or lower half of b:a shifted; the amount is clamped to 32 or taken modulo 32.
template <bool kLeft, bool kWrap>
struct Shf {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
    n = kWrap ? n & 31U : (n > 32 ? 32U : n);
    const std::uint64_t both = std::uint64_t{b} << 32U | a;
    return static_cast<std::uint32_t>(kLeft ? both << n >> 32U : both >> n);
  }
};
struct Popc {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Brev {
  template <class T>
  static T apply(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      result |= static_cast<T>((a >> i) & 1U) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};
/// The position of the highest bit that is not a copy of the sign; all ones if there is none.
template <bool kShiftAmount>
struct Bfind {
  template <class T>
  static std::uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (bits == 0) return 0xffffffff;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    return kShiftAmount ? zeros : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - zeros;
  }
};
/// A field of `len` bits from bit `pos`, both modulo 256; signed fields beyond the word are filled with the sign.
struct Bfe {
  template <class T>
  static T apply(T a, std::uint32_t pos, std::uint32_t len) {
    constexpr unsigned kWidth = 8 * sizeof(T);
    using U = std::make_unsigned_t<T>;
    pos &= 255U;
    len &= 255U;
    if (len == 0) return 0;
    const unsigned last = pos + len - 1 < kWidth ? pos + len - 1 : kWidth - 1;
    const bool negative = std::is_signed_v<T> && ((static_cast<U>(a) >> last) & 1U) != 0;
    const U shifted = pos < kWidth ? static_cast<U>(static_cast<U>(a) >> pos) : U{0};
    const unsigned kept = pos < kWidth ? (len < kWidth - pos ? len : kWidth - pos) : 0;
    const U field_mask = static_cast<U>(kept >= kWidth ? ~U{0} : (U{1} << kept) - 1);
    return static_cast<T>((shifted & field_mask) | (negative ? ~field_mask : U{0}));
  }
};
struct Lop3 {
  static std::uint32_t apply(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t result = 0;
    for (unsigned term = 0; term < 8; ++term) {
      if ((op.immediate >> term & 1U) == 0) continue;
      result |= ((term & 4U) != 0 ? a : ~a) & ((term & 2U) != 0 ? b : ~b) & ((term & 1U) != 0 ? c : ~c);
    }
    return result;
  }
};
/// Four of the eight bytes of b:a; the fourth bit of a selector copies the sign.
struct Prmt {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    const std::uint64_t both = std::uint64_t{b} << 32U | a;
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned select = selector >> (4 * i) & 15U;
      const auto byte = static_cast<std::uint32_t>(both >> (8 * (select & 7U)) & 255U);
      result |= ((select & 8U) != 0 ? ((byte & 128U) != 0 ? 255U : 0U) : byte) << (8 * i);
    }
    return result;
  }
};

/// The modes of prmt: for each value of the lower 2 bits of c, the equivalent selector of the plain form.
template <std::uint32_t... kSelectors>
struct PrmtMode {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    constexpr std::uint32_t kChoices[4] = {kSelectors...};
    return Prmt::apply(a, b, kChoices[c & 3U]);
  }
};

InstructionHandlers select_permutation(const Modifiers& modifiers) {
  using enum Modifier;
  using U = std::uint32_t;
  if (modifiers.has(kF4e)) return ternary_handlers<PrmtMode<0x3210, 0x4321, 0x5432, 0x6543>, U>();
  if (modifiers.has(kB4e)) return ternary_handlers<PrmtMode<0x5670, 0x6701, 0x7012, 0x0123>, U>();
  if (modifiers.has(kRc8)) return ternary_handlers<PrmtMode<0x0000, 0x1111, 0x2222, 0x3333>, U>();
  if (modifiers.has(kEcl)) return ternary_handlers<PrmtMode<0x3210, 0x3211, 0x3222, 0x3333>, U>();
  if (modifiers.has(kEcr)) return ternary_handlers<PrmtMode<0x0000, 0x1110, 0x2210, 0x3210>, U>();
  if (modifiers.has(kRc16)) return ternary_handlers<PrmtMode<0x1010, 0x3232, 0x1010, 0x3232>, U>();
  return ternary_handlers<Prmt, U>();
}

template <class A, class B, bool kPairs, bool kUpper>
struct DotProduct {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < (kPairs ? 2U : 4U); ++i) {
      const unsigned byte = kPairs && kUpper ? i + 2 : i;
      const std::int32_t x =
          kPairs ? std::int32_t{static_cast<std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>>(
                       a >> (16 * i))}
                 : std::int32_t{static_cast<A>(a >> (8 * i))};
      const std::int32_t y = static_cast<B>(b >> (8 * byte));
      c += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
    }
    return c;
  }
};

template <class A, class B>
InstructionHandlers select_dot(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kDp4a) return ternary_handlers<DotProduct<A, B, false, false>, std::uint32_t>();
  return instruction.modifiers.has(Modifier::kHi) ? ternary_handlers<DotProduct<A, B, true, true>, std::uint32_t>()
                                                  : ternary_handlers<DotProduct<A, B, true, false>, std::uint32_t>();
}

template <class T>
void bfi(WarpState& lanes, const Op& op, std::uint32_t mask) {
  auto* const d = slot_words<T>(lanes, op.d);
  const auto* const a = slot_words<T>(lanes, op.a);
  const auto* const b = slot_words<T>(lanes, op.b);
  const auto* const pos = slot_words<std::uint32_t>(lanes, op.c);
  const auto* const len = slot_words<std::uint32_t>(lanes, op.e);
  constexpr unsigned kWidth = 8 * sizeof(T);
  for (; mask != 0; mask &= mask - 1) {
    const int i = std::countr_zero(mask);
    const unsigned at = pos[i] & 255U;
    const unsigned count = len[i] & 255U;
    const T ones = count >= kWidth ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
    const T field = at >= kWidth ? T{0} : static_cast<T>(ones << at);
    d[i] = (b[i] & ~field) | (at >= kWidth ? T{0} : static_cast<T>((a[i] << at) & field));
  }
}

template <class F>
InstructionHandlers select_binary(Type type) {
  return with_integer_type(type, [](auto t) { return binary_handlers<F, decltype(t)>(); });
}
template <class F>
InstructionHandlers select_shift(Type type) {
  return with_integer_type(type, [](auto t) { return binary_handlers<F, decltype(t), decltype(t), std::uint32_t>(); });
}
template <class F, bool kKeepsType>
InstructionHandlers select_unary(Type type) {
  return with_integer_type(type, [](auto t) -> InstructionHandlers {
    using T = decltype(t);
    if constexpr (sizeof(T) < 2) {
      return {};
    } else {
      return unary_handlers<F, std::conditional_t<kKeepsType, T, std::uint32_t>, T>();
    }
  });
}
template <class F>
InstructionHandlers select_count(Type type) {
  return type == Type::kB64 ? unary_handlers<F, std::uint32_t, std::uint64_t>()
                            : unary_handlers<F, std::uint32_t, std::uint32_t>();
}

InstructionHandlers select_funnel(const Modifiers& modifiers) {
  const bool left = modifiers.has(Modifier::kL);
  const bool wrap = modifiers.has(Modifier::kWrap);
  if (left)
    return wrap ? ternary_handlers<Shf<true, true>, std::uint32_t>()
                : ternary_handlers<Shf<true, false>, std::uint32_t>();
  return wrap ? ternary_handlers<Shf<false, true>, std::uint32_t>()
              : ternary_handlers<Shf<false, false>, std::uint32_t>();
}

}  // namespace

InstructionHandlers select_bits(const Instruction& instruction) {
  const Type type = instruction.type;
  if (type == Type::kPred) return {};
  switch (instruction.opcode) {
    case Opcode::kAnd: return select_binary<And>(type);
    case Opcode::kOr: return select_binary<Or>(type);
    case Opcode::kXor: return select_binary<Xor>(type);
    case Opcode::kNot: return select_unary<Not, true>(type);
    case Opcode::kCnot: return select_unary<Cnot, true>(type);
    case Opcode::kShl: return select_shift<Shl>(type);
    case Opcode::kShr: return select_shift<Shr>(type);
    case Opcode::kShf: return select_funnel(instruction.modifiers);
    case Opcode::kPopc: return select_count<Popc>(type);
    case Opcode::kClz: return select_count<Clz>(type);
    case Opcode::kBrev:
      return type == Type::kB64 ? unary_handlers<Brev, std::uint64_t, std::uint64_t>()
                                : unary_handlers<Brev, std::uint32_t, std::uint32_t>();
    case Opcode::kBfind:
      return instruction.modifiers.has(Modifier::kShiftamt) ? select_unary<Bfind<true>, false>(type)
                                                            : select_unary<Bfind<false>, false>(type);
    case Opcode::kBfe:
      return with_integer_type(
          type, [](auto t) { return ternary_handlers<Bfe, decltype(t), decltype(t), std::uint32_t, std::uint32_t>(); });
    case Opcode::kBfi:
      return type == Type::kB64 ? InstructionHandlers{bfi<std::uint64_t>, bfi<std::uint64_t>}
                                : InstructionHandlers{bfi<std::uint32_t>, bfi<std::uint32_t>};
    case Opcode::kLop3: return active_lane_handlers<Lop3, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>();
    case Opcode::kPrmt: return select_permutation(instruction.modifiers);
    case Opcode::kDp2a:
    case Opcode::kDp4a: {
      const bool a = is_signed(type);
      const bool b = is_signed(instruction.source_type);
      if (a)
        return b ? select_dot<std::int8_t, std::int8_t>(instruction)
                 : select_dot<std::int8_t, std::uint8_t>(instruction);
      return b ? select_dot<std::uint8_t, std::int8_t>(instruction)
               : select_dot<std::uint8_t, std::uint8_t>(instruction);
    }
    default: return {};
  }
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
