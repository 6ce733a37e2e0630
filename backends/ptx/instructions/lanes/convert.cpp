// cvt, for all pairs of types.
#include <cfenv>
#include <cmath>
#include <limits>

#include "backends/ptx/instructions/lanes/float_ops.hpp"
#include "backends/ptx/instructions/lanes/rounding.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

// to_word extends a result to a wider register by the sign of its type.
struct Truncate {
  template <class D, class S>
  struct To {
    static D apply(S a) { return static_cast<D>(a); }
  };
  template <class D, class S>
  struct Saturate {
    static D apply(S a) {
      using Limits = std::numeric_limits<D>;
      if (std::cmp_less(a, Limits::min())) return Limits::min();
      return std::cmp_greater(a, Limits::max()) ? Limits::max() : static_cast<D>(a);
    }
  };
};

InstructionHandlers integer_to_integer(const Instruction& instruction) {
  const bool sat = instruction.modifiers.has(Modifier::kSat);
  return with_integer_type(instruction.type, [&](auto d) {
    return with_integer_type(instruction.source_type, [&](auto s) {
      using D = decltype(d);
      using S = decltype(s);
      return sat ? unary_handlers<Truncate::Saturate<D, S>, D, S>() : unary_handlers<Truncate::To<D, S>, D, S>();
    });
  });
}

template <class D, class S>
struct NearestFloat {
  static D apply(S a) { return static_cast<D>(a); }
};
template <class D, class S, bool kFtz>
struct FloatToFloat {
  static D apply(S a) {
    const S source = kFtz ? flush_subnormal(a) : a;
    const D result = static_cast<D>(source);
    return canonical(kFtz ? flush_subnormal(result) : result);
  }
};

struct Nearest {
  template <class T>
  static T apply(T x) {
    return std::nearbyint(x);
  }
};
struct Zero {
  template <class T>
  static T apply(T x) {
    return std::trunc(x);
  }
};
struct Down {
  template <class T>
  static T apply(T x) {
    return std::floor(x);
  }
};
struct Up {
  template <class T>
  static T apply(T x) {
    return std::ceil(x);
  }
};

/// Out-of-range values are clamped. NaN gives 0, but if either type has 64 bits, only the highest bit set.
template <class Rounding, class D, class S, bool kFtz>
struct FloatToInteger {
  static D apply(S a) {
    if (kFtz) a = flush_subnormal(a);
    constexpr S kAbove = std::is_signed_v<D> ? S(std::uint64_t{1} << (8 * sizeof(D) - 1))
                                             : S(2) * S(std::uint64_t{1} << (8 * sizeof(D) - 1));
    if (a != a)
      return sizeof(D) == 8 || sizeof(S) == 8 ? static_cast<D>(std::uint64_t{1} << (8 * sizeof(D) - 1)) : D{0};
    const S rounded = Rounding::apply(a);
    if (rounded >= kAbove) return std::numeric_limits<D>::max();
    if (rounded < (std::is_signed_v<D> ? -kAbove : S(0))) return std::numeric_limits<D>::min();
    return static_cast<D>(rounded);
  }
};
template <class Rounding, bool kFtz, bool kSat>
struct ToIntegral {
  template <class T>
  static T apply(T a) {
    const T rounded = Rounding::apply(kFtz ? flush_subnormal(a) : a);
    return kSat ? saturate(rounded) : canonical(rounded);
  }
};
template <bool kFtz>
struct SaturateOnly {
  template <class T>
  static T apply(T a) {
    return saturate(kFtz ? flush_subnormal(a) : a);
  }
};

template <class Use>
InstructionHandlers with_integral_rounding(const Modifiers& modifiers, Use use) {
  if (modifiers.has(Modifier::kRni)) return use(Nearest{});
  if (modifiers.has(Modifier::kRzi)) return use(Zero{});
  if (modifiers.has(Modifier::kRmi)) return use(Down{});
  if (modifiers.has(Modifier::kRpi)) return use(Up{});
  return {};
}

InstructionHandlers float_to_integer(const Instruction& instruction) {
  const bool ftz = instruction.modifiers.has(Modifier::kFtz);
  return with_integral_rounding(instruction.modifiers, [&](auto rounding) {
    using R = decltype(rounding);
    return with_float_type(instruction.source_type, [&](auto s) {
      using S = decltype(s);
      return with_integer_type(instruction.type, [&](auto d) {
        using D = decltype(d);
        return ftz ? unary_handlers<FloatToInteger<R, D, S, true>, D, S>()
                   : unary_handlers<FloatToInteger<R, D, S, false>, D, S>();
      });
    });
  });
}

