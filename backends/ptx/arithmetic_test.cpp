// Arithmetic against models: integers of every type on pairs of their special values, floats in every rounding mode on
// pairs of theirs.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing_models.hpp"

namespace assay::ptx {
namespace {

using namespace testing;

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

// ----------------------------------------------------------------------------------------------------------- integers

template <class T>
void check_integers() {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned kBytes = sizeof(T);
  constexpr unsigned kBits = 8 * kBytes;
  const std::string type = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', kBits);
  const std::string bits = fmt::format("b{}", kBits);
  std::vector<std::uint64_t> values;
  for (unsigned bit = 0; bit < kBits; bit += bit < 8 ? 1 : 5) {
    const U power = static_cast<U>(U{1} << bit);
    for (const U near : {power, static_cast<U>(power - 1), static_cast<U>(0U - power), static_cast<U>(~power)})
      values.push_back(near);
  }
  const std::vector<Inputs> inputs = pairs(values);
  const auto check = [&](const std::string& op, auto model, int operands = 2) {
    expect_model({.op = op + "." + type, .operands = operands, .bytes = kBytes, .result_bytes = kBytes}, inputs,
                 [&](const Inputs& in) {
                   return std::uint64_t{static_cast<U>(
                       model(Wide{static_cast<T>(in.a)}, Wide{static_cast<T>(in.b)}, Wide{static_cast<T>(in.c)}))};
                 });
  };
  check("add", [](Wide a, Wide b, Wide) { return a + b; });
  check("sub", [](Wide a, Wide b, Wide) { return a - b; });
  check("mul.lo", [](Wide a, Wide b, Wide) { return a * b; });
  check("mul.hi", [](Wide a, Wide b, Wide) {
    if constexpr (std::is_signed_v<T> || kBits < 64) return a * b >> kBits;
    return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b) >> kBits);
  });
  check(
      "mad.lo", [](Wide a, Wide b, Wide c) { return a * b + c; }, 3);
  check("min", [](Wide a, Wide b, Wide) { return std::min(a, b); });
  check("max", [](Wide a, Wide b, Wide) { return std::max(a, b); });
  check(
      "sad", [](Wide a, Wide b, Wide c) { return c + (a < b ? b - a : a - b); }, 3);
  std::vector<Inputs> divisible;
  for (const Inputs& in : inputs) {
    if (static_cast<U>(in.b) != 0) divisible.push_back(in);
  }
  for (const bool quotient : {true, false}) {
    expect_model({.op = (quotient ? "div." : "rem.") + type, .bytes = kBytes, .result_bytes = kBytes}, divisible,
                 [&](const Inputs& in) {
                   const Wide a = static_cast<T>(in.a);
                   const Wide b = static_cast<T>(in.b);
                   return std::uint64_t{static_cast<U>(quotient ? a / b : a % b)};
                 });
  }
  if constexpr (std::is_signed_v<T>) {
    check(
        "abs", [](Wide a, Wide, Wide) { return a < 0 ? -a : a; }, 1);
    check(
        "neg", [](Wide a, Wide, Wide) { return -a; }, 1);
  }
  if constexpr (kBytes < 8) {
    expect_model({.op = "mul.wide." + type, .bytes = kBytes, .result_bytes = 2 * kBytes}, inputs, [](const Inputs& in) {
      const auto product = static_cast<std::uint64_t>(Wide{static_cast<T>(in.a)} * static_cast<T>(in.b));
      return kBytes == 4 ? product : product & 0xffffffffU;
    });
  }
  // Shifts clamp: 32 and more bits leave nothing, or the sign.
  const auto shift = [&](const std::string& op, auto model) {
    std::vector<Inputs> amounts;
    for (const std::uint64_t a : values) {
      for (const std::uint64_t b : {0U, 1U, 7U, 15U, 16U, 31U, 32U, 33U, 63U, 64U, 200U, 0x80000000U, 0xffffffffU})
        amounts.push_back({a, b, 0});
    }
    expect_model({.op = op, .bytes = kBytes, .result_bytes = kBytes, .b_bytes = 4}, amounts, [&](const Inputs& in) {
      const auto by = static_cast<unsigned>(std::min<std::uint64_t>(in.b, kBits));
      return std::uint64_t{static_cast<U>(model(static_cast<T>(in.a), by))};
    });
  };
  shift("shl." + bits,
        [](T a, unsigned by) { return static_cast<Wide>(static_cast<UnsignedWide>(static_cast<U>(a)) << by); });
  shift("shr." + type, [](T a, unsigned by) { return Wide{a} >> by; });
  const auto logic = [&](const std::string& op, auto model, int operands = 2) {
    expect_model({.op = op + "." + bits, .operands = operands, .bytes = kBytes, .result_bytes = kBytes}, inputs,
                 [&](const Inputs& in) {
                   return std::uint64_t{static_cast<U>(model(static_cast<U>(in.a), static_cast<U>(in.b)))};
                 });
  };
  logic("and", [](U a, U b) { return a & b; });
  logic("or", [](U a, U b) { return a | b; });
  logic("xor", [](U a, U b) { return a ^ b; });
  logic(
      "not", [](U a, U) { return ~a; }, 1);
  logic(
      "cnot", [](U a, U) { return a == 0 ? 1 : 0; }, 1);
}

