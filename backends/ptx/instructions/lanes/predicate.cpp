// Comparisons, and logic on predicates.
#include <cmath>

#include "backends/ptx/instructions/lanes/float_ops.hpp"
#include "backends/ptx/instructions/lanes/rounding.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

template <Modifier kCompare>
struct Compare {
  template <class T>
  static bool apply(T a, T b) {
    using enum Modifier;
    constexpr bool kUnordered = kCompare == kEqu || kCompare == kNeu || kCompare == kLtu || kCompare == kLeu ||
                                kCompare == kGtu || kCompare == kGeu;
    const bool nan = kIsFloat<T> && (a != a || b != b);
    if constexpr (kCompare == kNum) return !nan;
    if constexpr (kCompare == kNan) return nan;
    if constexpr (kCompare == kEq || kCompare == kEqu) return a == b || (kUnordered && nan);
    if constexpr (kCompare == kNe) return a != b && !nan;
    if constexpr (kCompare == kNeu) return a != b || nan;
    if constexpr (kCompare == kLt || kCompare == kLtu) return a < b || (kUnordered && nan);
    if constexpr (kCompare == kLe || kCompare == kLeu) return a <= b || (kUnordered && nan);
    if constexpr (kCompare == kGt || kCompare == kGtu) return a > b || (kUnordered && nan);
    if constexpr (kCompare == kGe || kCompare == kGeu) return a >= b || (kUnordered && nan);
    return false;
  }
};

template <class T, bool kFtz>
inline auto comparable(T x) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return to_float(x);
  } else if constexpr (kFtz && kIsFloat<T>) {
    return flush_subnormal(x);
  } else {
    return x;
  }
}

/// One bit for each of the first kCount lanes, set if the comparison holds.
template <unsigned kCount, class F, class T, bool kFtz>
inline std::uint32_t compare_first_lanes(WarpState& lanes, const Op& op) {
  const auto* const a = slot_words<T>(lanes, op.a);
  const auto* const b = slot_words<T>(lanes, op.b);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < kCount; ++i) {
    const bool holds = F::apply(comparable<T, kFtz>(from_word<T>(a[i])), comparable<T, kFtz>(from_word<T>(b[i])));
    result |= holds ? kBit[i] : 0U;
  }
  return result;
}
/// The same for the lanes in `mask`, and some others.
template <class F, class T, bool kFtz>
inline std::uint32_t compare_lanes(WarpState& lanes, const Op& op, std::uint32_t mask) {
  if (is_one_lane(mask)) {
    const int i = std::countr_zero(mask);
    const bool holds = F::apply(comparable<T, kFtz>(from_word<T>(slot_words<T>(lanes, op.a)[i])),
                                comparable<T, kFtz>(from_word<T>(slot_words<T>(lanes, op.b)[i])));
    return holds ? mask : 0U;
  }
  return mask >> kFewLanes == 0 ? compare_first_lanes<kFewLanes, F, T, kFtz>(lanes, op)
                                : compare_first_lanes<kLanesPerWarp, F, T, kFtz>(lanes, op);
}

enum class Combine : std::uint8_t { kNone, kAnd, kOr, kXor };
template <Combine kCombine>
inline std::uint32_t combined(std::uint32_t result, WarpState& lanes, const Op& op) {
  if constexpr (kCombine == Combine::kAnd) return result & predicate_word(lanes, op.c);
  if constexpr (kCombine == Combine::kOr) return result | predicate_word(lanes, op.c);
  if constexpr (kCombine == Combine::kXor) return result ^ predicate_word(lanes, op.c);
  return result;
}

/// setp: d is the comparison, d2 its opposite, each combined with c.
template <class F, class T, bool kFtz, Combine kCombine>
void setp(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const std::uint32_t result = compare_lanes<F, T, kFtz>(lanes, op, mask);
  const std::uint32_t first = combined<kCombine>(result, lanes, op);
  if (op.d2.bits != 0) {
    set_predicate(lanes, op.d2, combined<kCombine>(~result, lanes, op), mask);
  }
  set_predicate(lanes, op.d, first, mask);
}

