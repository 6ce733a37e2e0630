// Asynchronous copies from global to shared memory: cp.async.
//
// A copy takes effect when its thread waits for it, because a kernel may rely on nothing earlier. From its start until
// then, its destination is pending: every access to it, even by the same thread, is a finding. When the copy takes
// effect, it counts as a write by its thread, so other threads need a barrier after the wait. The source is checked as
// a read at the start and again at the wait, because the copy may read it at any time in between.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

void Execution::start_copies(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const AsyncCopyOp& copy_op = kernel_.async_copy_ops[op.memory_or_call_index];
  const MemoryOp& source_access = kernel_.memory_ops[copy_op.source_index];
  const MemoryOp& destination_access = kernel_.memory_ops[copy_op.destination_index];
  const unsigned width = bytes_of(source_access.type) * source_access.element_count;
  Addresses sources;
  Addresses destinations;
  find_addresses(warp, source_access, copy_op.source_base, copy_op.source_offset, sources);
  find_addresses(warp, destination_access, op.a, op.immediate, destinations);
  const std::uint32_t ignored = *slot_words32(warp, copy_op.ignores_source);
  const FastRaceCheck source_check = make_fast_race_check(warp, source_access);
  const FastRaceCheck destination_check = make_fast_race_check(warp, destination_access);
  GlobalWindow window;
  std::uint32_t reading = 0;
  each_lane(lane_mask, [&](unsigned lane) {
    const unsigned wanted = slot_words32(warp, copy_op.read_bytes)[lane];
    if (wanted > width) {
      return stop(RunResult::Status::kUnsupported, "a copy that reads more bytes than it writes is not supported", op);
    }
    AsyncCopy copy{.op = &op,
                   .group = warp.copies_by_lane[lane].committed_group_count,
                   .source_address = sources[lane],
                   .destination_address = destinations[lane],
                   .read_bytes = (ignored >> lane & 1U) != 0 ? 0 : wanted,
                   .written_bytes = width};
    if (copy.read_bytes != 0) {
      LaneAccess reader = lane_access(warp, op, source_access, lane, sources[lane], Space::kGlobal);
      copy.source = check_global_access(window, source_check, reader, copy.read_bytes, width);
    }
    const LaneAccess writer = lane_access(warp, op, destination_access, lane, destinations[lane], Space::kShared);
    if (check_shared_access(destination_check, writer, width, width) == nullptr) return;
    if (copy.read_bytes != 0 && copy.source == nullptr) return;
    if (copy.source != nullptr) reading |= 1U << lane;
    mark_pending(*find_shared(destinations[lane], width), copy, writer.thread);
    warp.copies_by_lane[lane].pending.push_back(copy);
  });
  count_global(source_access, reading, sources, width);
}

/// cp.async.commit_group closes the group of the copies so far. cp.async.wait_group waits for all closed groups except
/// the last ones, and cp.async.wait_all for all copies.
void Execution::commit_or_await_copies(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const bool waits_for_all = op.instruction->modifiers.has(Modifier::kWaitAll);
  each_lane(lane_mask, [&](unsigned lane) {
    ThreadCopies& copies = warp.copies_by_lane[lane];
    if (op.instruction->opcode == Opcode::kCpAsyncCommit || waits_for_all) ++copies.committed_group_count;
    if (op.instruction->opcode == Opcode::kCpAsyncCommit) return;
    std::erase_if(copies.pending, [&](const AsyncCopy& copy) {
      if (copies.committed_group_count - copy.group <= op.immediate) return false;
      complete(warp, lane, copy);
      return true;
    });
  });
}

void Execution::complete(const Warp& warp, unsigned lane, const AsyncCopy& copy) {
  const Kernel::AccessIndices accesses = kernel_.memory_ops_of(*copy.op);
  const MemoryOp& source_access = kernel_.memory_ops[accesses[0]];
  const MemoryOp& destination_access = kernel_.memory_ops[accesses[1]];
  if (copy.source != nullptr && options_.checks.reports_races) {
    Allocation& allocation = *memory_.find_allocation(copy.source_address);
    LaneAccess reader = lane_access(warp, *copy.op, source_access, lane, copy.source_address, Space::kGlobal);
    reader.was_initialized = true;  // checked at the start
    check_access(make_fast_race_check(warp, source_access), memory_.cells_of(allocation),
                 static_cast<std::uint64_t>(copy.source - allocation.bytes.data()), copy.read_bytes, reader);
  }
  const SharedOffset place = *find_shared(copy.destination_address, copy.written_bytes);
  std::byte* const destination = shared_memory_by_variable_[place.variable].data() + place.offset;
  if (copy.source != nullptr) std::memcpy(destination, copy.source, copy.read_bytes);
  std::fill_n(destination + copy.read_bytes, copy.written_bytes - copy.read_bytes, std::byte{0});
  if (unrounded_plan_ && ((copy.source_address | copy.destination_address) & 3U) != 0) {
    copy_unrounded_elements(copy, Space::kGlobal, Space::kShared);
  } else if (unrounded_plan_) {
    copy_unrounded(copy, place);
  }
  // Accesses since the start have conflicted with the pending copy, so this write is only recorded.
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
  const std::uint64_t end = (place.offset + copy.written_bytes + 3) / 4;
  for (std::uint64_t word = place.offset / 4; word < end; ++word) {
    ShadowCell& cell = shared_shadow_cells_by_variable_[place.variable][word];
    cell.packed_last_write = current_epoch_ << 14U | thread << 4U | 15U;
    cell.packed_flags = (cell.packed_flags & kKeptByWriteMask) |
                        std::uint32_t{destination_access.race_check_number} << kWriteInstructionShift | 15U;
    PendingWord& pending = pending_words_by_variable_[place.variable][word];
    if (pending.copy == copy.op && pending.thread_index == thread) pending = {};
  }
}

void Execution::mark_pending(const SharedOffset& place, const AsyncCopy& copy, std::uint32_t thread) {
  if (!has_pending_words_) {
    has_pending_words_ = true;
    pending_words_by_variable_.resize(shared_memory_by_variable_.size());
    for (std::size_t i = 0; i < pending_words_by_variable_.size(); ++i)
      pending_words_by_variable_[i].assign((shared_memory_by_variable_[i].size() + 3) / 4, {});
  }
  const std::uint64_t end = (place.offset + copy.written_bytes + 3) / 4;
  for (std::uint64_t word = place.offset / 4; word < end; ++word)
    pending_words_by_variable_[place.variable][word] = {copy.op, thread};
}

/// Reports an access to the destination of a pending copy. Returns whether there is one.
bool Execution::conflicts_with_pending_copy(const SharedOffset& place, unsigned width, const LaneAccess& actor) {
  const std::span words(pending_words_by_variable_[place.variable]);
  const std::uint64_t first = place.offset / 4;
  const auto touched = words.subspan(first, (place.offset + width + 3) / 4 - first);
  const auto pending = std::ranges::find_if(touched, [](const PendingWord& word) { return word.copy != nullptr; });
  if (pending == touched.end()) return false;
  if (options_.checks.reports_races) {
    const Access access = actor.memory_op.access;
    const auto kind = access == Access::kLoad    ? CheckFinding::Kind::kReadWriteRace
                      : access == Access::kStore ? CheckFinding::Kind::kWriteWriteRace
                                                 : CheckFinding::Kind::kAtomicRace;
    InstructionSite site = site_of(pending->copy, pending->thread_index, current_block_index_);
    site.is_pending_copy = true;
    add_finding(kind, actor.op, actor.thread, Space::kShared, actor.address, width, std::move(site));
  }
  return true;
}

}  // namespace assay::ptx
