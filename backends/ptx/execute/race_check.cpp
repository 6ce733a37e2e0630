// Checks accesses against shadow memory and creates findings.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

/// Checks every word of a part of an access, which starts at `position` in the access. `offset` is relative to the
/// first cell.
void Execution::check_cells(ShadowCell* cells, std::uint64_t offset, unsigned position, unsigned width,
                            const LaneAccess& actor) {
  for (unsigned done = 0; done < width;) {
    const auto begin = static_cast<unsigned>((offset + done) % 4);
    const unsigned size = std::min(4 - begin, width - done);
    const std::uint32_t bytes = ((1U << size) - 1) << begin;
    ShadowCell& cell = cells[(offset + done) / 4];
    if (actor.memory_op.access == Access::kLoad) {
      check_read(cell, bytes, actor);
    } else {
      check_write(cell, bytes, position + done, actor);
    }
    done += size;
  }
}

/// Whether an earlier access by another thread is unordered with this one.
bool Execution::is_unordered(std::uint32_t earlier, const LaneAccess& actor) const {
  const std::uint32_t epoch = epoch_of(earlier);
  const std::uint32_t thread = thread_of(earlier);
  if (epoch < launch_start_epoch_) return false;
  if (epoch >= block_start_epoch_) {
    if (epoch < phase_start_epoch_ || thread == actor.thread) return false;
    const std::uint32_t warp = actor.thread / kLanesPerWarp;
    const std::uint32_t ordered_until = thread / kLanesPerWarp != warp
                                            ? partial_barrier_order_by_warp_[warp][thread / kLanesPerWarp]
                                            : actor.warp_synchronization_epoch;
    if (epoch < ordered_until) return false;
  }
  if (!orders_by_fences_ || actor.space != Space::kGlobal) return true;
  const bool is_strong = actor.memory_op.access == Access::kAtomic || actor.memory_op.is_strong;
  return !fence_order_.is_ordered(
      epoch, thread, {actor.thread, phase_start_epoch_, actor.warp_synchronization_epoch, actor.address, is_strong});
}

/// Whether a synchronization of the actor's warp orders all reads of the cell before this access: all readers are
/// threads of this warp.
bool Execution::is_ordered_by_warp(std::uint32_t last_read, std::uint32_t flags, const LaneAccess& actor) const {
  return (flags & kReadByManyWarpsFlag) == 0 && epoch_of(last_read) >= block_start_epoch_ &&
         epoch_of(last_read) < actor.warp_synchronization_epoch &&
         thread_of(last_read) / kLanesPerWarp == actor.thread / kLanesPerWarp;
}

/// Whether a volatile load of shared memory reads what another thread of its warp wrote by a volatile store, although
/// they have not synchronized: the code assumes that the threads of a warp execute each instruction together, which
/// GPUs since Volta do not promise. `writer`: MemoryOp::race_check_number of the store.
bool Execution::assumes_lockstep(std::uint32_t writing_thread, std::uint32_t writer, const LaneAccess& actor) const {
  if (!actor.memory_op.is_volatile || actor.space != Space::kShared || writer == kMaxRaceCheckNumber ||
      !are_in_same_warp(writing_thread, actor.thread))
    return false;
  return std::ranges::any_of(kernel_.memory_ops, [&](const MemoryOp& memory) {
    return memory.race_check_number == writer && memory.is_volatile && memory.access == Access::kStore;
  });
}