InstructionHandlers to_integral(const Instruction& instruction) {
  const bool ftz = instruction.modifiers.has(Modifier::kFtz);
  const bool sat = instruction.modifiers.has(Modifier::kSat);
  return with_float_type(instruction.type, [&](auto t) {
    using T = decltype(t);
    if (sat &&
        !instruction.modifiers.first_of(std::array{Modifier::kRni, Modifier::kRzi, Modifier::kRmi, Modifier::kRpi})) {
      return ftz ? unary_handlers<SaturateOnly<true>, T, T>() : unary_handlers<SaturateOnly<false>, T, T>();
    }
    return with_integral_rounding(instruction.modifiers, [&](auto rounding) {
      using R = decltype(rounding);
      if (sat)
        return ftz ? unary_handlers<ToIntegral<R, true, true>, T, T>()
                   : unary_handlers<ToIntegral<R, false, true>, T, T>();
      return ftz ? unary_handlers<ToIntegral<R, true, false>, T, T>()
                 : unary_handlers<ToIntegral<R, false, false>, T, T>();
    });
  });
}

// The remaining conversions, half precision and directed rounding to floats, go lane by lane through a type that holds
// every source exactly: a double, or sign and significand of an integer.

template <class S>
std::uint64_t encode_any(S a, FieldWidths format, Round round) {
  if constexpr (std::is_integral_v<S>) {
    const bool negative = a < 0;
    const auto bits = static_cast<std::uint64_t>(a);
    return encode_float(negative, negative ? 0 - bits : bits, 0, format, round);
  } else if constexpr (sizeof(S) == 2) {
    return encode_float(decode_float(a.bits, format_of(a)), format, round);
  } else {
    return encode_float(double{a}, format, round);
  }
}

template <class D, class S, Round kRound, bool kFtz, bool kSat>
struct ToFloat {
  static D apply(const Op&, S a, S, S) {
    if constexpr (kFtz && std::is_same_v<S, float>) a = flush_subnormal(a);
    if constexpr (std::is_same_v<D, float>) {
      float result = std::bit_cast<float>(static_cast<std::uint32_t>(encode_any(a, kF32Format, kRound)));
      if (kFtz) result = flush_subnormal(result);
      return kSat ? saturate(result) : result;
    } else if constexpr (std::is_same_v<D, double>) {
      const double result = std::bit_cast<double>(encode_any(a, kF64Format, kRound));
      return kSat ? saturate(result) : result;
    } else {
      const D result{static_cast<std::uint16_t>(encode_any(a, format_of(D{}), kRound))};
      return kSat ? from_float<D>(saturate(to_float(result))) : result;
    }
  }
};

template <class D, class S, Round kRound>
InstructionHandlers to_float_rounded(const Modifiers& modifiers) {
  const bool ftz = modifiers.has(Modifier::kFtz);
  if (modifiers.has(Modifier::kSat)) {
    return ftz ? active_lane_handlers<ToFloat<D, S, kRound, true, true>, D, S, S, S>()
               : active_lane_handlers<ToFloat<D, S, kRound, false, true>, D, S, S, S>();
  }
  return ftz ? active_lane_handlers<ToFloat<D, S, kRound, true, false>, D, S, S, S>()
             : active_lane_handlers<ToFloat<D, S, kRound, false, false>, D, S, S, S>();
}

template <class D, class S>
InstructionHandlers to_float_from(const Modifiers& modifiers) {
  if (modifiers.has(Modifier::kRz)) return to_float_rounded<D, S, Round::kZero>(modifiers);
  if (modifiers.has(Modifier::kRm)) return to_float_rounded<D, S, Round::kDown>(modifiers);
  if (modifiers.has(Modifier::kRp)) return to_float_rounded<D, S, Round::kUp>(modifiers);
  return to_float_rounded<D, S, Round::kNearest>(modifiers);
}

template <class D>
InstructionHandlers to_float_type(const Instruction& instruction) {
  switch (instruction.source_type) {
    case Type::kF16: return to_float_from<D, F16>(instruction.modifiers);
    case Type::kBf16: return to_float_from<D, Bf16>(instruction.modifiers);
    case Type::kF32: return to_float_from<D, float>(instruction.modifiers);
    case Type::kF64: return to_float_from<D, double>(instruction.modifiers);
    default:
      return with_integer_type(instruction.source_type,
                               [&](auto s) { return to_float_from<D, decltype(s)>(instruction.modifiers); });
  }
}

InstructionHandlers any_to_float(const Instruction& instruction) {
  switch (instruction.type) {
    case Type::kF16: return to_float_type<F16>(instruction);
    case Type::kBf16: return to_float_type<Bf16>(instruction);
    case Type::kF32: return to_float_type<float>(instruction);
    default: return to_float_type<double>(instruction);
  }
}

