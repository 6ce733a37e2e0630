#include "backends/ptx/unrounded/arithmetic.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "backends/ptx/instructions/lanes/matrices.hpp"
#include "backends/ptx/instructions/numbers.hpp"

namespace assay::ptx {

namespace {

using enum Modifier;

const std::byte* slot_bytes(const WarpState& warp, FrameSlot slot) {
  return warp.frames[slot.bits >> 31U] + (slot.bits & ~FrameSlot::kConstantFrameBit);
}
const std::uint32_t* words32(const WarpState& warp, FrameSlot slot) {
  return reinterpret_cast<const std::uint32_t*>(slot_bytes(warp, slot));
}
const std::uint64_t* words64(const WarpState& warp, FrameSlot slot) {
  return reinterpret_cast<const std::uint64_t*>(slot_bytes(warp, slot));
}

std::uint64_t part_bits(std::uint32_t word, Part part) { return part == Part::kUpper ? word >> 16U : word; }

/// How far the bits of `number`, an f32, are below `word`.
std::int64_t distance_to(std::uint32_t word, const UnroundedNumber& number) {
  return std::int64_t{word} - std::bit_cast<std::uint32_t>(static_cast<float>(number.value));
}

/// Whether a bf16 is a neighbor of an f32, so that it is the f32 rounded in some direction. A bf16 has the bits of the
/// upper half of an f32.
bool is_rounding_of(const UnroundedNumber& uncut, std::uint32_t half) {
  return std::abs(distance_to(half << 16U, uncut)) < 0x10000;
}

/// Whether the bits of an f32 have changed as a step of rounding it to a bf16. Such code adds 0x8000, or 0x7fff and the
/// last bit that remains. Before that, code that converts an f64 may subtract 1 or set the last bit.
bool is_biased(std::int64_t distance) { return distance >= -1 && distance <= 0x8000; }
bool is_bias(std::int64_t distance) {
  return distance == -1 || distance == 1 || distance == 0x7fff || distance == 0x8000;
}

/// The lower half of the result of shifting a word by 16 bits to the right.
UnroundedParts upper_half_of(const UnroundedParts& source, std::uint32_t word) {
  UnroundedParts half;
  if (source.knows(Part::kUpper)) {
    half.set(Part::kLower, source.number(Part::kUpper));
  } else if (source.knows(Part::kWhole)) {  // an f32 that is rounded to a bf16 by cutting off digits
    half.set(Part::kLower, source.number(Part::kWhole));
    half.set(Part::kUncut, {number_of(Type::kF32, word), 0});
  } else if (source.knows(Part::kBiased)) {
    const UnroundedNumber& uncut = source.number(Part::kUncut);
    half.set(Part::kLower, source.number(Part::kBiased));
    half.set(Part::kUncut, distance_to(word, uncut) < 0 ? UnroundedNumber{number_of(Type::kF32, word), 0} : uncut);
  }
  return half;
}

/// The greatest relative rounding error of a double.
constexpr double kRoundoff = 0x1p-53;

/// Executes one instruction.
class InstructionRun {
 public:
  InstructionRun(WarpState& warp, std::span<UnroundedRegister> registers, const Op& op, const UnroundedOp& planned,
                 std::uint32_t lane_mask, UnroundedLosses& losses)
      : warp_(warp), registers_(registers), op_(op), planned_(planned), lane_mask_(lane_mask), losses_(losses) {}

  void run() {
    switch (planned_.effect) {
      case UnroundedEffect::kNone: return run_handler();
      case UnroundedEffect::kForget:
        run_handler();
        if (UnroundedRegister* const d = destination()) d->forget(lane_mask_);
        return;
      case UnroundedEffect::kComparison: compare(); return run_handler();
      case UnroundedEffect::kArithmetic:
        losses_.evaluates_polynomials |= planned_.is_polynomial_step;
        compute_all_parts();
        break;
      case UnroundedEffect::kConversion: convert(); break;
      case UnroundedEffect::kCopy: copy(lane_mask_, planned_.a); break;
      case UnroundedEffect::kSelection: {
        const std::uint32_t takes_first = *words32(warp_, planned_.c.slot);
        copy(lane_mask_ & takes_first, planned_.a);
        copy(lane_mask_ & ~takes_first, planned_.b);
        break;
      }
      case UnroundedEffect::kPacking: pack(); break;
      case UnroundedEffect::kUnpacking: unpack(); break;
      case UnroundedEffect::kBits: return follow_bits();
    }
    run_handler();
  }

