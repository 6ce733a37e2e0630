// Instructions against models of their own: the definition in PTX's manual, written once more in plain C++.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "backends/ptx/testing.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::run;

std::string width_of(std::string_view type) { return std::string(type.substr(1)); }
std::string register_of(std::string_view type) {
  if (type == "f32") return "%f";
  if (type == "f64") return "%fd";
  return width_of(type) == "64" ? "%rd" : width_of(type) == "16" ? "%rs" : "%r";
}

/// d = op a, b for each pair of words, each of which is a slot of 8 bytes; one thread for each triple {a, b, d}.
std::vector<std::uint64_t> evaluate(const std::string& op, const std::string& type, const std::string& result_type,
                                    int operands, const std::vector<std::uint64_t>& inputs) {
  const std::string source = register_of(type);
  const std::string result = register_of(result_type);
  const auto suffix = [](const std::string& t) { return t[0] == 'f' ? "." + t : ".b" + width_of(t); };
  std::string body =
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;"
      " mul.wide.u32 %rd2, %r1, 24; add.s64 %rd1, %rd1, %rd2;\n";
  body += "ld.global" + suffix(type) + " " + source + "10, [%rd1];";
  if (operands > 1) body += "ld.global" + suffix(type) + " " + source + "11, [%rd1+8];";
  body += "\n" + op + " " + result + "12, " + source + "10" + (operands > 1 ? ", " + source + "11" : "") + ";\n";
  body += "st.global" + suffix(result_type) + " [%rd1+16], " + result + "12;";
  std::vector<std::uint64_t> data(inputs.size() / 2 * 3);
  for (std::size_t i = 0; i < inputs.size() / 2; ++i) {
    data[3 * i] = inputs[2 * i];
    data[3 * i + 1] = inputs[2 * i + 1];
  }
  const std::size_t count = inputs.size() / 2;
  const auto blocks = static_cast<std::uint32_t>((count + 255) / 256);
  data.resize(std::size_t{blocks} * 256 * 3);
  const auto done = run(entry(body), data, {{blocks}, {256}});
  EXPECT_TRUE(done.result.ok()) << op << ": " << done.result.message;
  std::vector<std::uint64_t> results;
  for (std::size_t i = 0; i < count && !done.data.empty(); ++i)
    results.push_back(done.data[3 * i + 2]);
  return results;
}

template <class T>
using Model = std::function<std::uint64_t(T, T)>;

template <class T>
void expect_model(const std::string& op, const std::string& type, const std::string& result_type, int operands,
                  const std::vector<T>& values, const Model<T>& model) {
  std::vector<std::uint64_t> inputs;
  for (const T a : values) {
    for (const T b : operands > 1 ? values : std::vector<T>{a}) {
      for (const T x : {a, b}) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &x, sizeof(T));
        inputs.push_back(bits);
      }
    }
  }
  const auto results = evaluate(op, type, result_type, operands, inputs);
  ASSERT_EQ(results.size(), inputs.size() / 2) << op;
  int shown = 0;
  for (std::size_t i = 0; i < results.size() && shown < 3; ++i) {
    T a;
    T b;
    std::memcpy(&a, &inputs[2 * i], sizeof(T));
    std::memcpy(&b, &inputs[2 * i + 1], sizeof(T));
    const std::uint64_t expected = model(a, b);
    if (results[i] == expected) continue;
    ++shown;
    ADD_FAILURE() << op << " of 0x" << std::hex << inputs[2 * i] << ", 0x" << inputs[2 * i + 1] << " gave 0x"
                  << results[i] << ", expected 0x" << expected;
  }
}

std::uint64_t bits(float x) { return std::isnan(x) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(x); }
template <class T>
std::uint64_t low(T x) {
  return static_cast<std::make_unsigned_t<T>>(x);
}

