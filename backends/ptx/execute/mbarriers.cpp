// mbarrier objects, and bulk copies that complete on them: mbarrier, cp.async.mbarrier.arrive, cp.async.bulk.
//
// The state of an object is kept apart from its 8 bytes in shared memory, whose format PTX leaves open. Its operations
// count as atomic accesses to these bytes, so that other accesses are races. A wait that would fail lets other warps
// run first. An arrival orders all earlier accesses of its warp before the accesses of a warp that has waited for the
// phase. Copies take effect as late as possible: when a thread waits for a phase that nothing else prevents from
// completing. Until then, every access to their destination is a finding, as for cp.async.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

namespace {

constexpr unsigned kMbarrierBytes = 8;
constexpr unsigned kBulkAlignment = 16;    ///< alignment of addresses and sizes of bulk copies
constexpr unsigned kMaxFutileWaits = 100;  ///< number of failed waits in a row after which a launch is stopped

}  // namespace

/// Checks the access to an mbarrier object. Returns its address in shared memory; nullopt if the access is invalid.
std::optional<std::uint64_t> Execution::check_mbarrier_access(const Warp& warp, const Op& op,
                                                              std::uint32_t memory_index, unsigned lane,
                                                              std::uint64_t address) {
  const MemoryOp& memory = kernel_.memory_ops[memory_index];
  if (memory.space == Space::kGeneric && address >> kAddressWindowBits == kSharedWindowIndex) address &= kWindowMask;
  const LaneAccess actor = lane_access(warp, op, memory, lane, address, Space::kShared);
  const FastRaceCheck watch = make_fast_race_check(warp, memory);
  if (check_shared_access(watch, actor, kMbarrierBytes, kMbarrierBytes) == nullptr) return std::nullopt;
  return address;
}

/// Returns false if the group must wait for a phase.
bool Execution::operate_on_mbarrier(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask) {
  using Operation = MbarrierOp::Operation;
  const MbarrierOp& mbarrier = kernel_.mbarrier_ops[op.memory_or_call_index];
  const MemoryOp& memory = kernel_.memory_ops[mbarrier.memory_index];
  Addresses addresses;
  find_addresses(warp, memory, op.a, op.immediate, addresses);
  bool must_wait = false;
  bool has_arrived = false;
  each_lane(lane_mask, [&](unsigned lane) {
    if (is_stopped_) return;
    const auto address = check_mbarrier_access(warp, op, mbarrier.memory_index, lane, addresses[lane]);
    if (!address) return;
    const std::uint32_t count = mbarrier.operation == Operation::kWait ? 0 : slot_words32(warp, mbarrier.count)[lane];
    if (mbarrier.operation == Operation::kInit) {
      mbarriers_[*address] = {.expected_count = count, .pending_count = count};
      return;
    }
    const auto found = mbarriers_.find(*address);
    if (found == mbarriers_.end())
      return stop(RunResult::Status::kUnsupported, "the mbarrier object is not initialized", op);
    Mbarrier& object = found->second;
    switch (mbarrier.operation) {
      case Operation::kInvalidate: mbarriers_.erase(found); return;
      case Operation::kExpect: object.pending_bytes += count; return;
      case Operation::kComplete: object.pending_bytes -= count; break;
      case Operation::kArriveOfCopies:
        if (mbarrier.increments) ++object.pending_count;
        object.arrivals_of_copies.push_back(
            {warp.index_in_block, lane, warp.copies_by_lane[lane].committed_group_count});
        ++warp.copies_by_lane[lane].committed_group_count;
        return;
      case Operation::kWait: {
        const auto has_ended = [&] {
          return mbarrier.has_parity ? (object.phase & 1U) != (slot_words32(warp, mbarrier.state)[lane] & 1U)
                                     : object.phase != slot_words64(warp, mbarrier.state)[lane];
        };
        if (!has_ended()) complete_copies(object);
        const bool is_complete = has_ended();
        if (is_complete) order_after_phase(warp, object);
        must_wait = must_wait || !is_complete;
        set_predicate(warp, mbarrier.result, is_complete ? kAllLanes : 0, 1U << lane);
        return;
      }
      default: {
        if (mbarrier.expects_bytes) object.pending_bytes += count;
        const std::uint32_t arrivals = mbarrier.expects_bytes ? 1 : count;
        if (arrivals > object.pending_count)
          return stop(RunResult::Status::kUnsupported, "more arrivals at an mbarrier object than it expects", op);
        if (mbarrier.result.bits != 0) slot_words64(warp, mbarrier.result)[lane] = object.phase;
        if (mbarrier.drops) object.expected_count -= arrivals;
        record_arrival(warp, object);
        object.pending_count -= arrivals;
        has_arrived = true;
        break;
      }
    }
    finish_phase(object);
  });
  if (has_arrived) advance_epoch();  // later accesses of the warp are not ordered by the arrival
  if (!must_wait || is_stopped_) {
    group.runs_without_missing_lanes = false;
    return true;
  }
  // After other warps have run, the wait may fail.
  if (std::exchange(group.runs_without_missing_lanes, false)) return true;
  group.waits_for = LaneGroup::Wait::kMbarrier;
  return false;
}