/// set: the word op.immediate if the comparison holds, otherwise 0.
template <class F, class T, bool kFtz, Combine kCombine>
void set(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const std::uint32_t result = combined<kCombine>(compare_lanes<F, T, kFtz>(lanes, op, mask), lanes, op);
  auto* const d = slot_words<std::uint32_t>(lanes, op.d);
  for (unsigned i = 0; i < kLanesPerWarp; ++i) {
    if ((mask & kBit[i]) != 0) d[i] = (result & kBit[i]) != 0 ? static_cast<std::uint32_t>(op.immediate) : 0U;
  }
}

template <class F, class T, bool kFtz, Combine kCombine>
InstructionHandlers form(bool is_setp) {
  const Handler handler = is_setp ? setp<F, T, kFtz, kCombine> : set<F, T, kFtz, kCombine>;
  return {handler, handler};
}

template <class F, class T, bool kFtz>
InstructionHandlers select_combination(const Instruction& instruction) {
  const bool is_setp = instruction.opcode == Opcode::kSetp;
  if (instruction.modifiers.has(Modifier::kAnd)) return form<F, T, kFtz, Combine::kAnd>(is_setp);
  if (instruction.modifiers.has(Modifier::kOr)) return form<F, T, kFtz, Combine::kOr>(is_setp);
  if (instruction.modifiers.has(Modifier::kXor)) return form<F, T, kFtz, Combine::kXor>(is_setp);
  return form<F, T, kFtz, Combine::kNone>(is_setp);
}

/// Calls `as` with the comparison as its template argument.
template <bool kOfFloats, class As>
InstructionHandlers with_comparison(const Modifiers& m, As as) {
  using enum Modifier;
  if (m.has(kEq)) return as.template operator()<kEq>();
  if (m.has(kNe)) return as.template operator()<kNe>();
  if (m.has(kLt) || m.has(kLo)) return as.template operator()<kLt>();
  if (m.has(kLe) || m.has(kLs)) return as.template operator()<kLe>();
  if (m.has(kGt) || m.has(kHi)) return as.template operator()<kGt>();
  if (m.has(kGe) || m.has(kHs)) return as.template operator()<kGe>();
  if constexpr (kOfFloats) {
    if (m.has(kEqu)) return as.template operator()<kEqu>();
    if (m.has(kNeu)) return as.template operator()<kNeu>();
    if (m.has(kLtu)) return as.template operator()<kLtu>();
    if (m.has(kLeu)) return as.template operator()<kLeu>();
    if (m.has(kGtu)) return as.template operator()<kGtu>();
    if (m.has(kGeu)) return as.template operator()<kGeu>();
    if (m.has(kNum)) return as.template operator()<kNum>();
    if (m.has(kNan)) return as.template operator()<kNan>();
  }
  return {};
}

template <class T, bool kFlush>
InstructionHandlers select_comparison(const Instruction& instruction) {
  return with_comparison<!std::is_integral_v<T>>(instruction.modifiers, [&]<Modifier kCompare>() {
    return select_combination<Compare<kCompare>, T, kFlush>(instruction);
  });
}

/// set for both halves of a word.
template <Modifier kCompare, class T>
struct PairComparison {
  static std::uint32_t half(const Op& op, std::uint32_t a, std::uint32_t b) {
    const bool holds = Compare<kCompare>::apply(to_float(T{static_cast<std::uint16_t>(a)}),
                                                to_float(T{static_cast<std::uint16_t>(b)}));
    return holds ? static_cast<std::uint32_t>(op.immediate) : 0;
  }
  static std::uint32_t apply(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t) {
    return half(op, a, b) | half(op, a >> 16U, b >> 16U) << 16U;
  }
};
template <class T>
InstructionHandlers select_pair_comparison(const Modifiers& modifiers) {
  using enum Modifier;
  if (modifiers.has(kFtz)) return {};
  return with_comparison<true>(modifiers, []<Modifier kCompare>() {
    return active_lane_handlers<PairComparison<kCompare, T>, std::uint32_t, std::uint32_t, std::uint32_t,
                                std::uint32_t>();
  });
}