template <class T>
std::vector<T> special_floats() {
  using L = std::numeric_limits<T>;
  std::vector<T> values;
  for (const T x : {T(0), L::denorm_min(), L::min() / 2, L::min(), T(1) / 3, T(0.5), T(1), T(1.5), T(2.5), T(255.5),
                    T(65536), T(2147483648.0), T(4294967296.0), T(9.3e18), L::max(), L::infinity(), 1 + L::epsilon()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}
std::vector<float> floats() {
  std::vector<float> values = special_floats<float>();
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  return values;
}
const std::vector<std::uint32_t> kWords = {
    0,   1,      2,      3,      7,       31,         32,         33,         63,         64,         255,
    256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
std::vector<std::uint16_t> halves() {
  std::vector<std::uint16_t> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint16_t>(i);
  return values;
}

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

TEST(Instructions, SinglePrecision) {
  const auto check = [](const std::string& op, const Model<float>& model, int operands = 2) {
    expect_model<float>(op, "f32", "f32", operands, floats(), model);
  };
  check("add.rn.f32", [](float a, float b) { return bits(a + b); });
  check("sub.rn.f32", [](float a, float b) { return bits(a - b); });
  check("mul.rn.f32", [](float a, float b) { return bits(a * b); });
  check("div.rn.f32", [](float a, float b) { return bits(a / b); });
  check("add.rn.ftz.f32", [](float a, float b) { return bits(flush(flush(a) + flush(b))); });
  check("mul.rn.ftz.f32", [](float a, float b) { return bits(flush(flush(a) * flush(b))); });
  check(
      "sqrt.rn.f32", [](float a, float) { return bits(std::sqrt(a)); }, 1);
  check(
      "rcp.rn.f32", [](float a, float) { return bits(1 / a); }, 1);
  check("add.sat.f32", [](float a, float b) {
    const float sum = a + b;
    return std::isnan(sum) ? 0 : bits(std::clamp(sum, 0.0F, 1.0F) + 0.0F);
  });
  check("min.f32", [](float a, float b) {
    if (a == 0 && b == 0) return bits(std::signbit(a) ? a : b);
    return bits(std::fmin(a, b));
  });
  check("max.f32", [](float a, float b) {
    if (a == 0 && b == 0) return bits(std::signbit(a) ? b : a);
    return bits(std::fmax(a, b));
  });
}

/// A directed rounding of the exact value: the neighbour of the nearest float that lies on the right side.
std::uint64_t directed(double exact, int direction) {
  auto nearest = static_cast<float>(exact);
  const float to = direction > 0 ? HUGE_VALF : direction < 0 ? -HUGE_VALF : 0.0F;
  const double error = exact - double{nearest};
  const bool step = direction > 0 ? error > 0 : direction < 0 ? error < 0 : std::fabs(nearest) > std::fabs(exact);
  if (step) nearest = std::nextafter(nearest, to);
  return bits(nearest);
}

TEST(Instructions, DirectedRounding) {
  // Products of two floats are exact in double where they do not underflow it.
  for (const auto& [mode, direction] : {std::pair{"rm", -1}, std::pair{"rp", 1}, std::pair{"rz", 0}}) {
    expect_model<float>(std::string("mul.") + mode + ".f32", "f32", "f32", 2, floats(),
                        [d = direction](float a, float b) { return directed(double{a} * double{b}, d); });
    std::vector<double> values = special_floats<double>();
    for (const double x : special_floats<float>())
      values.push_back(x * (1 + 0x1p-30));
    expect_model<double>(std::string("cvt.") + mode + ".f32.f64", "f64", "f32", 1, values,
                         [d = direction](double a, double) { return directed(a, d); });
  }
}

TEST(Instructions, Integers) {
  using U = std::uint32_t;
  const auto check = [](const std::string& op, const Model<U>& model, const std::string& result = "u32", int n = 2) {
    expect_model<U>(op, "u32", result, n, kWords, model);
  };
  const auto s = [](U x) { return std::int64_t{static_cast<std::int32_t>(x)}; };
  check("add.u32", [](U a, U b) { return low<U>(a + b); });
  check("mul.lo.s32", [](U a, U b) { return low<U>(a * b); });
  check("mul.hi.u32", [](U a, U b) { return std::uint64_t{a} * b >> 32U; });
  check("mul.hi.s32", [&](U a, U b) { return low<U>(static_cast<U>(s(a) * s(b) >> 32)); });
  check(
      "mul.wide.s32", [&](U a, U b) { return low(s(a) * s(b)); }, "u64");
  check(
      "mul.wide.u32", [](U a, U b) { return std::uint64_t{a} * b; }, "u64");
  check("shl.b32", [](U a, U b) { return b > 31 ? 0 : low<U>(a << b); });
  check("shr.u32", [](U a, U b) { return b > 31 ? 0 : std::uint64_t{a >> b}; });
  check("shr.s32", [&](U a, U b) { return low<U>(static_cast<U>(s(a) >> std::min(b, 31U))); });
  check("div.u32", [](U a, U b) { return b == 0 ? 0xffffffff : std::uint64_t{a / b}; });
  check("div.s32", [&](U a, U b) { return b == 0 ? 0xffffffff : low<U>(static_cast<U>(s(a) / s(b))); });
  check("rem.s32", [&](U a, U b) { return b == 0 ? a : low<U>(static_cast<U>(s(a) % s(b))); });
  check("min.s32", [&](U a, U b) { return low<U>(s(a) < s(b) ? a : b); });
  check("add.sat.s32",
        [&](U a, U b) { return low<U>(static_cast<U>(std::clamp<std::int64_t>(s(a) + s(b), INT32_MIN, INT32_MAX))); });
  check(
      "popc.b32", [](U a, U) { return std::uint64_t(__builtin_popcount(a)); }, "u32", 1);
  check(
      "clz.b32", [](U a, U) { return a == 0 ? 32 : std::uint64_t(__builtin_clz(a)); }, "u32", 1);
  check(
      "bfind.s32",
      [&](U a, U) {
        for (int i = 30; i >= 0; --i) {
          if ((a >> i & 1U) != (a >> 31U)) return std::uint64_t(i);
        }
        return std::uint64_t{0xffffffff};
      },
      "u32", 1);
}

TEST(Instructions, Comparisons) {
  for (const auto& [name, holds] :
       {std::pair<std::string, bool (*)(float, float)>{"lt", [](float a, float b) { return a < b; }},
        {"ltu", [](float a, float b) { return !(a >= b); }},
        {"eq", [](float a, float b) { return a == b; }},
        {"ne", [](float a, float b) { return a < b || a > b; }},
        {"neu", [](float a, float b) { return !(a == b); }},
        {"geu", [](float a, float b) { return !(a < b); }},
        {"num", [](float a, float b) { return a == a && b == b; }},
        {"nan", [](float a, float b) { return a != a || b != b; }}}) {
    std::vector<std::uint64_t> inputs;
    for (const float a : floats()) {
      for (const float b : floats()) {
        inputs.push_back(std::bit_cast<std::uint32_t>(a));
        inputs.push_back(std::bit_cast<std::uint32_t>(b));
      }
    }
    const auto results = evaluate("{.reg .pred q; setp." + name +
                                      ".f32 q, %f10, %f11; selp.f32 %f13, 0f3F800000, 0f00000000, q;}"
                                      " @!%p1 mul.f32 %f14, %f10, %f11; min.f32 %f12, %f13, %f13; //",
                                  "f32", "f32", 2, inputs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(inputs[2 * i]));
      const auto b = std::bit_cast<float>(static_cast<std::uint32_t>(inputs[2 * i + 1]));
      ASSERT_EQ(results[i] != 0, holds(a, b)) << name << " of " << a << " and " << b;
    }
  }
}

double half_value(std::uint16_t h) {
  const int exponent = h >> 10U & 31;
  const double mantissa = h & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa == 0 ? HUGE_VAL : std::nan(""))
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Instructions, HalvesExhaustively) {
  using H = std::uint16_t;
  expect_model<H>("cvt.f32.f16", "u16", "f32", 1, halves(),
                  [](H h, H) { return bits(static_cast<float>(half_value(h))); });
  expect_model<H>("cvt.u32.u16", "u16", "u32", 1, halves(), [](H h, H) { return std::uint64_t{h}; });
  expect_model<H>("cvt.s32.s16", "u16", "u32", 1, halves(),
                  [](H h, H) { return low<std::uint32_t>(static_cast<std::uint32_t>(static_cast<std::int16_t>(h))); });
  expect_model<H>("cvt.sat.u8.s16", "u16", "u16", 1, halves(),
                  [](H h, H) { return low<H>(static_cast<H>(std::clamp<int>(static_cast<std::int16_t>(h), 0, 255))); });
  expect_model<H>("cvt.rzi.s32.f16", "u16", "u32", 1, halves(), [](H h, H) {
    const double x = half_value(h);
    const double limited = std::isnan(x) ? 0 : std::clamp(std::trunc(x), -2147483648.0, 2147483647.0);
    return low<std::uint32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(limited)));
  });
  expect_model<H>("neg.f16", "u16", "u16", 1, halves(),
                  [](H h, H) { return std::uint64_t{static_cast<H>(h ^ 0x8000U)}; });
  // Back from the exact value: every half that is a number is its own nearest.
  expect_model<H>("{.reg .f32 t; cvt.f32.f16 t, %rs10; cvt.rn.f16.f32 %rs13, t;} mov.b16 %rs12, %rs13; //", "u16",
                  "u16", 1, halves(), [](H h, H) { return std::isnan(half_value(h)) ? 0x7fff : std::uint64_t{h}; });
}