/// Accesses of the warp until now are ordered before those of a warp that waits for the phase.
void Execution::record_arrival(const Warp& warp, Mbarrier& object) {
  const BarrierOrder& behind = partial_barrier_order_by_warp_[warp.index_in_block];
  object.arrived_order.resize(warps_.size());
  for (std::size_t other = 0; other < warps_.size(); ++other)
    object.arrived_order[other] =
        std::max(object.arrived_order[other],
                 other == warp.index_in_block ? current_epoch_ + 1 : std::max(behind[other], phase_start_epoch_));
}

void Execution::finish_phase(Mbarrier& object) {
  if (object.pending_count != 0 || object.pending_bytes != 0) return;
  ++object.phase;
  object.pending_count = object.expected_count;
  object.finished_order = std::exchange(object.arrived_order, {});
  has_new_phase_ = true;
}

void Execution::order_after_phase(Warp& warp, const Mbarrier& object) {
  BarrierOrder& order = partial_barrier_order_by_warp_[warp.index_in_block];
  for (std::size_t other = 0; other < object.finished_order.size(); ++other)
    order[other] = std::max(order[other], object.finished_order[other]);
  advance_epoch();
  warp.last_synchronization_epoch = current_epoch_;
  partial_barrier_epoch_ = current_epoch_;
}

/// Completes the copies for which a phase waits, if it waits for nothing else.
void Execution::complete_copies(Mbarrier& object) {
  for (const Mbarrier::ArrivalOfCopies& arrival : std::exchange(object.arrivals_of_copies, {})) {
    Warp& warp = warps_[arrival.warp];
    std::erase_if(warp.copies_by_lane[arrival.lane].pending, [&](const AsyncCopy& copy) {
      if (copy.group > arrival.group) return false;
      complete(warp, arrival.lane, copy);
      return true;
    });
    record_arrival(warp, object);
    advance_epoch();
    if (object.pending_count != 0) --object.pending_count;
    finish_phase(object);
  }
  complete_tensor_operations(object);
  if (object.pending_count != 0 || object.copies.empty()) return;
  for (const Mbarrier::BulkCopy& bulk : std::exchange(object.copies, {})) {
    const Warp& warp = warps_[bulk.warp];
    complete(warp, bulk.lane, bulk.copy);
    record_arrival(warp, object);
    object.pending_bytes -= bulk.copy.written_bytes;
  }
  advance_epoch();
  finish_phase(object);
}

/// Called when all warps have ended or wait. Lets the groups that wait for a phase try again. If nothing has completed
/// a phase since their last try, their waits fail.
bool Execution::retry_mbarrier_waits(bool has_progress) {
  bool retries = false;
  for (Warp& warp : warps_) {
    for (LaneGroup& group : warp.lane_groups) {
      if (group.waits_for != LaneGroup::Wait::kMbarrier) continue;
      group.waits_for = LaneGroup::Wait::kNone;
      group.runs_without_missing_lanes = !has_progress;
      retries = true;
      futile_wait_count_ = has_progress ? 0 : futile_wait_count_ + 1;
      if (futile_wait_count_ <= kMaxFutileWaits) continue;
      const Op& op = kernel_.ops[group.next_op_index];
      stop(RunResult::Status::kInstructionLimit,
           op.dispatch_kind == DispatchKind::kClusterBarrier
               ? "waits at a barrier of the cluster at which not all threads arrive"
           : op.dispatch_kind == DispatchKind::kMbarrier
               ? "waits for a phase of an mbarrier object that does not complete"
               : "waits for tensor memory that no thread frees",
           op);
    }
  }
  return retries;
}

