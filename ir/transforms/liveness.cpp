#include "ir/transforms/liveness.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "ir/transforms/commuting_iterations.hpp"
#include "ir/transforms/rules.hpp"

namespace assay::transforms {

using namespace ir;

Liveness::Liveness(const Module& module, const Function& kernel, const SsaKernel& ssa, const Activity& activity,
                   const PartUpdates& part_updates)
    : module_(module), kernel_(kernel), ssa_(ssa), activity_(activity), part_updates_(part_updates) {
  ValueSet loaded(kernel.variables.size());
  ValueSet stored(kernel.variables.size());
  find_replayed(ssa.body, loaded, stored);
  const ValueSet changed = loaded & stored;
  arrays_with_replayed_stores_ = loaded_arrays_ = ValueSet(kernel.variables.size());
  // Stores to an array are repeated if a load of it is needed. A repeated store may need other loads.
  for (ValueSet known = changed; known != arrays_with_replayed_stores_;) {
    known = arrays_with_replayed_stores_;
    loop_liveness_.clear();
    ValueSet live = reverse_reads(ssa.body);
    before(ssa.body, live, {.records_values = true, .repeats_stores = true});
    arrays_with_replayed_stores_ = loaded_arrays_ & changed;
  }
}

void Liveness::find_replayed(const Region& region, ValueSet& loaded, ValueSet& stored) const {
  for (const SsaNode& node : region.nodes) {
    if (const auto* load = std::get_if<LoadNode>(&node.node)) loaded.add(static_cast<std::size_t>(load->array));
    if (const auto* store = std::get_if<StoreNode>(&node.node)) stored.add(static_cast<std::size_t>(store->array));
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      find_replayed(branch->then_region, loaded, stored);
      find_replayed(branch->else_region, loaded, stored);
    }
    if (const auto* loop = std::get_if<Loop>(&node.node)) find_replayed(loop->body, loaded, stored);
  }
}

bool Liveness::is_float_array(VarId array) const { return carries_floats(module_, kernel_.var(array).type); }

bool Liveness::has_reverse(const Region& region) const {
  return std::ranges::any_of(region.nodes, [&](const SsaNode& node) { return has_reverse(node); });
}

bool Liveness::has_reverse(const SsaNode& node) const {
  if (const auto* compute = std::get_if<ComputeNode>(&node.node)) return has(activity_.active_values, compute->result);
  if (const auto* load = std::get_if<LoadNode>(&node.node)) return has(activity_.active_values, load->result);
  if (const auto* store = std::get_if<StoreNode>(&node.node)) return is_float_array(store->array);
  if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) {
    // Atomics other than sums also change the contribution of the previous content of the element.
    const bool sums = atomic->op == AtomicOp::kAdd || atomic->op == AtomicOp::kSub;
    return sums ? activity_.is_active(atomic->value) : carries_floats(module_, atomic->value.type);
  }
  if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
    return custom->gradient_function != kNone &&
           std::ranges::any_of(custom->results, [&](ValueId result) { return has(activity_.active_values, result); });
  }
  if (const auto* branch = std::get_if<Branch>(&node.node)) {
    const bool merges = std::ranges::any_of(
        branch->merges, [&](const MergedValue& merge) { return has(activity_.active_values, merge.result); });
    return merges || has_reverse(branch->then_region) || has_reverse(branch->else_region);
  }
  return has_reverse(std::get<Loop>(node.node));
}

bool Liveness::has_reverse(const Loop& loop) const {
  const bool carries = std::ranges::any_of(loop.carried_values, [&](const CarriedValue& c) {
    return has(activity_.active_values, c.argument) || has(activity_.active_values, c.result);
  });
  return carries || has_reverse(loop.body);
}

ValueSet Liveness::reverse_reads(const Region& region) {
  ValueSet reads = none();
  for (const SsaNode& node : region.nodes)
    reads_of_node(node, reads);
  return reads;
}