template <class Rounding, class D, class S>
struct HalfToInteger {
  static D apply(const Op&, S a, S, S) { return FloatToInteger<Rounding, D, float, false>::apply(to_float(a)); }
};
template <class Rounding, class S, bool kSat>
struct HalfToIntegral {
  static S apply(const Op&, S a, S, S) {
    const float rounded = Rounding::apply(to_float(a));
    return from_float<S>(kSat ? saturate(rounded) : rounded);
  }
};

template <class S>
InstructionHandlers from_half(const Instruction& instruction) {
  return with_integral_rounding(instruction.modifiers, [&](auto rounding) {
    using R = decltype(rounding);
    if (is_float(instruction.type)) {
      return instruction.modifiers.has(Modifier::kSat)
                 ? active_lane_handlers<HalfToIntegral<R, S, true>, S, S, S, S>()
                 : active_lane_handlers<HalfToIntegral<R, S, false>, S, S, S, S>();
    }
    return with_integer_type(instruction.type, [&](auto d) {
      using D = decltype(d);
      return active_lane_handlers<HalfToInteger<R, D, S>, D, S, S, S>();
    });
  });
}

/// Two floats, rounded to a pair of halves. The first operand becomes the upper half.
template <class T, Round kRound, bool kRelu>
struct Pack {
  static std::uint32_t half(float x) {
    // A NaN is not less than 0 and stays a NaN.
    if (kRelu && (x < 0 || x == 0)) return 0;
    return static_cast<std::uint32_t>(encode_float(double{x}, format_of(T{}), kRound));
  }
  static std::uint32_t apply(const Op&, float a, float b, float) { return half(a) << 16U | half(b); }
};
template <class T, Round kRound>
InstructionHandlers pack_handlers(const Modifiers& modifiers) {
  return modifiers.has(Modifier::kRelu)
             ? active_lane_handlers<Pack<T, kRound, true>, std::uint32_t, float, float, float>()
             : active_lane_handlers<Pack<T, kRound, false>, std::uint32_t, float, float, float>();
}
template <class T>
InstructionHandlers floats_to_pair(const Modifiers& modifiers) {
  if (modifiers.has(Modifier::kRz)) return pack_handlers<T, Round::kZero>(modifiers);
  return modifiers.has(Modifier::kRn) ? pack_handlers<T, Round::kNearest>(modifiers) : InstructionHandlers{};
}

/// How the conversion to tf32 rounds to a significand of 11 digits.
enum class Tf32Round : std::uint8_t { kTiesAway, kTiesToEven, kZero };
template <Tf32Round kRound, bool kRelu>
struct RoundToTf32 {
  static std::uint32_t apply(std::uint32_t a) {
    const std::uint32_t magnitude = a & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return kCanonicalNanF32;
    if (kRelu && magnitude != a) return 0;
    const std::uint32_t half = kRound == Tf32Round::kTiesAway     ? 0x1000U
                               : kRound == Tf32Round::kTiesToEven ? 0xfffU + (a >> 13U & 1U)
                                                                  : 0U;
    return (a + half) & 0xffffe000U;
  }
};
template <Tf32Round kRound>
InstructionHandlers tf32_handlers(const Modifiers& modifiers) {
  return modifiers.has(Modifier::kRelu) ? unary_handlers<RoundToTf32<kRound, true>, std::uint32_t, std::uint32_t>()
                                        : unary_handlers<RoundToTf32<kRound, false>, std::uint32_t, std::uint32_t>();
}
InstructionHandlers float_to_tf32(const Modifiers& modifiers) {
  if (modifiers.has(Modifier::kRna)) return tf32_handlers<Tf32Round::kTiesAway>(modifiers);
  if (modifiers.has(Modifier::kRn)) return tf32_handlers<Tf32Round::kTiesToEven>(modifiers);
  return modifiers.has(Modifier::kRz) ? tf32_handlers<Tf32Round::kZero>(modifiers) : InstructionHandlers{};
}

/// A pair of floats of 8 or 6 bits from two floats or a pair of halves. The first operand becomes the upper byte.
template <class S, SmallFloatFormat kFormat, bool kRelu>
struct PackSmallFloats {
  static std::uint32_t one(double x) {
    // A NaN is not less than 0 and is converted as without .relu.
    return kRelu && x <= 0 ? 0 : encode_small_float(x, kFormat);
  }
  static std::uint16_t apply(const Op&, S a, S b, S) {
    if constexpr (std::is_same_v<S, float>) {
      return static_cast<std::uint16_t>(one(double{a}) << 8U | one(double{b}));
    } else {
      return static_cast<std::uint16_t>(one(decode_float(a >> 16U, kF16Format)) << 8U |
                                        one(decode_float(a & 0xffffU, kF16Format)));
    }
  }
};
/// A pair of halves from a pair of floats of 8 or 6 bits.
template <SmallFloatFormat kFormat, bool kRelu>
struct UnpackSmallFloats {
  static std::uint32_t one(std::uint32_t bits) {
    const double x = decode_small_float(bits & 0xffU, kFormat);
    return kRelu && x <= 0 ? 0 : static_cast<std::uint32_t>(encode_float(x, kF16Format, Round::kNearest));
  }
  static std::uint32_t apply(const Op&, std::uint16_t a, std::uint16_t, std::uint16_t) {
    return one(std::uint32_t{a} >> 8U) << 16U | one(a);
  }
};

