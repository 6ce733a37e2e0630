// Instructions that change the control flow of lanes: branches, calls, exits, barriers.
#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

/// Executes a control instruction. Returns true if the same group can continue immediately.
bool Execution::control(Warp& warp, std::size_t number, std::uint32_t& next_op_index, std::uint32_t lane_mask) {
  const Op& op = kernel_.ops[next_op_index];
  LaneGroup& group = warp.lane_groups[number];
  if (lane_mask == 0) {
    group.next_op_index = next_op_index + 1;
    return remains_next(warp, number);
  }
  switch (op.dispatch_kind) {
    case DispatchKind::kBranch: branch(warp, number, lane_mask); return remains_next(warp, number);
    case DispatchKind::kIndexedBranch: branch_by_index(warp, number, lane_mask); return remains_next(warp, number);
    case DispatchKind::kCall: call(warp, number, lane_mask); return remains_next(warp, number);
    case DispatchKind::kReturn: return leave(warp, number, lane_mask, false);
    case DispatchKind::kExit: return leave(warp, number, lane_mask, true);
    case DispatchKind::kBarrier: return arrive(warp, number, lane_mask);
    case DispatchKind::kWarpOperation:
    case DispatchKind::kMatrixOperation:
    case DispatchKind::kWarpgroupProduct:
    case DispatchKind::kTensorMapCopy:
    case DispatchKind::kWarpgroupControl:
    case DispatchKind::kTensorMemory: {
      const std::uint32_t wanted = slot_words32(warp, op.e)[std::countr_zero(lane_mask)] & warp.live_lane_mask;
      if ((wanted & ~lane_mask) != 0 && !group.runs_without_missing_lanes) {
        group.waits_for = LaneGroup::Wait::kWarp;
        return false;
      }
      if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
        matrix_operation(warp, op, lane_mask);
      } else if (op.dispatch_kind == DispatchKind::kWarpgroupProduct) {
        start_product(warp, op, lane_mask);
      } else if (op.dispatch_kind == DispatchKind::kWarpgroupControl) {
        control_products(warp, op);
      } else if (op.dispatch_kind == DispatchKind::kTensorMapCopy) {
        copy_tensor_map(warp, op, lane_mask);
      } else if (op.dispatch_kind == DispatchKind::kTensorMemory) {
        if (!operate_on_tensor_memory(warp, group, op, lane_mask)) return false;
      } else {
        warp_operation(warp, op, lane_mask);
      }
      group.runs_without_missing_lanes = false;
      break;
    }
    case DispatchKind::kActiveMask:
      for (std::uint32_t left = lane_mask; left != 0; left &= left - 1)
        slot_words32(warp, op.d)[std::countr_zero(left)] = lane_mask;
      break;
    case DispatchKind::kTime:
      for (std::uint32_t left = lane_mask; left != 0; left &= left - 1)
        slot_words64(warp, op.d)[std::countr_zero(left)] =
            (options_.instruction_limit - instructions_left_) >> op.immediate;
      break;
    case DispatchKind::kAsyncCopy: start_copies(warp, op, lane_mask); break;
    case DispatchKind::kAsyncCopyControl: commit_or_await_copies(warp, op, lane_mask); break;
    case DispatchKind::kMbarrier:
      if (!operate_on_mbarrier(warp, group, op, lane_mask)) return false;
      break;
    case DispatchKind::kTensorOperation: start_tensor_operation(warp, op, lane_mask); break;
    case DispatchKind::kBulkCopy: start_bulk_copies(warp, op, lane_mask); break;
    case DispatchKind::kBulkCopyControl: commit_or_await_bulk_copies(warp, op, lane_mask); break;
    case DispatchKind::kTensorMapReplace: replace_tensor_map_field(warp, op, lane_mask); break;
    case DispatchKind::kTensorMapFence: fence_tensor_map(warp, op, lane_mask); break;
    case DispatchKind::kClusterBarrier:
      if (!pass_cluster_barrier(warp, group, op, lane_mask)) return false;
      break;
    case DispatchKind::kClusterAddress: find_cluster_addresses(warp, op, lane_mask); break;
    case DispatchKind::kFence: fence(warp, lane_mask); break;
    case DispatchKind::kProxyFence:
      advance_epoch();  // later writes are not ordered by the fence
      proxy_fence_epoch_ = current_epoch_;
      break;
    case DispatchKind::kFailedAssertion:
      stop(RunResult::Status::kTrapped,
           fmt::format("the assertion '{}' failed in thread {}", text_argument(warp, op, lane_mask),
                       warp.index_in_block * kLanesPerWarp + static_cast<std::uint32_t>(std::countr_zero(lane_mask))),
           op);
      return false;
    case DispatchKind::kTrap: stop(RunResult::Status::kTrapped, "executed a trap instruction", op); return false;
    case DispatchKind::kUnsupported:
      stop(RunResult::Status::kUnsupported,
           op.instruction->unsupported_reason.empty() ? "instruction is not supported"
                                                      : op.instruction->unsupported_reason,
           op);
      return false;
    default: break;
  }
  group.next_op_index = next_op_index + 1;
  return remains_next(warp, number);
}