void Liveness::reads_of_compute(const ComputeNode& compute, ValueSet& reads) const {
  if (compute.kind != ExprKind::kOperation || !has(activity_.active_values, compute.result)) return;
  if (const auto update = part_updates_.by_result.find(compute.result); update != part_updates_.by_result.end()) {
    for (const Operand& index : update->second.indices)
      add(reads, index);
    return;
  }
  const AdjointRule& rule = rule_of(compute.op);
  for (std::size_t k = 0; k < compute.args.size(); ++k) {
    if (!activity_.is_active(compute.args[k])) continue;
    const std::uint8_t mask = transforms::reads_of(rule, k);
    for (std::size_t other = 0; other < std::min<std::size_t>(3, compute.args.size()); ++other) {
      if ((mask >> other & 1U) != 0) add(reads, compute.args[other]);
    }
    if ((mask & kReadsResult) != 0) reads.add(static_cast<std::size_t>(compute.result));
  }
}

void Liveness::reads_of_node(const SsaNode& node, ValueSet& reads) {
  if (!has_reverse(node)) return;
  const auto add_all = [&](const std::vector<Operand>& operands) {
    for (const Operand& operand : operands)
      add(reads, operand);
  };
  if (const auto* compute = std::get_if<ComputeNode>(&node.node)) reads_of_compute(*compute, reads);
  const auto add_place = [&](const auto& access) {
    add_all(access.indices);
    for (const ElementPathStep& step : access.path)
      add(reads, step.index);
  };
  if (const auto* load = std::get_if<LoadNode>(&node.node)) add_place(*load);
  if (const auto* store = std::get_if<StoreNode>(&node.node)) add_place(*store);
  if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) {
    add_place(*atomic);
    // The reverse sweep compares the value with the final content of the array to find the winner.
    if (atomic->op == AtomicOp::kMin || atomic->op == AtomicOp::kMax) add(reads, atomic->value);
  }
  if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) add_all(custom->args);
  if (const auto* branch = std::get_if<Branch>(&node.node)) {
    add(reads, branch->condition);
    reads |= reverse_reads(branch->then_region);
    reads |= reverse_reads(branch->else_region);
  }
  if (const auto* loop = std::get_if<Loop>(&node.node)) reads |= needs(*loop).outer_values;
}

const LoopLiveness& Liveness::needs(const Loop& loop) {
  const auto found = loop_liveness_.find(&loop);
  if (found != loop_liveness_.end()) return found->second;
  return loop_liveness_.emplace(&loop, find_needs(loop)).first->second;
}

LoopLiveness Liveness::find_needs(const Loop& loop) {
  LoopLiveness needs;
  needs.has_reverse_sweep = has_reverse(loop);
  needs.read_values = reverse_reads(loop.body);
  needs.outer_values = none();
  if (!needs.has_reverse_sweep) return needs;

  ValueSet live = needs.read_values;
  before(loop.body, live, ForwardSweepOptions{.records_values = true});
  std::vector<bool> in_state(loop.carried_values.size());
  close_state(loop, in_state, live);
  const bool has_state = std::ranges::count(in_state, true) > 0;
  if ((has_state || loop.is_range_loop) && has_commuting_iterations(module_, kernel_, loop, activity_, part_updates_)) {
    // The reverse sweep must also find out which iteration is the last.
    std::vector<bool> carried = in_state;
    ValueSet needed = live;
    if (!loop.is_range_loop) needed.add(static_cast<std::size_t>(loop.carried_values[loop.condition].argument));
    close_state(loop, carried, needed);
    needs.is_reversed_forward = !loads_overwritten_arrays(loop.body, needed, loop);
    if (needs.is_reversed_forward) {
      in_state = std::move(carried);
      live = std::move(needed);
    }
  }
  for (std::size_t i = 0; i < in_state.size(); ++i) {
    if (in_state[i]) needs.restored_carried_values.push_back(i);
  }

  ValueSet inside = none();
  collect_defined(loop.body, inside);
  for (const CarriedValue& carried : loop.carried_values)
    inside.add(static_cast<std::size_t>(carried.argument));
  if (loop.is_range_loop) {
    inside.add(static_cast<std::size_t>(loop.index));
    add(live, loop.start);
    add(live, loop.step);
    if (needs.is_reversed_forward) add(live, loop.stop);
  }
  if (needs.is_reversed_forward) {
    for (const std::size_t i : needs.restored_carried_values)
      add(live, loop.carried_values[i].initial_value);
  }
  needs.outer_values = live - inside;
  return needs;
}