void Execution::start_bulk_copies(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const BulkCopyOp& copy_op = kernel_.bulk_copy_ops[op.memory_or_call_index];
  if (copy_op.box) return start_tensor_copies(warp, op, lane_mask);
  const MemoryOp& source_access = kernel_.memory_ops[copy_op.source_index];
  const MemoryOp& destination_access = kernel_.memory_ops[copy_op.destination_index];
  Addresses sources;
  Addresses destinations;
  Addresses mbarriers{};
  find_addresses(warp, source_access, copy_op.source_base, copy_op.source_offset, sources);
  find_addresses(warp, destination_access, op.a, op.immediate, destinations);
  if (copy_op.is_to_shared)
    find_addresses(warp, kernel_.memory_ops[copy_op.mbarrier_index], copy_op.mbarrier_base, copy_op.mbarrier_offset,
                   mbarriers);
  const FastRaceCheck source_check = make_fast_race_check(warp, source_access);
  const FastRaceCheck destination_check = make_fast_race_check(warp, destination_access);
  each_lane(lane_mask, [&](unsigned lane) {
    if (is_stopped_) return;
    GlobalWindow window;
    const std::uint32_t bytes = slot_words32(warp, copy_op.bytes)[lane];
    const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
    if (bytes % kBulkAlignment != 0) {
      return add_finding(CheckFinding::Kind::kMisaligned, op, thread,
                         copy_op.is_to_shared ? Space::kShared : Space::kGlobal, destinations[lane], bytes);
    }
    if (bytes == 0) return;
    AsyncCopy copy{.op = &op,
                   .group = warp.copies_by_lane[lane].committed_bulk_group_count,
                   .source_address = sources[lane],
                   .destination_address = destinations[lane],
                   .read_bytes = bytes,
                   .written_bytes = bytes,
                   .element_type = copy_op.reduction ? op.instruction->type : Type::kNone};
    LaneAccess reader = lane_access(warp, op, source_access, lane, sources[lane],
                                    copy_op.is_to_shared ? Space::kGlobal : Space::kShared);
    LaneAccess writer = lane_access(warp, op, destination_access, lane, destinations[lane],
                                    copy_op.is_to_shared ? Space::kShared : Space::kGlobal);
    if (!copy_op.is_to_shared) {
      advance_epoch();  // later writes to the source conflict with the copy
      copy.start_epoch = current_epoch_;
      copy.source = check_shared_access(source_check, reader, bytes, kBulkAlignment);
      copy.destination = check_global_access(window, destination_check, writer, bytes, kBulkAlignment);
      if (copy.source == nullptr || copy.destination == nullptr) return;
      check_proxy_fence(reader, *find_shared(sources[lane], bytes), bytes);
      warp.copies_by_lane[lane].pending_bulk.push_back(copy);
      return;
    }
    copy.source = check_global_access(window, source_check, reader, bytes, kBulkAlignment);
    const std::byte* const destination = check_shared_access(destination_check, writer, bytes, kBulkAlignment);
    const auto address = check_mbarrier_access(warp, op, copy_op.mbarrier_index, lane, mbarriers[lane]);
    if (copy.source == nullptr || destination == nullptr || !address) return;
    const auto object = mbarriers_.find(*address);
    if (object == mbarriers_.end())
      return stop(RunResult::Status::kUnsupported, "the mbarrier object is not initialized", op);
    mark_pending(*find_shared(destinations[lane], bytes), copy, thread);
    object->second.copies.push_back({warp.index_in_block, lane, copy});
  });
}

/// cp.async.bulk.commit_group and cp.async.bulk.wait_group, for copies to global memory.
void Execution::commit_or_await_bulk_copies(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  each_lane(lane_mask, [&](unsigned lane) {
    ThreadCopies& copies = warp.copies_by_lane[lane];
    if (op.instruction->modifiers.has(Modifier::kCommitGroup)) {
      ++copies.committed_bulk_group_count;
      return;
    }
    finish_bulk_copies(warp, lane, op.immediate);
  });
}

/// Finishes the copies to global memory of all closed groups except the last ones.
void Execution::finish_bulk_copies(Warp& warp, unsigned lane, std::uint64_t unfinished_group_count) {
  ThreadCopies& copies = warp.copies_by_lane[lane];
  std::erase_if(copies.pending_bulk, [&](const AsyncCopy& copy) {
    if (copies.committed_bulk_group_count < copy.group + 1 + unfinished_group_count) return false;
    write_bulk_copy(warp, lane, copy);
    return true;
  });
}

void Execution::write_bulk_copy(const Warp& warp, unsigned lane, const AsyncCopy& copy) {
  const BulkCopyOp& copy_op = kernel_.bulk_copy_ops[copy.op->memory_or_call_index];
  const SharedOffset place = *find_shared(copy.source_address, copy.written_bytes);
  if (copy_op.reduction) reduce_bulk_copy(copy, *copy_op.reduction);
  else std::memcpy(copy.destination, copy.source, copy.written_bytes);
  if (unrounded_plan_ && !copy_op.reduction && ((copy.source_address | copy.destination_address) & 3U) != 0) {
    copy_unrounded_elements(copy, Space::kShared, Space::kGlobal);
  } else if (unrounded_plan_ && !copy_op.reduction) {
    UnroundedWord* const to = find_unrounded_word(Space::kGlobal, copy.destination_address, true);
    const UnroundedWord* const from = &shared_unrounded_words_by_variable_[place.variable][place.offset / 4];
    for (unsigned word = 0; to != nullptr && word < copy.written_bytes / 4; ++word)
      to[word] = from[word];
  }
  const LaneAccess reader =
      lane_access(warp, *copy.op, kernel_.memory_ops[copy_op.source_index], lane, copy.source_address, Space::kShared);
  check_writes_since(reader, place, copy.written_bytes, copy.start_epoch);
}

}  // namespace assay::ptx
