// Every conversion against one model: the exact value, rounded by arithmetic that shares nothing with the executor.
// From types of 16 bits or less all values, from others the special ones and a sample: small here, 2^24 with
// ASSAY_PTX_SAMPLES, as the slow test has it.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing.hpp"
#include "ir/support/rng.hpp"

namespace assay::ptx {
namespace {

__extension__ typedef __int128 Wide;
using Exact = long double;  ///< 64 bits of significand hold every value of every type here
static_assert(std::numeric_limits<Exact>::digits >= 64);

/// A type as arithmetic sees it.
struct Format {
  const char* name;
  unsigned bytes;
  bool is_float;
  bool is_signed;
  int digits;          ///< floats: bits of significand
  int least_exponent;  ///< floats: of the last bit of the least normal number
};
constexpr Format kFormats[] = {
    {"u8", 1, false, false, 0, 0},    {"s8", 1, false, true, 0, 0},     {"u16", 2, false, false, 0, 0},
    {"s16", 2, false, true, 0, 0},    {"u32", 4, false, false, 0, 0},   {"s32", 4, false, true, 0, 0},
    {"u64", 8, false, false, 0, 0},   {"s64", 8, false, true, 0, 0},    {"f16", 2, true, true, 11, -24},
    {"bf16", 2, true, true, 8, -133}, {"f32", 4, true, true, 24, -149}, {"f64", 8, true, true, 53, -1074},
};

int significand_bits(const Format& format) { return format.digits - 1; }
int exponent_bits(const Format& format) { return static_cast<int>(8 * format.bytes) - format.digits; }

/// The value that bits stand for; NaN and infinities are values too.
Exact value_of(const Format& format, std::uint64_t bits) {
  if (!format.is_float) {
    if (!format.is_signed) return static_cast<Exact>(bits);
    const unsigned shift = 64 - 8 * format.bytes;
    return static_cast<Exact>(static_cast<std::int64_t>(bits << shift) >> shift);
  }
  const int m = significand_bits(format);
  const int e = exponent_bits(format);
  const auto exponent = static_cast<int>(bits >> m & ((std::uint64_t{1} << e) - 1));
  const auto fraction = static_cast<Exact>(bits & ((std::uint64_t{1} << m) - 1));
  const bool negative = (bits >> (m + e) & 1U) != 0;
  Exact magnitude = 0;
  if (exponent == (1 << e) - 1) {
    magnitude = fraction == 0 ? HUGE_VALL : std::nanl("");
  } else {
    magnitude = std::ldexp(exponent == 0 ? fraction : fraction + std::ldexp(Exact{1}, m),
                           std::max(exponent, 1) - 1 + format.least_exponent);
  }
  return negative ? -magnitude : magnitude;
}

/// To an integer: n nearest with ties to even, z towards zero, m down, p up.
Exact rounded(Exact value, char mode) {
  const Exact below = std::floor(value);
  const Exact part = value - below;
  switch (mode) {
    case 'z': return std::trunc(value);
    case 'm': return below;
    case 'p': return std::ceil(value);
    default: break;
  }
  if (part != 0.5L) return part < 0.5L ? below : below + 1;
  return std::fmod(below, 2.0L) == 0 ? below : below + 1;
}

std::uint64_t float_bits(const Format& format, Exact value, char mode) {
  const int m = significand_bits(format);
  const int e = exponent_bits(format);
  const std::uint64_t sign = std::uint64_t{std::signbit(value)} << (m + e);
  const std::uint64_t infinity = ((std::uint64_t{1} << e) - 1) << m;
  if (std::isnan(value)) return (std::uint64_t{1} << (m + e)) - 1;  // PTX has one NaN
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int quantum = std::max(exponent - format.digits, format.least_exponent);
  const Exact scaled = std::fabs(rounded(std::ldexp(value, -quantum), mode));
  // The integer significand and its exponent lie side by side in the bits, the leading one being a step of the
  // exponent.
  const auto significand = static_cast<std::uint64_t>(scaled);
  const std::uint64_t bits = (static_cast<std::uint64_t>(quantum - format.least_exponent) << m) + significand;
  if (bits < infinity) return sign | bits;
  const bool outwards = mode == 'n' || mode == (std::signbit(value) ? 'm' : 'p');
  return sign | (outwards ? infinity : infinity - 1);
}

/// Out of range gives the limit. NaN gives 0, but the highest bit from or to types of 64 bits.
std::uint64_t integer_bits(const Format& from, const Format& format, Exact value, char mode) {
  const unsigned bits = 8 * format.bytes;
  if (std::isnan(value)) {
    if (from.bytes < 8 && format.bytes < 8) return 0;
    return (format.is_signed ? ~std::uint64_t{0} : std::uint64_t{1}) << (bits - 1);
  }
  const Exact most = std::ldexp(Exact{1}, static_cast<int>(bits) - (format.is_signed ? 1 : 0)) - 1;
  const Exact least = format.is_signed ? -most - 1 : 0;
  const Exact limited = std::fmin(std::fmax(std::isinf(value) ? value : rounded(value, mode), least), most);
  return format.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(limited))
                          : static_cast<std::uint64_t>(limited);
}

std::uint64_t expected(const Format& from, const Format& to, std::uint64_t bits, char mode) {
  const Exact value = value_of(from, bits);
  if (to.is_float) return float_bits(to, value, mode);
  if (from.is_float) return integer_bits(from, to, value, mode);
  const unsigned shift = 64 - 8 * to.bytes;  // an integer keeps its low bits
  const auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<Wide>(value)) << shift);
  return to.is_signed ? static_cast<std::uint64_t>(low >> shift) : static_cast<std::uint64_t>(low) >> shift;
}

