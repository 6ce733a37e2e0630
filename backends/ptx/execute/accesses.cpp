// Loads, stores and atomics, executed lane by lane.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/instructions/lanes/atomics.hpp"

namespace assay::ptx {

namespace {

/// Calls `use` with a value of the C++ type in which a memory type is loaded and extended.
template <class Use>
void with_memory_type(Type type, Use use) {
  switch (type) {
    case Type::kS8: return use(std::int8_t{});
    case Type::kS16: return use(std::int16_t{});
    default: break;
  }
  switch (bytes_of(type)) {
    case 1: return use(std::uint8_t{});
    case 2: return use(std::uint16_t{});
    case 4: return use(std::uint32_t{});
    default: return use(std::uint64_t{});
  }
}

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
Word<T>* slot_words(WarpState& lanes, FrameSlot slot) {
  return reinterpret_cast<Word<T>*>(lanes.frames[slot.bits >> 31U] + (slot.bits & ~FrameSlot::kConstantFrameBit));
}

/// The bits in which the addresses of the lanes in the mask differ.
std::uint64_t differing_bits(std::span<const std::uint64_t, kLanesPerWarp> addresses, std::uint32_t lane_mask) {
  const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(lane_mask)) % kLanesPerWarp];
  std::uint64_t bits = 0;
  if (const unsigned count = leading_lanes(lane_mask); count != 0) {
    for (unsigned lane = 0; lane < count; ++lane)
      bits |= addresses[lane] ^ first;
  } else {
    each_lane(lane_mask, [&](unsigned lane) { bits |= addresses[lane] ^ first; });
  }
  return bits;
}

}  // namespace

void Execution::find_addresses(Warp& warp, const MemoryOp& memory, FrameSlot base_slot, std::uint64_t offset,
                               Addresses& addresses) {
  if (memory.has_no_base) {
    std::ranges::fill(addresses, offset);
  } else if (memory.has_64_bit_base) {
    const std::uint64_t* const base = slot_words64(warp, base_slot);
    for (unsigned i = 0; i < kLanesPerWarp; ++i)
      addresses[i] = base[i] + offset;
  } else {
    const std::uint32_t* const base = slot_words32(warp, base_slot);
    for (unsigned i = 0; i < kLanesPerWarp; ++i)
      addresses[i] = std::uint64_t{base[i]} + offset;
  }
}

void Execution::access(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  if (unrounded_plan_) [[unlikely]]
    return access_with_unrounded_values(warp, op, lane_mask);
  access_rounded(warp, op, lane_mask);
}

/// An access without unrounded values.
void Execution::access_rounded(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
  if (memory.space == Space::kLocal && memory.has_no_base &&
      access_equal_local_words(warp, memory, lane_mask, op.immediate))
    return;
  if (memory.space == Space::kParam && memory.has_no_base &&
      load_equal_parameters(warp, memory, lane_mask, op.immediate))
    return;
  Addresses addresses;
  find_addresses(warp, memory, op.a, op.immediate, addresses);
  if (memory.space != Space::kGeneric) return access_space(warp, op, memory, memory.space, lane_mask, addresses);
  const std::uint64_t first_address = addresses[static_cast<unsigned>(std::countr_zero(lane_mask))];
  if (differing_bits(addresses, lane_mask) == 0 && first_address >> kAddressWindowBits == kLocalWindowIndex &&
      access_equal_local_words(warp, memory, lane_mask, first_address & kWindowMask))
    return;
  // Lanes may address different spaces.
  while (lane_mask != 0 && !is_stopped_) {
    const std::uint64_t window =
        std::min(addresses[std::countr_zero(lane_mask)] >> kAddressWindowBits, kFirstAllocationWindowIndex);
    std::uint32_t same = 0;
    each_lane(lane_mask, [&](unsigned lane) {
      if (std::min(addresses[lane] >> kAddressWindowBits, kFirstAllocationWindowIndex) != window) return;
      same |= 1U << lane;
      if (window != 0 && window < kFirstAllocationWindowIndex) addresses[lane] &= kWindowMask;
    });
    const Space space = window == kSharedWindowIndex  ? Space::kShared
                        : window == kLocalWindowIndex ? Space::kLocal
                        : window == kParamWindowIndex ? Space::kParam
                                                      : Space::kGlobal;
    access_space(warp, op, memory, space, same, addresses);
    lane_mask &= ~same;
  }
}

