// Unrounded values: for each float in a register or in memory, the number that the kernel would compute without
// rounding ("shadow execution"). They are computed in double precision. docs/design/ptx.md describes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// A number computed without rounding, apart from that of a double.
struct UnroundedNumber {
  double value = 0;  ///< the number
  /// How much the number can change, to first order, if each constant in the code changes by half an ulp, and each
  /// result by the rounding of a double. Constants of the source, such as log2(e), are rounded, and 1 - y is 0 if a
  /// double y rounds to 1.
  double error = 0;
};

/// One number in each lane of a warp.
struct UnroundedLanes {
  alignas(64) std::array<double, kLanesPerWarp> values{};  ///< UnroundedNumber::value, by lane
  alignas(64) std::array<double, kLanesPerWarp> errors{};  ///< UnroundedNumber::error, by lane

  [[nodiscard]] UnroundedNumber at(unsigned lane) const { return {values[lane], errors[lane]}; }
  void set(unsigned lane, const UnroundedNumber& number) {
    values[lane] = number.value;
    errors[lane] = number.error;
  }
};

/// What a number in a register or in memory occupies: all of it, or one half. Halves hold f16 or bf16 in 32 bits, and
/// f32 in 64 bits. The other parts describe steps of a computation with integers:
/// - The words of 32 bits of a double have the number of the double.
/// - Code that rounds an f32 to a bf16 with integers adds to the bits of the f32, and cuts off the lower half, or cuts
///   first and adds then. kBiased is an f32 after such an addition, with the number of the f32 before. While kBiased or
///   kLower is known, kUncut may hold the f32 itself, with all its bits.
enum class Part : std::uint8_t { kWhole, kLower, kUpper, kLowerWord, kUpperWord, kBiased, kUncut };
/// All parts. A part comes after those with which it can be known together.
inline constexpr std::array kParts{Part::kWhole,     Part::kLower,  Part::kUpper, Part::kLowerWord,
                                   Part::kUpperWord, Part::kBiased, Part::kUncut};
/// Returns the mask of a part: one bit.
constexpr std::uint8_t bit_of(Part part) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(part)); }
/// Returns the mask of the parts that stay known if a part becomes known.
constexpr std::uint8_t parts_beside(Part part) {
  switch (part) {
    case Part::kLower: return bit_of(Part::kUpper);
    case Part::kUpper: return bit_of(Part::kLower);
    case Part::kUncut: return bit_of(Part::kLower) | bit_of(Part::kBiased);
    default: return 0;
  }
}
/// Returns which of two numbers of a register is that of the part.
constexpr std::size_t number_index(Part part) { return part == Part::kUpper || part == Part::kUncut ? 1 : 0; }

/// The unrounded values of one register, or of one word in memory, in one lane. A register holds either one number or
/// up to two halves. Of a part that is not known, the unrounded value is the rounded value.
class UnroundedParts {
 public:
  [[nodiscard]] bool knows(Part part) const { return (known_ & bit_of(part)) != 0; }
  [[nodiscard]] bool knows_any() const { return known_ != 0; }
  [[nodiscard]] const UnroundedNumber& number(Part part) const { return numbers_[number_index(part)]; }
  void set(Part part, const UnroundedNumber& number) {
    known_ = static_cast<std::uint8_t>((known_ & parts_beside(part)) | bit_of(part));
    numbers_[number_index(part)] = number;
  }

 private:
  std::uint8_t known_ = 0;  ///< one bit for each part, set if its unrounded value is known
  std::array<UnroundedNumber, 2> numbers_;
};

