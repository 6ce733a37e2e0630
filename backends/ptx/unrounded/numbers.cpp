#include "backends/ptx/unrounded/numbers.hpp"

#include <cmath>

#include "backends/ptx/instructions/numbers.hpp"

namespace assay::ptx {

namespace {

/// The digits of a format after the first, and how many trailing digits must be zero so that a constant counts as
/// exact.
struct Digits {
  int mantissa_bits;
  int zero_bits;
};
Digits digits_of(Type type) {
  switch (type) {
    case Type::kF16: return {10, 5};
    case Type::kBf16: return {7, 3};
    case Type::kF64: return {52, 29};
    default: return {23, 12};
  }
}

}  // namespace

UnroundedNumber constant_number(Type type, std::uint64_t bits) {
  const double value = number_of(type, bits);
  const Digits digits = digits_of(type);
  const bool is_integer = type == Type::kF32 && std::abs(value) < 0x1p24 && std::nearbyint(value) == value;
  const bool is_exact = is_integer || (bits & ((std::uint64_t{1} << digits.zero_bits) - 1)) == 0;
  if (is_exact || value == 0 || !std::isfinite(value)) return {value, 0};
  return {value, std::ldexp(1.0, std::ilogb(value) - digits.mantissa_bits - 1)};
}

bool is_plausible_float(double value) {
  const double magnitude = std::abs(value);
  return magnitude > 1e-12 && magnitude < 1e12;
}

std::optional<UnroundedNumber> double_of_words(const UnroundedParts& lower, const UnroundedParts& upper) {
  if (!lower.knows(Part::kLowerWord) || !upper.knows(Part::kUpperWord)) return std::nullopt;
  const UnroundedNumber& number = upper.number(Part::kUpperWord);
  const double other = lower.number(Part::kLowerWord).value;
  const bool is_same = number.value == other || (std::isnan(number.value) && std::isnan(other));
  int exponent = 0;
  if (!is_same && std::abs(std::frexp(number.value / other, &exponent)) != 0.5) return std::nullopt;
  return number;
}

void UnroundedWord::set_half(unsigned index, const UnroundedNumber& number) {
  values_[index] = number.value;
  errors_[index] = number.error;
}

UnroundedParts UnroundedWord::read_word(std::uint32_t bits) const {
  UnroundedParts parts;
  if (bits == bits_) {
    if (content_ == Content::kWhole) parts.set(Part::kWhole, half(0));
    if (content_ == Content::kLowerWordOfDouble) parts.set(Part::kLowerWord, half(0));
    if (content_ == Content::kUpperWordOfDouble) parts.set(Part::kUpperWord, half(0));
  }
  if (content_ != Content::kHalves) return parts;
  const std::uint32_t difference = bits ^ bits_;
  if ((known_halves_ & 1U) != 0 && (difference & 0xffffU) == 0) parts.set(Part::kLower, half(0));
  if ((known_halves_ & 2U) != 0 && difference >> 16U == 0) parts.set(Part::kUpper, half(1));
  return parts;
}

void UnroundedWord::write_word(std::uint32_t bits, const UnroundedParts& parts) {
  bits_ = bits;
  const bool knows_halves = parts.knows(Part::kLower) || parts.knows(Part::kUpper);
  content_ = parts.knows(Part::kWhole)       ? Content::kWhole
             : parts.knows(Part::kLowerWord) ? Content::kLowerWordOfDouble
             : parts.knows(Part::kUpperWord) ? Content::kUpperWordOfDouble
             : knows_halves                  ? Content::kHalves
                                             : Content::kUnknown;
  known_halves_ =
      static_cast<std::uint8_t>((parts.knows(Part::kLower) ? 1U : 0U) | (parts.knows(Part::kUpper) ? 2U : 0U));
  if (content_ != Content::kUnknown && content_ != Content::kHalves) set_half(0, parts.number(Part::kWhole));
  if (parts.knows(Part::kLower)) set_half(0, parts.number(Part::kLower));
  if (parts.knows(Part::kUpper)) set_half(1, parts.number(Part::kUpper));
}

UnroundedParts UnroundedWord::read(const UnroundedWord* word, std::size_t stride, unsigned bytes, unsigned byte_offset,
                                   std::uint64_t bits) {
  if (bytes == 4) return word->read_word(static_cast<std::uint32_t>(bits));
  UnroundedParts parts;
  if (bytes == 2) {
    const bool is_upper = byte_offset == 2;
    const UnroundedParts all =
        word->read_word(is_upper ? static_cast<std::uint32_t>(bits << 16U) | (word->bits_ & 0xffffU)
                                 : static_cast<std::uint32_t>(bits) | (word->bits_ & 0xffff0000U));
    const Part part = is_upper ? Part::kUpper : Part::kLower;
    if (all.knows(part)) parts.set(Part::kLower, all.number(part));
  }
  if (bytes != 8) return parts;
  const UnroundedWord& upper_word = word[stride];
  const auto lower_bits = static_cast<std::uint32_t>(bits);
  const auto upper_bits = static_cast<std::uint32_t>(bits >> 32U);
  const UnroundedParts lower = word->read_word(lower_bits);
  const UnroundedParts upper = upper_word.read_word(upper_bits);
  if (const auto joined = double_of_words(lower, upper)) parts.set(Part::kWhole, *joined);
  if (lower.knows(Part::kWhole)) parts.set(Part::kLower, lower.number(Part::kWhole));
  if (upper.knows(Part::kWhole)) parts.set(Part::kUpper, upper.number(Part::kWhole));
  return parts;
}

void UnroundedWord::write(UnroundedWord* word, std::size_t stride, unsigned bytes, unsigned byte_offset,
                          std::uint64_t bits, const UnroundedParts& parts) {
  if (bytes == 4) return word->write_word(static_cast<std::uint32_t>(bits), parts);
  if (bytes == 2) {
    const unsigned index = byte_offset / 2;
    const unsigned shift = 16 * index;
    if (word->content_ != Content::kHalves) word->known_halves_ = 0;
    word->content_ = Content::kHalves;
    word->bits_ = (word->bits_ & ~(0xffffU << shift)) | static_cast<std::uint32_t>(bits & 0xffffU) << shift;
    word->known_halves_ = static_cast<std::uint8_t>(word->known_halves_ & ~(1U << index));
    if (!parts.knows(Part::kLower)) return;
    word->known_halves_ = static_cast<std::uint8_t>(word->known_halves_ | 1U << index);
    return word->set_half(index, parts.number(Part::kLower));
  }
  if (bytes != 8) {
    word->content_ = Content::kUnknown;
    return;
  }
  UnroundedWord& upper_word = word[stride];
  UnroundedParts lower, upper;
  if (parts.knows(Part::kLower)) lower.set(Part::kWhole, parts.number(Part::kLower));
  if (parts.knows(Part::kUpper)) upper.set(Part::kWhole, parts.number(Part::kUpper));
  word->write_word(static_cast<std::uint32_t>(bits), lower);
  upper_word.write_word(static_cast<std::uint32_t>(bits >> 32U), upper);
  if (!parts.knows(Part::kWhole)) return;
  word->content_ = Content::kLowerWordOfDouble;
  upper_word.content_ = Content::kUpperWordOfDouble;
  word->set_half(0, parts.number(Part::kWhole));
  upper_word.set_half(0, parts.number(Part::kWhole));
}

}  // namespace assay::ptx