void Execution::access_space(Warp& warp, const Op& op, const MemoryOp& memory, Space space, std::uint32_t lane_mask,
                             const Addresses& addresses) {
  switch (space) {
    case Space::kShared: return access_shared(warp, op, memory, lane_mask, addresses);
    case Space::kLocal: return access_local(warp, op, memory, lane_mask, addresses);
    case Space::kParam: return access_parameters(warp, op, memory, lane_mask, addresses);
    default: return access_global(warp, op, memory, lane_mask, addresses);
  }
}

/// Makes `window` that of an address in global memory.
void Execution::enter_window(GlobalWindow& window, std::uint64_t address) {
  if (address >> kAddressWindowBits == window.index) return;
  const EnabledChecks& checks = options_.checks;
  window.index = address >> kAddressWindowBits;
  window.allocation = memory_.find_allocation(address);
  const bool is_shadowed = checks.reports_races || checks.reports_uninitialized || checks.reports_non_coherent;
  window.cells = is_shadowed && window.allocation != nullptr && !window.allocation->bytes.empty()
                     ? memory_.cells_of(*window.allocation)
                     : nullptr;
}

/// Checks the accesses of the lanes to whole, aligned words of one allocation or shared variable, in the order of the
/// lanes, up to the first access that the fast race check cannot decide. Sets the pointers of the lanes before this
/// access, and returns the mask of the other lanes.
std::uint32_t Execution::check_whole_words(const FastRaceCheck& watch, const MemoryOp& memory,
                                           std::uint32_t first_thread, std::uint32_t lane_mask,
                                           const Addresses& addresses, const AccessedMemory& accessed,
                                           Pointers& pointers) {
  const unsigned width = bytes_of(memory.type) * memory.element_count;
  const unsigned used_width = width - memory.unused_element_count * bytes_of(memory.type);
  if (width % 4 != 0 || used_width % 4 != 0 || accessed.bytes.size() < width) return lane_mask;
  const std::uint64_t last_offset = accessed.bytes.size() - width;
  const auto check = [&](auto try_record) {
    for (std::uint32_t remaining = lane_mask; remaining != 0; remaining &= remaining - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(remaining));
      const std::uint64_t offset = addresses[lane] - accessed.first_address;
      if (offset > last_offset || ((addresses[lane] & (width - 1)) | (offset & 3U)) != 0) return remaining;
      if (accessed.cells != nullptr) {
        for (std::uint64_t at = offset; at < offset + used_width; at += 4)
          if (!try_record(accessed.cells[at / 4], first_thread + lane)) return remaining;
      }
      pointers[lane] = accessed.bytes.data() + offset;
    }
    return 0U;
  };
  constexpr std::uint32_t kWholeWordBytes = 15;
  if (memory.access == Access::kLoad) {
    return check([&](ShadowCell& cell, std::uint32_t thread) {
      return watch.try_record_read(cell, kWholeWordBytes, thread, accessed.was_initialized);
    });
  }
  return check([&](ShadowCell& cell, std::uint32_t thread) {
    return watch.try_record_write(cell, kWholeWordBytes, thread, accessed.was_initialized);
  });
}

/// Checks an access to global memory and sets its `was_initialized`. Returns the accessed bytes, or null if the access
/// must not be performed. The access is not copied: a copy of what was just written in smaller pieces stalls.
std::byte* Execution::check_global_access(GlobalWindow& window, const FastRaceCheck& watch, LaneAccess& actor,
                                          unsigned width, unsigned alignment) {
  const EnabledChecks& checks = options_.checks;
  const std::uint64_t address = actor.address;
  enter_window(window, address);
  const std::uint64_t offset = address - (window.index << kAddressWindowBits) - kAddressWindowMiddleOffset;
  Allocation* const allocation = window.allocation;
  if (allocation == nullptr || offset >= allocation->bytes.size() || allocation->bytes.size() - offset < width) {
    add_finding(CheckFinding::Kind::kOutOfBounds, actor.op, actor.thread, Space::kGlobal, address, width);
    return nullptr;
  }
  if ((address & (alignment - 1)) != 0 && checks.reports_misaligned) {
    add_finding(CheckFinding::Kind::kMisaligned, actor.op, actor.thread, Space::kGlobal, address, width);
  }
  if (actor.memory_op.access != Access::kLoad && allocation->flags.read_only && checks.reports_read_only) {
    add_finding(CheckFinding::Kind::kWriteToReadOnly, actor.op, actor.thread, Space::kGlobal, address, width);
  }
  actor.was_initialized = !allocation->flags.uninitialized;
  std::byte* const target = allocation->bytes.data() + offset;
  if (actor.plain_store != nullptr) actor.plain_store->targets[actor.thread % kLanesPerWarp] = target;
  if (window.cells != nullptr) check_access(watch, window.cells, offset, actor.used_bytes(width), actor);
  return target;
}

