#include "backends/ptx/models/exact.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace assay::ptx::models {

namespace {

constexpr Bits128 kOne = 1;

/// The number of bits of x; 0 for 0.
int width_of(Bits128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64U);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x)));
}

ExactValue nan() { return {.kind = ExactValue::Kind::kNan}; }
ExactValue infinity(bool negative) { return {.kind = ExactValue::Kind::kInfinite, .is_negative = negative}; }
bool is_infinite(const ExactValue& a) { return a.kind == ExactValue::Kind::kInfinite; }

/// The same value with the significand's leading bit at `width` - 1.
ExactValue widened(ExactValue a, int width) {
  const int shift = width - width_of(a.significand);
  a.significand <<= shift;
  a.exponent -= shift;
  return a;
}

/// The exponent of the leading bit.
int magnitude(const ExactValue& a) { return a.exponent + width_of(a.significand); }

/// (significand + r) / 2^shift as an integer.
Bits128 shifted(Bits128 significand, int shift, bool more, Rounding mode, bool negative) {
  const Bits128 whole = shift < 128 ? significand >> shift : 0;
  const Bits128 rest = shift < 128 ? significand - (whole << shift) : significand;
  if (rest == 0 && !more) return whole;
  switch (mode) {
    case Rounding::kTowardZero: return whole;
    case Rounding::kDown: return negative ? whole + 1 : whole;
    case Rounding::kUp: return negative ? whole : whole + 1;
    case Rounding::kNearest: break;
  }
  if (shift == 0 || shift > 128) return whole;  // less than half
  const Bits128 half = kOne << (shift - 1);
  if (rest == half && !more) return whole + (whole & 1U);
  return rest >= half ? whole + 1 : whole;
}

/// |a| + |b| or |a| - |b|; both must be finite and nonzero, and |a| must have the greater exponent.
ExactValue joined(const ExactValue& a, const ExactValue& b, bool subtract) {
  constexpr int kWidth = 126;  // two bits for carries
  ExactValue result = widened(a, kWidth);
  const int shift = result.exponent - b.exponent;
  Bits128 other = b.significand;
  if (shift <= 0) {
    other <<= -shift;
  } else {
    other = shift < 128 ? b.significand >> shift : 0;
    result.has_remainder = shift >= 128 || other << shift != b.significand;
  }
  if (!subtract) {
    result.significand += other;
  } else if (other > result.significand) {
    result.significand = other - result.significand;
    result.is_negative = !result.is_negative;
  } else {
    result.significand -= other + (result.has_remainder ? 1 : 0);
  }
  return result;
}

}  // namespace

ExactValue ExactValue::negated() const {
  ExactValue result = *this;
  result.is_negative = !is_negative;
  return result;
}

ExactValue exact_float(const FloatFormat& format, std::uint64_t bits) {
  const int fraction_bits = format.significand_digits - 1;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t most = (std::uint64_t{1} << (format.total_bits - format.significand_digits)) - 1;
  const std::uint64_t exponent = bits >> fraction_bits & most;
  const bool negative = (bits >> (format.total_bits - 1) & 1U) != 0;
  if (exponent == most) return fraction == 0 ? infinity(negative) : nan();
  if (exponent == 0) return {.is_negative = negative, .significand = fraction, .exponent = format.least_exponent};
  return {.is_negative = negative,
          .significand = fraction | std::uint64_t{1} << fraction_bits,
          .exponent = format.least_exponent + static_cast<int>(exponent) - 1};
}

ExactValue exact_integer(std::uint64_t bits, unsigned width, bool is_signed) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const bool negative = is_signed && (bits >> (width - 1) & 1U) != 0;
  return {.is_negative = negative, .significand = (negative ? 0 - bits : bits) & mask};
}

ExactValue sum(const ExactValue& a, const ExactValue& b, Rounding mode) {
  if (a.is_nan() || b.is_nan()) return nan();
  if (is_infinite(a) || is_infinite(b)) {
    if (is_infinite(a) && is_infinite(b) && a.is_negative != b.is_negative) return nan();
    return infinity(is_infinite(a) ? a.is_negative : b.is_negative);
  }
  const ExactValue zero{.is_negative = a.is_negative == b.is_negative ? a.is_negative : mode == Rounding::kDown};
  if (a.is_zero() && b.is_zero()) return zero;
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const bool swapped = magnitude(a) < magnitude(b);
  const ExactValue result = joined(swapped ? b : a, swapped ? a : b, a.is_negative != b.is_negative);
  return result.is_zero() ? zero : result;
}

