// The loop over lanes, and the representation of PTX values in slots. Private to the files of this folder.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/ptx/instructions/lanes/lanes.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

/// The bits of a half precision number; the arithmetic is in half.cpp.
template <int kMantissaBits>
struct HalfFloat {
  std::uint16_t bits = 0;  ///< encoded number
};
using F16 = HalfFloat<10>;
using Bf16 = HalfFloat<7>;

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
inline T from_word(Word<T> word) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(word);
  } else if constexpr (sizeof(T) == 2) {
    return T{static_cast<std::uint16_t>(word)};
  } else {
    return std::bit_cast<T>(word);
  }
}
template <class T>
inline Word<T> to_word(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<Word<T>>(value);
  } else if constexpr (sizeof(T) == 2) {
    return value.bits;
  } else {
    return std::bit_cast<Word<T>>(value);
  }
}

alignas(64) constexpr std::uint32_t kBit[kLanesPerWarp] = {
    1U << 0,  1U << 1,  1U << 2,  1U << 3,  1U << 4,  1U << 5,  1U << 6,  1U << 7,  1U << 8,  1U << 9,  1U << 10,
    1U << 11, 1U << 12, 1U << 13, 1U << 14, 1U << 15, 1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20, 1U << 21,
    1U << 22, 1U << 23, 1U << 24, 1U << 25, 1U << 26, 1U << 27, 1U << 28, 1U << 29, 1U << 30, 1U << 31};

template <class T>
inline Word<T>* slot_words(WarpState& lanes, FrameSlot slot) {
  std::byte* const frame = lanes.frames[slot.bits >> 31U];
  return static_cast<Word<T>*>(__builtin_assume_aligned(frame + (slot.bits & ~FrameSlot::kConstantFrameBit), 64));
}
inline std::uint32_t& predicate_word(WarpState& lanes, FrameSlot slot) {
  return *reinterpret_cast<std::uint32_t*>(lanes.frames[slot.bits >> 31U] +
                                           (slot.bits & ~FrameSlot::kConstantFrameBit));
}
inline void set_predicate(WarpState& lanes, FrameSlot slot, std::uint32_t value, std::uint32_t mask) {
  std::uint32_t& word = predicate_word(lanes, slot);
  word = (word & ~mask) | (value & mask);
}

// Sources and destination of one loop are the same register or disjoint, so lanes are independent ("ivdep").

/// If only lanes with smaller numbers are active, loops over all lanes end here: many warps have few threads.
constexpr unsigned kFewLanes = 8;

/// Whether exactly one lane is in the mask, which must not be 0.
inline bool is_one_lane(std::uint32_t mask) { return (mask & (mask - 1)) == 0; }

/// d[i] = compute(i) for those of the first kCount lanes that are in the mask. The loop is not in another loop, because
/// GCC would unroll it there instead of vectorizing it.
template <unsigned kCount, class D, class Compute>
inline void store_first_lanes(D* d, std::uint32_t mask, Compute compute) {
#pragma GCC ivdep
  for (unsigned i = 0; i < kCount; ++i) {
    const D result = compute(i);
    d[i] = (mask & kBit[i]) != 0 ? result : d[i];
  }
}

/// Calls `compute(i)` for the lane with the number i and stores the results of the active lanes in `d`. With kFull, all
/// lanes are active. Otherwise, if one lane is active, only its result is computed.
template <bool kFull, class D, class Compute>
inline void store_active_lanes(D* d, std::uint32_t mask, Compute compute) {
  if constexpr (kFull) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanesPerWarp; ++i)
      d[i] = compute(i);
  } else if (is_one_lane(mask)) {
    const auto i = static_cast<unsigned>(std::countr_zero(mask));
    d[i] = compute(i);
  } else if (mask >> kFewLanes == 0) {
    store_first_lanes<kFewLanes>(d, mask, compute);
  } else {
    store_first_lanes<kLanesPerWarp>(d, mask, compute);
  }
}