TEST(Arithmetic, IntegersOfEveryType) {
  check_integers<std::int16_t>();
  check_integers<std::uint16_t>();
  check_integers<std::int32_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
}

TEST(Arithmetic, BytesAreChosenByEveryModeOfPrmt) {
  // The bytes of the result, from the highest, for the four values of the selector: the manual's table.
  const std::pair<const char*, std::array<const char*, 4>> modes[] = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& [mode, choices] : modes) {
    std::vector<Inputs> inputs;
    for (std::uint64_t selector = 0; selector < 8; ++selector)
      inputs.push_back({0x83726150, 0xc7d6e5f4, selector});
    expect_model({.op = fmt::format("prmt.b32.{}", mode), .operands = 3}, inputs, [&](const Inputs& in) {
      const std::uint64_t bytes = in.b << 32U | in.a;
      std::uint64_t result = 0;
      for (int i = 0; i < 4; ++i)
        result = result << 8U | (bytes >> (8 * (choices[in.c & 3U][i] - '0')) & 0xffU);
      return result;
    });
  }
}

// ------------------------------------------------------------------------------------------------------------- floats

/// a + b, or where 113 bits do not hold it the number beside their sum on the side of what they lack: it rounds the
/// same.
Quad sum_of(Quad a, Quad b) {
  const Quad sum = a + b;
  const Quad part = sum - a;
  const Quad rest = (a - (sum - part)) + (b - part);
  const Quad step = (sum < 0 ? -sum : sum) * Quad(0x1p-112);
  return rest > 0 ? sum + step : rest < 0 ? sum - step : sum;
}

/// The value nearest to an exact one (mode n), or next to it on one side; T's own rules for overflow.
template <class T>
T rounded(Quad exact, char mode) {
  const auto nearest = static_cast<T>(exact);
  const Quad error = exact - static_cast<Quad>(nearest);
  const bool negative = exact < 0;
  if (mode == 'p' || (mode == 'z' && negative)) return error > 0 ? std::nextafter(nearest, T(HUGE_VAL)) : nearest;
  if (mode == 'm' || mode == 'z') return error < 0 ? std::nextafter(nearest, T(-HUGE_VAL)) : nearest;
  return nearest;
}

