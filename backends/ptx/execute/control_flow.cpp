// Instructions that change the control flow of lanes: branches, calls, exits, barriers.
#include <algorithm>
#include <bit>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

/// Executes a control instruction. Returns true if the same group can continue immediately.
bool Execution::control(Warp& warp, std::size_t number, std::uint32_t& next_op, std::uint32_t mask) {
  const Op& op = kernel_.ops[next_op];
  LaneGroup& group = warp.groups[number];
  if (mask == 0) {
    group.next_op = next_op + 1;
    return warp.groups.size() == 1;
  }
  switch (op.control) {
    case Control::kBranch: branch(warp, number, mask); return warp.groups.size() == 1;
    case Control::kCall: call(warp, number, mask); return warp.groups.size() == 1;
    case Control::kReturn: leave(warp, number, mask, false); return false;
    case Control::kExit: leave(warp, number, mask, true); return false;
    case Control::kBarrier: return arrive(warp, number, mask);
    case Control::kWarpOperation: {
      const std::uint32_t wanted = slot_words32(warp, op.e)[std::countr_zero(mask)] & warp.live_lanes;
      if ((wanted & ~mask) != 0 && !group.runs_without_missing_lanes) {
        group.waits_for = LaneGroup::Wait::kWarp;
        return false;
      }
      warp_operation(warp, op, mask);
      group.runs_without_missing_lanes = false;
      break;
    }
    case Control::kActiveMask:
      for (std::uint32_t left = mask; left != 0; left &= left - 1)
        slot_words32(warp, op.d)[std::countr_zero(left)] = mask;
      break;
    case Control::kTrap: stop(RunResult::Status::kTrapped, "executed a trap instruction", op); return false;
    case Control::kUnsupported:
      stop(RunResult::Status::kUnsupported,
           op.instruction->unsupported_reason.empty() ? "instruction is not supported"
                                                      : op.instruction->unsupported_reason,
           op);
      return false;
    default: break;
  }
  group.next_op = next_op + 1;
  return warp.groups.size() == 1;
}

void Execution::branch(Warp& warp, std::size_t number, std::uint32_t mask) {
  LaneGroup& group = warp.groups[number];
  const std::uint32_t target = kernel_.ops[group.next_op].target;
  if (mask == group.mask) {
    group.next_op = target;
    return;
  }
  ++result_.profile.divergent_branches;
  LaneGroup taken{.next_op = target, .mask = mask, .return_addresses = group.return_addresses};
  group.mask &= ~mask;
  ++group.next_op;
  warp.groups.push_back(std::move(taken));
}

/// Copies the arguments or results of a call between words of local memory, for the lanes in `mask`.
void Execution::copy_local(Warp& warp, std::span<const CallOp::Copy> copies, std::uint32_t mask) {
  for (const CallOp::Copy& copy : copies) {
    for (std::uint32_t word = 0; word < copy.word_count; ++word) {
      for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::size_t to = std::size_t{copy.destination_word + word} * kLanesPerWarp + lane;
        const std::size_t from = std::size_t{copy.source_word + word} * kLanesPerWarp + lane;
        warp.local_memory[to] = warp.local_memory[from];
        warp.written_local_bytes[to] = warp.written_local_bytes[from];
      }
    }
  }
}

void Execution::call(Warp& warp, std::size_t number, std::uint32_t mask) {
  LaneGroup& group = warp.groups[number];
  const Op& op = kernel_.ops[group.next_op];
  copy_local(warp, kernel_.calls[op.memory_or_call_index].argument_copies, mask);
  LaneGroup callee{.next_op = op.target, .mask = mask, .return_addresses = group.return_addresses};
  callee.return_addresses.push_back(group.next_op);
  if (mask == group.mask) {
    group = std::move(callee);
    return;
  }
  group.mask &= ~mask;
  ++group.next_op;
  warp.groups.push_back(std::move(callee));
}