 private:
  void run_handler() {
    if (lane_mask_ == kAllLanes) op_.full_warp_handler(warp_, op_, lane_mask_);
    else op_.masked_warp_handler(warp_, op_, lane_mask_);
  }
  UnroundedRegister* destination() {
    return planned_.destination_index < 0 ? nullptr : &registers_[static_cast<std::size_t>(planned_.destination_index)];
  }
  const UnroundedRegister* find(const UnroundedOperand& operand) const {
    return operand.register_index < 0 ? nullptr : &registers_[static_cast<std::size_t>(operand.register_index)];
  }

  /// The numbers of an operand in the active lanes; `scratch` holds them if not all are in the register.
  const UnroundedLanes& numbers(const UnroundedOperand& operand, Type type, Part part, UnroundedLanes& scratch) const {
    if (operand.constant != nullptr) return *operand.constant;
    const UnroundedRegister* const known = find(operand);
    const std::uint32_t known_lanes = known == nullptr ? 0 : known->known_lanes(part);
    if ((lane_mask_ & ~known_lanes) == 0) return known->lanes(part);
    if (known != nullptr && part == Part::kWhole && (known->known_lanes(Part::kBiased) & lane_mask_) != 0) add_loss();
    each_lane(lane_mask_, [&](unsigned lane) {
      if ((known_lanes >> lane & 1U) != 0) return scratch.set(lane, known->lanes(part).at(lane));
      scratch.set(lane, {rounded_number(operand, type, part, lane), 0});
    });
    return scratch;
  }

  /// The content of the operand's register before the instruction.
  double rounded_number(const UnroundedOperand& operand, Type type, Part part, unsigned lane) const {
    // Two f32 are the halves of a register of 64 bits.
    const bool is_wide = bytes_of(type) == 8 || (bytes_of(type) == 4 && part != Part::kWhole);
    const std::uint64_t bits = !is_wide               ? part_bits(words32(warp_, operand.slot)[lane], part)
                               : part == Part::kUpper ? words64(warp_, operand.slot)[lane] >> 32U
                                                      : words64(warp_, operand.slot)[lane];
    return number_of(type, bits);
  }

  /// Records that computation goes on with a rounded value.
  void add_loss() const {
    ++losses_.lost_value_count;
    if (losses_.first_lost_value == nullptr) losses_.first_lost_value = &op_;
  }

  static Part part_of(Type type) { return type == Type::kF16 || type == Type::kBf16 ? Part::kLower : Part::kWhole; }

  void compute_all_parts() {
    compute(planned_.is_pair ? Part::kLower : part_of(planned_.type));
    if (planned_.is_pair) compute(Part::kUpper);
  }

  /// Sets the result of each active lane to f(lane), a number before its rounding to double, which the error gets in
  /// addition. `roundoff`: 0 for a result that is exact.
  template <class F>
  void set_result(UnroundedLanes& d, F f, double roundoff = kRoundoff) const {
    // Small changes do not change an infinity.
    const auto set = [&](unsigned lane) {
      const UnroundedNumber number = f(lane);
      d.values[lane] = number.value;
      d.errors[lane] = std::abs(number.value) <= std::numeric_limits<double>::max()
                           ? number.error + roundoff * std::abs(number.value)
                           : 0;
    };
    if (lane_mask_ != kAllLanes) return each_lane(lane_mask_, set);
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
      set(lane);
  }

  /// The error of a product in which a factor has an error; zero for an exact factor, even if the other one is
  /// infinite.
  static double scaled(double error, double factor) { return error == 0 ? 0 : error * std::abs(factor); }

