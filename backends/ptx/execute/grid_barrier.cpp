// Cooperative launches: all blocks are resident, and wait for each other at the barrier of cooperative_groups.
//
// The header of cooperative_groups implements the barrier in PTX. The registers %envreg1 and %envreg2 hold the address
// of memory that the driver provides. After a barrier of the block, one thread of each block adds to a counter in this
// memory, and reads the counter until its upper bit changes, which the addition of the last block achieves. The
// interpreter runs one block until this thread reads the counter, and then the next block. Once all blocks have
// arrived, all earlier accesses are ordered before all later ones, as at the start of a launch, and the blocks continue
// in turn.
#include <bit>
#include <span>
#include <utility>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

namespace {

constexpr std::size_t kGridBarrierBytes = 64;

}  // namespace

void Execution::prepare_grid_barrier() {
  const Result<AllocationId> memory = memory_.allocate("the grid barrier", kGridBarrierBytes, {});
  if (memory.ok()) grid_barrier_address_ = Memory::address(*memory) + kGridBarrierOffset;
}

void Execution::run_cooperatively(std::span<const std::uint64_t> blocks) {
  for (const std::uint64_t block : blocks) {
    if (is_stopped_) return;
    start_block(block);
    if (!continue_block(true)) suspend_block();
  }
  while (!suspended_blocks_.empty() && !is_stopped_) {
    bool has_resumed = false;
    // Blocks that wait again are added at the end.
    const std::size_t count = suspended_blocks_.size();
    for (std::size_t i = 0; i < count && !is_stopped_; ++i) {
      SuspendedBlock block = std::move(suspended_blocks_.front());
      suspended_blocks_.erase(suspended_blocks_.begin());
      const bool can_continue = resume_block(block);
      has_resumed |= can_continue;
      if (!can_continue || !continue_block(false)) suspend_block();
    }
    if (has_resumed || is_stopped_) continue;
    // Some blocks have ended without arriving.
    resume_block(suspended_blocks_.front());
    for (const Warp& warp : warps_) {
      for (const LaneGroup& group : warp.lane_groups) {
        if (group.waits_for != LaneGroup::Wait::kGrid || is_stopped_) continue;
        const Op& op = kernel_.ops[group.next_op_index];
        const std::uint32_t thread =
            warp.index_in_block * kLanesPerWarp + static_cast<std::uint32_t>(std::countr_zero(group.lane_mask));
        if (options_.checks.reports_divergence) add_finding(CheckFinding::Kind::kBarrierDivergence, op, thread);
        stop(RunResult::Status::kTrapped, "waits at a grid barrier for blocks that have ended", op);
      }
    }
  }
}

bool Execution::must_wait_for_grid(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask) {
  const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
  if (memory.access == Access::kStore || (memory.space != Space::kGlobal && memory.space != Space::kGeneric))
    return false;
  Addresses addresses;
  find_addresses(warp, memory, op.a, op.immediate, addresses);
  std::uint64_t count = 0;
  for (std::uint32_t left = lane_mask; left != 0; left &= left - 1)
    count += addresses[std::countr_zero(left)] == grid_barrier_address_ ? 1U : 0U;
  if (count == 0) return false;
  if (memory.access == Access::kAtomic) {
    arrived_block_count_ += count;
    if (arrived_block_count_ >= geometry_.grid.count()) complete_grid_barrier();
    return false;
  }
  if (std::exchange(group.passes_grid_barrier, false) || arrived_block_count_ == 0) return false;
  group.waits_for = LaneGroup::Wait::kGrid;
  group.awaited_grid_barrier = completed_grid_barriers_;
  return true;
}

bool Execution::waits_for_grid() const {
  if (grid_barrier_address_ == 0) return false;
  for (const Warp& warp : warps_)
    for (const LaneGroup& group : warp.lane_groups)
      if (group.waits_for == LaneGroup::Wait::kGrid) return true;
  return false;
}

void Execution::complete_grid_barrier() {
  arrived_block_count_ = 0;
  ++completed_grid_barriers_;
  start_block_epoch();
  launch_start_epoch_ = current_epoch_;
  fence_order_.clear();
  for (Warp& warp : warps_)
    warp.last_synchronization_epoch = current_epoch_;
}

void Execution::suspend_block() {
  SuspendedBlock block;
  block.warps.resize(warps_.size());
  for (const auto& bytes : shared_memory_by_variable_)
    block.shared_memory_by_variable.emplace_back(bytes.size());
  for (const auto& cells : shared_shadow_cells_by_variable_)
    block.shared_shadow_cells_by_variable.emplace_back(cells.size());
  for (const auto& words : pending_words_by_variable_)
    block.pending_words_by_variable.emplace_back(words.size());
  for (const auto& words : shared_unrounded_words_by_variable_)
    block.shared_unrounded_words_by_variable.emplace_back(words.size());
  exchange_block(block);
  suspended_blocks_.push_back(std::move(block));
}

bool Execution::resume_block(SuspendedBlock& block) {
  exchange_block(block);
  start_block_epoch();
  bool can_continue = false;
  for (Warp& warp : warps_) {
    warp.last_synchronization_epoch = current_epoch_;
    for (LaneGroup& group : warp.lane_groups) {
      if (group.waits_for != LaneGroup::Wait::kGrid || group.awaited_grid_barrier >= completed_grid_barriers_) continue;
      group.waits_for = LaneGroup::Wait::kNone;
      group.passes_grid_barrier = true;
      can_continue = true;
    }
  }
  return can_continue;
}

/// Exchanges the state of the current block and that of another.
void Execution::exchange_block(SuspendedBlock& block) {
  std::swap(current_block_index_, block.index);
  std::swap(warps_, block.warps);
  std::swap(arrived_thread_counts_, block.arrived_thread_counts);
  std::swap(arrival_order_by_barrier_, block.arrival_order_by_barrier);
  std::swap(shared_memory_by_variable_, block.shared_memory_by_variable);
  std::swap(shared_shadow_cells_by_variable_, block.shared_shadow_cells_by_variable);
  std::swap(pending_words_by_variable_, block.pending_words_by_variable);
  std::swap(shared_unrounded_words_by_variable_, block.shared_unrounded_words_by_variable);
  std::swap(has_pending_words_, block.has_pending_words);
  std::swap(mbarriers_, block.mbarriers);
  std::swap(cluster_barrier_, block.cluster_barrier);
  std::swap(cluster_arrival_counts_, block.cluster_arrival_counts);
  std::swap(tensor_memory_, block.tensor_memory);
}

}  // namespace assay::ptx