template <class T>
std::uint64_t bits_of(T x) {
  if (std::isnan(x)) return sizeof(T) == 4 ? 0x7fffffffU : 0x7ff8000000000000U;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

template <class T>
T value_of(std::uint64_t bits) {
  T x{};
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

/// The sign of a zero sum is that of both terms, or of the mode.
template <class T>
T signed_zero(T result, T a, T b, char mode) {
  if (result != 0 || a + b != 0) return result;
  if (std::signbit(a) == std::signbit(b)) return std::copysign(T(0), a);
  return mode == 'm' ? -T(0) : T(0);
}

template <class T>
std::vector<std::uint64_t> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<std::uint64_t> values;
  for (const T x : {T(0), L::denorm_min(), 3 * L::denorm_min(), L::min(), L::min() * 3 / 2, T(1) / 3, T(0.5), T(1),
                    T(1) + L::epsilon(), T(1.5), T(3), T(1e9), T(0.1), L::max() / 3, L::max(), L::infinity()}) {
    values.push_back(bits_of(x));
    values.push_back(bits_of(-x));
  }
  values.push_back(bits_of(L::quiet_NaN()));
  return values;
}

template <class T>
void check_floats() {
  const unsigned bytes = sizeof(T);
  const std::string type = fmt::format("f{}", 8 * bytes);
  const std::vector<Inputs> inputs = pairs(special_values<T>());
  for (const char mode : {'n', 'z', 'm', 'p'}) {
    // `exact` is used where all is finite; `usual` gives NaNs and infinities, and the sign of zero.
    const auto check = [&](const std::string& op, int operands, auto usual, auto exact) {
      const Form form{fmt::format("{}.r{}.{}", op, mode, type), operands, bytes, bytes, 'f'};
      expect_model(form, inputs, [&](const Inputs& in) {
        const T a = value_of<T>(in.a);
        const T b = value_of<T>(in.b);
        const T c = value_of<T>(in.c);
        const T plain = usual(a, b, c);
        const bool finite =
            std::isfinite(a) && (operands < 2 || std::isfinite(b)) && (operands < 3 || std::isfinite(c));
        if (std::isnan(plain) || !finite || (op == "rcp" && a == 0) || (op == "div" && b == 0)) {
          return bits_of(plain);
        }
        const Quad value = exact(Quad(a), Quad(b), Quad(c));
        if (value == 0)
          return bits_of(op == "add"   ? signed_zero(plain, a, b, mode)
                         : op == "sub" ? signed_zero(plain, a, -b, mode)
                         : op == "fma" ? signed_zero(plain, a * b, c, mode)
                                       : plain);
        return bits_of(rounded<T>(value, mode));
      });
    };
    check(
        "add", 2, [](T a, T b, T) { return a + b; }, [](Quad a, Quad b, Quad) { return sum_of(a, b); });
    check(
        "sub", 2, [](T a, T b, T) { return a - b; }, [](Quad a, Quad b, Quad) { return sum_of(a, -b); });
    check(
        "mul", 2, [](T a, T b, T) { return a * b; }, [](Quad a, Quad b, Quad) { return a * b; });
    check(
        "div", 2, [](T a, T b, T) { return a / b; }, [](Quad a, Quad b, Quad) { return a / b; });
    check(
        "rcp", 1, [](T a, T, T) { return 1 / a; }, [](Quad a, Quad, Quad) { return 1 / a; });
    if (bytes == 4) {  // of doubles 113 bits do not hold a * b + c
      check(
          "fma", 3, [](T a, T b, T c) { return std::fma(a, b, c); },
          [](Quad a, Quad b, Quad c) { return sum_of(a * b, c); });
    }
  }
  const auto nearest = [&](const std::string& op, int operands, auto model) {
    expect_model({op, operands, bytes, bytes, 'f'}, inputs, [&](const Inputs& in) {
      return bits_of<T>(model(value_of<T>(in.a), value_of<T>(in.b), value_of<T>(in.c)));
    });
  };
  nearest("sqrt.rn." + type, 1, [](T a, T, T) { return std::sqrt(a); });
  nearest("fma.rn." + type, 3, [](T a, T b, T c) { return std::fma(a, b, c); });
  constexpr std::uint64_t kSign = std::uint64_t{1} << (8 * sizeof(T) - 1);
  expect_model({"copysign." + type, 2, bytes, bytes, 'f'}, inputs,
               [](const Inputs& in) { return (in.b & ~kSign) | (in.a & kSign); });
}

TEST(Arithmetic, FloatsInEveryRoundingMode) {
  check_floats<float>();
  check_floats<double>();
}

TEST(Arithmetic, ClassesOfFloats) {
  const std::pair<const char*, bool (*)(double, int)> tests[] = {
      {"finite", [](double x, int) { return x - x == 0; }},
      {"infinite", [](double x, int) { return std::fabs(x) == HUGE_VAL; }},
      {"number", [](double x, int) { return x == x; }},
      {"notanumber", [](double x, int) { return x != x; }},
      {"normal", [](double x, int least) { return std::fabs(x) >= std::ldexp(1, least) && std::fabs(x) < HUGE_VAL; }},
      {"subnormal", [](double x, int least) { return x != 0 && std::fabs(x) < std::ldexp(1, least); }}};
  for (const auto& [name, holds] : tests) {
    const auto check = [&, test = holds, word = name]<class T>(T, int least) {
      std::vector<Inputs> inputs;
      for (const std::uint64_t value : special_values<T>())
        inputs.push_back({value, 0, 0});
      const std::string type = fmt::format("f{}", 8 * sizeof(T));
      const std::string op = fmt::format("testp.{}.{} %p1, {}10; selp.{} {}12, 1.0, 0.0, %p1; //", word, type,
                                         register_for('f', sizeof(T)), type, register_for('f', sizeof(T)));
      expect_model({op, 1, sizeof(T), sizeof(T), 'f'}, inputs,
                   [&](const Inputs& in) { return bits_of(test(double{value_of<T>(in.a)}, least) ? T(1) : T(0)); });
    };
    check(float{}, -126);
    check(double{}, -1022);
  }
}

TEST(Arithmetic, SpacesOfGenericAddresses) {
  const auto done = testing::run<std::uint32_t>(
      testing::entry(".shared .align 4 .b8 s[4]; .local .align 4 .b8 l[4]; ld.param.u64 %rd1, [p0];"
                     " mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3;"
                     " isspacep.global %p1, %rd1; isspacep.shared %p2, %rd2; isspacep.local %p3, %rd3;"
                     " isspacep.global %p4, %rd2; isspacep.shared %p5, %rd3; isspacep.local %p6, %rd1;"
                     " selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3;"
                     " selp.u32 %r4, 8, 0, %p4; selp.u32 %r5, 16, 0, %p5; selp.u32 %r6, 32, 0, %p6;"
                     " or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5;"
                     " or.b32 %r1, %r1, %r6; st.global.u32 [%rd1], %r1;"),
      std::vector<std::uint32_t>(1), {{1}, {1}});
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_EQ(done.data[0], 7U);
}

}  // namespace
}  // namespace assay::ptx