  void compute(Part part) {
    UnroundedLanes scratch[3];
    const UnroundedLanes& a = numbers(planned_.a, planned_.type, part, scratch[0]);
    const UnroundedLanes& b = numbers(planned_.b, planned_.type, part, scratch[1]);
    const auto& x = a.values;
    const auto& y = b.values;
    const auto& ex = a.errors;
    const auto& ey = b.errors;
    UnroundedRegister* const target = destination();
    if (target == nullptr) return;
    const bool is_fused = op_.instruction->opcode == Opcode::kFma || op_.instruction->opcode == Opcode::kMad;
    // The minimum and the maximum of two numbers have the first one as their third operand, too.
    const bool is_extreme = op_.instruction->opcode == Opcode::kMin || op_.instruction->opcode == Opcode::kMax;
    const UnroundedLanes& c = is_fused || is_extreme ? numbers(planned_.c, planned_.type, part, scratch[2]) : a;
    UnroundedLanes& d = target->hold(part, lane_mask_);
    using Number = UnroundedNumber;
    // Each result is set after its operands in the same lane are read, so they may share a register.
    switch (op_.instruction->opcode) {
      case Opcode::kAdd: set_result(d, [&](unsigned i) { return Number{x[i] + y[i], ex[i] + ey[i]}; }); break;
      case Opcode::kSub: set_result(d, [&](unsigned i) { return Number{x[i] - y[i], ex[i] + ey[i]}; }); break;
      case Opcode::kMul:
        set_result(d, [&](unsigned i) { return Number{x[i] * y[i], scaled(ex[i], y[i]) + scaled(ey[i], x[i])}; });
        break;
      case Opcode::kFma:
      case Opcode::kMad:
        set_result(d, [&](unsigned i) {
          return Number{x[i] * y[i] + c.values[i], scaled(ex[i], y[i]) + scaled(ey[i], x[i]) + c.errors[i]};
        });
        break;
      case Opcode::kDiv:
        set_result(d, [&](unsigned i) {
          const double quotient = x[i] / y[i];
          return Number{quotient, scaled(ex[i], 1 / y[i]) + scaled(ey[i], quotient / y[i])};
        });
        break;
      case Opcode::kMin:
      case Opcode::kMax: {
        const bool is_maximum = op_.instruction->opcode == Opcode::kMax;
        set_result(
            d,
            [&](unsigned i) {
              // A number takes precedence over a NaN.
              const auto extreme = [&](const Number& first, const Number& second) {
                const bool takes_first = second.value != second.value ||
                                         (is_maximum ? first.value >= second.value : first.value <= second.value);
                return takes_first ? first : second;
              };
              return extreme(extreme({x[i], ex[i]}, {y[i], ey[i]}), c.at(i));
            },
            0);
        break;
      }
      case Opcode::kAbs:
        set_result(
            d,
            [&](unsigned i) {
              return Number{std::abs(x[i]), ex[i]};
            },
            0);
        break;
      case Opcode::kNeg:
        set_result(
            d,
            [&](unsigned i) {
              return Number{-x[i], ex[i]};
            },
            0);
        break;
      // The second operand with the sign of the first.
      case Opcode::kCopysign:
        set_result(
            d,
            [&](unsigned i) {
              return Number{std::copysign(y[i], x[i]), ey[i]};
            },
            0);
        break;
      case Opcode::kSqrt:
        set_result(d, [&](unsigned i) {
          const double root = std::sqrt(x[i]);
          return Number{root, scaled(ex[i], 0.5 / root)};
        });
        break;
      case Opcode::kRsqrt:
        set_result(d, [&](unsigned i) {
          const double result = 1 / std::sqrt(x[i]);
          return Number{result, scaled(ex[i], 0.5 * result / x[i])};
        });
        break;
      case Opcode::kRcp:
        set_result(d, [&](unsigned i) {
          const double result = 1 / x[i];
          return Number{result, scaled(ex[i], result * result)};
        });
        break;
      case Opcode::kEx2:
        set_result(d, [&](unsigned i) {
          const double power = std::exp2(x[i]);
          return Number{power, scaled(ex[i], power * std::numbers::ln2)};
        });
        break;
      case Opcode::kLg2:
        set_result(d, [&](unsigned i) { return Number{std::log2(x[i]), scaled(ex[i], std::numbers::log2e / x[i])}; });
        break;
      case Opcode::kSin:
        set_result(d, [&](unsigned i) { return Number{std::sin(x[i]), scaled(ex[i], std::cos(x[i]))}; });
        break;
      case Opcode::kCos:
        set_result(d, [&](unsigned i) { return Number{std::cos(x[i]), scaled(ex[i], std::sin(x[i]))}; });
        break;
      default:  // tanh
        set_result(d, [&](unsigned i) {
          const double result = std::tanh(x[i]);
          return Number{result, scaled(ex[i], 1 - result * result)};
        });
        break;
    }
    find_overflow(d, part, is_fused);
    clamp(d);
  }