/// The same for shared memory.
std::byte* Execution::check_shared_access(const FastRaceCheck& watch, const LaneAccess& actor, unsigned width,
                                          unsigned alignment) {
  const std::optional<SharedOffset> place = find_shared(actor.address, width);
  if (!place) {
    add_finding(CheckFinding::Kind::kOutOfBounds, actor.op, actor.thread, Space::kShared, actor.address, width);
    return nullptr;
  }
  if ((actor.address & (alignment - 1)) != 0 && options_.checks.reports_misaligned) {
    add_finding(CheckFinding::Kind::kMisaligned, actor.op, actor.thread, Space::kShared, actor.address, width);
  }
  std::byte* const target = shared_memory_by_variable_[place->variable].data() + place->offset;
  if (actor.plain_store != nullptr) actor.plain_store->targets[actor.thread % kLanesPerWarp] = target;
  if (actor.stored_row != nullptr) actor.stored_row->target = target;
  const bool is_shadowed = options_.checks.reports_races || options_.checks.reports_uninitialized;
  const unsigned used = actor.used_bytes(width);
  if (is_shadowed && !(has_pending_words_ && conflicts_with_pending_copy(*place, used, actor)))
    check_access(watch, shared_shadow_cells_by_variable_[place->variable].data(), place->offset, used, actor);
  return target;
}

/// The variable in which an access of `width` bytes lies; nullopt if it is out of bounds.
std::optional<Execution::SharedOffset> Execution::find_shared(std::uint64_t address, unsigned width) const {
  const std::uint64_t variable = (address >> kSharedOffsetBits) - 1;
  if (variable >= shared_memory_by_variable_.size()) return std::nullopt;
  const std::uint64_t offset = (address & ((1U << kSharedOffsetBits) - 1)) - kSharedMiddleOffset -
                               kernel_.shared_variables[variable].shared_offset;
  if (offset >= shared_memory_by_variable_[variable].size() ||
      shared_memory_by_variable_[variable].size() - offset < width)
    return std::nullopt;
  return SharedOffset{variable, offset};
}

void Execution::access_global(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                              const Addresses& addresses) {
  const unsigned width = bytes_of(memory.type) * memory.element_count;
  if (memory.releases) fence(warp, lane_mask);
  GlobalWindow window;
  const FastRaceCheck watch = make_fast_race_check(warp, memory);
  Pointers pointers;
  std::uint32_t good = lane_mask;
  PlainStore store{.warp = warp, .targets = pointers, .lane_mask = good, .performed_lane_mask = 0, .previous = {}};
  PlainStore* const plain_store = memory.access == Access::kStore && !memory.is_strong ? &store : nullptr;
  enter_window(window, addresses[static_cast<unsigned>(std::countr_zero(lane_mask))]);
  std::uint32_t remaining = lane_mask;
  if (Allocation* const allocation = window.allocation;
      allocation != nullptr &&
      (memory.access == Access::kLoad || !allocation->flags.read_only || !options_.checks.reports_read_only)) {
    const AccessedMemory accessed{(window.index << kAddressWindowBits) + kAddressWindowMiddleOffset, allocation->bytes,
                                  window.cells, !allocation->flags.uninitialized};
    remaining =
        check_whole_words(watch, memory, warp.index_in_block * kLanesPerWarp, lane_mask, addresses, accessed, pointers);
  }
  each_lane(remaining, [&](unsigned lane) {
    LaneAccess actor = lane_access(warp, op, memory, lane, addresses[lane], Space::kGlobal);
    actor.plain_store = plain_store;
    pointers[lane] = check_global_access(window, watch, actor, width, width);
    if (pointers[lane] == nullptr) good &= ~(1U << lane);
  });
  if (orders_by_fences_) record_strong_accesses(warp, memory, good, addresses);
  if (memory.acquires) fence(warp, lane_mask);
  count_global(memory, good, addresses, width);
  count_collisions(warp, op, Space::kGlobal, good, addresses);
  transfer(warp, memory, good, pointers, true);
}