void Liveness::close_state(const Loop& loop, std::vector<bool>& state, ValueSet& live) {
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < loop.carried_values.size(); ++i) {
      if (state[i] || !has(live, loop.carried_values[i].argument)) continue;
      state[i] = grown = true;
      ValueSet advance = none();
      add(advance, loop.carried_values[i].next_value);
      before(loop.body, advance, ForwardSweepOptions{});
      live |= advance;
    }
  }
}

std::vector<std::size_t> Liveness::carried_to_run(const Loop& loop, const ValueSet& live, ForwardSweepOptions sweep) {
  std::vector<bool> run(loop.carried_values.size());
  for (std::size_t i = 0; i < run.size(); ++i)
    run[i] = has(live, loop.carried_values[i].result);
  const bool is_recorded = sweep.records_values && needs(loop).has_reverse_sweep && !needs(loop).is_reversed_forward;
  const bool is_run =
      is_recorded || std::ranges::count(run, true) > 0 || (sweep.repeats_stores && has_replayed_store(loop.body));
  if (is_run && !loop.is_range_loop) run[loop.condition] = true;
  if (is_recorded) {
    for (const std::size_t i : needs(loop).restored_carried_values)
      run[i] = true;
  }
  for (bool grown = true; grown;) {
    ValueSet inner = none();
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (run[i]) add(inner, loop.carried_values[i].next_value);
    }
    before(loop.body, inner, sweep.inside_loop());
    grown = false;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (!run[i] && has(inner, loop.carried_values[i].argument)) run[i] = grown = true;
    }
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (run[i]) result.push_back(i);
  }
  return result;
}

bool Liveness::has_replayed_store(const Region& region) const {
  return std::ranges::any_of(region.nodes, [&](const SsaNode& node) {
    if (const auto* store = std::get_if<StoreNode>(&node.node)) return replays_stores(store->array);
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      return has_replayed_store(branch->then_region) || has_replayed_store(branch->else_region);
    }
    if (const auto* loop = std::get_if<Loop>(&node.node)) return has_replayed_store(loop->body);
    return false;
  });
}

bool Liveness::find_store(const Region& region, const Loop& loop, VarId array, bool& reached) {
  for (const SsaNode& node : region.nodes) {
    if (const auto* store = std::get_if<StoreNode>(&node.node)) {
      if (reached && store->array == array) return true;
    } else if (const auto* branch = std::get_if<Branch>(&node.node)) {
      if (find_store(branch->then_region, loop, array, reached)) return true;
      if (find_store(branch->else_region, loop, array, reached)) return true;
    } else if (const auto* inner = std::get_if<Loop>(&node.node)) {
      reached |= inner == &loop;
      if (find_store(inner->body, loop, array, reached)) return true;
    }
  }
  return false;
}

bool Liveness::stored_since(const Loop& loop, VarId array) const {
  bool reached = false;
  return find_store(ssa_.body, loop, array, reached);
}

bool Liveness::loads_overwritten_arrays(const Region& region, const ValueSet& needed, const Loop& loop) const {
  return std::ranges::any_of(region.nodes, [&](const SsaNode& node) {
    if (const auto* load = std::get_if<LoadNode>(&node.node))
      return has(needed, load->result) && stored_since(loop, load->array);
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      return loads_overwritten_arrays(branch->then_region, needed, loop) ||
             loads_overwritten_arrays(branch->else_region, needed, loop);
    }
    const auto* inner = std::get_if<Loop>(&node.node);
    if (inner == nullptr) return false;
    ValueSet counted = needed;
    if (has_reverse(*inner)) collect_defined(inner->body, counted);
    return loads_overwritten_arrays(inner->body, counted, loop);
  });
}

bool Liveness::any_defined_live(const Region& region, const ValueSet& live) const {
  ValueSet defined = none();
  collect_defined(region, defined);
  return defined.intersects(live);
}