void Execution::check_read(ShadowCell& cell, std::uint32_t bytes, const LaneAccess& actor) {
  const std::uint32_t self = current_epoch_ << 14U | actor.thread << 4U | bytes;
  const EnabledChecks& checks = options_.checks;
  if (checks.reports_uninitialized && !actor.was_initialized && (cell.packed_flags & bytes) != bytes) {
    add_access_finding(CheckFinding::Kind::kUninitializedRead, actor);
  }
  const bool is_unharmed_by_atomics = actor.memory_op.is_strong || actor.memory_op.is_guess;
  const bool written = (cell.packed_last_write & bytes) != 0;
  const bool atomically = (cell.packed_flags & kLastWriteIsAtomicFlag) != 0;
  const std::uint32_t writer = cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber;
  const AtomicityEpochs epochs{block_start_epoch_, std::max(phase_start_epoch_, partial_barrier_epoch_),
                               actor.warp_synchronization_epoch};
  if (checks.reports_non_coherent && actor.memory_op.non_coherent && written &&
      epoch_of(cell.packed_last_write) >= kernel_start_epoch_) {
    add_access_finding(CheckFinding::Kind::kNonCoherentRead, actor, &cell.packed_last_write, writer);
  } else if (checks.reports_races && written && is_unordered(cell.packed_last_write, actor) &&
             (!(is_last_write_atomic_for(cell, actor.thread, epochs) && is_unharmed_by_atomics) ||
              assumes_lockstep(thread_of(cell.packed_last_write), writer, actor))) {
    const bool by_atomic = atomically && !actor.memory_op.is_volatile;
    add_access_finding(by_atomic ? CheckFinding::Kind::kAtomicRace : CheckFinding::Kind::kReadWriteRace, actor,
                       &cell.packed_last_write, writer);
  }
  if (is_unharmed_by_atomics || (cell.packed_last_read == self && !actor.memory_op.non_coherent)) return;
  const std::uint32_t earlier = epoch_of(cell.packed_last_read);
  // A cell stores one reader; the reader of other bytes is lost.
  const bool by_another = thread_of(cell.packed_last_read) != actor.thread || earlier < block_start_epoch_;
  const bool apart = by_another && (cell.packed_last_read & bytes) == 0;
  std::uint32_t kept = 0;
  if (earlier < launch_start_epoch_ || apart) {
    cell.packed_flags &= ~kAllReadFlagsMask;
  } else if (is_unordered(cell.packed_last_read, actor)) {
    cell.packed_flags |= earlier < block_start_epoch_
                             ? kReadByOtherBlockFlag
                             : flags_of_second_reader(thread_of(cell.packed_last_read), actor.thread);
    kept = cell.packed_last_read & 15U;
  } else if (earlier < std::max(phase_start_epoch_, partial_barrier_epoch_) ||
             is_ordered_by_warp(cell.packed_last_read, cell.packed_flags, actor)) {
    cell.packed_flags &= ~(kReadByManyThreadsFlag | kReadByManyWarpsFlag);
  } else {
    kept = cell.packed_last_read & 15U;
  }
  if (actor.memory_op.non_coherent) cell.packed_flags |= kLastReadIsNonCoherentFlag;
  cell.packed_last_read = self | kept;
  cell.packed_flags = (cell.packed_flags & kKeptByReadMask) | std::uint32_t{actor.memory_op.race_check_number}
                                                                  << kReadInstructionShift;
}

/// Whether a lane's plain store leaves the bytes `compared` of a word unchanged. It stores the bytes `bytes` of the
/// word, which start at `position` in its access.
bool Execution::repeats_value(const LaneAccess& actor, unsigned position, std::uint32_t bytes, std::uint32_t compared) {
  PlainStore& store = *actor.plain_store;
  const std::uint32_t lane_bit = 1U << (actor.thread % kLanesPerWarp);
  const std::byte* const target = store.targets[actor.thread % kLanesPerWarp];
  if ((store.performed_lane_mask & lane_bit) == 0) {
    transfer(store.warp, actor.memory_op, store.lane_mask & (lane_bit - 1) & ~store.performed_lane_mask, store.targets,
             false);
    std::memcpy(store.previous.data(), target,
                std::size_t{bytes_of(actor.memory_op.type)} * actor.memory_op.element_count);
    transfer(store.warp, actor.memory_op, lane_bit, store.targets, false);
    store.performed_lane_mask |= (store.lane_mask & (lane_bit - 1)) | lane_bit;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(bytes));
  for (unsigned byte = first; byte < 4; ++byte) {
    const unsigned at = position + byte - first;
    if ((compared >> byte & 1U) != 0 && store.previous[at] != target[at]) return false;
  }
  return true;
}

/// The same for a row that stmatrix stores.
bool Execution::repeats_row(const StoredRow& row, unsigned position, std::uint32_t bytes, std::uint32_t compared) {
  const auto first = static_cast<unsigned>(std::countr_zero(bytes));
  for (unsigned byte = first; byte < 4; ++byte) {
    const unsigned at = position + byte - first;
    if ((compared >> byte & 1U) != 0 && row.bytes[at] != row.target[at]) return false;
  }
  return true;
}