void Execution::access_shared(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                              const Addresses& addresses) {
  const unsigned width = bytes_of(memory.type) * memory.element_count;
  const FastRaceCheck watch = make_fast_race_check(warp, memory);
  Pointers pointers;
  std::uint32_t good = lane_mask;
  PlainStore store{.warp = warp, .targets = pointers, .lane_mask = good, .performed_lane_mask = 0, .previous = {}};
  PlainStore* const plain_store = memory.access == Access::kStore && !memory.is_strong ? &store : nullptr;
  std::uint32_t remaining = lane_mask;
  const std::uint64_t variable =
      (addresses[static_cast<unsigned>(std::countr_zero(lane_mask))] >> kSharedOffsetBits) - 1;
  if (variable < shared_memory_by_variable_.size() && !has_pending_words_) {
    const bool is_shadowed = options_.checks.reports_races || options_.checks.reports_uninitialized;
    const AccessedMemory accessed{
        ((variable + 1) << kSharedOffsetBits) + kSharedMiddleOffset + kernel_.shared_variables[variable].shared_offset,
        shared_memory_by_variable_[variable], is_shadowed ? shared_shadow_cells_by_variable_[variable].data() : nullptr,
        false};
    remaining =
        check_whole_words(watch, memory, warp.index_in_block * kLanesPerWarp, lane_mask, addresses, accessed, pointers);
  }
  each_lane(remaining, [&](unsigned lane) {
    LaneAccess actor = lane_access(warp, op, memory, lane, addresses[lane], Space::kShared);
    actor.plain_store = plain_store;
    pointers[lane] = check_shared_access(watch, actor, width, width);
    if (pointers[lane] == nullptr) good &= ~(1U << lane);
  });
  count_collisions(warp, op, Space::kShared, good, addresses);
  transfer(warp, memory, good, pointers, false);
}

/// Loads kernel parameters from the same address in all lanes, as most loads of parameters do. Returns false, and loads
/// nothing, if the access is not a valid load.
bool Execution::load_equal_parameters(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                      std::uint64_t address) {
  const unsigned width = bytes_of(memory.type) * memory.element_count;
  if (memory.access != Access::kLoad || address >= parameters_.size() || parameters_.size() - address < width)
    return false;
  const std::byte* source = parameters_.data() + address;
  with_memory_type(memory.type, [&](auto type) {
    using T = decltype(type);
    for (unsigned element = 0; element < memory.element_count; ++element) {
      T loaded;
      std::memcpy(&loaded, source + element * sizeof(T), sizeof(T));
      const auto value = static_cast<Word<T>>(loaded);
      Word<T>* const values = slot_words<T>(warp, memory.values[element]);
      each_lane(lane_mask, [=](unsigned lane) { values[lane] = value; });
    }
  });
  return true;
}

/// Kernel parameters are the same bytes for all threads and read-only.
void Execution::access_parameters(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                                  const Addresses& addresses) {
  const unsigned width = bytes_of(memory.type) * memory.element_count;
  Pointers pointers;
  std::uint32_t good = lane_mask;
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint64_t address = addresses[lane];
    const bool inside = address < parameters_.size() && parameters_.size() - address >= width;
    if (!inside || memory.access != Access::kLoad) {
      good &= ~(1U << lane);
      return add_finding(inside ? CheckFinding::Kind::kWriteToReadOnly : CheckFinding::Kind::kOutOfBounds, op,
                         warp.index_in_block * kLanesPerWarp + lane, Space::kParam, address, width);
    }
    pointers[lane] = parameters_.data() + address;
  });
  transfer(warp, memory, good, pointers, false);
}