template <SmallFloatFormat kFormat, bool kRelu>
InstructionHandlers small_float_handlers(const Instruction& instruction) {
  using Word16 = std::uint16_t;
  using Word32 = std::uint32_t;
  if (instruction.type == Type::kF16x2)
    return active_lane_handlers<UnpackSmallFloats<kFormat, kRelu>, Word32, Word16, Word16, Word16>();
  return instruction.source_type == Type::kF32
             ? active_lane_handlers<PackSmallFloats<float, kFormat, kRelu>, Word16, float, float, float>()
             : active_lane_handlers<PackSmallFloats<Word32, kFormat, kRelu>, Word16, Word32, Word32, Word32>();
}
template <SmallFloatFormat kFormat>
InstructionHandlers convert_small_floats(const Instruction& instruction) {
  if (!instruction.modifiers.has(Modifier::kRn)) return {};
  return instruction.modifiers.has(Modifier::kRelu) ? small_float_handlers<kFormat, true>(instruction)
                                                    : small_float_handlers<kFormat, false>(instruction);
}
InstructionHandlers convert_small_floats(const Instruction& instruction, Type pair) {
  switch (pair) {
    case Type::kE4m3x2: return convert_small_floats<kE4m3Format>(instruction);
    case Type::kE5m2x2: return convert_small_floats<kE5m2Format>(instruction);
    case Type::kE2m3x2: return convert_small_floats<kE2m3Format>(instruction);
    default: return convert_small_floats<kE3m2Format>(instruction);
  }
}

/// The common conversions to f32 and f64, rounded by the CPU.
InstructionHandlers nearest_to_float(const Instruction& instruction) {
  const bool ftz = instruction.modifiers.has(Modifier::kFtz);
  const Type from = instruction.source_type;
  return with_float_type(instruction.type, [&](auto d) {
    using D = decltype(d);
    if (!is_float(from)) {
      return with_integer_type(from,
                               [&](auto s) { return unary_handlers<NearestFloat<D, decltype(s)>, D, decltype(s)>(); });
    }
    return with_float_type(from, [&](auto s) {
      using S = decltype(s);
      return ftz ? unary_handlers<FloatToFloat<D, S, true>, D, S>() : unary_handlers<FloatToFloat<D, S, false>, D, S>();
    });
  });
}

}  // namespace

InstructionHandlers select_convert(const Instruction& instruction) {
  using enum Modifier;
  const Modifiers& modifiers = instruction.modifiers;
  const Type to = instruction.type;
  const Type from = instruction.source_type;
  if (to == Type::kTf32) return float_to_tf32(modifiers);
  if (is_pair_of_small_floats(to)) return convert_small_floats(instruction, to);
  if (is_pair_of_small_floats(from)) return convert_small_floats(instruction, from);
  if (to == Type::kF16x2) return floats_to_pair<F16>(modifiers);
  if (to == Type::kBf16x2) return floats_to_pair<Bf16>(modifiers);
  const bool from_half_type = from == Type::kF16 || from == Type::kBf16;
  const bool directed = modifiers.has(kRz) || modifiers.has(kRm) || modifiers.has(kRp);
  const bool integral = modifiers.has(kRni) || modifiers.has(kRzi) || modifiers.has(kRmi) || modifiers.has(kRpi);
  if (!is_float(to)) {
    if (!is_float(from)) return integer_to_integer(instruction);
    if (from == Type::kF16) return from_half<F16>(instruction);
    return from == Type::kBf16 ? from_half<Bf16>(instruction) : float_to_integer(instruction);
  }
  // Rounding to an integral float requires the same type on both sides. Exact conversions have no rounding modifier.
  if ((integral && to != from) || (directed && to == from)) return {};
  if (to == from && from_half_type) {
    if (integral) return from == Type::kF16 ? from_half<F16>(instruction) : from_half<Bf16>(instruction);
    return any_to_float(instruction);
  }
  if (to == from) {
    return integral || modifiers.has(kSat) ? to_integral(instruction) : nearest_to_float(instruction);
  }
  const bool to_half = to == Type::kF16 || to == Type::kBf16;
  if (directed || to_half || from_half_type || modifiers.has(kSat)) return any_to_float(instruction);
  return nearest_to_float(instruction);
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