std::string Execution::text_argument(const Warp& warp, const Op& op, std::uint32_t lane_mask) {
  constexpr std::size_t kMaxLength = 200;
  const std::size_t at = op.immediate * kLanesPerWarp + static_cast<std::size_t>(std::countr_zero(lane_mask));
  const std::uint64_t address = warp.local_memory_words[at] | std::uint64_t{warp.local_memory_words[at + kLanesPerWarp]}
                                                                  << 32U;
  const Allocation* const allocation = memory_.find_allocation(address);
  const std::uint64_t offset = (address & kWindowMask) - kAddressWindowMiddleOffset;
  if (allocation == nullptr || offset >= allocation->bytes.size()) return "?";
  const auto bytes = allocation->bytes.subspan(offset);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kMaxLength));
  return std::string(text.substr(0, text.find('\0')));
}

void Execution::branch(Warp& warp, std::size_t number, std::uint32_t lane_mask) {
  LaneGroup& group = warp.lane_groups[number];
  const std::uint32_t target = kernel_.ops[group.next_op_index].target_op_index;
  if (lane_mask == group.lane_mask) {
    group.next_op_index = target;
    return;
  }
  ++result_.profile.divergent_branch_count;
  LaneGroup taken{.next_op_index = target, .lane_mask = lane_mask, .return_addresses = group.return_addresses};
  group.lane_mask &= ~lane_mask;
  ++group.next_op_index;
  warp.lane_groups.push_back(std::move(taken));
}

/// Branches to the target that each lane selects.
void Execution::branch_by_index(Warp& warp, std::size_t number, std::uint32_t lane_mask) {
  const LaneGroup before = warp.lane_groups[number];
  const Op& op = kernel_.ops[before.next_op_index];
  const std::vector<std::uint32_t>& targets = kernel_.branch_targets[op.memory_or_call_index];
  const std::uint32_t* const indices = slot_words32(warp, op.a);
  std::vector<LaneGroup> groups;
  const auto add = [&](std::uint32_t next_op_index, std::uint32_t lanes) {
    if (lanes == 0) return;
    groups.push_back({.next_op_index = next_op_index, .lane_mask = lanes, .return_addresses = before.return_addresses});
  };
  for (std::uint32_t left = lane_mask; left != 0;) {
    const std::uint32_t index = indices[std::countr_zero(left)];
    if (index >= targets.size()) {
      return stop(RunResult::Status::kTrapped,
                  fmt::format("the index of a branch must be less than {}, got {}", targets.size(), index), op);
    }
    std::uint32_t lanes = 0;
    each_lane(left, [&](unsigned lane) { lanes |= indices[lane] == index ? 1U << lane : 0U; });
    add(targets[index], lanes);
    left &= ~lanes;
  }
  add(before.next_op_index + 1, before.lane_mask & ~lane_mask);
  if (groups.size() > 1) ++result_.profile.divergent_branch_count;
  warp.lane_groups[number] = std::move(groups.front());
  warp.lane_groups.insert(warp.lane_groups.end(), std::next(groups.begin()), groups.end());
}