namespace {

constexpr std::uint8_t kWholeWord = 15;  ///< mask of the bytes of a word
constexpr std::array<std::uint8_t, kLanesPerWarp> kWholeWords = [] {
  std::array<std::uint8_t, kLanesPerWarp> masks{};
  masks.fill(kWholeWord);
  return masks;
}();

/// Whether all bytes of a word are written for each lane of the mask. `written`: mask of the written bytes by lane.
bool are_written(const std::uint8_t* written, std::uint32_t lane_mask) {
  if (const unsigned count = leading_lanes(lane_mask); count != 0)
    return std::memcmp(written, kWholeWords.data(), count) == 0;
  std::uint8_t all = kWholeWord;
  each_lane(lane_mask, [&](unsigned lane) { all &= written[lane]; });
  return all == kWholeWord;
}

/// The entries of a copied register in Warp::unwritten_copied_bytes. The number is not 0.
std::uint8_t* unwritten_bytes_of(Warp& warp, std::uint16_t copy_number) {
  return warp.unwritten_copied_bytes.data() + (std::size_t{copy_number} - 1) * kLanesPerWarp;
}

/// For a store: whether all bytes of the copied values that the active lanes store are written. For a load of written
/// bytes: notes that the copied values have no unwritten bytes, and returns true.
bool copies_whole_values(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask) {
  constexpr std::array<std::uint8_t, kLanesPerWarp> kNone{};
  for (unsigned element = 0; element < memory.element_count; ++element) {
    if (memory.copy_numbers[element] == 0) continue;
    std::uint8_t* const unwritten = unwritten_bytes_of(warp, memory.copy_numbers[element]);
    if (memory.access == Access::kLoad) {
      copy_lanes(unwritten, kNone.data(), lane_mask);
      continue;
    }
    std::uint8_t any = 0;
    each_lane(lane_mask, [&](unsigned lane) { any |= unwritten[lane]; });
    if (any != 0) return false;
  }
  return true;
}

/// Makes numbers of 64 bits of their halves.
void join_words(std::uint64_t* to, const std::uint32_t* low, const std::uint32_t* high, std::uint32_t lane_mask) {
  std::array<std::uint64_t, kLanesPerWarp> whole;
  for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
    whole[lane] = low[lane] | std::uint64_t{high[lane]} << 32U;
  copy_lanes(to, whole.data(), lane_mask);
}

/// The reverse.
void split_words(std::uint32_t* low, std::uint32_t* high, const std::uint64_t* from, std::uint32_t lane_mask) {
  std::array<std::uint32_t, kLanesPerWarp> first;
  std::array<std::uint32_t, kLanesPerWarp> second;
  for (unsigned lane = 0; lane < kLanesPerWarp; ++lane) {
    first[lane] = static_cast<std::uint32_t>(from[lane]);
    second[lane] = static_cast<std::uint32_t>(from[lane] >> 32U);
  }
  copy_lanes(low, first.data(), lane_mask);
  copy_lanes(high, second.data(), lane_mask);
}

}  // namespace

/// Loads or stores whole words at the same address in the local memory of every active lane, as most accesses to local
/// memory do. Returns false, and has done nothing, if each lane needs its own access.
bool Execution::access_equal_local_words(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                         std::uint64_t address) {
  const unsigned bytes = bytes_of(memory.type);
  const unsigned width = bytes * memory.element_count;
  const std::uint64_t variable = address >> kLocalOffsetBits;
  if (memory.access == Access::kAtomic || variable >= kernel_.local_variables.size()) return false;
  const std::uint64_t size = kernel_.local_variables[variable].bytes;
  const std::uint64_t offset = (address & ((1U << kLocalOffsetBits) - 1)) - kLocalMiddleOffset;
  if (offset >= size || size - offset < width || (offset & (width - 1)) != 0) return false;
  if (bytes < 4) return access_parts_of_local_words(warp, memory, lane_mask, kernel_.local_variables[variable], offset);

  const std::size_t start = (kernel_.local_variables[variable].first_word_index + offset / 4) * kLanesPerWarp;
  std::uint32_t* const words = &warp.local_memory_words[start];
  std::uint8_t* const written = &warp.written_local_byte_masks[start];
  if (memory.access == Access::kLoad && options_.checks.reports_uninitialized) {
    for (unsigned word = 0; word < width / 4; ++word)
      if (!are_written(written + std::size_t{word} * kLanesPerWarp, lane_mask)) return false;
  }
  if (!warp.unwritten_copied_bytes.empty() && !copies_whole_values(warp, memory, lane_mask)) return false;
  for (unsigned element = 0; element < memory.element_count; ++element) {
    std::uint32_t* const low = words + std::size_t{element} * (bytes / 4) * kLanesPerWarp;
    std::uint32_t* const high = low + kLanesPerWarp;
    const FrameSlot slot = memory.values[element];
    if (bytes == 4) {
      std::uint32_t* const values = slot_words32(warp, slot);
      if (memory.access == Access::kLoad) copy_lanes(values, low, lane_mask);
      else copy_lanes(low, values, lane_mask);
      continue;
    }
    std::uint64_t* const values = slot_words64(warp, slot);
    if (memory.access == Access::kLoad) join_words(values, low, high, lane_mask);
    else split_words(low, high, values, lane_mask);
  }
  if (memory.access == Access::kStore) {
    for (unsigned word = 0; word < width / 4; ++word)
      copy_lanes(written + std::size_t{word} * kLanesPerWarp, kWholeWords.data(), lane_mask);
  }
  return true;
}

