// Shuffles, votes, matches and reductions over the lanes of a warp.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

void Execution::warp_operation(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  // The lanes in the instruction's mask must be the lanes that execute it.
  const std::uint32_t* const wanted = slot_words32(warp, op.e);
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint32_t missing = wanted[lane] & ~lane_mask;
    const bool self = (wanted[lane] >> lane & 1U) != 0;
    if (options_.checks.reports_divergence && (missing != 0 || !self) && !is_stopped_) {
      // Lanes beyond the end of a block count as present, because a mask of all lanes is common.
      const std::uint32_t first = warp.index_in_block * kLanesPerWarp;
      const std::uint32_t exist =
          threads_in_block_ - first >= kLanesPerWarp ? kAllLanes : (1U << (threads_in_block_ - first)) - 1;
      if ((missing & exist) != 0 || !self) add_finding(CheckFinding::Kind::kInactiveLane, op, first + lane);
    }
  });
  switch (op.instruction->opcode) {
    case Opcode::kShfl: shuffle(warp, op, lane_mask); break;
    case Opcode::kMatch: match(warp, op, lane_mask); break;
    case Opcode::kRedux:
      if (op.instruction->type == Type::kF32) reduce_floats(warp, op, lane_mask);
      else reduce(warp, op, lane_mask);
      break;
    case Opcode::kElect:
      // PTX leaves open which lane is elected; here it is the lowest one.
      each_lane(lane_mask, [&](unsigned lane) {
        const auto elected = static_cast<std::uint32_t>(std::countr_zero(wanted[lane] & lane_mask));
        slot_words32(warp, op.d)[lane] = elected;
        set_predicate(warp, op.d2, elected == lane ? kAllLanes : 0, 1U << lane);
      });
      break;
    case Opcode::kVote: {
      const Modifiers& modifiers = op.instruction->modifiers;
      const std::uint32_t votes = *slot_words32(warp, op.a);
      each_lane(lane_mask, [&](unsigned lane) {
        const std::uint32_t members = wanted[lane] & lane_mask;
        const std::uint32_t yes = votes & members;
        if (modifiers.has(Modifier::kBallot)) {
          slot_words32(warp, op.d)[lane] = yes;
          return;
        }
        const bool holds = modifiers.has(Modifier::kAll)   ? yes == members
                           : modifiers.has(Modifier::kAny) ? yes != 0
                                                           : yes == members || yes == 0;
        set_predicate(warp, op.d, holds ? kAllLanes : 0, 1U << lane);
      });
      break;
    }
    default:  // bar.warp.sync
      advance_epoch();
      warp.last_synchronization_epoch = current_epoch_;
      break;
  }
}

/// d = a of the lane selected by the mode and b; p: whether that lane lies in the segment. c contains the clamp in its
/// lower 5 bits and the segment mask in bits 8 to 12.
void Execution::shuffle(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const Modifiers& modifiers = op.instruction->modifiers;
  const std::uint32_t* const a = slot_words32(warp, op.a);
  const std::uint32_t* const b = slot_words32(warp, op.b);
  const std::uint32_t* const c = slot_words32(warp, op.c);
  std::uint32_t results[kLanesPerWarp] = {};
  std::array<std::uint32_t, kLanesPerWarp> source_lanes{};
  std::uint32_t in_segment = 0;
  // PTX leaves the value of a lane that does not participate undefined. This is an error only if the value is used.
  UndefinedValue undefined{.place = op.d, .lane_mask = 0, .shuffle = &op};
  const UndefinedValue* const source = find_undefined(warp, op.a);
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint32_t clamp = c[lane] & 31U;
    const std::uint32_t segments = c[lane] >> 8U & 31U;
    const std::uint32_t amount = b[lane] & 31U;
    const std::uint32_t least = lane & segments;
    const std::uint32_t most = least | (clamp & ~segments);
    std::uint32_t from = 0;
    bool inside = false;
    if (modifiers.has(Modifier::kUp)) {
      from = lane - amount;
      inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(most);
    } else if (modifiers.has(Modifier::kDown)) {
      from = lane + amount;
      inside = from <= most;
    } else if (modifiers.has(Modifier::kBfly)) {
      from = lane ^ amount;
      inside = from <= most;
    } else {
      from = least | (amount & ~segments);
      inside = from <= most;
    }
    if (!inside) from = lane;
    const bool is_undefined =
        (lane_mask >> from & 1U) == 0 || (source != nullptr && (source->lane_mask >> from & 1U) != 0);
    if (is_undefined && options_.checks.reports_divergence) undefined.lane_mask |= 1U << lane;
    results[lane] = a[from];
    source_lanes[lane] = from;
    in_segment |= inside ? 1U << lane : 0U;
  });
  if (unrounded_plan_) shuffle_unrounded(warp, op, lane_mask, source_lanes);
  std::uint32_t* const d = slot_words32(warp, op.d);
  each_lane(lane_mask, [&](unsigned lane) { d[lane] = results[lane]; });
  set_undefined(warp, lane_mask, undefined);
  if (op.d2.bits != 0) {
    set_predicate(warp, op.d2, in_segment, lane_mask);
    set_undefined(warp, lane_mask, {.place = op.d2});
  }
}