TEST(Instructions, FloatToInteger) {
  expect_model<float>("cvt.rni.s32.f32", "f32", "u32", 1, floats(), [](float a, float) {
    if (std::isnan(a)) return std::uint64_t{0};
    const double x = std::clamp(std::nearbyint(double{a}), -2147483648.0, 2147483647.0);
    return low<std::uint32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(x)));
  });
  expect_model<float>("cvt.rmi.u32.f32", "f32", "u32", 1, floats(), [](float a, float) {
    if (std::isnan(a)) return std::uint64_t{0};
    return static_cast<std::uint64_t>(std::clamp(std::floor(double{a}), 0.0, 4294967295.0));
  });
  expect_model<float>("cvt.rzi.s64.f32", "f32", "u64", 1, floats(), [](float a, float) {
    if (std::isnan(a) || a < -0x1p63F) return std::uint64_t{1} << 63U;
    if (a >= 0x1p63F) return std::uint64_t{INT64_MAX};
    return low(static_cast<std::int64_t>(a));
  });
}

/// 64-bit sums and products by carries of 32-bit halves.
TEST(Instructions, CarryChains) {
  const std::string op =
      "{.reg .u32 a, b, c, d, e, f; mov.b64 {a, b}, %rd10; mov.b64 {c, d}, %rd11; sub.cc.u32 e, a, c; subc.u32 f, b, d;"
      " add.cc.u32 e, e, c; addc.u32 f, f, d; mad.lo.cc.u32 e, a, c, e; madc.hi.u32 f, a, c, f; mov.b64 %rd13, {e, f};}"
      " mov.b64 %rd12, %rd13; //";
  std::vector<std::uint64_t> values;
  for (const std::uint32_t high : {0U, 1U, 0x80000000U, 0xffffffffU}) {
    for (const std::uint32_t word : kWords)
      values.push_back(std::uint64_t{high} << 32U | word);
  }
  expect_model<std::uint64_t>(op, "u64", "u64", 2, values,
                              [](std::uint64_t a, std::uint64_t b) { return a + (a & 0xffffffff) * (b & 0xffffffff); });
}