/// Loads or stores elements of less than a word at the same offset in a local variable of every active lane. Returns
/// false, and does nothing, for a read that must be checked for unwritten bytes.
bool Execution::access_parts_of_local_words(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                            const Kernel::Variable& variable, std::uint64_t offset) {
  const unsigned bytes = bytes_of(memory.type);
  const auto word_of = [&](unsigned element) {
    return (variable.first_word_index + (offset + std::uint64_t{element} * bytes) / 4) * kLanesPerWarp;
  };
  const auto first_byte_of = [&](unsigned element) {
    return static_cast<unsigned>((offset + std::uint64_t{element} * bytes) % 4);
  };
  const auto bytes_of_element = [&](unsigned element) {
    return static_cast<std::uint8_t>(((1U << bytes) - 1) << first_byte_of(element));
  };
  const bool is_load = memory.access == Access::kLoad;
  if (is_load && options_.checks.reports_uninitialized) {
    for (unsigned element = 0; element < memory.element_count; ++element) {
      const std::uint8_t* const written = &warp.written_local_byte_masks[word_of(element)];
      std::uint8_t all = kWholeWord;
      each_lane(lane_mask, [&](unsigned lane) { all &= written[lane]; });
      if ((all & bytes_of_element(element)) != bytes_of_element(element)) return false;
    }
  }
  if (!warp.unwritten_copied_bytes.empty() && !copies_whole_values(warp, memory, lane_mask)) return false;
  for (unsigned element = 0; element < memory.element_count; ++element) {
    std::uint32_t* const words = &warp.local_memory_words[word_of(element)];
    std::uint32_t* const values = slot_words32(warp, memory.values[element]);
    const unsigned shift = 8 * first_byte_of(element);
    if (is_load) {
      with_memory_type(memory.type, [&](auto type) {
        using T = decltype(type);
        each_lane(lane_mask, [=](unsigned lane) {
          values[lane] = static_cast<std::uint32_t>(static_cast<T>(words[lane] >> shift));
        });
      });
      continue;
    }
    const std::uint32_t field = ((1U << (8 * bytes)) - 1) << shift;
    std::uint8_t* const written = &warp.written_local_byte_masks[word_of(element)];
    const std::uint8_t part = bytes_of_element(element);
    each_lane(lane_mask, [=](unsigned lane) {
      words[lane] = (words[lane] & ~field) | ((values[lane] << shift) & field);
      written[lane] |= part;
    });
  }
  return true;
}

