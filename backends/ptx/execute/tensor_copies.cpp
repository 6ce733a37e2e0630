// Copies of boxes of tensors between global and shared memory (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor), and
// the instructions that write tensor maps.
//
// A copy is split into pieces that are contiguous in both memories: rows of the box, or chunks of 16 bytes if the
// tensor map permutes them. Each piece is a bulk copy of its own, which mbarriers.cpp checks and completes. Elements
// outside of the tensor are zeros in shared memory, and are not written to global memory.
//
// Copies read tensor maps through a proxy of their own. If the launch itself has written a tensor map, a
// fence.proxy.tensormap of a thread of the block must follow.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/execute/tensor_map.hpp"
#include "backends/ptx/instructions/lanes/atomics.hpp"

namespace assay::ptx {

namespace {

constexpr unsigned kTensorAlignment = 128;   ///< required alignment of a box in shared memory
constexpr unsigned kSwizzledAddressBit = 7;  ///< first bit of an address that selects a permutation of the chunks

std::uint64_t swizzled(std::uint64_t address, unsigned swizzle_bytes) {
  if (swizzle_bytes == 0) return address;
  return address ^ ((address >> kSwizzledAddressBit & (swizzle_bytes / kChunkBytes - 1)) * kChunkBytes);
}

/// A part of a row of a box: elements that all lie in the tensor, or that all lie outside.
struct RowPart {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  bool is_inside = false;
};

/// The parts of the elements from `first` to `end` of a row that starts at `coordinate`.
std::array<RowPart, 3> parts_of_row(std::uint32_t first, std::uint32_t end, std::int64_t coordinate,
                                    std::uint64_t extent) {
  const auto clamped = [&](std::int64_t element) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(element, first, end));
  };
  const std::uint32_t begin_inside = clamped(-coordinate);
  const std::uint32_t end_inside = std::max(begin_inside, clamped(static_cast<std::int64_t>(extent) - coordinate));
  return {{{first, begin_inside, false}, {begin_inside, end_inside, true}, {end_inside, end, false}}};
}

}  // namespace

/// Reads the tensor map at a generic address as a copy of a box does. Returns nullopt, with a finding or the end of the
/// launch, if it cannot be used.
std::optional<TensorMap> Execution::read_tensor_map(const Warp& warp, const Op& op, unsigned lane,
                                                    std::uint64_t address) {
  const TensorBoxOp& box = *kernel_.bulk_copy_ops[op.memory_or_call_index].box;
  const MemoryOp& access = kernel_.memory_ops[box.map_index];
  const auto fail = [&](RunResult::Status status, const std::string& message) {
    stop(status, message, op);
    return std::nullopt;
  };
  const std::uint64_t window = address >> kAddressWindowBits;
  const std::byte* source = nullptr;
  if (access.space == Space::kParam || window == kParamWindowIndex) {
    const std::uint64_t offset = address & kWindowMask;
    if (offset > parameters_.size() || parameters_.size() - offset < kTensorMapBytes) {
      add_finding(CheckFinding::Kind::kOutOfBounds, op, warp.index_in_block * kLanesPerWarp + lane, Space::kParam,
                  offset, kTensorMapBytes);
      return std::nullopt;
    }
    source = parameters_.data() + offset;
  } else if (window < kFirstAllocationWindowIndex) {
    return fail(
        RunResult::Status::kTrapped,
        fmt::format("the tensor map must be in global, constant or parameter memory, but is in {} memory; a kernel "
                    "parameter must be const __grid_constant__",
                    window == kSharedWindowIndex ? "shared" : "local"));
  } else {
    GlobalWindow global;
    LaneAccess reader = lane_access(warp, op, access, lane, address, Space::kGlobal);
    source =
        check_global_access(global, make_fast_race_check(warp, access), reader, kTensorMapBytes, kTensorMapAlignment);
    if (source == nullptr) return std::nullopt;
    check_tensor_map_fence(reader);
  }
  const std::span<const std::byte, kTensorMapBytes> bytes(source, kTensorMapBytes);
  if (!is_tensor_map(bytes))
    return fail(RunResult::Status::kTrapped,
                "the memory contains no tensor map of cuTensorMapEncodeTiled or tensormap.replace");
  const TensorMap map = decode(bytes);
  if (const std::string defect = map.defect(); !defect.empty())
    return fail(RunResult::Status::kTrapped, "the tensor map is invalid: " + defect);
  if (map.rank() != box.rank)
    return fail(RunResult::Status::kTrapped,
                fmt::format("the tensor map has {} dimensions, but the instruction has {}", map.rank(), box.rank));
  if (const std::string limit = map.limit(); !limit.empty()) return fail(RunResult::Status::kUnsupported, limit);
  return map;
}