  /// Records an infinite result, unless it is that of a division by zero or the like, or of an infinite operand.
  void find_overflow(const UnroundedLanes& d, Part part, bool is_fused) {
    switch (op_.instruction->opcode) {
      case Opcode::kDiv:
      case Opcode::kLg2:
      case Opcode::kRcp:
      case Opcode::kRsqrt: return;
      default: break;
    }
    std::uint32_t infinite_lanes = 0;
    for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
      infinite_lanes |= static_cast<std::uint32_t>(std::abs(d.values[lane]) == std::numeric_limits<double>::infinity())
                        << lane;
    each_lane(infinite_lanes & lane_mask_, [&](unsigned lane) {
      const auto is_infinite = [&](const UnroundedOperand& operand) {
        return std::isinf(operand.constant != nullptr ? operand.constant->values[lane]
                                                      : rounded_number(operand, planned_.type, part, lane));
      };
      const bool has_infinite_operand =
          is_infinite(planned_.a) || is_infinite(planned_.b) || (is_fused && is_infinite(planned_.c));
      losses_.overflows |= !has_infinite_operand;
    });
  }

  /// The modifiers .sat and .relu.
  void clamp(UnroundedLanes& d) const {
    const bool saturates = op_.instruction->modifiers.has(kSat);
    if (!saturates && !op_.instruction->modifiers.has(kRelu)) return;
    each_lane(lane_mask_, [&](unsigned lane) {
      double& value = d.values[lane];
      if (!(value > 0)) value = 0;
      if (saturates && value > 1) value = 1;
    });
  }

  void convert() {
    UnroundedRegister* const target = destination();
    if (target == nullptr) return;
    const Type from = op_.instruction->source_type;
    UnroundedLanes scratch[2];
    // A lane's source and result may lie in the same place of the same register, which then keeps its content.
    const UnroundedLanes& a = numbers(planned_.a, from, part_of(from), scratch[0]);
    if (planned_.is_pair) {  // the first source becomes the upper half
      const UnroundedLanes& b = numbers(planned_.b, from, part_of(from), scratch[1]);
      const UnroundedLanes upper = a;
      const UnroundedLanes lower = b;
      for (const auto& [part, source] : {std::pair{Part::kUpper, &upper}, std::pair{Part::kLower, &lower}}) {
        UnroundedLanes& d = target->hold(part, lane_mask_);
        set_result(
            d, [&, from = source](unsigned i) { return from->at(i); }, 0);
        clamp(d);
      }
      return;
    }
    UnroundedLanes& d = target->hold(part_of(planned_.type), lane_mask_);
    set_result(
        d, [&](unsigned i) { return a.at(i); }, 0);
    clamp(d);
  }

  void copy(std::uint32_t lane_mask, const UnroundedOperand& operand) {
    UnroundedRegister* const target = destination();
    if (target == nullptr || lane_mask == 0) return;
    const UnroundedRegister* const source = find(operand);
    if (operand.constant == nullptr && source == nullptr) return target->forget(lane_mask);
    if (target == source) return;
    const std::uint32_t whole = source == nullptr ? lane_mask : source->known_lanes(Part::kWhole);
    if ((lane_mask & ~whole) == 0) {
      const UnroundedLanes& from = source == nullptr ? *operand.constant : source->lanes(Part::kWhole);
      UnroundedLanes& to = target->hold(Part::kWhole, lane_mask);
      each_lane(lane_mask, [&](unsigned lane) { to.set(lane, from.at(lane)); });
      return;
    }
    if ((source->known_lanes() & lane_mask) == 0) return target->forget(lane_mask);
    each_lane(lane_mask, [&](unsigned lane) { target->set_parts(lane, source->parts(lane)); });
  }

