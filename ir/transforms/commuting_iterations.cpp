#include "ir/transforms/commuting_iterations.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>
#include <utility>

namespace assay::transforms {

using namespace ir;

namespace {

/// What has been added to the adjoints of values while the body of a loop is read from last to first: the adjoint of
/// the carried value with this index after the iteration, and nothing else; or kOther. Values without an entry have the
/// adjoint zero.
using Adjoints = std::map<ValueId, std::size_t>;
constexpr std::size_t kOther = static_cast<std::size_t>(-1);

class AdjointPaths {
 public:
  AdjointPaths(const Module& module, const Function& kernel, const Activity& activity, const PartUpdates& part_updates)
      : module_(module), kernel_(kernel), activity_(activity), part_updates_(part_updates) {}

  /// The adjoints before one iteration.
  Adjoints before_iteration(const Loop& loop) {
    Adjoints adjoints;
    for (std::size_t i = 0; i < loop.carried_values.size(); ++i)
      add(adjoints, loop.carried_values[i].next_value, i);
    reverse(loop.body, adjoints);
    return adjoints;
  }

  /// Whether only sums have changed the gradients of arrays.
  [[nodiscard]] bool only_adds_to_arrays() const { return only_adds_to_arrays_; }

 private:
  void add(Adjoints& adjoints, const Operand& operand, std::size_t term) const {
    if (!activity_.is_active(operand)) return;
    const auto [entry, is_new] = adjoints.try_emplace(operand.value, term);
    if (!is_new) entry->second = kOther;
  }

  void reverse(const Region& region, Adjoints& adjoints) {
    for (const SsaNode& node : std::views::reverse(region.nodes))
      reverse(node, adjoints);
  }

  void reverse(const SsaNode& node, Adjoints& adjoints) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.node)) reverse(*compute, adjoints);
    if (const auto* store = std::get_if<StoreNode>(&node.node)) {
      if (carries_floats(module_, kernel_.var(store->array).type)) only_adds_to_arrays_ = false;
    }
    if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) {
      const bool is_sum = atomic->op == AtomicOp::kAdd || atomic->op == AtomicOp::kSub;
      if (!is_sum && carries_floats(module_, kernel_.var(atomic->array).type)) only_adds_to_arrays_ = false;
      add(adjoints, atomic->value, kOther);
    }
    if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
      for (const Operand& arg : custom->args)
        add(adjoints, arg, kOther);
    }
    if (const auto* branch = std::get_if<Branch>(&node.node)) reverse(*branch, adjoints);
    if (const auto* loop = std::get_if<Loop>(&node.node)) reverse(*loop, adjoints);
  }

  void reverse(const ComputeNode& compute, Adjoints& adjoints) const {
    const auto found = adjoints.find(compute.result);
    if (found == adjoints.end()) return;
    const std::size_t term = found->second;
    const auto update = part_updates_.by_result.find(compute.result);
    if (update != part_updates_.by_result.end() && update->second.adds_to_part) {
      add(adjoints, update->second.whole, term);
      add(adjoints, update->second.term, kOther);
      return;
    }
    const bool is_sum = compute.kind == ExprKind::kOperation && (compute.op == Op::kAdd || compute.op == Op::kSub) &&
                        compute.args[0].type == compute.args[1].type;
    for (std::size_t k = 0; k < compute.args.size(); ++k)
      add(adjoints, compute.args[k], is_sum && (k == 0 || compute.op == Op::kAdd) ? term : kOther);
  }

  void reverse(const Branch& branch, Adjoints& adjoints) {
    const auto through = [&](const Region& region, Operand MergedValue::*value) {
      Adjoints inner = adjoints;
      for (const MergedValue& merge : branch.merges) {
        if (const auto found = adjoints.find(merge.result); found != adjoints.end())
          add(inner, merge.*value, found->second);
      }
      reverse(region, inner);
      return inner;
    };
    const Adjoints then_adjoints = through(branch.then_region, &MergedValue::then_value);
    adjoints = through(branch.else_region, &MergedValue::else_value);
    for (auto& [value, term] : adjoints) {
      const auto found = then_adjoints.find(value);
      if (found == then_adjoints.end() || found->second != term) term = kOther;
    }
    for (const auto& [value, term] : then_adjoints)
      adjoints.try_emplace(value, kOther);
  }

  void reverse(const Loop& loop, Adjoints& adjoints) {
    Adjoints inner = before_iteration(loop);
    for (std::size_t i = 0; i < loop.carried_values.size(); ++i) {
      const CarriedValue& carried = loop.carried_values[i];
      const auto after = adjoints.find(carried.result);
      const auto before = inner.find(carried.argument);
      const bool passes_on = before != inner.end() && before->second == i;
      if (!passes_on) add(adjoints, carried.initial_value, kOther);
      else if (after != adjoints.end()) add(adjoints, carried.initial_value, after->second);
    }
    // The body may add to the adjoints of values that are defined before the loop.
    for (const auto& [value, term] : inner)
      adjoints.insert_or_assign(value, kOther);
  }

  const Module& module_;
  const Function& kernel_;
  const Activity& activity_;
  const PartUpdates& part_updates_;
  bool only_adds_to_arrays_ = true;
};

}  // namespace

bool has_commuting_iterations(const Module& module, const Function& kernel, const Loop& loop, const Activity& activity,
                              const PartUpdates& part_updates) {
  AdjointPaths paths(module, kernel, activity, part_updates);
  const Adjoints adjoints = paths.before_iteration(loop);
  if (!paths.only_adds_to_arrays()) return false;
  for (std::size_t i = 0; i < loop.carried_values.size(); ++i) {
    const CarriedValue& carried = loop.carried_values[i];
    const auto is_active = [&](ValueId value) { return activity.active_values[static_cast<std::size_t>(value)]; };
    if (!is_active(carried.argument) && !is_active(carried.result)) continue;
    const auto found = adjoints.find(carried.argument);
    if (found == adjoints.end() || found->second != i) return false;
  }
  return true;
}

}  // namespace assay::transforms