/// Reports the use of a tensor map that the launch has written after the last fence.proxy.tensormap of the block.
void Execution::check_tensor_map_fence(const LaneAccess& reader) {
  if (!options_.checks.reports_races) return;
  Allocation& allocation = *memory_.find_allocation(reader.address);
  const auto fence = tensor_map_fence_epochs_.find({current_block_index_, reader.address});
  const std::uint32_t fence_epoch = fence == tensor_map_fence_epochs_.end() ? 0 : fence->second;
  const std::uint64_t offset = (reader.address & kWindowMask) - kAddressWindowMiddleOffset;
  const std::span cells(memory_.cells_of(allocation) + offset / 4, kTensorMapBytes / 4);
  for (const ShadowCell& cell : cells) {
    const std::uint32_t epoch = cell.packed_last_write >> 14U;
    if (epoch < kernel_start_epoch_ || epoch < fence_epoch) continue;
    InstructionSite site =
        site_of(kernel_.op_of_access(cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber),
                cell.packed_last_write >> 4U & (kMaxThreadsPerBlock - 1), current_block_index_);
    site.lacks_tensor_map_fence = true;
    add_finding(CheckFinding::Kind::kReadWriteRace, reader.op, reader.thread, Space::kGlobal, reader.address,
                kTensorMapBytes, std::move(site));
    return;
  }
}

/// The pieces of a copy of a box whose first element has these coordinates, with addresses in shared and in global
/// memory. The latter is 0 for elements outside of the tensor.
std::vector<Execution::BoxPiece> Execution::pieces_of_box(const TensorMap& map,
                                                          std::span<const std::int32_t> coordinates,
                                                          std::uint64_t shared_address) {
  std::vector<BoxPiece> pieces;
  const unsigned element_bytes = bytes_of(map.element_type());
  const std::uint32_t row_bytes = map.box[0] * element_bytes;
  const std::uint32_t step = map.swizzle_bytes() == 0 ? map.box[0] : kChunkBytes / element_bytes;
  const std::uint64_t row_count = map.box_bytes() / row_bytes;
  for (std::uint64_t row = 0; row < row_count; ++row) {
    std::uint64_t global_row = map.address;
    bool is_inside = true;
    std::uint64_t rest = row;
    for (unsigned d = 1; d < map.rank(); ++d) {
      const std::int64_t at = std::int64_t{coordinates[d]} + static_cast<std::int64_t>(rest % map.box[d]);
      rest /= map.box[d];
      is_inside = is_inside && at >= 0 && static_cast<std::uint64_t>(at) < map.extents[d];
      global_row += static_cast<std::uint64_t>(at) * map.strides[d - 1];
    }
    for (std::uint32_t first = 0; first < map.box[0]; first += step) {
      const std::uint64_t chunk = shared_address + row * row_bytes + std::uint64_t{first} * element_bytes;
      for (const RowPart& part : parts_of_row(first, first + step, coordinates[0], is_inside ? map.extents[0] : 0)) {
        if (part.first == part.end) continue;
        const std::int64_t at = std::int64_t{coordinates[0]} + part.first;
        pieces.push_back(
            {.shared_address = swizzled(chunk, map.swizzle_bytes()) + std::uint64_t{part.first - first} * element_bytes,
             .global_address = part.is_inside ? global_row + static_cast<std::uint64_t>(at) * element_bytes : 0,
             .bytes = (part.end - part.first) * element_bytes});
      }
    }
  }
  return pieces;
}

