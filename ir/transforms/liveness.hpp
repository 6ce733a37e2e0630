// Liveness analysis: the primal values that the two sweeps of the backward kernel need.
//
// The forward sweep runs the kernel again and records the values that the reverse sweep reads. Values inside a loop
// cannot be recorded for all iterations; instead the reverse sweep restores the carried values that an iteration needs
// (the state of the loop) from a checkpoint, advances to the iteration, and records only that iteration. If the order
// of the iterations does not matter, the reverse sweep runs the loop forward once more instead.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "ir/transforms/activity.hpp"
#include "ir/transforms/part_updates.hpp"
#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// Options of a forward sweep. A forward sweep always computes the values that are needed after it.
struct ForwardSweepOptions {
  bool records_values = false;  ///< whether to keep the values that the reverse sweep of the region reads
  /// Whether to repeat stores too. False when the reverse sweep recomputes iterations, because the arrays then already
  /// hold their final contents.
  bool repeats_stores = false;

  /// The options for the body of a loop, whose values cannot be recorded for all iterations.
  ForwardSweepOptions inside_loop() const { return {.records_values = false, .repeats_stores = repeats_stores}; }
};

/// The values that the sweeps need for one loop.
struct LoopLiveness {
  bool has_reverse_sweep = false;  ///< whether the reverse sweep of the body is not empty
  /// Whether the reverse sweep visits the iterations from first to last, so that it needs no checkpoints.
  bool is_reversed_forward = false;
  ValueSet read_values;  ///< values of the loop body that the reverse sweep of one iteration reads
  std::vector<std::size_t>
      restored_carried_values;  ///< indices in Loop::carried_values to restore before an iteration, ascending; if
                                ///< `is_reversed_forward`, those that the reverse sweep carries from one to the next
  ValueSet outer_values;        ///< values defined outside the loop that its reverse sweep reads
};

/// Determines which values and statements the sweeps of a kernel need.
class Liveness {
 public:
  /// Keeps references to all four.
  Liveness(const ir::Module& module, const ir::Function& kernel, const SsaKernel& ssa, const Activity& activity,
           const PartUpdates& part_updates);

  /// Whether the reverse sweep of the region is not empty.
  bool has_reverse(const Region& region) const;
  bool has_reverse(const SsaNode& node) const;
  bool has_reverse(const Loop& loop) const;
  /// Values from the forward sweep that the reverse sweep of the region reads.
  ValueSet reverse_reads(const Region& region);
  const LoopLiveness& needs(const Loop& loop);

  /// The carried values that a forward run of the loop must compute when `live` is live after it, ascending.
  std::vector<std::size_t> carried_to_run(const Loop& loop, const ValueSet& live, ForwardSweepOptions sweep);
  /// Whether a forward sweep must emit the node when `live` is live after it.
  bool is_needed(const SsaNode& node, const ValueSet& live, ForwardSweepOptions sweep);
  /// Turns the set live after the node, or region, into the set live before it.
  void before(const SsaNode& node, ValueSet& live, ForwardSweepOptions sweep);
  void before(const Region& region, ValueSet& live, ForwardSweepOptions sweep);

  /// Values that the region defines, including nested regions.
  void collect_defined(const Region& region, ValueSet& defined) const;
  /// Whether the forward sweep repeats stores to this array parameter: one of the sweeps also reads it.
  bool replays_stores(ir::VarId array) const { return arrays_with_replayed_stores_[static_cast<std::size_t>(array)]; }

  bool has_replayed_store(const Region& region) const;
  /// Whether the kernel stores to the array inside the loop or after it in program order.
  bool stored_since(const Loop& loop, ir::VarId array) const;

  ValueSet none() const { return ValueSet(ssa_.values.size()); }
  /// Adds the operand to the set, unless it is a constant.
  static void add(ValueSet& set, const Operand& operand) {
    if (!operand.is_constant()) set.add(static_cast<std::size_t>(operand.value));
  }
  static bool has(const ValueSet& set, ValueId value) { return set[static_cast<std::size_t>(value)]; }

 private:
  void reads_of_node(const SsaNode& node, ValueSet& reads);
  void reads_of_compute(const ComputeNode& compute, ValueSet& reads) const;
  static bool find_store(const Region& region, const Loop& loop, ir::VarId array, bool& reached);
  bool any_defined_live(const Region& region, const ValueSet& live) const;
  /// Adds the carried values that must be known to compute those in `state`, and what their computation reads to
  /// `live`.
  void close_state(const Loop& loop, std::vector<bool>& state, ValueSet& live);
  /// Whether a load in the region, a part of the loop, needs an array that the kernel stores to in the loop or after
  /// it. `needed` are the loaded values that count; in nested loops that have a reverse sweep, all count.
  bool loads_overwritten_arrays(const Region& region, const ValueSet& needed, const Loop& loop) const;
  void find_replayed(const Region& region, ValueSet& loaded, ValueSet& stored) const;
  LoopLiveness find_needs(const Loop& loop);
  bool is_float_array(ir::VarId array) const;

  const ir::Module& module_;              ///< module that contains the kernel
  const ir::Function& kernel_;            ///< kernel that is differentiated
  const SsaKernel& ssa_;                  ///< the kernel in SSA form
  const Activity& activity_;              ///< active values of the kernel
  const PartUpdates& part_updates_;       ///< updates of the kernel
  ValueSet arrays_with_replayed_stores_;  ///< array parameters whose stores the forward sweep repeats, by VarId
  ValueSet loaded_arrays_;                ///< array parameters that a needed load reads, by VarId
  std::map<const Loop*, LoopLiveness> loop_liveness_;  ///< result of needs() for each loop
};

}  // namespace assay::transforms
