// Unrounded values in memory: loads, stores, atomics, copies and shuffles. The rounded values are moved separately.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/instructions/numbers.hpp"

namespace assay::ptx {

namespace {

/// The rounded value of a register in a lane.
std::uint64_t register_bits(WarpState& warp, FrameSlot slot, unsigned lane, unsigned bytes) {
  return bytes == 8 ? slot_words64(warp, slot)[lane] : slot_words32(warp, slot)[lane];
}

std::uint64_t low_bytes(std::uint64_t bits, unsigned bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

/// The word that contains an address in global or shared memory; null if the address is invalid, or if nothing is known
/// and `creates` is false.
UnroundedWord* Execution::find_unrounded_word(Space space, std::uint64_t address, bool creates) {
  if (space == Space::kShared) {
    const std::optional<SharedOffset> place = find_shared(address, 1);
    return place ? &shared_unrounded_words_by_variable_[place->variable][place->offset / 4] : nullptr;
  }
  Allocation* const allocation = memory_.find_allocation(address);
  const std::uint64_t offset = (address & kWindowMask) - kAddressWindowMiddleOffset;
  if (allocation == nullptr || offset >= allocation->bytes.size()) return nullptr;
  if (allocation->unrounded_words.empty() && !creates) return nullptr;
  return Memory::unrounded_word(*allocation, offset);
}

Execution::UnroundedPlaces Execution::find_unrounded_places(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                                            const Addresses& addresses) {
  UnroundedPlaces places;
  const bool creates = memory.access != Access::kLoad;
  each_lane(lane_mask, [&](unsigned lane) {
    std::uint64_t address = addresses[lane];
    Space space = memory.space;
    if (space == Space::kGeneric) {
      const std::uint64_t window = address >> kAddressWindowBits;
      space = window == kSharedWindowIndex  ? Space::kShared
              : window == kLocalWindowIndex ? Space::kLocal
              : window == kParamWindowIndex ? Space::kParam
                                            : Space::kGlobal;
      if (window != 0 && window < kFirstAllocationWindowIndex) address &= kWindowMask;
    }
    if (space == Space::kParam) return;
    places.byte_offsets[lane] = static_cast<std::uint8_t>(address % 4);
    if (space != Space::kLocal) {
      places.words[lane] = find_unrounded_word(space, address, creates);
      return;
    }
    const std::uint64_t variable = address >> kLocalOffsetBits;
    const std::uint64_t offset = (address & ((1U << kLocalOffsetBits) - 1)) - kLocalMiddleOffset;
    if (variable >= kernel_.local_variables.size() || offset >= kernel_.local_variables[variable].bytes) return;
    places.stride = kLanesPerWarp;
    places.words[lane] =
        &warp.unrounded_local_words[(kernel_.local_variables[variable].first_word_index + offset / 4) * kLanesPerWarp +
                                    lane];
  });
  return places;
}

void Execution::access_with_unrounded_values(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
  Addresses addresses;
  find_addresses(warp, memory, op.a, op.immediate, addresses);
  const UnroundedPlaces places = find_unrounded_places(warp, memory, lane_mask, addresses);
  if (memory.access == Access::kAtomic) {
    atomic_places_ = &places;
    access_rounded(warp, op, lane_mask);
    atomic_places_ = nullptr;
    return;
  }
  access_rounded(warp, op, lane_mask);
  move_unrounded(warp, op, lane_mask, places);
}

void Execution::move_unrounded(Warp& warp, const Op& op, std::uint32_t lane_mask, const UnroundedPlaces& places) {
  const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
  const auto& operands = unrounded_plan_->memory_operands(op.memory_or_call_index);
  const unsigned bytes = bytes_of(memory.type);
  for (unsigned element = 0; element < memory.element_count; ++element) {
    const UnroundedOperand& operand = operands[element];
    const auto place_of = [&](unsigned lane, unsigned& byte_offset) {
      const unsigned at = places.byte_offsets[lane] + element * bytes;
      byte_offset = at % 4;
      return places.words[lane] == nullptr ? nullptr : places.words[lane] + at / 4 * places.stride;
    };
    unsigned byte_offset = 0;
    if (memory.access == Access::kLoad) {
      if (operand.register_index < 0) continue;
      UnroundedRegister& target = warp.unrounded_registers[static_cast<std::size_t>(operand.register_index)];
      each_lane(lane_mask, [&](unsigned lane) {
        const UnroundedWord* const word = place_of(lane, byte_offset);
        const std::uint64_t bits = low_bytes(register_bits(warp, operand.slot, lane, bytes), bytes);
        const bool is_rounded_parameter = memory.space == Space::kParam && options_.may_have_rounded_parameters;
        const bool is_constant = bytes == 4 && (is_rounded_parameter || memory.space == Space::kConst);
        const UnroundedNumber number = is_constant ? constant_number(Type::kF32, bits) : UnroundedNumber{};
        if (is_constant && is_plausible_float(number.value))
          return target.hold(Part::kWhole, 1U << lane).set(lane, number);
        if (word == nullptr) return target.forget(1U << lane);
        if (bytes == 4 && word->holds_whole(static_cast<std::uint32_t>(bits)))
          return target.hold(Part::kWhole, 1U << lane).set(lane, word->whole());
        target.set_parts(lane, UnroundedWord::read(word, places.stride, bytes, byte_offset, bits));
      });
      continue;
    }
    const UnroundedRegister* const source =
        operand.register_index < 0 ? nullptr
                                   : &warp.unrounded_registers[static_cast<std::size_t>(operand.register_index)];
    const std::uint32_t whole_lanes = source == nullptr || bytes != 4 ? 0 : source->known_lanes(Part::kWhole);
    for (const std::uint32_t lane : lane_order_) {
      if ((lane_mask >> lane & 1U) == 0) continue;
      UnroundedWord* const word = place_of(lane, byte_offset);
      if (word == nullptr) continue;
      if ((whole_lanes >> lane & 1U) != 0) {
        word->set_whole(slot_words32(warp, operand.slot)[lane], source->lanes(Part::kWhole).at(lane));
        continue;
      }
      const std::uint64_t bits = low_bytes(register_bits(warp, operand.slot, lane, bytes), bytes);
      const UnroundedParts parts = parts_of(warp.unrounded_registers, operand, lane);
      UnroundedWord::write(word, places.stride, bytes, byte_offset, bits, parts);
      if (!parts.knows(Part::kBiased)) continue;
      ++unrounded_losses_.lost_value_count;
      if (unrounded_losses_.first_lost_value == nullptr) unrounded_losses_.first_lost_value = &op;
    }
  }
}

void Execution::apply_unrounded_atomic(Warp& warp, std::uint32_t memory_index, unsigned lane, std::uint64_t old_bits,
                                       std::uint64_t new_bits) {
  UnroundedWord* const word = atomic_places_->words[lane];
  if (word == nullptr) return;
  const MemoryOp& memory = kernel_.memory_ops[memory_index];
  const auto& operands = unrounded_plan_->memory_operands(memory_index);
  const std::size_t stride = atomic_places_->stride;
  const unsigned bytes = bytes_of(memory.type);
  const unsigned byte_offset = atomic_places_->byte_offsets[lane];
  const UnroundedParts old_parts = UnroundedWord::read(word, stride, bytes, byte_offset, old_bits);
  const auto bits_of = [&](std::size_t i) {
    return low_bytes(register_bits(warp, memory.values[i], lane, bytes), bytes);
  };
  UnroundedParts parts;
  if (is_float(memory.type) && memory.atomic_operation == Modifier::kAdd) {
    const Type type = single(memory.type);
    const auto add = [&](Part part) {
      const std::uint64_t old_part_bits = part == Part::kUpper ? old_bits >> 16U : old_bits;
      const UnroundedNumber old =
          old_parts.knows(part) ? old_parts.number(part) : UnroundedNumber{number_of(type, old_part_bits), 0};
      const UnroundedNumber term = number_of(warp.unrounded_registers, operands[1], lane, part, type, bits_of(1));
      parts.set(part, {old.value + term.value, old.error + term.error});
    };
    add(bytes_of(type) == 2 ? Part::kLower : Part::kWhole);
    if (type != memory.type) add(Part::kUpper);
  } else if (new_bits == old_bits) {
    parts = old_parts;
  } else {  // an exchange, a swap, a minimum or a maximum stores an operand
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      if (memory.values[i].bits != 0 && bits_of(i) == new_bits && !parts.knows_any())
        parts = parts_of(warp.unrounded_registers, operands[i], lane);
    }
  }
  UnroundedWord::write(word, stride, bytes, byte_offset, new_bits, parts);
  if (memory.returns_old_value && operands[0].register_index >= 0)
    warp.unrounded_registers[static_cast<std::size_t>(operands[0].register_index)].set_parts(lane, old_parts);
}

void Execution::move_unrounded_element(Warp& warp, FrameSlot slot, unsigned lane, Part part, const MemoryOp& memory,
                                       Space space, std::uint64_t address, std::uint64_t bits) {
  const bool is_load = memory.access == Access::kLoad;
  UnroundedWord* const word = find_unrounded_word(space, address, !is_load);
  const std::int32_t index = unrounded_plan_->register_index(slot);
  const unsigned bytes = part == Part::kWhole ? bytes_of(memory.type) : 2;
  const auto byte_offset = static_cast<unsigned>(address % 4);
  UnroundedRegister* const known = index < 0 ? nullptr : &warp.unrounded_registers[static_cast<std::size_t>(index)];
  const Part part_in_memory = part == Part::kWhole ? Part::kWhole : Part::kLower;
  if (is_load) {
    if (known == nullptr) return;
    if (part != Part::kUpper) known->forget(1U << lane);  // the first part of the register
    if (word == nullptr) return;
    const UnroundedParts parts = UnroundedWord::read(word, 1, bytes, byte_offset, low_bytes(bits, bytes));
    if (parts.knows(part_in_memory)) known->hold(part, 1U << lane).set(lane, parts.number(part_in_memory));
    return;
  }
  if (word == nullptr) return;
  UnroundedParts parts;
  if (known != nullptr && (known->known_lanes(part) >> lane & 1U) != 0)
    parts.set(part_in_memory, known->lanes(part).at(lane));
  UnroundedWord::write(word, 1, bytes, byte_offset, low_bytes(bits, bytes), parts);
}

void Execution::move_unrounded_word(Warp& warp, FrameSlot slot, unsigned lane, bool is_load, std::uint64_t address) {
  const std::int32_t index = unrounded_plan_->register_index(slot);
  UnroundedWord* const word = find_unrounded_word(Space::kShared, address, !is_load);
  if (index < 0 || word == nullptr) return;
  UnroundedRegister& known = warp.unrounded_registers[static_cast<std::size_t>(index)];
  const std::uint32_t bits = slot_words32(warp, slot)[lane];
  if (is_load && word->holds_whole(bits)) known.hold(Part::kWhole, 1U << lane).set(lane, word->whole());
  if (!is_load && (known.known_lanes(Part::kWhole) >> lane & 1U) != 0)
    word->set_whole(bits, known.lanes(Part::kWhole).at(lane));
}

/// cp.async copies whole words.
void Execution::copy_unrounded(const AsyncCopy& copy, const SharedOffset& destination) {
  UnroundedWord* const to = &shared_unrounded_words_by_variable_[destination.variable][destination.offset / 4];
  const UnroundedWord* const from =
      copy.source == nullptr ? nullptr : find_unrounded_word(Space::kGlobal, copy.source_address, false);
  for (unsigned word = 0; word < copy.written_bytes / 4; ++word)
    to[word] = from != nullptr && 4 * word < copy.read_bytes ? from[word] : UnroundedWord{};
}

void Execution::shuffle_unrounded(Warp& warp, const Op& op, std::uint32_t lane_mask,
                                  const std::array<std::uint32_t, kLanesPerWarp>& source_lanes) {
  const std::int32_t source = unrounded_plan_->register_index(op.a);
  const std::int32_t target = unrounded_plan_->register_index(op.d);
  if (target < 0) return;
  std::array<UnroundedParts, kLanesPerWarp> parts;
  if (source >= 0) {
    for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
      parts[lane] = warp.unrounded_registers[static_cast<std::size_t>(source)].parts(lane);
  }
  UnroundedRegister& result = warp.unrounded_registers[static_cast<std::size_t>(target)];
  each_lane(lane_mask, [&](unsigned lane) { result.set_parts(lane, parts[source_lanes[lane]]); });
}

}  // namespace assay::ptx