/// Copies the arguments or results of a call between words of local memory, for the lanes in `lane_mask`.
void Execution::copy_local(Warp& warp, std::span<const CallOp::LocalWordCopy> copies, std::uint32_t lane_mask) {
  for (const CallOp::LocalWordCopy& copy : copies) {
    for (std::uint32_t word = 0; word < copy.word_count; ++word) {
      const std::size_t to = std::size_t{copy.destination_word_index + word} * kLanesPerWarp;
      const std::size_t from = std::size_t{copy.source_word_index + word} * kLanesPerWarp;
      std::uint32_t* const words = warp.local_memory_words.data();
      std::uint8_t* const written = warp.written_local_byte_masks.data();
      copy_lanes(words + to, words + from, lane_mask);
      if (!warp.unrounded_local_words.empty()) {
        UnroundedWord* const unrounded = warp.unrounded_local_words.data();
        each_lane(lane_mask, [=](unsigned lane) { unrounded[to + lane] = unrounded[from + lane]; });
      }
      copy_lanes(written + to, written + from, lane_mask);
    }
  }
}

void Execution::call(Warp& warp, std::size_t number, std::uint32_t lane_mask) {
  LaneGroup& group = warp.lane_groups[number];
  const Op& op = kernel_.ops[group.next_op_index];
  copy_local(warp, kernel_.call_ops[op.memory_or_call_index].argument_copies, lane_mask);
  if (lane_mask == group.lane_mask) {
    group.return_addresses.push_back(group.next_op_index);
    group.next_op_index = op.target_op_index;
    return;
  }
  LaneGroup callee{
      .next_op_index = op.target_op_index, .lane_mask = lane_mask, .return_addresses = group.return_addresses};
  callee.return_addresses.push_back(group.next_op_index);
  group.lane_mask &= ~lane_mask;
  ++group.next_op_index;
  warp.lane_groups.push_back(std::move(callee));
}

/// Ends the function, or with `exits` the threads, of the lanes in `lane_mask`. Returns true if the same group can
/// continue immediately.
bool Execution::leave(Warp& warp, std::size_t number, std::uint32_t lane_mask, bool exits) {
  LaneGroup& group = warp.lane_groups[number];
  const bool all = lane_mask == group.lane_mask;
  if (exits || group.return_addresses.empty()) {
    group.lane_mask &= ~lane_mask;
    ++group.next_op_index;
    warp.live_lane_mask &= ~lane_mask;
    if (all) warp.lane_groups.erase(warp.lane_groups.begin() + static_cast<std::ptrdiff_t>(number));
    // Do not wait for lanes that have exited.
    for (LaneGroup& other : warp.lane_groups) {
      if (other.waits_for == LaneGroup::Wait::kWarp) other.waits_for = LaneGroup::Wait::kNone;
    }
    return false;
  }
  const std::uint32_t caller = group.return_addresses.back();
  copy_local(warp, kernel_.call_ops[kernel_.ops[caller].memory_or_call_index].result_copies, lane_mask);
  if (all) {
    group.return_addresses.pop_back();
    group.next_op_index = caller + 1;
    return remains_next(warp, number);
  }
  LaneGroup leaving{.next_op_index = caller + 1, .lane_mask = lane_mask, .return_addresses = group.return_addresses};
  leaving.return_addresses.pop_back();
  group.lane_mask &= ~lane_mask;
  ++group.next_op_index;
  warp.lane_groups.push_back(std::move(leaving));
  return false;
}

// --------------------------------------------------------------------------------------------------------- barriers

bool Execution::arrive(Warp& warp, std::size_t number, std::uint32_t lane_mask) {
  LaneGroup& group = warp.lane_groups[number];
  ++result_.profile.barrier_instruction_count;
  if (kernel_.ops[group.next_op_index].instruction->modifiers.has(Modifier::kArrive)) {
    const std::uint32_t barrier = barrier_of(warp, group).barrier_number;
    arrived_thread_counts_[barrier] += kLanesPerWarp;
    advance_epoch();  // later accesses of the warp are not ordered by the arrival
    BarrierOrder& announced = arrival_order_by_barrier_[barrier];
    announced.resize(warps_.size());
    for (std::size_t other = 0; other < announced.size(); ++other)
      announced[other] = std::max(announced[other], other == warp.index_in_block
                                                        ? current_epoch_
                                                        : partial_barrier_order_by_warp_[warp.index_in_block][other]);
    ++group.next_op_index;
    return remains_next(warp, number);
  }
  if (lane_mask != group.lane_mask) {  // a guarded barrier
    LaneGroup rest{.next_op_index = group.next_op_index + 1,
                   .lane_mask = group.lane_mask & ~lane_mask,
                   .return_addresses = group.return_addresses};
    group.lane_mask = lane_mask;
    warp.lane_groups.push_back(std::move(rest));
  }
  warp.lane_groups[number].waits_for = LaneGroup::Wait::kBarrier;
  return false;
}

