// Half precision on all values of one operand against special ones of the others, and atomics on halves.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing_models.hpp"

namespace assay::ptx {
namespace {

using namespace testing;

struct HalfFormat {
  const char* name;
  int digits;
  int least_exponent;  ///< of the last bit of a subnormal
};

Quad half_value(const HalfFormat& format, std::uint64_t bits) {
  const int m = format.digits - 1;
  const int exponent = static_cast<int>(bits >> m & ((1U << (16 - format.digits)) - 1));
  const auto fraction = static_cast<double>(bits & ((1U << m) - 1));
  double magnitude = std::ldexp(exponent == 0 ? fraction : fraction + std::ldexp(1, m),
                                std::max(exponent, 1) - 1 + format.least_exponent);
  if (exponent == (1 << (16 - format.digits)) - 1) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// Nearest, ties to even. `rest` has the sign of what `value` lacks.
std::uint64_t half_bits(const HalfFormat& format, Quad value, int rest, bool negative_zero) {
  const int m = format.digits - 1;
  const std::uint64_t infinity = ((std::uint64_t{1} << (16 - format.digits)) - 1) << m;
  if (value != value) return 0x7fff;
  if (value == 0) return negative_zero ? 0x8000 : 0;
  const std::uint64_t sign = value < 0 ? 0x8000U : 0U;
  if (value < 0) {
    value = -value;
    rest = -rest;
  }
  if (value > Quad(std::ldexp(1.0, 200))) return sign | infinity;
  int exponent = 0;
  std::frexp(static_cast<double>(value), &exponent);
  const int quantum = std::max(exponent - format.digits, format.least_exponent);
  const Quad scaled = value * Quad(std::ldexp(1.0, -quantum / 2)) * Quad(std::ldexp(1.0, -quantum + quantum / 2));
  auto whole = static_cast<std::uint64_t>(scaled);
  const Quad part = scaled - Quad(whole);
  const Quad half = Quad(0.5);
  if (part > half || (part == half && (rest > 0 || (rest == 0 && whole % 2 == 1)))) ++whole;
  const std::uint64_t bits = (static_cast<std::uint64_t>(quantum - format.least_exponent) << m) + whole;
  return sign | std::min(bits, infinity);
}

void check_halves(const HalfFormat& format) {
  const int m = format.digits - 1;
  std::vector<std::uint64_t> specials;
  for (const std::uint64_t exponent :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{(1U << (15 - format.digits)) - 1},
        std::uint64_t{(1U << (16 - format.digits)) - 2}}) {
    for (const std::uint64_t fraction : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << m) - 1})
      specials.push_back(exponent << m | fraction);
  }
  specials.push_back(((std::uint64_t{1} << (16 - format.digits)) - 1) << m);
  specials.push_back(0x7fff);
  const auto value = [&](std::uint64_t bits) { return half_value(format, bits); };
  for (const std::uint64_t magnitude : specials) {
    for (const std::uint64_t b : {magnitude, magnitude | 0x8000U}) {
      std::vector<Inputs> inputs;
      for (std::uint64_t a = 0; a < 65536; ++a)
        inputs.push_back({a, b, specials[a % specials.size()]});
      const auto check = [&](const std::string& op, int operands, auto model) {
        expect_model({fmt::format("{}.{}", op, format.name), operands, 2, 2}, inputs, model);
      };
      const bool negative_b = (b & 0x8000U) != 0;
      check("add.rn", 2, [&](const Inputs& in) {
        return half_bits(format, value(in.a) + value(b), 0, (in.a & 0x8000U) != 0 && negative_b);
      });
      check("mul.rn", 2, [&](const Inputs& in) {
        return half_bits(format, value(in.a) * value(b), 0, ((in.a & 0x8000U) != 0) != negative_b);
      });
      check("fma.rn", 3, [&](const Inputs& in) {
        const Quad product = value(in.a) * value(b);
        const Quad sum = product + value(in.c);
        const Quad lost = sum - product == value(in.c) ? product - (sum - value(in.c)) : value(in.c) - (sum - product);
        const bool product_negative = ((in.a & 0x8000U) != 0) != negative_b;
        return half_bits(format, sum, lost > 0 ? 1 : lost < 0 ? -1 : 0, product_negative && (in.c & 0x8000U) != 0);
      });
      check("min", 2, [&](const Inputs& in) {
        const Quad x = value(in.a);
        const Quad y = value(b);
        if (x != x) return y != y ? std::uint64_t{0x7fff} : b;
        if (y != y || x < y) return in.a;
        return y < x ? b : std::max(in.a, b);  // of two zeros the negative one
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Half, HalfPrecisionExhaustively) { check_halves({"f16", 11, -24}); }
TEST(Half, BrainFloatsExhaustively) { check_halves({"bf16", 8, -133}); }

TEST(Half, AtomicsOfHalves) {
  const auto sum = [](const std::string& type, std::uint32_t start, const std::string& operand) {
    const auto done = testing::run<std::uint32_t>(
        testing::entry("ld.param.u64 %rd1, [p0]; mov.b16 %rs1, 0x3c00; mov.b16 %rs2, 0x3f80; mov.b32 %r1, 0x3c003800;"
                       " mov.b32 %r2, 0x3f803f00; atom.global.add.noftz." +
                       type + " " + (operand[1] == 'r' && operand[2] == 's' ? "%rs5" : "%r5") + ", [%rd1], " + operand +
                       ";"),
        std::vector<std::uint32_t>{start}, {{1}, {4}});
    EXPECT_TRUE(done.result.ok()) << done.result.message;
    return done.data[0];
  };
  EXPECT_EQ(sum("f16", 0xabcd0000, "%rs1"), 0xabcd4400U);    // 4, and the neighbour as it was
  EXPECT_EQ(sum("bf16", 0x00003f80, "%rs2"), 0x000040a0U);   // 1 + 4
  EXPECT_EQ(sum("f16x2", 0x00000000, "%r1"), 0x44004000U);   // 4 and 2
  EXPECT_EQ(sum("bf16x2", 0x00000000, "%r2"), 0x40804000U);  // 4 and 2
}

}  // namespace
}  // namespace assay::ptx