  /// mov that writes a part of a register from another register; `immediate` is its position in bits.
  void pack() {
    UnroundedRegister* const target = destination();
    if (target == nullptr) return;
    const auto& elements = op_.instruction->operands[1].elements;
    if (op_.immediate == 0) target->forget(lane_mask_);
    if (elements.size() != 2) return target->forget(lane_mask_);
    const UnroundedRegister* const source = find(planned_.a);
    const bool is_wide = bytes_of(op_.instruction->type) == 8;
    if (is_wide) join_words(*target, source);
    const Part source_part = is_wide ? Part::kWhole : Part::kLower;
    const std::uint32_t known = source == nullptr ? 0 : source->known_lanes(source_part) & lane_mask_;
    if (known == 0) return;
    const Part part = op_.immediate == 0 ? Part::kLower : Part::kUpper;
    UnroundedLanes& d = target->hold(part, known);
    each_lane(known, [&](unsigned lane) { d.set(lane, source->lanes(source_part).at(lane)); });
    // A bf16 above 16 zeros is the same number as f32.
    const bool is_widened = part == Part::kUpper && source_part == Part::kLower &&
                            elements[0].kind == Operand::Kind::kInteger && elements[0].value == 0;
    if (!is_widened) return;
    UnroundedLanes& whole = target->hold(Part::kWhole, known);
    each_lane(known, [&](unsigned lane) { whole.set(lane, source->lanes(source_part).at(lane)); });
  }

  /// The two words of a double make up the double again.
  void join_words(UnroundedRegister& target, const UnroundedRegister* source) const {
    each_lane(lane_mask_, [&](unsigned lane) {
      const UnroundedParts word = source == nullptr ? UnroundedParts() : source->parts(lane);
      if (op_.immediate == 0) {
        if (word.knows(Part::kLowerWord))
          target.hold(Part::kLowerWord, 1U << lane).set(lane, word.number(Part::kLowerWord));
        return;
      }
      const UnroundedParts lower = target.parts(lane);
      if (!lower.knows(Part::kLowerWord)) return;
      target.forget(1U << lane);
      if (const auto joined = double_of_words(lower, word)) target.hold(Part::kWhole, 1U << lane).set(lane, *joined);
    });
  }

  void unpack() {
    UnroundedRegister* const target = destination();
    if (target == nullptr) return;
    target->forget(lane_mask_);
    const bool is_conversion = op_.instruction->opcode == Opcode::kCvt;
    if (!is_conversion && op_.instruction->operands[0].elements.size() != 2) return;
    const UnroundedRegister* const source = find(planned_.a);
    if (source == nullptr) return;
    const bool is_wide = bytes_of(op_.instruction->type) == 8;
    const Part part = op_.immediate == 0 ? Part::kLower : Part::kUpper;
    each_lane(lane_mask_, [&](unsigned lane) {
      const UnroundedParts parts = source->parts(lane);
      UnroundedParts result;
      if (is_wide) {
        if (parts.knows(part)) result.set(Part::kWhole, parts.number(part));
        else if (parts.knows(Part::kWhole))
          result.set(part == Part::kLower ? Part::kLowerWord : Part::kUpperWord, parts.number(Part::kWhole));
      } else if (part == Part::kUpper) {
        result = upper_half_of(parts, words32(warp_, planned_.a.slot)[lane]);
      } else if (parts.knows(Part::kLower)) {
        result.set(Part::kLower, parts.number(Part::kLower));
        if (parts.knows(Part::kUncut)) result.set(Part::kUncut, parts.number(Part::kUncut));
      }
      if (result.knows_any()) target->set_parts(lane, result);
    });
  }

  static bool holds(const Modifiers& modifiers, double x, double y) {
    if (modifiers.has(kLt) || modifiers.has(kLtu)) return x < y;
    if (modifiers.has(kLe) || modifiers.has(kLeu)) return x <= y;
    if (modifiers.has(kGt) || modifiers.has(kGtu)) return x > y;
    if (modifiers.has(kGe) || modifiers.has(kGeu)) return x >= y;
    return x == y;
  }

  void compare() {
    const UnroundedRegister* const known_a = find(planned_.a);
    const UnroundedRegister* const known_b = find(planned_.b);
    const std::uint32_t known =
        (known_a == nullptr ? 0 : known_a->known_lanes()) | (known_b == nullptr ? 0 : known_b->known_lanes());
    if ((known & lane_mask_) == 0) return;
    const Modifiers& modifiers = op_.instruction->modifiers;
    if (modifiers.has(kNum) || modifiers.has(kNan)) return;
    UnroundedLanes scratch[2];
    const Part part = part_of(planned_.type);
    const UnroundedLanes& a = numbers(planned_.a, planned_.type, part, scratch[0]);
    const UnroundedLanes& b = numbers(planned_.b, planned_.type, part, scratch[1]);
    const auto rounded = [&](const UnroundedOperand& operand, unsigned lane) {
      return number_of(planned_.type, bytes_of(planned_.type) == 8 ? words64(warp_, operand.slot)[lane]
                                                                   : words32(warp_, operand.slot)[lane]);
    };
    each_lane(lane_mask_ & known, [&](unsigned lane) {
      const double x = rounded(planned_.a, lane);
      const double y = rounded(planned_.b, lane);
      if (std::isnan(x) || std::isnan(y) || holds(modifiers, x, y) == holds(modifiers, a.values[lane], b.values[lane]))
        return;
      ++losses_.ambiguous_decision_count;
      if (losses_.first_ambiguous_decision == nullptr) losses_.first_ambiguous_decision = &op_;
    });
  }