/// The barrier at which a group waits, as given by its first lane.
Execution::BarrierOperands Execution::barrier_of(Warp& warp, const LaneGroup& group) {
  const Op& op = kernel_.ops[group.next_op_index];
  const auto lane = static_cast<std::size_t>(std::countr_zero(group.lane_mask));
  return {slot_words32(warp, op.b)[lane] % kBarriersPerBlock, slot_words32(warp, op.c)[lane]};
}

bool Execution::continue_waiting_warps() {
  if (std::exchange(has_new_phase_, false) && retry_mbarrier_waits(true)) return true;
  return release_barrier(true) || retry_mbarrier_waits(false) || release_barrier(false);
}

/// Called when all warps have ended or wait. Releases the groups of a complete barrier; if there is none, those of the
/// lowest barrier, which is a finding. Returns false if no warp waits.
bool Execution::release_barrier(bool needs_completion) {
  std::array<BarrierArrivals, kBarriersPerBlock> arrivals;
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.lane_groups)
      if (group.waits_for == LaneGroup::Wait::kBarrier) gather(arrivals, warp, group);
  }
  std::uint32_t alive = 0;
  for (const Warp& warp : warps_)
    alive += static_cast<std::uint32_t>(std::popcount(warp.lane_groups.empty() ? 0U : warp.live_lane_mask));
  const auto is_complete = [&](const BarrierArrivals& gathering) {
    if (gathering.instruction == nullptr || gathering.is_divergent) return false;
    if (gathering.expected_thread_count == 0)
      return gathering.arrived_thread_count == alive && alive == threads_in_block_;
    const auto which = static_cast<std::size_t>(&gathering - arrivals.data());
    return gathering.arrived_warp_count * kLanesPerWarp + arrived_thread_counts_[which] >=
           gathering.expected_thread_count;
  };
  auto chosen = std::ranges::find_if(arrivals, is_complete);
  if (chosen == arrivals.end()) {
    if (needs_completion) return false;
    chosen = std::ranges::find_if(arrivals,
                                  [](const BarrierArrivals& gathering) { return gathering.instruction != nullptr; });
    if (chosen == arrivals.end()) return false;
    if (options_.checks.reports_divergence) {
      add_finding(CheckFinding::Kind::kBarrierDivergence, *chosen->instruction, chosen->first_thread_index);
      if (is_stopped_) return false;
    }
  }
  const auto number = static_cast<std::uint32_t>(chosen - arrivals.begin());
  const std::vector<LaneGroup*> late_groups = groups_beyond(*chosen, number);
  for (LaneGroup* const group : late_groups)
    group->waits_for = LaneGroup::Wait::kNone;
  reduce_at_barrier(*chosen->instruction, number);
  advance_epoch();
  const bool of_all =
      chosen->expected_thread_count == 0 || chosen->expected_thread_count >= threads_in_block_ || !is_complete(*chosen);
  if (of_all) {
    phase_start_epoch_ = current_epoch_;
    fence_order_.barrier();
  } else {
    order_participants(number);
  }
  for (Warp& warp : warps_) {
    for (LaneGroup& group : warp.lane_groups) {
      if (group.waits_for != LaneGroup::Wait::kBarrier || barrier_of(warp, group).barrier_number != number) continue;
      group.waits_for = LaneGroup::Wait::kNone;
      ++group.next_op_index;
    }
  }
  for (LaneGroup* const group : late_groups)
    group->waits_for = LaneGroup::Wait::kBarrier;
  arrived_thread_counts_[number] = 0;
  arrival_order_by_barrier_[number].clear();
  return true;
}

/// The waiting groups that arrive after a barrier has as many threads as it expects, if the warps arrive in order. They
/// wait for its next use.
std::vector<LaneGroup*> Execution::groups_beyond(const BarrierArrivals& gathering, std::uint32_t number) {
  std::vector<LaneGroup*> beyond;
  if (gathering.expected_thread_count == 0 || gathering.is_divergent) return beyond;
  std::uint32_t threads = arrived_thread_counts_[number];
  for (Warp& warp : warps_) {
    for (LaneGroup& group : warp.lane_groups) {
      if (group.waits_for != LaneGroup::Wait::kBarrier || barrier_of(warp, group).barrier_number != number) continue;
      const bool is_full = threads >= std::max(gathering.expected_thread_count, arrived_thread_counts_[number] + 1);
      if (is_full) beyond.push_back(&group);
      threads += kLanesPerWarp;
    }
  }
  return beyond;
}