/// The unrounded values of one register in all lanes of a warp.
class UnroundedRegister {
 public:
  /// The lanes in which the part is known.
  [[nodiscard]] std::uint32_t known_lanes(Part part) const { return known_lanes_[static_cast<std::size_t>(part)]; }
  [[nodiscard]] std::uint32_t known_lanes() const {
    std::uint32_t known_lanes = 0;
    for (const std::uint32_t known : known_lanes_)
      known_lanes |= known;
    return known_lanes;
  }
  [[nodiscard]] const UnroundedLanes& lanes(Part part) const { return lanes_[number_index(part)]; }
  /// Makes the lanes of `lane_mask` hold a part, whose numbers the caller writes to the result.
  UnroundedLanes& hold(Part part, std::uint32_t lane_mask) {
    if (part == Part::kWhole) {  // the most frequent case
      forget(lane_mask);
    } else {
      for (const Part other : kParts)
        if ((parts_beside(part) & bit_of(other)) == 0) known_lanes_[static_cast<std::size_t>(other)] &= ~lane_mask;
    }
    known_lanes_[static_cast<std::size_t>(part)] |= lane_mask;
    return lanes_[number_index(part)];
  }
  void forget(std::uint32_t lane_mask) {
    for (std::uint32_t& known : known_lanes_)
      known &= ~lane_mask;
  }
  [[nodiscard]] UnroundedParts parts(unsigned lane) const {
    UnroundedParts result;
    for (const Part part : kParts)
      if ((known_lanes(part) >> lane & 1U) != 0) result.set(part, lanes(part).at(lane));
    return result;
  }
  void set_parts(unsigned lane, const UnroundedParts& parts) {
    forget(1U << lane);
    for (const Part part : kParts)
      if (parts.knows(part)) hold(part, 1U << lane).set(lane, parts.number(part));
  }

 private:
  std::array<std::uint32_t, kParts.size()> known_lanes_{};  ///< by part, one bit for each lane
  std::array<UnroundedLanes, 2> lanes_;                     ///< numbers, by number_index
};

/// The number of a double whose words are in `lower` and `upper`; nullopt if they are not the words of one double. The
/// upper word contains the exponent, so it may have been multiplied by a power of two.
std::optional<UnroundedNumber> double_of_words(const UnroundedParts& lower, const UnroundedParts& upper);

/// The unrounded values of a word of 4 bytes in memory, together with the content for which they hold. If something
/// else changes the content, they are no longer known.
class UnroundedWord {
 public:
  /// The parts that lie in `bytes` bytes (2, 4 or 8) at `byte_offset` (0, or 2 for the upper half) of `word`, whose
  /// content is now `bits`. The word after it is at word[stride].
  static UnroundedParts read(const UnroundedWord* word, std::size_t stride, unsigned bytes, unsigned byte_offset,
                             std::uint64_t bits);
  /// Stores the parts of a value of `bytes` bytes (1, 2, 4 or 8), whose rounded content is `bits`.
  static void write(UnroundedWord* word, std::size_t stride, unsigned bytes, unsigned byte_offset, std::uint64_t bits,
                    const UnroundedParts& parts);

  // The most frequent case, a whole number in one word, without the way through UnroundedParts.
  [[nodiscard]] bool holds_whole(std::uint32_t bits) const { return content_ == Content::kWhole && bits_ == bits; }
  [[nodiscard]] UnroundedNumber whole() const { return half(0); }
  void set_whole(std::uint32_t bits, const UnroundedNumber& number) {
    bits_ = bits;
    content_ = Content::kWhole;
    values_[0] = number.value;
    errors_[0] = number.error;
  }

 private:
  enum class Content : std::uint8_t { kUnknown, kWhole, kHalves, kLowerWordOfDouble, kUpperWordOfDouble };

  [[nodiscard]] UnroundedNumber half(unsigned index) const { return {values_[index], errors_[index]}; }
  void set_half(unsigned index, const UnroundedNumber& number);
  [[nodiscard]] UnroundedParts read_word(std::uint32_t bits) const;
  void write_word(std::uint32_t bits, const UnroundedParts& parts);

  std::array<double, 2> values_{};  ///< numbers of the whole or lower part, and of the upper part
  std::array<double, 2> errors_{};  ///< their errors
  std::uint32_t bits_ = 0;          ///< content for which the numbers hold
  Content content_ = Content::kUnknown;
  std::uint8_t known_halves_ = 0;  ///< for kHalves: bit 0 for the lower and bit 1 for the upper half
};

/// A constant in the code as a number of this type. Its error is half an ulp, or zero if it has so few digits that it
/// is probably exact, as 0.5 and 3 are.
UnroundedNumber constant_number(Type type, std::uint64_t bits);

/// Whether bits that the code does not declare as a float are probably one.
bool is_plausible_float(double value);

}  // namespace assay::ptx