/// "cvt.rn.f32.s64" in the mode; empty where PTX has no such conversion.
std::string spelling(const Format& from, const Format& to, char mode) {
  const bool narrows = from.is_float && to.is_float && to.digits < from.digits;
  const bool halves = (to.digits == 8 && from.digits == 11) || (to.digits == 11 && from.digits == 8);
  if (halves || (to.digits == 8 && (from.digits == 53 || !from.is_float))) return "";
  std::string rounding;
  if (from.is_float && !to.is_float) {
    rounding = fmt::format(".r{}i", mode);
  } else if (narrows || (!from.is_float && to.is_float)) {
    if (to.bytes == 2 && mode != 'n') return "";
    rounding = fmt::format(".r{}", mode);
  } else if (mode != 'n') {
    return "";  // exact: has no mode
  }
  if (from.is_float && from.digits == 8 && !to.is_float) return "";
  return fmt::format("cvt{}.{}.{}", rounding, to.name, from.name);
}

const char* register_of(const Format& format) {
  if (format.is_float && format.bytes >= 4) return format.bytes == 8 ? "%fd" : "%f";
  return format.bytes == 8 ? "%rd" : format.bytes == 4 ? "%r" : "%rs";
}
std::string type_of_move(const Format& format) {
  if (format.is_float && format.bytes >= 4) return format.name;
  return fmt::format("b{}", std::max(16U, 8 * format.bytes));
}

/// One thread for each input of 8 bytes, which its result replaces.
std::string kernel_of(const std::string& cvt, const Format& from, const Format& to) {
  const std::string source = fmt::format("{}10", register_of(from));
  const std::string result = fmt::format("{}12", register_of(to));
  return testing::entry(
      fmt::format("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;"
                  " mul.wide.u32 %rd2, %r1, 8; add.s64 %rd1, %rd1, %rd2;\nld.global.{} {}, [%rd1];\n{} {}, {};\n"
                  "st.global.b64 [%rd1], 0; st.global.{} [%rd1], {};",
                  type_of_move(from), source, cvt, result, source, type_of_move(to), result));
}

std::vector<std::uint64_t> inputs_of(const Format& format, std::uint64_t samples) {
  std::vector<std::uint64_t> inputs;
  const std::uint64_t mask = format.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * format.bytes)) - 1;
  if (format.bytes <= 2) {
    for (std::uint64_t bits = 0; bits <= mask; ++bits)
      inputs.push_back(bits);
    return inputs;
  }
  // Each power of two and its neighbours: every limit and subnormal of every type lies among them.
  for (unsigned bit = 0; bit < 8 * format.bytes; ++bit) {
    for (const std::uint64_t near :
         {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1, 0 - (std::uint64_t{1} << bit)}) {
      inputs.push_back(near & mask);
      inputs.push_back((near + 1) & mask);
    }
  }
  Rng rng(11);
  const int m = significand_bits(format);
  if (format.is_float) {  // the ends of every binade, and ties of halves
    for (std::uint64_t exponent = 0; exponent < std::uint64_t{1} << exponent_bits(format); ++exponent) {
      for (const std::uint64_t fraction :
           {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << m) - 1, std::uint64_t{3} << (m - 12)}) {
        inputs.push_back(exponent << m | fraction);
        inputs.push_back((exponent << m | fraction) | (mask ^ mask >> 1U));
      }
    }
  }
  for (std::uint64_t i = 0; i < samples; ++i)
    inputs.push_back(rng.next() >> (i % 3 == 0 && !format.is_float ? rng.next() % 64 : 0) & mask);
  return inputs;
}

std::uint64_t sample_count() {
  const char* chosen = std::getenv("ASSAY_PTX_SAMPLES");
  return chosen == nullptr ? 4096 : std::strtoull(chosen, nullptr, 10);
}

void check_conversion(const Format& from, const Format& to, char mode, const std::vector<std::uint64_t>& inputs) {
  const std::string cvt = spelling(from, to, mode);
  constexpr std::size_t kChunk = std::size_t{1} << 20U;
  const unsigned register_bytes = std::max(to.bytes, 2U);
  const std::uint64_t mask = register_bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * register_bytes)) - 1;
  for (std::size_t first = 0; first < inputs.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, inputs.size() - first);
    const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<std::uint64_t> data(begin, begin + static_cast<std::ptrdiff_t>(count));
    data.resize((count + 255) / 256 * 256);
    const auto blocks = static_cast<std::uint32_t>(data.size() / 256);
    LaunchOptions options;
    options.checks = Checks::none();
    const auto done = testing::run(kernel_of(cvt, from, to), data, {{blocks}, {256}}, options);
    ASSERT_TRUE(done.result.ok()) << cvt << ": " << done.result.message;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t want = expected(from, to, inputs[first + i], mode) & mask;
      // PTX leaves open which NaN of 64 bits it is.
      if (to.digits == 53 && std::isnan(value_of(to, want)) && std::isnan(value_of(to, done.data[i]))) continue;
      ASSERT_EQ(done.data[i], want) << cvt << " of 0x" << std::hex << inputs[first + i];
    }
  }
}

TEST(Conversions, GiveTheExactValueRounded) {
  int conversions = 0;
  for (const Format& from : kFormats) {
    const std::vector<std::uint64_t> inputs = inputs_of(from, sample_count());
    for (const Format& to : kFormats) {
      for (const char mode : {'n', 'z', 'm', 'p'}) {
        if (&from == &to || spelling(from, to, mode).empty()) continue;
        check_conversion(from, to, mode, inputs);
        if (HasFatalFailure()) return;
        ++conversions;
      }
    }
  }
  EXPECT_GT(conversions, 180);
}

}  // namespace
}  // namespace assay::ptx