/// For a barrier of a part of the block: orders the participants' accesses, and all accesses ordered before those,
/// before the later accesses of the participants that waited.
void Execution::order_participants(std::uint32_t number) {
  BarrierOrder behind = arrival_order_by_barrier_[number];
  behind.resize(warps_.size());
  const auto each_waiting = [&](auto use) {
    for (Warp& warp : warps_) {
      const bool waits = std::ranges::any_of(warp.lane_groups, [&](const LaneGroup& group) {
        return group.waits_for == LaneGroup::Wait::kBarrier && barrier_of(warp, group).barrier_number == number;
      });
      if (waits) use(warp);
    }
  };
  each_waiting([&](const Warp& warp) {
    for (std::size_t other = 0; other < behind.size(); ++other)
      behind[other] = std::max(behind[other], other == warp.index_in_block
                                                  ? current_epoch_
                                                  : partial_barrier_order_by_warp_[warp.index_in_block][other]);
  });
  each_waiting([&](Warp& warp) {
    partial_barrier_order_by_warp_[warp.index_in_block] = behind;
    warp.last_synchronization_epoch = current_epoch_;
  });
  partial_barrier_epoch_ = current_epoch_;
}

/// Adds a waiting group to its barrier.
void Execution::gather(std::array<BarrierArrivals, kBarriersPerBlock>& arrivals, Warp& warp, const LaneGroup& group) {
  const BarrierOperands barrier = barrier_of(warp, group);
  BarrierArrivals& gathering = arrivals[barrier.barrier_number];
  if (gathering.instruction == nullptr) {
    gathering.instruction = &kernel_.ops[group.next_op_index];
    gathering.first_thread_index =
        warp.index_in_block * kLanesPerWarp + static_cast<std::uint32_t>(std::countr_zero(group.lane_mask));
    gathering.expected_thread_count = barrier.expected_thread_count;
  }
  gathering.arrived_thread_count += static_cast<std::uint32_t>(std::popcount(group.lane_mask));
  ++gathering.arrived_warp_count;
  gathering.is_divergent = gathering.is_divergent || group.lane_mask != warp.live_lane_mask ||
                           barrier.expected_thread_count != gathering.expected_thread_count;
}

/// bar.red: every waiting lane gets the number of true predicates, or whether all or any are true.
void Execution::reduce_at_barrier(const Op& barrier, std::uint32_t number) {
  if (!barrier.instruction->modifiers.has(Modifier::kRed)) return;
  std::uint32_t holding = 0;
  std::uint32_t waiting = 0;
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.lane_groups) {
      if (group.waits_for != LaneGroup::Wait::kBarrier || barrier_of(warp, group).barrier_number != number) continue;
      holding += static_cast<std::uint32_t>(
          std::popcount(*slot_words32(warp, kernel_.ops[group.next_op_index].a) & group.lane_mask));
      waiting += static_cast<std::uint32_t>(std::popcount(group.lane_mask));
    }
  }
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.lane_groups) {
      if (group.waits_for != LaneGroup::Wait::kBarrier || barrier_of(warp, group).barrier_number != number) continue;
      const Op& op = kernel_.ops[group.next_op_index];
      const Modifiers& modifiers = op.instruction->modifiers;
      if (modifiers.has(Modifier::kPopc)) {
        for (std::uint32_t left = group.lane_mask; left != 0; left &= left - 1)
          slot_words32(warp, op.d)[std::countr_zero(left)] = holding;
      } else {
        const bool holds = modifiers.has(Modifier::kAnd) ? holding == waiting : holding != 0;
        set_predicate(warp, op.d, holds ? kAllLanes : 0, group.lane_mask);
      }
    }
  }
}

void Execution::fence(const Warp& warp, std::uint32_t lane_mask) {
  advance_epoch();  // later accesses of the lanes are not ordered by the fence
  for (std::uint32_t left = lane_mask; left != 0; left &= left - 1) {
    fence_order_.fence(warp.index_in_block * kLanesPerWarp + static_cast<std::uint32_t>(std::countr_zero(left)),
                       current_epoch_, phase_start_epoch_, warp.last_synchronization_epoch);
  }
}

}  // namespace assay::ptx