bool Liveness::is_needed(const SsaNode& node, const ValueSet& live, ForwardSweepOptions sweep) {
  if (const auto* compute = std::get_if<ComputeNode>(&node.node)) return has(live, compute->result);
  if (const auto* load = std::get_if<LoadNode>(&node.node)) return has(live, load->result);
  if (const auto* store = std::get_if<StoreNode>(&node.node))
    return sweep.repeats_stores && replays_stores(store->array);
  if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) {
    return atomic->result != kNone && has(live, atomic->result);
  }
  if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
    return std::ranges::any_of(custom->results, [&](ValueId result) { return has(live, result); });
  }
  if (sweep.records_values && has_reverse(node)) return true;
  if (const auto* loop = std::get_if<Loop>(&node.node)) {
    return (sweep.repeats_stores && has_replayed_store(loop->body)) ||
           std::ranges::any_of(loop->carried_values, [&](const CarriedValue& c) { return has(live, c.result); });
  }
  const auto& branch = std::get<Branch>(node.node);
  return std::ranges::any_of(branch.merges, [&](const MergedValue& merge) { return has(live, merge.result); }) ||
         (sweep.repeats_stores && (has_replayed_store(branch.then_region) || has_replayed_store(branch.else_region))) ||
         any_defined_live(branch.then_region, live) || any_defined_live(branch.else_region, live);
}

void Liveness::before(const Region& region, ValueSet& live, ForwardSweepOptions sweep) {
  for (const SsaNode& node : std::views::reverse(region.nodes))
    before(node, live, sweep);
}

void Liveness::before(const SsaNode& node, ValueSet& live, ForwardSweepOptions sweep) {
  if (!is_needed(node, live, sweep)) return;
  const auto add_all = [&](const std::vector<Operand>& operands) {
    for (const Operand& operand : operands)
      add(live, operand);
  };
  if (const auto* compute = std::get_if<ComputeNode>(&node.node)) add_all(compute->args);
  const auto add_place = [&](const auto& access) {
    add_all(access.indices);
    for (const ElementPathStep& step : access.path)
      add(live, step.index);
  };
  if (const auto* load = std::get_if<LoadNode>(&node.node)) {
    add_place(*load);
    loaded_arrays_.add(static_cast<std::size_t>(load->array));
  }
  if (const auto* store = std::get_if<StoreNode>(&node.node)) {
    add_place(*store);
    add(live, store->value);
  }
  if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
    if (custom->calls_function()) add_all(custom->args);
    for (std::size_t i = 0; i < custom->primal_values.size(); ++i)
      if (has(live, custom->results[i])) add(live, custom->primal_values[i]);
  }
  if (const auto* branch = std::get_if<Branch>(&node.node)) {
    ValueSet then_live = live;
    ValueSet else_live = live;
    for (const MergedValue& merge : branch->merges) {
      if (!has(live, merge.result)) continue;
      add(then_live, merge.then_value);
      add(else_live, merge.else_value);
    }
    before(branch->then_region, then_live, sweep);
    before(branch->else_region, else_live, sweep);
    live |= then_live;
    live |= else_live;
    add(live, branch->condition);
  }
  if (const auto* loop = std::get_if<Loop>(&node.node)) {
    ValueSet inner = none();
    for (const std::size_t i : carried_to_run(*loop, live, sweep)) {
      add(inner, loop->carried_values[i].next_value);
      add(inner, loop->carried_values[i].initial_value);
    }
    before(loop->body, inner, sweep.inside_loop());
    live |= inner;
    if (sweep.records_values && needs(*loop).has_reverse_sweep) live |= needs(*loop).outer_values;
    if (loop->is_range_loop) add_all({loop->start, loop->stop, loop->step});
  }
}

void Liveness::collect_defined(const Region& region, ValueSet& defined) const {
  const auto define = [&](ValueId value) {
    if (value != kNone) defined.add(static_cast<std::size_t>(value));
  };
  for (const SsaNode& node : region.nodes) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.node)) define(compute->result);
    if (const auto* load = std::get_if<LoadNode>(&node.node)) define(load->result);
    if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) define(atomic->result);
    if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node))
      std::ranges::for_each(custom->results, define);
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      for (const MergedValue& merge : branch->merges)
        define(merge.result);
      collect_defined(branch->then_region, defined);
      collect_defined(branch->else_region, defined);
    }
    if (const auto* loop = std::get_if<Loop>(&node.node)) {
      for (const CarriedValue& carried : loop->carried_values) {
        define(carried.result);
        define(carried.argument);
      }
      define(loop->index);
      collect_defined(loop->body, defined);
    }
  }
}

}  // namespace assay::transforms