/// d = F(a), F(a, b) or F(a, b, c), lane by lane.
template <bool kFull, class F, class D, class A>
void run_unary(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const auto* const a = slot_words<A>(lanes, op.a);
  store_active_lanes<kFull>(slot_words<D>(lanes, op.d), mask,
                            [=](unsigned i) { return to_word<D>(F::apply(from_word<A>(a[i]))); });
}
template <bool kFull, class F, class D, class A, class B>
void run_binary(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const auto* const a = slot_words<A>(lanes, op.a);
  const auto* const b = slot_words<B>(lanes, op.b);
  store_active_lanes<kFull>(slot_words<D>(lanes, op.d), mask,
                            [=](unsigned i) { return to_word<D>(F::apply(from_word<A>(a[i]), from_word<B>(b[i]))); });
}
template <bool kFull, class F, class D, class A, class B, class C>
void run_ternary(WarpState& lanes, const Op& op, std::uint32_t mask) {
  const auto* const a = slot_words<A>(lanes, op.a);
  const auto* const b = slot_words<B>(lanes, op.b);
  const auto* const c = slot_words<C>(lanes, op.c);
  store_active_lanes<kFull>(slot_words<D>(lanes, op.d), mask, [=](unsigned i) {
    return to_word<D>(F::apply(from_word<A>(a[i]), from_word<B>(b[i]), from_word<C>(c[i])));
  });
}
/// For other operations: F receives the lanes' words and the Op. Only active lanes are computed.
template <class F, class D, class A, class B, class C>
void run_active_lanes(WarpState& lanes, const Op& op, std::uint32_t mask) {
  auto* const d = slot_words<D>(lanes, op.d);
  const auto* const a = slot_words<A>(lanes, op.a);
  const auto* const b = slot_words<B>(lanes, op.b);
  const auto* const c = slot_words<C>(lanes, op.c);
  for (; mask != 0; mask &= mask - 1) {
    const int i = std::countr_zero(mask);
    d[i] = to_word<D>(F::apply(op, from_word<A>(a[i]), from_word<B>(b[i]), from_word<C>(c[i])));
  }
}

template <class F, class D, class A>
constexpr InstructionHandlers unary_handlers() {
  return {run_unary<true, F, D, A>, run_unary<false, F, D, A>};
}
template <class F, class D, class A = D, class B = A>
constexpr InstructionHandlers binary_handlers() {
  return {run_binary<true, F, D, A, B>, run_binary<false, F, D, A, B>};
}
template <class F, class D, class A = D, class B = A, class C = D>
constexpr InstructionHandlers ternary_handlers() {
  return {run_ternary<true, F, D, A, B, C>, run_ternary<false, F, D, A, B, C>};
}
template <class F, class D, class A, class B, class C>
constexpr InstructionHandlers active_lane_handlers() {
  return {run_active_lanes<F, D, A, B, C>, run_active_lanes<F, D, A, B, C>};
}

/// Calls `use` with a value of the C++ type for the PTX type, and returns its result.
template <class Use>
InstructionHandlers with_integer_type(Type type, Use use) {
  switch (type) {
    case Type::kB8:
    case Type::kU8: return use(std::uint8_t{});
    case Type::kS8: return use(std::int8_t{});
    case Type::kB16:
    case Type::kU16: return use(std::uint16_t{});
    case Type::kS16: return use(std::int16_t{});
    case Type::kB32:
    case Type::kU32: return use(std::uint32_t{});
    case Type::kS32: return use(std::int32_t{});
    case Type::kB64:
    case Type::kU64: return use(std::uint64_t{});
    case Type::kS64: return use(std::int64_t{});
    default: return {};
  }
}
template <class Use>
InstructionHandlers with_float_type(Type type, Use use) {
  if (type == Type::kF32) return use(float{});
  if (type == Type::kF64) return use(double{});
  return {};
}

}  // namespace
}  // namespace assay::ptx::ASSAY_PTX_ISA
