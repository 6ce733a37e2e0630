// Instructions that move lanes: branches, calls, exits, barriers.
#include <algorithm>
#include <bit>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

/// Instructions that move lanes. True when the same group can go on at once.
bool Execution::control(Warp& warp, std::size_t number, std::uint32_t& pc, std::uint32_t mask) {
  const Op& op = kernel_.ops[pc];
  Group& group = warp.groups[number];
  if (mask == 0) {
    group.pc = pc + 1;
    return warp.groups.size() == 1;
  }
  switch (op.control) {
    case Control::kBranch: branch(warp, number, mask); return warp.groups.size() == 1;
    case Control::kCall: call(warp, number, mask); return warp.groups.size() == 1;
    case Control::kReturn: leave(warp, number, mask, false); return false;
    case Control::kExit: leave(warp, number, mask, true); return false;
    case Control::kBarrier: return arrive(warp, number, mask);
    case Control::kWarp: {
      const std::uint32_t wanted = word_slot(warp, op.e)[std::countr_zero(mask)] & warp.live;
      if ((wanted & ~mask) != 0 && !group.forced) {
        group.wait = Group::Wait::kWarp;
        return false;
      }
      warp_operation(warp, op, mask);
      group.forced = false;
      break;
    }
    case Control::kActiveMask:
      for (std::uint32_t left = mask; left != 0; left &= left - 1)
        word_slot(warp, op.d)[std::countr_zero(left)] = mask;
      break;
    case Control::kTrap: stop(RunResult::Status::kTrapped, "executed trap", op); return false;
    case Control::kUnsupported:
      stop(RunResult::Status::kUnsupported,
           op.instruction->unsupported.empty() ? "instruction not supported" : op.instruction->unsupported, op);
      return false;
    default: break;
  }
  group.pc = pc + 1;
  return warp.groups.size() == 1;
}

void Execution::branch(Warp& warp, std::size_t number, std::uint32_t mask) {
  Group& group = warp.groups[number];
  const std::uint32_t target = kernel_.ops[group.pc].target;
  if (mask == group.mask) {
    group.pc = target;
    return;
  }
  ++result_.profile.divergent_branches;
  Group taken{.pc = target, .mask = mask, .returns = group.returns};
  group.mask &= ~mask;
  ++group.pc;
  warp.groups.push_back(std::move(taken));
}

/// Copies words of local memory, for the lanes in `mask`: a call's arguments or results.
void Execution::copy_local(Warp& warp, std::span<const CallOp::Copy> copies, std::uint32_t mask) {
  for (const CallOp::Copy& copy : copies) {
    for (std::uint32_t word = 0; word < copy.words; ++word) {
      for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::size_t to = std::size_t{copy.to + word} * kLanes + lane;
        const std::size_t from = std::size_t{copy.from + word} * kLanes + lane;
        warp.local[to] = warp.local[from];
        warp.local_written[to] = warp.local_written[from];
      }
    }
  }
}

void Execution::call(Warp& warp, std::size_t number, std::uint32_t mask) {
  Group& group = warp.groups[number];
  const Op& op = kernel_.ops[group.pc];
  copy_local(warp, kernel_.calls[op.detail].arguments, mask);
  Group callee{.pc = op.target, .mask = mask, .returns = group.returns};
  callee.returns.push_back(group.pc);
  if (mask == group.mask) {
    group = std::move(callee);
    return;
  }
  group.mask &= ~mask;
  ++group.pc;
  warp.groups.push_back(std::move(callee));
}

void Execution::leave(Warp& warp, std::size_t number, std::uint32_t mask, bool exits) {
  Group& group = warp.groups[number];
  Group leaving{.pc = 0, .mask = mask, .returns = group.returns};
  const bool all = mask == group.mask;
  group.mask &= ~mask;
  ++group.pc;
  if (exits || leaving.returns.empty()) {
    warp.live &= ~mask;
    if (all) warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(number));
    // Lanes that have left are not waited for.
    for (Group& other : warp.groups) {
      if (other.wait == Group::Wait::kWarp) other.wait = Group::Wait::kNone;
    }
    return;
  }
  const std::uint32_t caller = leaving.returns.back();
  leaving.returns.pop_back();
  copy_local(warp, kernel_.calls[kernel_.ops[caller].detail].results, mask);
  leaving.pc = caller + 1;
  if (all) {
    group = std::move(leaving);
  } else {
    warp.groups.push_back(std::move(leaving));
  }
}

// --------------------------------------------------------------------------------------------------------- barriers

bool Execution::arrive(Warp& warp, std::size_t number, std::uint32_t mask) {
  Group& group = warp.groups[number];
  ++result_.profile.barriers;
  if (kernel_.ops[group.pc].instruction->modifiers.has(Modifier::kArrive)) {
    const std::uint32_t barrier = barrier_of(warp, group).number;
    arrived_[barrier] += kLanes;
    new_stamp();  // what the warp does from here on is not behind it
    Behind& announced = announced_[barrier];
    announced.resize(warps_.size());
    for (std::size_t other = 0; other < announced.size(); ++other)
      announced[other] = std::max(announced[other], other == warp.index ? now_ : behind_[warp.index][other]);
    ++group.pc;
    return warp.groups.size() == 1;
  }
  if (mask != group.mask) {  // a guarded barrier
    Group rest{.pc = group.pc + 1, .mask = group.mask & ~mask, .returns = group.returns};
    group.mask = mask;
    warp.groups.push_back(std::move(rest));
  }
  warp.groups[number].wait = Group::Wait::kBarrier;
  return false;
}