  /// A source register before an operation on its bits.
  struct Before {
    const UnroundedRegister* known = nullptr;  ///< null: no unrounded values
    std::array<std::uint32_t, kLanesPerWarp> words{};
  };

  /// Operations on the bits of floats. A result that is a source times a power of two, as in frexp, ldexp, abs and
  /// copysign, is that multiple of the source's unrounded value. Halves keep their values where they keep their bits.
  void follow_bits() {
    std::array<Before, 3> before;
    bool knows_any = false;
    const std::array operands{&planned_.a, &planned_.b, &planned_.c};
    for (std::size_t i = 0; i < before.size(); ++i) {
      const UnroundedRegister* const source = find(*operands[i]);
      if (source == nullptr || (source->known_lanes() & lane_mask_) == 0) continue;
      knows_any = true;
      before[i].known = source;
      std::memcpy(before[i].words.data(), words32(warp_, operands[i]->slot), sizeof(before[i].words));
    }
    const HalfMove move = half_move();
    run_handler();
    UnroundedRegister* const target = destination();
    if (target == nullptr) return;
    if (!knows_any) return target->forget(lane_mask_);
    const std::uint32_t* const after = words32(warp_, op_.d);
    each_lane(lane_mask_, [&](unsigned lane) {
      UnroundedParts result;
      bool loses = false;
      for (const Before& source : before)
        if (source.known != nullptr && !result.knows_any())
          result = followed(source.known->parts(lane), source.words[lane], after[lane], move, loses);
      target->set_parts(lane, result);
      // The integers 0 and 1 are no floats: code tests a bit, or counts.
      if (!result.knows_any() && loses && after[lane] > 1) add_loss();
    });
  }

  /// What an operation on bits does to the halves of a word.
  struct HalfMove {
    int shift = 0;                   ///< how many bits it shifts the word to the left: 16, 0 or -16
    bool clears_lower_half = false;  ///< whether it keeps only the upper half
  };
  /// Must be called before the instruction overwrites its operands.
  HalfMove half_move() const {
    const Opcode opcode = op_.instruction->opcode;
    const auto second = [&] { return *words32(warp_, op_.b); };
    if (opcode == Opcode::kShl && second() == 16) return {.shift = 16};
    if (opcode == Opcode::kShr && second() == 16) return {.shift = -16};
    return {.clears_lower_half = opcode == Opcode::kAnd && second() == 0xffff0000U};
  }