void Execution::start_tensor_copies(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const BulkCopyOp& copy_op = kernel_.bulk_copy_ops[op.memory_or_call_index];
  const TensorBoxOp& box = *copy_op.box;
  Addresses maps;
  Addresses shared{};
  Addresses mbarriers{};
  find_addresses(warp, kernel_.memory_ops[box.map_index], box.map_base, box.map_offset, maps);
  if (copy_op.is_to_shared) {
    find_addresses(warp, kernel_.memory_ops[copy_op.destination_index], op.a, op.immediate, shared);
    find_addresses(warp, kernel_.memory_ops[copy_op.mbarrier_index], copy_op.mbarrier_base, copy_op.mbarrier_offset,
                   mbarriers);
  } else {
    find_addresses(warp, kernel_.memory_ops[copy_op.source_index], copy_op.source_base, copy_op.source_offset, shared);
  }
  each_lane(lane_mask, [&](unsigned lane) {
    if (is_stopped_) return;
    constexpr std::uint32_t kOnlyThisBlock = 1;
    if (box.block_mask && (slot_words32(warp, *box.block_mask)[lane] & 0xffffU) != kOnlyThisBlock)
      return stop(RunResult::Status::kUnsupported, "a copy to other blocks of the cluster is not supported", op);
    const std::optional<TensorMap> map = read_tensor_map(warp, op, lane, maps[lane]);
    if (!map || is_stopped_) return;
    std::array<std::int32_t, kMaxTensorRank> coordinates{};
    for (unsigned d = 0; d < box.rank; ++d)
      coordinates[d] = static_cast<std::int32_t>(slot_words32(warp, box.coordinates[d])[lane]);
    const std::vector<BoxPiece> pieces = pieces_of_box(*map, coordinates, shared[lane]);
    if (copy_op.is_to_shared) load_box(warp, op, lane, *map, pieces, shared[lane], mbarriers[lane]);
    else store_box(warp, op, lane, *map, pieces, shared[lane]);
  });
}

void Execution::load_box(Warp& warp, const Op& op, unsigned lane, const TensorMap& map,
                         std::span<const BoxPiece> pieces, std::uint64_t shared_address,
                         std::uint64_t mbarrier_address) {
  const BulkCopyOp& copy_op = kernel_.bulk_copy_ops[op.memory_or_call_index];
  const MemoryOp& source_access = kernel_.memory_ops[copy_op.source_index];
  const MemoryOp& destination_access = kernel_.memory_ops[copy_op.destination_index];
  const auto bytes = static_cast<unsigned>(map.box_bytes());
  const LaneAccess writer = lane_access(warp, op, destination_access, lane, shared_address, Space::kShared);
  if (check_shared_access(make_fast_race_check(warp, destination_access), writer, bytes, kTensorAlignment) == nullptr)
    return;
  const auto address = check_mbarrier_access(warp, op, copy_op.mbarrier_index, lane, mbarrier_address);
  if (!address) return;
  const auto object = mbarriers_.find(*address);
  if (object == mbarriers_.end())
    return stop(RunResult::Status::kUnsupported, "the mbarrier object is not initialized", op);
  const FastRaceCheck source_check = make_fast_race_check(warp, source_access);
  GlobalWindow window;
  for (const BoxPiece& piece : pieces) {
    AsyncCopy copy{.op = &op,
                   .source_address = piece.global_address,
                   .destination_address = piece.shared_address,
                   .read_bytes = piece.global_address == 0 ? 0 : piece.bytes,
                   .written_bytes = piece.bytes,
                   .element_type = map.element_type()};
    if (piece.global_address != 0) {
      LaneAccess reader = lane_access(warp, op, source_access, lane, piece.global_address, Space::kGlobal);
      copy.source = check_global_access(window, source_check, reader, piece.bytes, bytes_of(map.element_type()));
      if (copy.source == nullptr) return;
    }
    mark_pending(*find_shared(piece.shared_address, piece.bytes), copy, writer.thread);
    object->second.copies.push_back({warp.index_in_block, lane, copy});
  }
}

