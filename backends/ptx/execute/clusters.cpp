// Clusters of one block: their barrier, and addresses in the shared memory of a block of the cluster.
//
// An arrival at the barrier orders the earlier accesses of its warp before the accesses of the warps that wait for it,
// like an arrival at an mbarrier object.
#include <algorithm>
#include <utility>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

/// barrier.cluster.arrive and barrier.cluster.wait. Returns false if the group must wait.
bool Execution::pass_cluster_barrier(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask) {
  const std::size_t first_thread = std::size_t{warp.index_in_block} * kLanesPerWarp;
  if (!op.instruction->modifiers.has(Modifier::kWait)) {
    each_lane(lane_mask, [&](unsigned lane) { ++cluster_arrival_counts_[first_thread + lane]; });
    if (!op.instruction->modifiers.has(Modifier::kRelaxed)) record_arrival(warp, cluster_barrier_);
    finish_cluster_phase();
    advance_epoch();  // later accesses of the warp are not ordered by the arrival
    return true;
  }
  finish_cluster_phase();
  bool must_wait = false;
  each_lane(lane_mask, [&](unsigned lane) {
    const std::uint64_t count = cluster_arrival_counts_[first_thread + lane];
    must_wait |= count == 0 || count > cluster_barrier_.phase;
  });
  if (must_wait) {
    group.runs_without_missing_lanes = false;
    group.waits_for = LaneGroup::Wait::kMbarrier;
    return false;
  }
  order_after_phase(warp, cluster_barrier_);
  group.runs_without_missing_lanes = false;
  return true;
}

/// Ends the phase of the cluster's barrier if all threads that have not exited have arrived.
void Execution::finish_cluster_phase() {
  for (const Warp& warp : warps_) {
    const std::size_t first_thread = std::size_t{warp.index_in_block} * kLanesPerWarp;
    bool has_arrived = true;
    each_lane(warp.live_lane_mask, [&](unsigned lane) {
      has_arrived = has_arrived && cluster_arrival_counts_[first_thread + lane] > cluster_barrier_.phase;
    });
    if (!has_arrived) return;
  }
  ++cluster_barrier_.phase;
  cluster_barrier_.finished_order = std::exchange(cluster_barrier_.arrived_order, {});
  has_new_phase_ = true;
}

/// mapa: the address of a variable in the shared memory of a block of the cluster.
void Execution::find_cluster_addresses(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const bool is_wide = bytes_of(op.instruction->type) == 8;
  each_lane(lane_mask, [&](unsigned lane) {
    if (slot_words32(warp, op.b)[lane] != 0)
      return stop(RunResult::Status::kUnsupported, "access to the shared memory of another block is not supported", op);
    if (is_wide) slot_words64(warp, op.d)[lane] = slot_words64(warp, op.a)[lane];
    else slot_words32(warp, op.d)[lane] = slot_words32(warp, op.a)[lane];
  });
}

}  // namespace assay::ptx