  static UnroundedParts followed(const UnroundedParts& source, std::uint32_t before, std::uint32_t after, HalfMove move,
                                 bool& loses) {
    UnroundedParts result;
    if (source.knows(Part::kWhole)) {
      const UnroundedNumber& number = source.number(Part::kWhole);
      const double x = number_of(Type::kF32, before);
      const double y = number_of(Type::kF32, after);
      const double factor = x == 0 && y == 0 ? 1 : y / x;
      int exponent = 0;
      if (std::isfinite(factor) && std::abs(std::frexp(factor, &exponent)) == 0.5 && factor * x == y) {
        result.set(Part::kWhole, {number.value * factor, number.error * std::abs(factor)});
        return result;
      }
      if (move.shift == -16 && (after & 0xffffU) == before >> 16U) return upper_half_of(source, before);
      if (move.clears_lower_half) {
        result.set(Part::kWhole, number);
      } else if (std::isfinite(x) && is_bias(std::int64_t{after} - before)) {
        result.set(Part::kBiased, number);
        result.set(Part::kUncut, {x, 0});
      } else {  // code that rounds to bf16 compares the digits that it cuts off, which a shift to the left moves
        loses = loses || (number.value != x && move.shift != 16);
      }
      return result;
    }
    if (source.knows(Part::kBiased)) return followed_bias(source, before, after, move, loses);
    if (source.knows(Part::kUpperWord) || source.knows(Part::kLowerWord)) return followed_word(source, before, after);
    const int distance = move.shift;
    for (const Part part : {Part::kLower, Part::kUpper}) {
      if (!source.knows(part) || (distance == 16 && part == Part::kUpper) || (distance == -16 && part == Part::kLower))
        continue;
      const Part to = distance == 16 ? Part::kUpper : distance == -16 ? Part::kLower : part;
      const auto old_bits = static_cast<std::uint32_t>(part_bits(before, part) & 0xffffU);
      const auto new_bits = static_cast<std::uint32_t>(part_bits(after, to) & 0xffffU);
      UnroundedNumber number = source.number(part);
      const bool was_cut = part == to && part == Part::kLower && source.knows(Part::kUncut);
      const bool rounds = was_cut && is_rounding_of(source.number(Part::kUncut), new_bits);
      if (((old_bits ^ new_bits) & 0x7fffU) != 0 && !rounds) continue;
      if ((old_bits ^ new_bits) == 0x8000U) number.value = -number.value;
      result.set(to, number);
      if (rounds) result.set(Part::kUncut, source.number(Part::kUncut));
    }
    // A bf16 above 16 zeros is the same number as f32.
    if (result.knows(Part::kUpper) && (distance == 16 || move.clears_lower_half)) {
      const UnroundedNumber number = result.number(Part::kUpper);
      result.set(Part::kWhole, number);
    }
    loses = loses || (source.knows_any() && !result.knows_any());
    return result;
  }

  /// The same for an f32 to whose bits a step of rounding was added.
  static UnroundedParts followed_bias(const UnroundedParts& source, std::uint32_t before, std::uint32_t after,
                                      HalfMove move, bool& loses) {
    const UnroundedNumber& number = source.number(Part::kBiased);
    const UnroundedNumber& uncut = source.number(Part::kUncut);
    UnroundedParts result;
    if (move.shift == -16 && (after & 0xffffU) == before >> 16U) return upper_half_of(source, before);
    if (move.clears_lower_half) {
      result.set(Part::kWhole, number);
    } else if (is_biased(distance_to(after, uncut))) {
      result.set(Part::kBiased, number);
      result.set(Part::kUncut, uncut);
    }
    const bool is_test = move.shift == 16 || (before ^ after) == 0x80000000U;  // of the cut digits, or for a NaN
    loses = loses || (!result.knows_any() && !is_test && number.value != uncut.value);
    return result;
  }

  /// The same for a word of a double. The upper word contains the sign and the exponent.
  static UnroundedParts followed_word(const UnroundedParts& source, std::uint32_t before, std::uint32_t after) {
    UnroundedParts result;
    if (!source.knows(Part::kUpperWord)) return result;
    const double x = std::bit_cast<double>(std::uint64_t{before} << 32U);
    const double y = std::bit_cast<double>(std::uint64_t{after} << 32U);
    const double factor = y / x;
    int exponent = 0;
    if (!std::isfinite(factor) || std::abs(std::frexp(factor, &exponent)) != 0.5) return result;
    const UnroundedNumber& number = source.number(Part::kUpperWord);
    result.set(Part::kUpperWord, {number.value * factor, number.error * std::abs(factor)});
    return result;
  }