/// Local memory is organized in words, with the lanes' words next to each other. Elements of up to 4 bytes are
/// therefore part of one word, and elements of 8 bytes are two words.
void Execution::access_local(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                             const Addresses& addresses) {
  const std::uint64_t first_address = addresses[static_cast<unsigned>(std::countr_zero(lane_mask | 1U << 31U))];
  if (differing_bits(addresses, lane_mask) == 0 && access_equal_local_words(warp, memory, lane_mask, first_address))
    return;
  const unsigned bytes = bytes_of(memory.type);
  const unsigned width = bytes * memory.element_count;
  std::uint64_t known_variable = ~std::uint64_t{0};
  std::uint64_t size = 0;
  std::size_t first_word_index = 0;
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint64_t address = addresses[lane];
    const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
    const std::uint64_t variable = address >> kLocalOffsetBits;
    if (variable != known_variable) {
      known_variable = variable;
      size = variable < kernel_.local_variables.size() ? kernel_.local_variables[variable].bytes : 0;
      first_word_index =
          variable < kernel_.local_variables.size() ? kernel_.local_variables[variable].first_word_index : 0;
    }
    const std::uint64_t offset = (address & ((1U << kLocalOffsetBits) - 1)) - kLocalMiddleOffset;
    const bool misaligned = (offset & (width - 1)) != 0;
    if (offset >= size || size - offset < width || memory.access == Access::kAtomic ||
        (misaligned && offset % bytes != 0)) {
      const bool inside = offset < size && size - offset >= width;
      const CheckFinding::Kind kind = inside && memory.access == Access::kAtomic ? CheckFinding::Kind::kLocalAtomic
                                      : inside && misaligned                     ? CheckFinding::Kind::kMisaligned
                                                                                 : CheckFinding::Kind::kOutOfBounds;
      return add_finding(kind, op, thread, Space::kLocal, address, width);
    }
    if (misaligned && options_.checks.reports_misaligned) {
      add_finding(CheckFinding::Kind::kMisaligned, op, thread, Space::kLocal, address, width);
    }
    for (unsigned element = 0; element < memory.element_count; ++element) {
      const std::uint64_t at = offset + std::uint64_t{element} * bytes;
      const std::size_t index = (first_word_index + at / 4) * kLanesPerWarp + lane;
      const auto shift = static_cast<unsigned>(at % 4);
      const auto part = static_cast<std::uint8_t>((bytes >= 4 ? 15U : (1U << bytes) - 1) << shift);
      std::uint32_t* const low = &warp.local_memory_words[index];
      const std::uint32_t all_bytes = (1U << bytes) - 1;
      const std::uint16_t copy_number = memory.copy_numbers[element];
      if (memory.access == Access::kLoad) {
        const bool second_missing = bytes == 8 && warp.written_local_byte_masks[index + kLanesPerWarp] != 15;
        const bool is_used = element + memory.unused_element_count < memory.element_count;
        if (copy_number != 0) {
          std::uint32_t written = static_cast<std::uint32_t>(warp.written_local_byte_masks[index] & part) >> shift;
          if (bytes == 8) written |= std::uint32_t{warp.written_local_byte_masks[index + kLanesPerWarp]} << 4U;
          if (written != all_bytes && warp.unwritten_copied_bytes.empty())
            warp.unwritten_copied_bytes.assign(kernel_.copied_register_count * std::size_t{kLanesPerWarp}, 0);
          if (!warp.unwritten_copied_bytes.empty())
            unwritten_bytes_of(warp, copy_number)[lane] = static_cast<std::uint8_t>(all_bytes & ~written);
        }
        if (options_.checks.reports_uninitialized && is_used && copy_number == 0 &&
            ((warp.written_local_byte_masks[index] & part) != part || second_missing)) {
          add_finding(CheckFinding::Kind::kUninitializedRead, op, thread, Space::kLocal, address, width);
        }
        with_memory_type(memory.type, [&](auto type) {
          using T = decltype(type);
          Word<T> value = *low >> (8 * shift);
          if constexpr (sizeof(T) == 8) value |= std::uint64_t{low[kLanesPerWarp]} << 32U;
          slot_words<T>(warp, memory.values[element])[lane] = static_cast<Word<T>>(static_cast<T>(value));
        });
        continue;
      }
      std::uint32_t stored_bytes = all_bytes;
      if (copy_number != 0 && !warp.unwritten_copied_bytes.empty())
        stored_bytes &= ~std::uint32_t{unwritten_bytes_of(warp, copy_number)[lane]};
      if (bytes == 8) {
        const std::uint64_t value = slot_words<std::uint64_t>(warp, memory.values[element])[lane];
        *low = static_cast<std::uint32_t>(value);
        low[kLanesPerWarp] = static_cast<std::uint32_t>(value >> 32U);
        warp.written_local_byte_masks[index] = static_cast<std::uint8_t>(stored_bytes & kWholeWord);
        warp.written_local_byte_masks[index + kLanesPerWarp] = static_cast<std::uint8_t>(stored_bytes >> 4U);
      } else {
        const std::uint32_t value = slot_words32(warp, memory.values[element])[lane];
        const std::uint32_t field = (bytes == 4 ? 0xffffffffU : (1U << (8 * bytes)) - 1) << (8 * shift);
        *low = (*low & ~field) | ((value << (8 * shift)) & field);
        std::uint8_t& written = warp.written_local_byte_masks[index];
        written = static_cast<std::uint8_t>((written & ~part) | (stored_bytes << shift));
      }
    }
  });
}

