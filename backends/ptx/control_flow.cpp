// Instructions that move lanes: branches, calls, exits, barriers.
#include <algorithm>
#include <bit>

#include "backends/ptx/execution.hpp"

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

void Execution::call(Warp& warp, std::size_t number, std::uint32_t mask) {
  Group& group = warp.groups[number];
  const Op& op = kernel_.ops[group.pc];
  for (const CallOp::Copy& copy : kernel_.calls[op.detail].arguments) {
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
  for (const CallOp::Copy& copy : kernel_.calls[kernel_.ops[caller].detail].results) {
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
  if (mask != group.mask) {  // a guarded barrier
    Group rest{.pc = group.pc + 1, .mask = group.mask & ~mask, .returns = group.returns};
    group.mask = mask;
    warp.groups.push_back(std::move(rest));
  }
  warp.groups[number].wait = Group::Wait::kBarrier;
  ++result_.profile.barriers;
  return false;
}

/// All warps have ended or wait. Lets them go on behind the barrier; false when there is none waiting.
bool Execution::release_barrier() {
  const Op* barrier = nullptr;
  bool divergent = false;
  std::uint32_t thread = 0;
  for (const Warp& warp : warps_) {
    for (const Group& group : warp.groups) {
      const Op& op = kernel_.ops[group.pc];
      if (barrier == nullptr || group.mask != warp.live || op.immediate != barrier->immediate) {
        divergent = divergent || group.mask != warp.live || (barrier != nullptr && op.immediate != barrier->immediate);
        thread = warp.index * kLanes + static_cast<std::uint32_t>(std::countr_zero(group.mask));
        barrier = &op;
      }
    }
  }
  if (barrier == nullptr) return false;
  std::uint32_t alive = 0;
  for (const Warp& warp : warps_)
    alive += static_cast<std::uint32_t>(std::popcount(warp.groups.empty() ? 0U : warp.live));
  if (options_.checks.divergence && (divergent || alive != threads_in_block_)) {
    add_finding(Finding::Kind::kBarrierDivergence, *barrier, thread);
    if (stopped_) return false;
  }
  reduce_at_barrier(*barrier);
  for (Warp& warp : warps_) {
    for (Group& group : warp.groups) {
      group.wait = Group::Wait::kNone;
      ++group.pc;
    }
  }
  new_stamp();
  phase_since_ = now_;
  return true;
}

/// bar.red: every waiting lane gets the number of predicates that hold, or whether all or any do.
void Execution::reduce_at_barrier(const Op& barrier) {
  if (!barrier.instruction->modifiers.has(Modifier::kRed)) return;
  std::uint32_t holding = 0;
  std::uint32_t waiting = 0;
  for (Warp& warp : warps_) {
    for (const Group& group : warp.groups) {
      holding += static_cast<std::uint32_t>(std::popcount(*word_slot(warp, kernel_.ops[group.pc].a) & group.mask));
      waiting += static_cast<std::uint32_t>(std::popcount(group.mask));
    }
  }
  for (Warp& warp : warps_) {
    for (const Group& group : warp.groups) {
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