  WarpState& warp_;
  std::span<UnroundedRegister> registers_;
  const Op& op_;
  const UnroundedOp& planned_;
  std::uint32_t lane_mask_;
  UnroundedLosses& losses_;
};

}  // namespace

void execute_with_unrounded_values(WarpState& warp, std::span<UnroundedRegister> registers, const UnroundedPlan& plan,
                                   const Op& op, std::size_t index, std::uint32_t lane_mask, UnroundedLosses& losses) {
  InstructionRun(warp, registers, op, plan.op(index), lane_mask, losses).run();
}

UnroundedParts parts_of(std::span<const UnroundedRegister> registers, const UnroundedOperand& operand, unsigned lane) {
  UnroundedParts parts;
  if (operand.constant != nullptr) parts.set(Part::kWhole, operand.constant->at(lane));
  else if (operand.register_index >= 0) parts = registers[static_cast<std::size_t>(operand.register_index)].parts(lane);
  return parts;
}

UnroundedNumber number_of(std::span<const UnroundedRegister> registers, const UnroundedOperand& operand, unsigned lane,
                          Part part, Type type, std::uint64_t bits) {
  if (operand.constant != nullptr) return operand.constant->at(lane);
  if (operand.register_index >= 0) {
    const UnroundedRegister& known = registers[static_cast<std::size_t>(operand.register_index)];
    if ((known.known_lanes(part) >> lane & 1U) != 0) return known.lanes(part).at(lane);
  }
  return {number_of(type, part == Part::kUpper ? bits >> 16U : bits), 0};
}

namespace {

constexpr unsigned kMaxExtent = 32;
using Numbers = std::array<std::array<UnroundedNumber, kMaxExtent>, kMaxExtent>;

/// Calls `use` with the lane, the register, the part of it and the position in the matrix of each element that the
/// lanes hold.
template <class Use>
void for_elements(const Fragment& fragment, std::uint32_t lane_mask, Use use) {
  const unsigned per_register = fragment.elements_per_register();
  for (unsigned i = 0; i < fragment.register_count; ++i) {
    each_lane(lane_mask, [&](unsigned lane) {
      for (unsigned part = 0; part < per_register; ++part) {
        const ElementPosition at = position_of(fragment, lane, i * per_register + part);
        use(lane, fragment.registers[i],
            per_register == 1 ? Part::kWhole
            : part == 0       ? Part::kLower
                              : Part::kUpper,
            at);
      }
    });
  }
}

void read_matrix(const WarpState& warp, std::span<const UnroundedRegister> registers, const UnroundedPlan& plan,
                 const Fragment& fragment, std::uint32_t lane_mask, Numbers& numbers) {
  if (bytes_of(fragment.type) == 1) {  // only the rounded values count
    for (unsigned element = 0; element < fragment.element_count(); ++element) {
      each_lane(lane_mask, [&](unsigned lane) {
        const ElementPosition at = position_of(fragment, lane, element);
        const std::uint32_t word = words32(warp, fragment.registers[element / 4])[lane];
        numbers[at.row][at.column] = {number_of(fragment.type, word >> (8 * (element % 4)) & 0xffU), 0};
      });
    }
    return;
  }
  for_elements(fragment, lane_mask, [&](unsigned lane, FrameSlot slot, Part part, ElementPosition at) {
    const UnroundedOperand operand{.register_index = plan.register_index(slot), .slot = slot};
    const std::uint64_t bits = fragment.type == Type::kF64 ? words64(warp, slot)[lane] : words32(warp, slot)[lane];
    numbers[at.row][at.column] = number_of(registers, operand, lane, part, unrounded_type(fragment.type), bits);
  });
}

}  // namespace

void multiply_unrounded_matrices(const WarpState& warp, std::span<UnroundedRegister> registers,
                                 const UnroundedPlan& plan, const MatrixOp& matrix, std::uint32_t lane_mask) {
  const Fragment& destination = matrix.destination;
  if (!is_float(destination.type)) return;
  const auto factors = std::make_unique<std::array<Numbers, 2>>();
  const auto sums = std::make_unique<Numbers>();
  read_matrix(warp, registers, plan, matrix.sources[0], lane_mask, (*factors)[0]);
  read_matrix(warp, registers, plan, matrix.sources[1], lane_mask, (*factors)[1]);
  read_matrix(warp, registers, plan, matrix.sources[2], lane_mask, *sums);
  const MatrixShape& shape = destination.shape;
  for (unsigned row = 0; row < shape.m; ++row) {
    for (unsigned i = 0; i < shape.k; ++i) {
      const UnroundedNumber& a = (*factors)[0][row][i];
      for (unsigned column = 0; column < shape.n; ++column) {
        const UnroundedNumber& b = (*factors)[1][i][column];
        UnroundedNumber& sum = (*sums)[row][column];
        sum.value += a.value * b.value;
        sum.error += a.error * std::abs(b.value) + b.error * std::abs(a.value);
      }
    }
  }
  for_elements(destination, lane_mask, [&](unsigned lane, FrameSlot slot, Part part, ElementPosition at) {
    const std::int32_t index = plan.register_index(slot);
    if (index < 0) return;
    registers[static_cast<std::size_t>(index)].hold(part, 1U << lane).set(lane, (*sums)[at.row][at.column]);
  });
}

}  // namespace assay::ptx