/// The barrier that a group stands at, as its first lane names it.
Execution::Barrier Execution::barrier_of(Warp& warp, const Group& group) {
  const Op& op = kernel_.ops[group.pc];
  const auto lane = static_cast<std::size_t>(std::countr_zero(group.mask));
  return {word_slot(warp, op.b)[lane] % kBarriers, word_slot(warp, op.c)[lane]};
}

/// All warps have ended or wait. Lets those go on whose barrier has all the threads that it waits for; where there is
/// none such, those of the lowest, which is a finding. False when no warp waits.
bool Execution::release_barrier() {
  std::array<Gathering, kBarriers> gatherings;
  for (Warp& warp : warps_) {
    for (const Group& group : warp.groups)
      gather(gatherings, warp, group);
  }
  std::uint32_t alive = 0;
  for (const Warp& warp : warps_)
    alive += static_cast<std::uint32_t>(std::popcount(warp.groups.empty() ? 0U : warp.live));
  const auto is_complete = [&](const Gathering& gathering) {
    if (gathering.barrier == nullptr || gathering.divergent) return false;
    if (gathering.expected == 0) return gathering.threads == alive && alive == threads_in_block_;
    const auto which = static_cast<std::size_t>(&gathering - gatherings.data());
    return gathering.warps * kLanes + arrived_[which] >= gathering.expected;
  };
  auto chosen = std::ranges::find_if(gatherings, is_complete);
  if (chosen == gatherings.end()) {
    chosen = std::ranges::find_if(gatherings, [](const Gathering& gathering) { return gathering.barrier != nullptr; });
    if (chosen == gatherings.end()) return false;
    if (options_.checks.divergence) {
      add_finding(Finding::Kind::kBarrierDivergence, *chosen->barrier, chosen->thread);
      if (stopped_) return false;
    }
  }
  const auto number = static_cast<std::uint32_t>(chosen - gatherings.begin());
  reduce_at_barrier(*chosen->barrier, number);
  new_stamp();
  const bool of_all = chosen->expected == 0 || chosen->expected >= threads_in_block_ || !is_complete(*chosen);
  if (of_all) {
    phase_since_ = now_;
  } else {
    order_participants(number);
  }
  for (Warp& warp : warps_) {
    for (Group& group : warp.groups) {
      if (barrier_of(warp, group).number != number) continue;
      group.wait = Group::Wait::kNone;
      ++group.pc;
    }
  }
  arrived_[number] = 0;
  announced_[number].clear();
  return true;
}

/// A barrier of a part of the block: what its participants did, and what they knew to be behind them, is behind all of
/// them that waited.
void Execution::order_participants(std::uint32_t number) {
  Behind behind = announced_[number];
  behind.resize(warps_.size());
  const auto each_waiting = [&](auto use) {
    for (Warp& warp : warps_) {
      const bool waits = std::ranges::any_of(
          warp.groups, [&](const Group& group) { return barrier_of(warp, group).number == number; });
      if (waits) use(warp);
    }
  };
  each_waiting([&](const Warp& warp) {
    for (std::size_t other = 0; other < behind.size(); ++other)
      behind[other] = std::max(behind[other], other == warp.index ? now_ : behind_[warp.index][other]);
  });
  each_waiting([&](Warp& warp) {
    behind_[warp.index] = behind;
    warp.synced_since = now_;
  });
  part_since_ = now_;
}

/// Adds a waiting group to what its barrier has.
void Execution::gather(std::array<Gathering, kBarriers>& gatherings, Warp& warp, const Group& group) {
  const Barrier barrier = barrier_of(warp, group);
  Gathering& gathering = gatherings[barrier.number];
  if (gathering.barrier == nullptr) {
    gathering.barrier = &kernel_.ops[group.pc];
    gathering.thread = warp.index * kLanes + static_cast<std::uint32_t>(std::countr_zero(group.mask));
    gathering.expected = barrier.count;
  }
  gathering.threads += static_cast<std::uint32_t>(std::popcount(group.mask));
  ++gathering.warps;
  gathering.divergent = gathering.divergent || group.mask != warp.live || barrier.count != gathering.expected;
}

/// bar.red: every waiting lane gets the number of predicates that hold, or whether all or any do.
void Execution::reduce_at_barrier(const Op& barrier, std::uint32_t number) {
  if (!barrier.instruction->modifiers.has(Modifier::kRed)) return;
  std::uint32_t holding = 0;
  std::uint32_t waiting = 0;
  for (Warp& warp : warps_) {
    for (const Group& group : warp.groups) {
      if (barrier_of(warp, group).number != number) continue;
      holding += static_cast<std::uint32_t>(std::popcount(*word_slot(warp, kernel_.ops[group.pc].a) & group.mask));
      waiting += static_cast<std::uint32_t>(std::popcount(group.mask));
    }
  }
  for (Warp& warp : warps_) {
    for (const Group& group : warp.groups) {
      if (barrier_of(warp, group).number != number) continue;
      const Op& op = kernel_.ops[group.pc];
      const Modifiers& modifiers = op.instruction->modifiers;
      if (modifiers.has(Modifier::kPopc)) {
        for (std::uint32_t left = group.mask; left != 0; left &= left - 1)
          word_slot(warp, op.d)[std::countr_zero(left)] = holding;
      } else {
        const bool holds = modifiers.has(Modifier::kAnd) ? holding == waiting : holding != 0;
        set_predicate(warp, op.d, holds ? kAllLanes : 0, group.mask);
      }
    }
  }
}

}  // namespace assay::ptx
