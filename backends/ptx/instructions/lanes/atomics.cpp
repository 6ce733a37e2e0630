#include "backends/ptx/instructions/lanes/atomics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "backends/ptx/instructions/lanes/rounding.hpp"

namespace assay::ptx {

namespace {

template <class T, class F>
std::uint64_t update(std::byte* cell, std::uint64_t a, std::uint64_t b) {
  T old;
  std::memcpy(&old, cell, sizeof(T));
  T operand;
  std::memcpy(&operand, &a, sizeof(T));
  T second;
  std::memcpy(&second, &b, sizeof(T));
  const T result = F::apply(old, operand, second);
  std::memcpy(cell, &result, sizeof(T));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &old, sizeof(T));
  return bits;
}

float flush_subnormal(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }
float canonical(float x) { return x != x ? std::bit_cast<float>(0x7fffffffU) : x; }

struct Add {
  template <class T>
  static T apply(T old, T a, T) {
    return static_cast<T>(old + a);
  }
};
struct AddFlushed {
  static float apply(float old, float a, float) {
    return canonical(flush_subnormal(flush_subnormal(old) + flush_subnormal(a)));
  }
};
struct AddCanonical {
  static float apply(float old, float a, float) { return canonical(old + a); }
};
/// Adds one or two f16 or bf16 values in a word of type W.
template <class T, class W>
struct AddHalves {
  static W apply(W old, W a, W) {
    W result = 0;
    for (unsigned shift = 0; shift < 8 * sizeof(W); shift += 16) {
      const T x{static_cast<std::uint16_t>(old >> shift)};
      const T y{static_cast<std::uint16_t>(a >> shift)};
      const T sum = ASSAY_PTX_ISA::from_float<T>(ASSAY_PTX_ISA::to_float(x) + ASSAY_PTX_ISA::to_float(y));
      result = static_cast<W>(result | W{sum.bits} << shift);
    }
    return result;
  }
};
struct And {
  template <class T>
  static T apply(T old, T a, T) {
    return old & a;
  }
};
struct Or {
  template <class T>
  static T apply(T old, T a, T) {
    return old | a;
  }
};
struct Xor {
  template <class T>
  static T apply(T old, T a, T) {
    return old ^ a;
  }
};
struct Min {
  template <class T>
  static T apply(T old, T a, T) {
    return std::min(old, a);
  }
};
struct Max {
  template <class T>
  static T apply(T old, T a, T) {
    return std::max(old, a);
  }
};
struct Inc {
  template <class T>
  static T apply(T old, T a, T) {
    return old >= a ? 0 : old + 1;
  }
};
struct Dec {
  template <class T>
  static T apply(T old, T a, T) {
    return old == 0 || old > a ? a : old - 1;
  }
};
struct Exch {
  template <class T>
  static T apply(T, T a, T) {
    return a;
  }
};
struct Cas {
  template <class T>
  static T apply(T old, T a, T b) {
    return old == a ? b : old;
  }
};

template <class F>
AtomicFunction of_width(Type type) {
  return bytes_of(type) == 8 ? update<std::uint64_t, F> : bytes_of(type) == 4 ? update<std::uint32_t, F> : nullptr;
}
template <class F>
AtomicFunction of_integer(Type type) {
  switch (type) {
    case Type::kS32: return update<std::int32_t, F>;
    case Type::kS64: return update<std::int64_t, F>;
    case Type::kU32: return update<std::uint32_t, F>;
    case Type::kU64: return update<std::uint64_t, F>;
    default: return nullptr;
  }
}

}  // namespace

AtomicFunction find_atomic(Modifier operation, Type type, bool is_global) {
  switch (operation) {
    case Modifier::kAdd:
      if (type == Type::kF32) return is_global ? update<float, AddFlushed> : update<float, AddCanonical>;
      if (type == Type::kF64) return update<double, Add>;
      if (type == Type::kF16) return update<std::uint16_t, AddHalves<ASSAY_PTX_ISA::F16, std::uint16_t>>;
      if (type == Type::kBf16) return update<std::uint16_t, AddHalves<ASSAY_PTX_ISA::Bf16, std::uint16_t>>;
      if (type == Type::kF16x2) return update<std::uint32_t, AddHalves<ASSAY_PTX_ISA::F16, std::uint32_t>>;
      if (type == Type::kBf16x2) return update<std::uint32_t, AddHalves<ASSAY_PTX_ISA::Bf16, std::uint32_t>>;
      return is_float(type) ? nullptr : of_width<Add>(type);
    case Modifier::kAnd: return of_width<And>(type);
    case Modifier::kOr: return of_width<Or>(type);
    case Modifier::kXor: return of_width<Xor>(type);
    case Modifier::kExch: return of_width<Exch>(type);
    case Modifier::kCas: return bytes_of(type) == 2 ? update<std::uint16_t, Cas> : of_width<Cas>(type);
    case Modifier::kMin: return of_integer<Min>(type);
    case Modifier::kMax: return of_integer<Max>(type);
    case Modifier::kInc: return of_integer<Inc>(type);
    case Modifier::kDec: return of_integer<Dec>(type);
    default: return nullptr;
  }
}

}  // namespace assay::ptx