void Execution::leave(Warp& warp, std::size_t number, std::uint32_t mask, bool exits) {
  LaneGroup& group = warp.groups[number];
  LaneGroup leaving{.next_op = 0, .mask = mask, .return_addresses = group.return_addresses};
  const bool all = mask == group.mask;
  group.mask &= ~mask;
  ++group.next_op;
  if (exits || leaving.return_addresses.empty()) {
    warp.live_lanes &= ~mask;
    if (all) warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(number));
    // Do not wait for lanes that have exited.
    for (LaneGroup& other : warp.groups) {
      if (other.waits_for == LaneGroup::Wait::kWarp) other.waits_for = LaneGroup::Wait::kNone;
    }
    return;
  }
  const std::uint32_t caller = leaving.return_addresses.back();
  leaving.return_addresses.pop_back();
  copy_local(warp, kernel_.calls[kernel_.ops[caller].memory_or_call_index].result_copies, mask);
  leaving.next_op = caller + 1;
  if (all) {
    group = std::move(leaving);
  } else {
    warp.groups.push_back(std::move(leaving));
  }
}

// --------------------------------------------------------------------------------------------------------- barriers

bool Execution::arrive(Warp& warp, std::size_t number, std::uint32_t mask) {
  LaneGroup& group = warp.groups[number];
  ++result_.profile.barriers;
  if (kernel_.ops[group.next_op].instruction->modifiers.has(Modifier::kArrive)) {
    const std::uint32_t barrier = barrier_of(warp, group).number;
    arrived_threads_[barrier] += kLanesPerWarp;
    advance_epoch();  // later accesses of the warp are not ordered by the arrival
    BarrierOrder& announced = arrival_barrier_order_[barrier];
    announced.resize(warps_.size());
    for (std::size_t other = 0; other < announced.size(); ++other)
      announced[other] =
          std::max(announced[other], other == warp.index ? current_epoch_ : partial_barrier_order_[warp.index][other]);
    ++group.next_op;
    return warp.groups.size() == 1;
  }
  if (mask != group.mask) {  // a guarded barrier
    LaneGroup rest{
        .next_op = group.next_op + 1, .mask = group.mask & ~mask, .return_addresses = group.return_addresses};
    group.mask = mask;
    warp.groups.push_back(std::move(rest));
  }
  warp.groups[number].waits_for = LaneGroup::Wait::kBarrier;
  return false;
}

/// The barrier at which a group waits, as given by its first lane.
Execution::BarrierOperands Execution::barrier_of(Warp& warp, const LaneGroup& group) {
  const Op& op = kernel_.ops[group.next_op];
  const auto lane = static_cast<std::size_t>(std::countr_zero(group.mask));
  return {slot_words32(warp, op.b)[lane] % kBarriersPerBlock, slot_words32(warp, op.c)[lane]};
}

/// Called when all warps have ended or wait. Releases the groups of a complete barrier; if there is none, those of the
/// lowest barrier, which is a finding. Returns false if no warp waits.
bool Execution::release_barrier() {
  std::array<BarrierArrivals, kBarriersPerBlock> arrivals;
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.groups)
      gather(arrivals, warp, group);
  }
  std::uint32_t alive = 0;
  for (const Warp& warp : warps_)
    alive += static_cast<std::uint32_t>(std::popcount(warp.groups.empty() ? 0U : warp.live_lanes));
  const auto is_complete = [&](const BarrierArrivals& gathering) {
    if (gathering.instruction == nullptr || gathering.is_divergent) return false;
    if (gathering.expected_threads == 0) return gathering.arrived_threads == alive && alive == threads_in_block_;
    const auto which = static_cast<std::size_t>(&gathering - arrivals.data());
    return gathering.arrived_warps * kLanesPerWarp + arrived_threads_[which] >= gathering.expected_threads;
  };
  auto chosen = std::ranges::find_if(arrivals, is_complete);
  if (chosen == arrivals.end()) {
    chosen = std::ranges::find_if(arrivals,
                                  [](const BarrierArrivals& gathering) { return gathering.instruction != nullptr; });
    if (chosen == arrivals.end()) return false;
    if (options_.checks.reports_divergence) {
      add_finding(CheckFinding::Kind::kBarrierDivergence, *chosen->instruction, chosen->first_thread);
      if (is_stopped_) return false;
    }
  }
  const auto number = static_cast<std::uint32_t>(chosen - arrivals.begin());
  reduce_at_barrier(*chosen->instruction, number);
  advance_epoch();
  const bool of_all =
      chosen->expected_threads == 0 || chosen->expected_threads >= threads_in_block_ || !is_complete(*chosen);
  if (of_all) {
    phase_start_epoch_ = current_epoch_;
  } else {
    order_participants(number);
  }
  for (Warp& warp : warps_) {
    for (LaneGroup& group : warp.groups) {
      if (barrier_of(warp, group).number != number) continue;
      group.waits_for = LaneGroup::Wait::kNone;
      ++group.next_op;
    }
  }
  arrived_threads_[number] = 0;
  arrival_barrier_order_[number].clear();
  return true;
}