TEST(Instructions, CallsAndLocalMemory) {
  const std::string function =
      ".func (.param .b32 r) triple(.param .b32 x)\n{ .reg .b32 %r<5>; ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 3;"
      " st.param.b32 [r], %r2; ret; }\n";
  const auto done = run<std::uint32_t>(
      entry(
          "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;"
          " setp.lt.u32 %p1, %r1, 7; mov.u32 %r2, 5; @%p1 bra L;"
          " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), triple, (a); ld.param.b32 %r2, [b]; }"
          " L: st.global.u32 [%rd1], %r2;",
          1, function),
      std::vector<std::uint32_t>(32));
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_EQ(done.data[6], 5U);
  EXPECT_EQ(done.data[7], 21U);
  EXPECT_EQ(done.data[31], 93U);
}

/// Any schedule gives the same bits where no order matters, and the fidelity counts say what was approximate.
TEST(Instructions, SchedulesAndFidelity) {
  const std::string text = entry(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 6; add.u32 %r1, %r1, %r2;"
      " red.global.add.u32 [%rd1], %r1; ex2.approx.f32 %f1, 0f40000000; mul.f32 %f1, %f1, %f1;");
  for (const Order order : {Order::kForward, Order::kReverse, Order::kShuffled}) {
    LaunchOptions options;
    options.schedule = {order, 7};
    const auto done = run<std::uint32_t>(text, std::vector<std::uint32_t>(1), {{4}, {64}}, options);
    ASSERT_TRUE(done.result.ok()) << done.result.message;
    EXPECT_EQ(done.data[0], 255U * 256 / 2);
    EXPECT_EQ(done.result.profile.approximate, 256U);
    EXPECT_EQ(done.result.profile.contractible, 256U);
    EXPECT_EQ(done.result.profile.atomics, 256U);
    EXPECT_EQ(done.result.profile.atomic_addresses, 8U);
    EXPECT_EQ(done.result.profile.thread_instructions, 256U * 9);
    EXPECT_DOUBLE_EQ(done.result.profile.lane_efficiency(), 1.0);
  }
}

TEST(Instructions, TellsWhetherAnApproximationReachedTheResult) {
  const auto reached = [](const std::string& body) {
    const auto done = run<float>(entry("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;"
                                       " add.s64 %rd1, %rd1, %rd2; ex2.approx.f32 %f1, 0f40000000;" +
                                       body),
                                 std::vector<float>(32));
    EXPECT_TRUE(done.result.ok()) << done.result.message;
    EXPECT_EQ(done.result.profile.approximate, 32U);
    return done.result.profile.approximation_reaches_result;
  };
  EXPECT_TRUE(reached("add.rn.f32 %f2, %f1, %f1; st.global.f32 [%rd1], %f2;"));
  EXPECT_TRUE(reached("setp.gt.f32 %p1, %f1, 0f00000000; @%p1 st.global.f32 [%rd1], 0f00000000;"));
  EXPECT_TRUE(
      reached(".local .align 4 .b8 l[4]; mov.u64 %rd3, l; st.local.f32 [%rd3], %f1; ld.local.f32 %f3, [%rd3];"
              " st.global.f32 [%rd1], %f3;"));
  EXPECT_FALSE(reached("add.rn.f32 %f2, %f1, %f1; mov.f32 %f3, 0f3F800000; st.global.f32 [%rd1], %f3;"));
  EXPECT_FALSE(reached("bra L; st.global.f32 [%rd1], %f1; L:"));
}

}  // namespace
}  // namespace assay::ptx