/// `position` is that of the first of the bytes in the access. Several threads may store the same value, as redundant
/// threads of Triton and threads that set a flag do: whichever store is last, a thread that reads after a barrier, or
/// the host after the launch, gets this value.
void Execution::check_write(ShadowCell& cell, std::uint32_t bytes, unsigned position, const LaneAccess& actor) {
  const EnabledChecks& checks = options_.checks;
  const bool atomic = actor.memory_op.access == Access::kAtomic;
  const bool strong = atomic || actor.memory_op.is_strong;
  const bool atomically = (cell.packed_flags & kLastWriteIsAtomicFlag) != 0;
  if (checks.reports_uninitialized && atomic && !actor.was_initialized && (cell.packed_flags & bytes) != bytes) {
    add_access_finding(CheckFinding::Kind::kUninitializedRead, actor);
  }
  const bool read = (cell.packed_last_read & bytes) != 0 && epoch_of(cell.packed_last_read) >= launch_start_epoch_;
  const std::uint32_t reader = cell.packed_flags >> kReadInstructionShift & kMaxRaceCheckNumber;
  const AtomicityEpochs epochs{block_start_epoch_, std::max(phase_start_epoch_, partial_barrier_epoch_),
                               actor.warp_synchronization_epoch};
  const bool by_many = (cell.packed_flags & kReadByManyThreadsFlag) != 0 &&
                       epoch_of(cell.packed_last_read) >= std::max(phase_start_epoch_, partial_barrier_epoch_) &&
                       !is_ordered_by_warp(cell.packed_last_read, cell.packed_flags, actor);
  const std::uint32_t overwritten = cell.packed_last_write & bytes;
  const bool overwrites =
      overwritten != 0 && !(strong && is_last_write_atomic_for(cell, actor.thread, epochs)) &&
      is_unordered(cell.packed_last_write, actor) &&
      !(actor.plain_store != nullptr && !atomically && repeats_value(actor, position, bytes, overwritten)) &&
      !(actor.stored_row != nullptr && !atomically && repeats_row(*actor.stored_row, position, bytes, overwritten));
  if (checks.reports_non_coherent && read && (cell.packed_flags & kLastReadIsNonCoherentFlag) != 0) {
    add_access_finding(CheckFinding::Kind::kNonCoherentRead, actor, &cell.packed_last_read, reader);
  } else if (checks.reports_races && overwrites) {
    add_access_finding(atomic || atomically ? CheckFinding::Kind::kAtomicRace : CheckFinding::Kind::kWriteWriteRace,
                       actor, &cell.packed_last_write,
                       cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber);
  } else if (checks.reports_races && read &&
             (is_unordered(cell.packed_last_read, actor) || by_many ||
              (cell.packed_flags & kReadByOtherBlockFlag) != 0)) {
    add_access_finding(atomic ? CheckFinding::Kind::kAtomicRace : CheckFinding::Kind::kReadWriteRace, actor,
                       &cell.packed_last_read, reader);
  }
  const bool apart = thread_of(cell.packed_last_write) != actor.thread && (cell.packed_last_write & bytes) == 0;
  const bool goes_on =
      epoch_of(cell.packed_last_write) >= phase_start_epoch_ && (cell.packed_last_write & 15U) != 0 && !apart;
  const std::uint32_t atomic_flags =
      goes_on ? write_flags_of_atomic(cell, actor.thread, epochs) : std::uint32_t{kLastWriteIsAtomicFlag};
  cell.packed_flags = (cell.packed_flags & kKeptByWriteMask) |
                      std::uint32_t{actor.memory_op.race_check_number} << kWriteInstructionShift | bytes |
                      (strong ? atomic_flags : 0U);
  cell.packed_last_write =
      current_epoch_ << 14U | actor.thread << 4U | bytes | (goes_on ? cell.packed_last_write & 15U : 0U);
}