InstructionHandlers select_compared(const Instruction& instruction) {
  const bool ftz = instruction.modifiers.has(Modifier::kFtz);
  switch (instruction.source_type) {
    case Type::kF16: return ftz ? InstructionHandlers{} : select_comparison<F16, false>(instruction);
    case Type::kBf16: return ftz ? InstructionHandlers{} : select_comparison<Bf16, false>(instruction);
    case Type::kF32:
      return ftz ? select_comparison<float, true>(instruction) : select_comparison<float, false>(instruction);
    case Type::kF64: return select_comparison<double, false>(instruction);
    case Type::kF16x2: return select_pair_comparison<F16>(instruction.modifiers);
    case Type::kBf16x2: return select_pair_comparison<Bf16>(instruction.modifiers);
    default:
      return with_integer_type(instruction.source_type,
                               [&](auto type) { return select_comparison<decltype(type), false>(instruction); });
  }
}

/// testp: whether a float is of a class.
template <class T, bool (*kIs)(int)>
void testp(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const auto* const a = slot_words<T>(lanes, op.a);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < kLanesPerWarp; ++i)
    result |= kIs(std::fpclassify(from_word<T>(a[i]))) ? kBit[i] : 0U;
  set_predicate(lanes, op.d, result, mask);
}
bool is_finite(int c) { return c != FP_NAN && c != FP_INFINITE; }
bool is_infinite(int c) { return c == FP_INFINITE; }
bool is_number(int c) { return c != FP_NAN; }
bool is_not_a_number(int c) { return c == FP_NAN; }
bool is_normal(int c) { return c == FP_NORMAL; }
bool is_subnormal(int c) { return c == FP_SUBNORMAL; }

template <class T>
InstructionHandlers select_class(const Modifiers& modifiers) {
  using enum Modifier;
  const auto as = []<bool (*kIs)(int)>() { return InstructionHandlers{testp<T, kIs>, testp<T, kIs>}; };
  if (modifiers.has(kFinite)) return as.template operator()<is_finite>();
  if (modifiers.has(kInfinite)) return as.template operator()<is_infinite>();
  if (modifiers.has(kNumber)) return as.template operator()<is_number>();
  if (modifiers.has(kNotanumber)) return as.template operator()<is_not_a_number>();
  if (modifiers.has(kNormal)) return as.template operator()<is_normal>();
  if (modifiers.has(kSubnormal)) return as.template operator()<is_subnormal>();
  return {};
}

template <class F>
void logic(WarpState& lanes, const Op& op, std::uint32_t mask) {
  set_predicate(lanes, op.d, F::apply(predicate_word(lanes, op.a), predicate_word(lanes, op.b)), mask);
}
template <class F>
InstructionHandlers logic_handlers() {
  return {logic<F>, logic<F>};
}
struct First {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t) { return a; }
};
struct NotFirst {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t) { return ~a; }
};
struct And {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct Or {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct Xor {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};

}  // namespace

InstructionHandlers select_predicate(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kSetp:
    case Opcode::kSet: return select_compared(instruction);
    case Opcode::kTestp:
      return instruction.type == Type::kF64 ? select_class<double>(instruction.modifiers)
                                            : select_class<float>(instruction.modifiers);
    case Opcode::kAnd: return logic_handlers<And>();
    case Opcode::kOr: return logic_handlers<Or>();
    case Opcode::kXor: return logic_handlers<Xor>();
    case Opcode::kNot: return logic_handlers<NotFirst>();
    case Opcode::kMov: return logic_handlers<First>();
    default: return {};
  }
}

InstructionHandlers select_predicate_not() { return logic_handlers<NotFirst>(); }

}  // namespace assay::ptx::ASSAY_PTX_ISA