void Execution::transfer(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask, const Pointers& pointers,
                         bool is_global) {
  if (lane_mask == 0) return;
  if (memory.access == Access::kAtomic) {
    const AtomicFunction function = find_atomic(memory.atomic_operation, memory.type, is_global);
    with_memory_type(memory.type, [&](auto type) {
      using T = decltype(type);
      for (const std::uint32_t lane : lane_order_) {
        if ((lane_mask >> lane & 1U) == 0) continue;
        const std::uint64_t old = function(pointers[lane], slot_words<T>(warp, memory.values[1])[lane],
                                           slot_words<T>(warp, memory.values[2])[lane]);
        if (atomic_places_ != nullptr) {
          std::uint64_t new_bits = 0;
          std::memcpy(&new_bits, pointers[lane], sizeof(T));
          apply_unrounded_atomic(warp, static_cast<std::uint32_t>(&memory - kernel_.memory_ops.data()), lane, old,
                                 new_bits);
        }
        if (memory.returns_old_value)
          slot_words<T>(warp, memory.values[0])[lane] = static_cast<Word<T>>(static_cast<T>(old));
      }
    });
    return;
  }
  with_memory_type(memory.type, [&](auto type) {
    using T = decltype(type);
    for (unsigned element = 0; element < memory.element_count; ++element) {
      Word<T>* const values = slot_words<T>(warp, memory.values[element]);
      if (memory.access == Access::kLoad) {
        each_lane(lane_mask, [&](unsigned lane) {
          T value;
          std::memcpy(&value, pointers[lane] + element * sizeof(T), sizeof(T));
          values[lane] = static_cast<Word<T>>(value);
        });
      } else {
        for (const std::uint32_t lane : lane_order_) {
          if ((lane_mask >> lane & 1U) == 0) continue;
          const T value = static_cast<T>(values[lane]);
          std::memcpy(pointers[lane] + element * sizeof(T), &value, sizeof(T));
        }
      }
    }
  });
}

void Execution::count_collisions(const Warp& warp, const Op& op, Space space, std::uint32_t lane_mask,
                                 const Addresses& addresses) {
  if (!options_.counts_atomic_collisions ||
      !kernel_.is_order_sensitive_by_op[static_cast<std::size_t>(&op - kernel_.ops.data())])
    return;
  // Each block has its own shared memory at the same 32-bit addresses.
  const std::uint64_t block = space == Space::kShared ? ~(current_block_index_ << 32U) : 0;
  std::uint64_t& collisions = *result_.profile.atomic_collision_count;
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint64_t thread = current_block_index_ * threads_in_block_ + warp.index_in_block * kLanesPerWarp + lane;
    const auto [first, is_new] = first_atomic_thread_by_address_.try_emplace(addresses[lane] ^ block, thread);
    if (!is_new && first->second != thread) ++collisions;
  });
}

/// Records the atomics and the volatile or ordered accesses through which fences order other accesses.
void Execution::record_strong_accesses(const Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                       const Addresses& addresses) {
  if (memory.has_block_scope || (memory.access != Access::kAtomic && !memory.is_strong)) return;
  const auto kind = memory.access == Access::kAtomic  ? FenceOrder::StrongAccess::kAtomic
                    : memory.access == Access::kStore ? FenceOrder::StrongAccess::kStore
                                                      : FenceOrder::StrongAccess::kLoad;
  for (const std::uint32_t lane : lane_order_) {
    if ((lane_mask >> lane & 1U) == 0) continue;
    fence_order_.access(kind, addresses[lane], warp.index_in_block * kLanesPerWarp + lane, current_epoch_);
  }
}

/// Counts the distinct 32-byte sectors, and for atomics the distinct addresses, of a warp's access.
void Execution::count_global(const MemoryOp& memory, std::uint32_t lane_mask, const Addresses& addresses,
                             unsigned width) {
  if (lane_mask == 0 || !options_.computes_profile) return;
  const bool is_atomic = memory.access == Access::kAtomic;
  const auto distinct = [&](unsigned shift) {
    std::uint64_t seen[kLanesPerWarp];
    unsigned count = 0;
    bool ascending = true;
    each_lane(lane_mask, [&](unsigned lane) {
      const std::uint64_t unit = addresses[lane] >> shift;
      if (count != 0 && seen[count - 1] == unit) return;
      ascending = ascending && (count == 0 || seen[count - 1] < unit);
      seen[count++] = unit;
    });
    if (ascending) return count;
    std::sort(seen, seen + count);
    return static_cast<unsigned>(std::unique(seen, seen + count) - seen);
  };
  InstructionProfile& profile = result_.profile;
  const auto lanes = static_cast<unsigned>(std::popcount(lane_mask));
  ++profile.global_access_count;
  profile.accessed_sector_count += distinct(kSectorBits);
  profile.global_bytes += std::uint64_t{lanes} * width * (is_atomic ? 2 : 1);
  if (is_atomic) {
    profile.atomic_operation_count += lanes;
    profile.distinct_atomic_address_count += distinct(0);
  }
}

}  // namespace assay::ptx