void Execution::add_access_finding(CheckFinding::Kind kind, const LaneAccess& actor, const std::uint32_t* other,
                                   std::uint32_t number) {
  std::optional<InstructionSite> site;
  if (other != nullptr) {
    const auto after = std::ranges::upper_bound(started_block_epochs_, epoch_of(*other), {},
                                                [](const auto& start) { return start.first; });
    const std::uint64_t block =
        after == started_block_epochs_.begin() ? current_block_index_ : std::prev(after)->second;
    site = site_of(kernel_.op_of_access(number), thread_of(*other), block);
  }
  const unsigned width = bytes_of(actor.memory_op.type) * actor.memory_op.element_count;
  add_finding(kind, actor.op, actor.thread, actor.space, actor.address, width, std::move(site));
}

void Execution::add_finding(CheckFinding::Kind kind, const Op& op, std::uint32_t thread, Space space,
                            std::uint64_t address, unsigned width, std::optional<InstructionSite> other) {
  const auto [known, added] = finding_indices_.try_emplace({kind, &op}, result_.findings.size());
  if (!added) {
    ++result_.findings[known->second].count;
    return;
  }
  CheckFinding finding{.kind = kind,
                       .kernel = kernel_.entry_function->name,
                       .site = site_of(&op, thread, current_block_index_),
                       .conflicting_access = std::move(other),
                       .space = space,
                       .address = address,
                       .access_bytes = width};
  if (width != 0) locate(finding);
  result_.findings.push_back(std::move(finding));
  if (result_.findings.size() >= options_.max_findings) {
    stop(RunResult::Status::kFindingLimit, "stopped at the maximum number of findings", op);
  }
}

/// Determines the allocation in whose window the address lies.
void Execution::locate(CheckFinding& finding) {
  const auto in = [&](std::string_view name, std::uint64_t bytes, std::uint64_t first) {
    finding.allocation_name = std::string(name);
    finding.allocation_bytes = bytes;
    finding.offset = static_cast<std::int64_t>(finding.address - first);
  };
  if (finding.space == Space::kShared) {
    const std::uint64_t variable = (finding.address >> kSharedOffsetBits) - 1;
    if (variable < kernel_.shared_variables.size()) {
      in(kernel_.shared_variables[variable].name, shared_memory_by_variable_[variable].size(),
         ((variable + 1) << kSharedOffsetBits) + kSharedMiddleOffset +
             kernel_.shared_variables[variable].shared_offset);
    }
  } else if (finding.space == Space::kLocal) {
    const std::uint64_t variable = finding.address >> kLocalOffsetBits;
    if (variable < kernel_.local_variables.size()) {
      in(kernel_.local_variables[variable].name, kernel_.local_variables[variable].bytes,
         (variable << kLocalOffsetBits) + kLocalMiddleOffset);
    }
  } else if (finding.space == Space::kTensor) {
    if ((finding.address & 0xffffU) < kTensorColumns && tensor_memory_.is_allocated_column[finding.address & 0xffffU])
      finding.allocation_name = "tensor memory";
  } else if (finding.space == Space::kParam) {
    in("parameters", parameters_.size(), 0);
  } else if (const Allocation* allocation = memory_.find_allocation(finding.address)) {
    in(allocation->name, allocation->bytes.size(),
       (finding.address >> kAddressWindowBits << kAddressWindowBits) + kAddressWindowMiddleOffset);
  }
}

InstructionSite Execution::site_of(const Op* op, std::uint32_t thread, std::uint64_t block) const {
  InstructionSite site{.thread = thread_position(thread), .block = block_position(block)};
  if (op != nullptr) {
    site.ptx_line = op->instruction->position.line;
    site.source_location = op->instruction->debug_location;
    site.instruction_text = std::string(op->instruction->text);
  }
  return site;
}

Dim3 Execution::thread_position(std::uint32_t thread) const {
  const Dim3& block = geometry_.block;
  return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

Dim3 Execution::block_position(std::uint64_t block) const {
  const Dim3& grid = geometry_.grid;
  return {static_cast<std::uint32_t>(block % grid.x), static_cast<std::uint32_t>(block / grid.x % grid.y),
          static_cast<std::uint32_t>(block / grid.x / grid.y)};
}

}  // namespace assay::ptx