void Execution::store_box(Warp& warp, const Op& op, unsigned lane, const TensorMap& map,
                          std::span<const BoxPiece> pieces, std::uint64_t shared_address) {
  const BulkCopyOp& copy_op = kernel_.bulk_copy_ops[op.memory_or_call_index];
  const MemoryOp& source_access = kernel_.memory_ops[copy_op.source_index];
  const MemoryOp& destination_access = kernel_.memory_ops[copy_op.destination_index];
  const Type type = map.element_type();
  if (copy_op.reduction && find_atomic(*copy_op.reduction, type, true) == nullptr)
    return stop(RunResult::Status::kUnsupported, "this reduction of elements of this type is not supported", op);
  const auto bytes = static_cast<unsigned>(map.box_bytes());
  advance_epoch();  // later writes to the source conflict with the copy
  const LaneAccess reader = lane_access(warp, op, source_access, lane, shared_address, Space::kShared);
  if (check_shared_access(make_fast_race_check(warp, source_access), reader, bytes, kTensorAlignment) == nullptr)
    return;
  check_proxy_fence(reader, *find_shared(shared_address, bytes), bytes);
  const FastRaceCheck destination_check = make_fast_race_check(warp, destination_access);
  GlobalWindow window;
  for (const BoxPiece& piece : pieces) {
    if (piece.global_address == 0) continue;
    LaneAccess writer = lane_access(warp, op, destination_access, lane, piece.global_address, Space::kGlobal);
    AsyncCopy copy{.op = &op,
                   .group = warp.copies_by_lane[lane].committed_bulk_group_count,
                   .source_address = piece.shared_address,
                   .destination_address = piece.global_address,
                   .read_bytes = piece.bytes,
                   .written_bytes = piece.bytes,
                   .start_epoch = current_epoch_,
                   .element_type = type};
    const SharedOffset place = *find_shared(piece.shared_address, piece.bytes);
    copy.source = shared_memory_by_variable_[place.variable].data() + place.offset;
    copy.destination = check_global_access(window, destination_check, writer, piece.bytes, bytes_of(type));
    if (copy.destination == nullptr) return;
    warp.copies_by_lane[lane].pending_bulk.push_back(copy);
  }
}

/// Combines the source of a bulk copy with its destination in global memory.
void Execution::reduce_bulk_copy(const AsyncCopy& copy, Modifier operation) {
  const Type type = copy.element_type;
  const unsigned bytes = bytes_of(type);
  const AtomicFunction function = find_atomic(operation, type, true);
  for (unsigned at = 0; at < copy.written_bytes; at += bytes) {
    std::uint64_t operand = 0;
    std::uint64_t sum = 0;
    std::memcpy(&operand, copy.source + at, bytes);
    const std::uint64_t old = function(copy.destination + at, operand, 0);
    std::memcpy(&sum, copy.destination + at, bytes);
    if (!unrounded_plan_ || !is_float(type)) continue;
    UnroundedWord* const to = find_unrounded_word(Space::kGlobal, copy.destination_address + at, true);
    const UnroundedWord* const from = find_unrounded_word(Space::kShared, copy.source_address + at, false);
    if (to == nullptr) continue;
    const Part part = bytes == 2 ? Part::kLower : Part::kWhole;
    const auto number_at = [&](const UnroundedWord* word, std::uint64_t address, std::uint64_t bits) {
      const UnroundedParts parts = word == nullptr
                                       ? UnroundedParts{}
                                       : UnroundedWord::read(word, 1, bytes, static_cast<unsigned>(address % 4), bits);
      return parts.knows(part) ? parts.number(part) : UnroundedNumber{number_of(type, bits), 0};
    };
    const UnroundedNumber before = number_at(to, copy.destination_address + at, old);
    const UnroundedNumber term = number_at(from, copy.source_address + at, operand);
    UnroundedParts parts;
    parts.set(part, {before.value + term.value, before.error + term.error});
    UnroundedWord::write(to, 1, bytes, static_cast<unsigned>((copy.destination_address + at) % 4), sum, parts);
  }
}

/// Copies the unrounded values of a piece whose addresses are not multiples of 4, element by element.
void Execution::copy_unrounded_elements(const AsyncCopy& copy, Space source_space, Space destination_space) {
  constexpr unsigned kHalfBytes = 2;
  if (bytes_of(copy.element_type) != kHalfBytes) return;
  for (unsigned at = 0; at < copy.read_bytes; at += kHalfBytes) {
    const std::uint64_t from_address = copy.source_address + at;
    const std::uint64_t to_address = copy.destination_address + at;
    UnroundedWord* const to = find_unrounded_word(destination_space, to_address, true);
    const UnroundedWord* const from = find_unrounded_word(source_space, from_address, false);
    if (to == nullptr) return;
    std::uint64_t bits = 0;
    std::memcpy(&bits, copy.source + at, kHalfBytes);
    const UnroundedParts parts =
        from == nullptr ? UnroundedParts{}
                        : UnroundedWord::read(from, 1, kHalfBytes, static_cast<unsigned>(from_address % 4), bits);
    UnroundedWord::write(to, 1, kHalfBytes, static_cast<unsigned>(to_address % 4), bits, parts);
  }
}

// ------------------------------------------------------------------------------------------------------ tensor maps

