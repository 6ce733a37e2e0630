// f32 and f64 arithmetic as defined by PTX. Private to the files of this folder.
#pragma once

#include <cfenv>
#include <cmath>

#include "backends/ptx/instructions/lanes/lane_loop.hpp"

namespace assay::ptx::ASSAY_PTX_ISA {
namespace {

inline constexpr std::uint32_t kCanonicalNanF32 = 0x7fffffff;

/// Replaces subnormals by zeros of the same sign.
inline float flush_subnormal(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}
inline double flush_subnormal(double x) { return x; }

/// Single precision results have one NaN; double keeps the CPU's NaN, because PTX does not specify the payload.
inline float canonical(float x) { return x != x ? std::bit_cast<float>(kCanonicalNanF32) : x; }
inline double canonical(double x) { return x; }

template <class T>
inline T saturate(T x) {
  return x >= T(1) ? T(1) : (x > T(0) ? x : T(0));
}

struct FloatAdd {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct FloatSub {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct FloatMul {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct FloatDiv {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct FloatFma {
  template <class T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct FloatSqrt {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct FloatRcp {
  template <class T>
  static T apply(T a) {
    return T(1) / a;
  }
};
inline bool has_sign(float x) { return std::bit_cast<std::int32_t>(x) < 0; }
inline bool has_sign(double x) { return std::bit_cast<std::int64_t>(x) < 0; }

// Operators without branches, because GCC does not vectorize all loops with them.

/// A number takes precedence over a NaN; -0 is less than +0.
template <bool kPropagate>
struct FloatMin {
  template <class T>
  static T apply(T a, T b) {
    const T a_unless_nan = a != a ? b : a;
    const bool takes_b = (b < a) | ((b == a) & has_sign(b));
    const T result = takes_b ? b : a_unless_nan;
    return kPropagate && b != b ? b : (kPropagate && a != a ? a : result);
  }
};
template <bool kPropagate>
struct FloatMax {
  template <class T>
  static T apply(T a, T b) {
    const T a_unless_nan = a != a ? b : a;
    const bool takes_b = (b > a) | ((b == a) & !has_sign(b));
    const T result = takes_b ? b : a_unless_nan;
    return kPropagate && b != b ? b : (kPropagate && a != a ? a : result);
  }
};

/// An operation with flushed operands and result, saturated result and canonical NaN.
template <class F, bool kFtz, bool kSat>
struct FtzSatVariant {
  template <class T>
  static T flush_operand(T x) {
    return kFtz ? flush_subnormal(x) : x;
  }
  template <class T>
  static T finish_result(T x) {
    x = kFtz ? flush_subnormal(x) : x;
    return kSat ? saturate(x) : canonical(x);
  }
  template <class T>
  static T apply(T a) {
    return finish_result(F::apply(flush_operand(a)));
  }
  template <class T>
  static T apply(T a, T b) {
    return finish_result(F::apply(flush_operand(a), flush_operand(b)));
  }
  template <class T>
  static T apply(T a, T b, T c) {
    return finish_result(F::apply(flush_operand(a), flush_operand(b), flush_operand(c)));
  }
};

/// Calls `use` with F, finished as specified by the modifiers.
template <class F, class Use>
InstructionHandlers with_ftz_sat_variant(const Modifiers& modifiers, Use use) {
  const bool ftz = modifiers.has(Modifier::kFtz);
  if (modifiers.has(Modifier::kSat))
    return ftz ? use(FtzSatVariant<F, true, true>{}) : use(FtzSatVariant<F, false, true>{});
  return ftz ? use(FtzSatVariant<F, true, false>{}) : use(FtzSatVariant<F, false, false>{});
}

}  // namespace
}  // namespace assay::ptx::ASSAY_PTX_ISA