ExactValue product(const ExactValue& a, const ExactValue& b) {
  const bool negative = a.is_negative != b.is_negative;
  if (a.is_nan() || b.is_nan()) return nan();
  if (is_infinite(a) || is_infinite(b)) return a.is_zero() || b.is_zero() ? nan() : infinity(negative);
  return {.is_negative = negative, .significand = a.significand * b.significand, .exponent = a.exponent + b.exponent};
}

ExactValue quotient(const ExactValue& a, const ExactValue& b) {
  const bool negative = a.is_negative != b.is_negative;
  if (a.is_nan() || b.is_nan() || (is_infinite(a) && is_infinite(b)) || (a.is_zero() && b.is_zero())) return nan();
  if (is_infinite(a) || b.is_zero()) return infinity(negative);
  if (is_infinite(b) || a.is_zero()) return {.is_negative = negative};
  const ExactValue dividend = widened(a, 127);
  const Bits128 whole = dividend.significand / b.significand;
  return {.is_negative = negative,
          .significand = whole,
          .exponent = dividend.exponent - b.exponent,
          .has_remainder = whole * b.significand != dividend.significand};
}

ExactValue square_root(const ExactValue& a) {
  if (a.is_nan() || a.is_zero()) return a;
  if (a.is_negative) return nan();
  if (is_infinite(a)) return a;
  ExactValue square = widened(a, 126);
  if (square.exponent % 2 != 0) square = widened(a, 125);
  Bits128 root = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const Bits128 greater = root | kOne << bit;
    if (greater * greater <= square.significand) root = greater;
  }
  return {.significand = root, .exponent = square.exponent / 2, .has_remainder = root * root != square.significand};
}

int compare(const ExactValue& a, const ExactValue& b) {
  if (is_infinite(a) || is_infinite(b)) {
    const auto rank = [](const ExactValue& x) { return is_infinite(x) ? (x.is_negative ? -1 : 1) : 0; };
    return (rank(a) > rank(b)) - (rank(a) < rank(b));
  }
  const ExactValue difference = sum(a, b.negated(), Rounding::kNearest);
  return difference.is_zero() ? 0 : difference.is_negative ? -1 : 1;
}

ExactValue rounded_to_integer(const ExactValue& a, Rounding mode) {
  if (a.kind != ExactValue::Kind::kFinite || a.exponent >= 0) return a;
  return {.is_negative = a.is_negative,
          .significand = shifted(a.significand, -a.exponent, a.has_remainder, mode, a.is_negative)};
}

std::uint64_t float_bits(const FloatFormat& format, const ExactValue& a, Rounding mode) {
  const int fraction_bits = format.significand_digits - 1;
  const std::uint64_t sign = std::uint64_t{a.is_negative} << (format.total_bits - 1);
  const std::uint64_t infinite = ((std::uint64_t{1} << (format.total_bits - format.significand_digits)) - 1)
                                 << fraction_bits;
  if (a.is_nan()) return (std::uint64_t{1} << (format.total_bits - 1)) - 1;
  if (is_infinite(a)) return sign | infinite;
  if (a.is_zero()) return sign;
  // The unit in the last place of the result, and the number as a multiple of it.
  const int place = std::max(magnitude(a) - format.significand_digits, format.least_exponent);
  const Bits128 count = a.exponent >= place
                            ? a.significand << (a.exponent - place)
                            : shifted(a.significand, place - a.exponent, a.has_remainder, mode, a.is_negative);
  // Fraction and exponent are adjacent, so a hidden bit or a carry out of the fraction increments the exponent.
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(place - format.least_exponent) << fraction_bits) + static_cast<std::uint64_t>(count);
  if (bits < infinite) return sign | bits;
  const bool outwards = mode == Rounding::kNearest || mode == (a.is_negative ? Rounding::kDown : Rounding::kUp);
  return sign | (outwards ? infinite : infinite - 1);
}

std::uint64_t clamped_integer_bits(const ExactValue& a, unsigned width, bool is_signed) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t greatest = is_signed ? mask >> 1U : mask;
  const std::uint64_t least = is_signed ? greatest + 1 : 0;  // the magnitude of the least number
  const std::uint64_t limit = a.is_negative ? least : greatest;
  const bool beyond =
      is_infinite(a) || (a.significand != 0 && magnitude(a) > 64) || (a.significand << std::max(a.exponent, 0)) > limit;
  const std::uint64_t count = beyond ? limit : static_cast<std::uint64_t>(a.significand << std::max(a.exponent, 0));
  return (a.is_negative ? 0 - count : count) & mask;
}

}  // namespace assay::ptx::models