void Execution::match(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const bool wide = bytes_of(op.instruction->type) == 8;
  const bool all = op.instruction->modifiers.has(Modifier::kAll);
  const std::uint32_t* const wanted = slot_words32(warp, op.e);
  const auto value = [&](unsigned lane) -> std::uint64_t {
    return wide ? slot_words64(warp, op.a)[lane] : slot_words32(warp, op.a)[lane];
  };
  std::uint32_t results[kLanesPerWarp] = {};
  std::uint32_t agree = 0;
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint32_t members = wanted[lane] & lane_mask;
    std::uint32_t same = 0;
    each_lane(members, [&](unsigned other) { same |= value(other) == value(lane) ? 1U << other : 0U; });
    agree |= same == members ? 1U << lane : 0U;
    results[lane] = !all || same == members ? same : 0;
  });
  std::uint32_t* const d = slot_words32(warp, op.d);
  each_lane(lane_mask, [&](unsigned lane) { d[lane] = results[lane]; });
  if (op.d2.bits != 0) set_predicate(warp, op.d2, agree, lane_mask);
}

/// redux of floats: the least or the greatest number, or with .abs magnitude. A number takes precedence over a NaN, but
/// not with .NaN.
void Execution::reduce_floats(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const Modifiers& modifiers = op.instruction->modifiers;
  const bool is_minimum = modifiers.has(Modifier::kMin);
  const bool propagates = modifiers.has(Modifier::kNaN);
  const std::uint32_t* const wanted = slot_words32(warp, op.e);
  constexpr std::uint32_t kMagnitude = 0x7fffffff;
  const auto bits_of = [&](unsigned lane) {
    const std::uint32_t bits = slot_words32(warp, op.a)[lane];
    return modifiers.has(Modifier::kAbs) ? bits & kMagnitude : bits;
  };
  const auto is_nan = [&](unsigned lane) { return (bits_of(lane) & kMagnitude) > 0x7f800000U; };
  const auto precedes = [&](unsigned lane, unsigned other) {
    if (is_nan(lane) || is_nan(other)) return is_nan(lane) == propagates && is_nan(lane) != is_nan(other);
    const auto x = std::bit_cast<float>(bits_of(lane)), y = std::bit_cast<float>(bits_of(other));
    if (x == y) return is_minimum && std::signbit(x) && !std::signbit(y);
    return is_minimum ? x < y : x > y;
  };
  std::array<std::uint32_t, kLanesPerWarp> source_lanes{};
  std::uint32_t results[kLanesPerWarp] = {};
  each_lane(lane_mask, [&](unsigned lane) {
    auto chosen = static_cast<unsigned>(std::countr_zero(wanted[lane] & lane_mask));
    each_lane(wanted[lane] & lane_mask, [&](unsigned other) {
      if (precedes(other, chosen)) chosen = other;
    });
    source_lanes[lane] = chosen;
    results[lane] = is_nan(chosen) ? kMagnitude : bits_of(chosen);
  });
  if (unrounded_plan_) {
    shuffle_unrounded(warp, op, lane_mask, source_lanes);
    const std::int32_t target = unrounded_plan_->register_index(op.d);
    if (modifiers.has(Modifier::kAbs) && target >= 0) {
      UnroundedRegister& numbers = warp.unrounded_registers[static_cast<std::size_t>(target)];
      each_lane(lane_mask & numbers.known_lanes(Part::kWhole), [&](unsigned lane) {
        UnroundedNumber number = numbers.lanes(Part::kWhole).at(lane);
        number.value = std::abs(number.value);
        numbers.hold(Part::kWhole, 1U << lane).set(lane, number);
      });
    }
  }
  std::uint32_t* const d = slot_words32(warp, op.d);
  each_lane(lane_mask, [&](unsigned lane) { d[lane] = results[lane]; });
}

void Execution::reduce(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const Modifiers& modifiers = op.instruction->modifiers;
  const bool is_signed_type = op.instruction->type == Type::kS32;
  const std::uint32_t* const a = slot_words32(warp, op.a);
  const std::uint32_t* const wanted = slot_words32(warp, op.e);
  const auto less = [&](std::uint32_t x, std::uint32_t y) {
    return is_signed_type ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
  };
  std::uint32_t results[kLanesPerWarp] = {};
  each_lane(lane_mask, [&](unsigned lane) {
    bool first = true;
    std::uint32_t& sum = results[lane];
    each_lane(wanted[lane] & lane_mask, [&](unsigned other) {
      const std::uint32_t x = a[other];
      if (std::exchange(first, false)) {
        sum = x;
      } else if (modifiers.has(Modifier::kAdd)) {
        sum += x;
      } else if (modifiers.has(Modifier::kAnd)) {
        sum &= x;
      } else if (modifiers.has(Modifier::kOr)) {
        sum |= x;
      } else if (modifiers.has(Modifier::kXor)) {
        sum ^= x;
      } else if (modifiers.has(Modifier::kMin) ? less(x, sum) : less(sum, x)) {
        sum = x;
      }
    });
  });
  std::uint32_t* const d = slot_words32(warp, op.d);
  each_lane(lane_mask, [&](unsigned lane) { d[lane] = results[lane]; });
}

}  // namespace assay::ptx
