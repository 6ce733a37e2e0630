// Moves, selections, and the parts of wider registers.
#include "backends/ptx/instructions/lanes/float_ops.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

struct Same {
  template <class T>
  static T apply(T a) {
    return a;
  }
};
struct Narrow {
  static std::uint32_t apply(std::uint64_t a) { return static_cast<std::uint32_t>(a); }
};
template <class T>
struct Widen {
  static std::uint64_t apply(T a) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(a)); }
};

template <bool kFull, class T>
void selp(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const auto* const a = slot_words<T>(lanes, op.a);
  const auto* const b = slot_words<T>(lanes, op.b);
  const std::uint32_t chosen = predicate_word(lanes, op.c);
  store_active_lanes<kFull>(slot_words<T>(lanes, op.d), mask,
                            [=](unsigned i) { return (chosen & kBit[i]) != 0 ? a[i] : b[i]; });
}

template <class C, bool kFtz>
struct Slct {
  template <class T>
  static T apply(T a, T b, C c) {
    if constexpr (std::is_same_v<C, float>) {
      return (kFtz ? flush_subnormal(c) : c) >= 0 ? a : b;
    } else {
      return c >= 0 ? a : b;
    }
  }
};
template <class C, bool kFtz>
InstructionHandlers select_slct(Type type) {
  if (bytes_of(type) == 8) return ternary_handlers<Slct<C, kFtz>, std::uint64_t, std::uint64_t, std::uint64_t, C>();
  return ternary_handlers<Slct<C, kFtz>, std::uint32_t, std::uint32_t, std::uint32_t, C>();
}

/// Bits [immediate, immediate + 8 * kBytes) of a.
template <class From, class To>
struct Extract {
  static To apply(const Op& op, From a, From, From) { return static_cast<To>(a >> op.immediate); }
};
/// d with a put at bit `immediate`; b is d.
template <class To, class Part>
struct Insert {
  static To apply(const Op& op, Part a, To b, To) {
    const To field = static_cast<To>(static_cast<To>(static_cast<Part>(~Part{0})) << op.immediate);
    return static_cast<To>((b & ~field) | (static_cast<To>(a) << op.immediate));
  }
};

}  // namespace

InstructionHandlers select_move(const Instruction& instruction) {
  const bool wide = bytes_of(instruction.type) == 8;
  switch (instruction.opcode) {
    case Opcode::kMov:
      return wide ? unary_handlers<Same, std::uint64_t, std::uint64_t>()
                  : unary_handlers<Same, std::uint32_t, std::uint32_t>();
    case Opcode::kSelp:
      return wide ? InstructionHandlers{selp<true, std::uint64_t>, selp<false, std::uint64_t>}
                  : InstructionHandlers{selp<true, std::uint32_t>, selp<false, std::uint32_t>};
    case Opcode::kSlct:
      if (instruction.source_type == Type::kS32) return select_slct<std::int32_t, false>(instruction.type);
      return instruction.modifiers.has(Modifier::kFtz) ? select_slct<float, true>(instruction.type)
                                                       : select_slct<float, false>(instruction.type);
    default: return {};
  }
}

InstructionHandlers select_narrowing() { return unary_handlers<Narrow, std::uint32_t, std::uint64_t>(); }

InstructionHandlers select_widening(bool is_signed) {
  return is_signed ? unary_handlers<Widen<std::int32_t>, std::uint64_t, std::int32_t>()
                   : unary_handlers<Widen<std::uint32_t>, std::uint64_t, std::uint32_t>();
}

InstructionHandlers select_extract(unsigned from_bytes, unsigned bytes) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if (from_bytes == 8 && bytes == 4) return active_lane_handlers<Extract<U64, U32>, U32, U64, U64, U64>();
  if (from_bytes == 8 && bytes == 2) return active_lane_handlers<Extract<U64, U16>, U16, U64, U64, U64>();
  if (from_bytes == 4 && bytes == 2) return active_lane_handlers<Extract<U32, U16>, U16, U32, U32, U32>();
  return {};
}

InstructionHandlers select_insert(unsigned to_bytes, unsigned bytes) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if (to_bytes == 8 && bytes == 4) return active_lane_handlers<Insert<U64, U32>, U64, U32, U64, U64>();
  if (to_bytes == 8 && bytes == 2) return active_lane_handlers<Insert<U64, U16>, U64, U16, U64, U64>();
  if (to_bytes == 4 && bytes == 2) return active_lane_handlers<Insert<U32, U16>, U32, U16, U32, U32>();
  return {};
}

}  // namespace assay::ptx::ASSAY_PTX_ISA