/// Checks an access to the 128 bytes of a tensor map. Returns them, or null if the access must not be performed.
std::byte* Execution::check_tensor_map_access(const Warp& warp, const Op& op, std::uint32_t memory_index, unsigned lane,
                                              std::uint64_t address) {
  const MemoryOp& memory = kernel_.memory_ops[memory_index];
  Space space = memory.space;
  if (space == Space::kGeneric) {
    space = address >> kAddressWindowBits == kSharedWindowIndex ? Space::kShared : Space::kGlobal;
    if (space == Space::kShared) address &= kWindowMask;
  }
  LaneAccess actor = lane_access(warp, op, memory, lane, address, space);
  const FastRaceCheck watch = make_fast_race_check(warp, memory);
  if (space == Space::kShared) return check_shared_access(watch, actor, kTensorMapBytes, kTensorMapAlignment);
  GlobalWindow window;
  return check_global_access(window, watch, actor, kTensorMapBytes, kTensorMapAlignment);
}

void Execution::replace_tensor_map_field(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const TensorMapOp& map_op = kernel_.tensor_map_ops[op.memory_or_call_index];
  Addresses addresses;
  find_addresses(warp, kernel_.memory_ops[map_op.destination_index], op.a, op.immediate, addresses);
  each_lane(lane_mask, [&](unsigned lane) {
    if (is_stopped_ || check_tensor_map_access(warp, op, map_op.source_index, lane, addresses[lane]) == nullptr) return;
    std::byte* const bytes = check_tensor_map_access(warp, op, map_op.destination_index, lane, addresses[lane]);
    if (bytes == nullptr) return;
    const std::uint64_t value =
        map_op.has_64_bit_value ? slot_words64(warp, map_op.value)[lane] : slot_words32(warp, map_op.value)[lane];
    const auto code = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, UINT8_MAX));
    TensorMap map = decode(std::span<const std::byte, kTensorMapBytes>(bytes, kTensorMapBytes));
    switch (map_op.field) {
      case Modifier::kGlobalAddress: map.address = value; break;
      case Modifier::kRankField: map.rank_code = code; break;
      case Modifier::kBoxDim: map.box[map_op.dimension] = static_cast<std::uint32_t>(value); break;
      case Modifier::kGlobalDim: map.extents[map_op.dimension] = value; break;
      case Modifier::kGlobalStride: map.strides[map_op.dimension] = value; break;
      case Modifier::kElementStride: map.element_strides[map_op.dimension] = code; break;
      case Modifier::kElementType: map.element_code = code; break;
      case Modifier::kInterleaveLayout: map.interleave_code = code; break;
      case Modifier::kSwizzleMode: map.swizzle_code = code; break;
      case Modifier::kSwizzleAtomicity: map.atomicity_code = code; break;
      default: map.fill_code = code; break;
    }
    std::ranges::copy(encode(map), bytes);
  });
}

/// The copy counts as accesses of the first lane.
void Execution::copy_tensor_map(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const TensorMapOp& map_op = kernel_.tensor_map_ops[op.memory_or_call_index];
  const auto lane = static_cast<unsigned>(std::countr_zero(lane_mask));
  if (lane_mask != warp.live_lane_mask && options_.checks.reports_divergence)
    add_finding(CheckFinding::Kind::kInactiveLane, op, warp.index_in_block * kLanesPerWarp + lane);
  Addresses sources;
  Addresses destinations;
  find_addresses(warp, kernel_.memory_ops[map_op.source_index], map_op.source_base, map_op.source_offset, sources);
  find_addresses(warp, kernel_.memory_ops[map_op.destination_index], op.a, op.immediate, destinations);
  advance_epoch();  // the copy synchronizes the lanes of the warp
  warp.last_synchronization_epoch = current_epoch_;
  const std::byte* const source = check_tensor_map_access(warp, op, map_op.source_index, lane, sources[lane]);
  std::byte* const destination = check_tensor_map_access(warp, op, map_op.destination_index, lane, destinations[lane]);
  if (source != nullptr && destination != nullptr) std::memcpy(destination, source, kTensorMapBytes);
  advance_epoch();
  warp.last_synchronization_epoch = current_epoch_;
  fence(warp, lane_mask);
}

void Execution::fence_tensor_map(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  Addresses addresses;
  find_addresses(warp, kernel_.memory_ops[op.memory_or_call_index], op.a, op.immediate, addresses);
  fence(warp, lane_mask);
  advance_epoch();  // later writes are not ordered by the fence
  each_lane(lane_mask, [&](unsigned lane) {
    tensor_map_fence_epochs_[{current_block_index_, addresses[lane]}] = current_epoch_;
  });
}

}  // namespace assay::ptx