/// For a barrier of a part of the block: orders the participants' accesses, and all accesses ordered before those,
/// before the later accesses of the participants that waited.
void Execution::order_participants(std::uint32_t number) {
  BarrierOrder behind = arrival_barrier_order_[number];
  behind.resize(warps_.size());
  const auto each_waiting = [&](auto use) {
    for (Warp& warp : warps_) {
      const bool waits = std::ranges::any_of(
          warp.groups, [&](const LaneGroup& group) { return barrier_of(warp, group).number == number; });
      if (waits) use(warp);
    }
  };
  each_waiting([&](const Warp& warp) {
    for (std::size_t other = 0; other < behind.size(); ++other)
      behind[other] =
          std::max(behind[other], other == warp.index ? current_epoch_ : partial_barrier_order_[warp.index][other]);
  });
  each_waiting([&](Warp& warp) {
    partial_barrier_order_[warp.index] = behind;
    warp.last_synchronization_epoch = current_epoch_;
  });
  partial_barrier_epoch_ = current_epoch_;
}

/// Adds a waiting group to its barrier.
void Execution::gather(std::array<BarrierArrivals, kBarriersPerBlock>& arrivals, Warp& warp, const LaneGroup& group) {
  const BarrierOperands barrier = barrier_of(warp, group);
  BarrierArrivals& gathering = arrivals[barrier.number];
  if (gathering.instruction == nullptr) {
    gathering.instruction = &kernel_.ops[group.next_op];
    gathering.first_thread = warp.index * kLanesPerWarp + static_cast<std::uint32_t>(std::countr_zero(group.mask));
    gathering.expected_threads = barrier.expected_threads;
  }
  gathering.arrived_threads += static_cast<std::uint32_t>(std::popcount(group.mask));
  ++gathering.arrived_warps;
  gathering.is_divergent =
      gathering.is_divergent || group.mask != warp.live_lanes || barrier.expected_threads != gathering.expected_threads;
}

/// bar.red: every waiting lane gets the number of true predicates, or whether all or any are true.
void Execution::reduce_at_barrier(const Op& barrier, std::uint32_t number) {
  if (!barrier.instruction->modifiers.has(Modifier::kRed)) return;
  std::uint32_t holding = 0;
  std::uint32_t waiting = 0;
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.groups) {
      if (barrier_of(warp, group).number != number) continue;
      holding +=
          static_cast<std::uint32_t>(std::popcount(*slot_words32(warp, kernel_.ops[group.next_op].a) & group.mask));
      waiting += static_cast<std::uint32_t>(std::popcount(group.mask));
    }
  }
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.groups) {
      if (barrier_of(warp, group).number != number) continue;
      const Op& op = kernel_.ops[group.next_op];
      const Modifiers& modifiers = op.instruction->modifiers;
      if (modifiers.has(Modifier::kPopc)) {
        for (std::uint32_t left = group.mask; left != 0; left &= left - 1)
          slot_words32(warp, op.d)[std::countr_zero(left)] = holding;
      } else {
        const bool holds = modifiers.has(Modifier::kAnd) ? holding == waiting : holding != 0;
        set_predicate(warp, op.d, holds ? kAllLanes : 0, group.mask);
      }
    }
  }
}

}  // namespace assay::ptx
