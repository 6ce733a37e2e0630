#include "ir/transforms/activity.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::transforms {
namespace {

using namespace ir;

/// Repeats passes over the kernel until the sets stop growing; loops propagate facts forward and backward.
class Walker {
 public:
  Walker(const Module& module, const Function& kernel, const SsaKernel& ssa)
      : module_(module),
        kernel_(kernel),
        ssa_(ssa),
        varied_(ssa.values.size()),
        useful_(ssa.values.size()),
        maskable_(ssa.values.size()),
        differentiable_(ssa.values.size()) {
    for (std::size_t v = 0; v < ssa.values.size(); ++v)
      if (carries_floats(module, ssa.values[v].type)) differentiable_.add(v);
    for (int p = 0; p < kernel.parameter_count; ++p) {
      const Type type = kernel.var(p).type;
      if (type.is_value() && carries_floats(module, type)) varied_.add(static_cast<std::size_t>(p));
    }
  }

  Activity run() {
    // The caller of a function may not use its results.
    for (const Operand& result : ssa_.results) {
      use(result);
      if (!result.is_constant()) mark(maskable_, result.value);
    }
    do {
      changed_ = false;
      // One pass propagates facts forward to the end of the program, the other backward to its start: without loops
      // two passes find all facts.
      for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
        direction_ = direction;
        region(ssa_.body);
      }
    } while (changed_);
    return {.active_values = varied_ & useful_, .possibly_unused_values = std::move(maskable_)};
  }

 private:
  enum class Direction { kForward, kBackward };

  void mark(ValueSet& set, ValueId value) {
    if (set[static_cast<std::size_t>(value)]) return;
    set.add(static_cast<std::size_t>(value));
    changed_ = true;
  }
  bool has(const ValueSet& set, ValueId value) const { return set[static_cast<std::size_t>(value)]; }
  bool differentiable(ValueId value) const { return has(differentiable_, value); }

  /// `to` depends on `from`: variation flows forward, usefulness and masking backward.
  void flow(const Operand& from, ValueId to, bool masks = false) {
    if (from.is_constant()) return;
    if (has(varied_, from.value) && differentiable(to)) mark(varied_, to);
    if (!differentiable(from.value)) return;
    if (has(useful_, to)) mark(useful_, from.value);
    if (masks || has(maskable_, to)) mark(maskable_, from.value);
  }
  void use(const Operand& value) {
    if (!value.is_constant() && differentiable(value.value)) mark(useful_, value.value);
  }

  void region(const Region& region) {
    const auto visit = [&](const SsaNode& node) { this->visit(node); };
    if (direction_ == Direction::kForward) std::for_each(region.nodes.begin(), region.nodes.end(), visit);
    else std::for_each(region.nodes.rbegin(), region.nodes.rend(), visit);
  }
  void visit(const SsaNode& node) {
    std::visit([&](const auto& concrete) { this->node(concrete); }, node.node);
  }

  static bool masks(Op op) {
    return op == Op::kWhere || op == Op::kMin || op == Op::kMax || op == Op::kClamp || op == Op::kSmoothstep;
  }
  /// Whether a result of a call, or the field of a result, has no derivative.
  static bool is_unvaried(const CustomDerivativeNode& custom, std::size_t result) {
    return !custom.varied_parts.empty() && std::ranges::none_of(custom.varied_parts[result], std::identity());
  }
  bool is_unvaried_field(const ComputeNode& compute) const {
    if (compute.kind != ExprKind::kField || compute.args[0].is_constant()) return false;
    const auto found = fields_of_results_.find(compute.args[0].value);
    return found != fields_of_results_.end() && !found->second[static_cast<std::size_t>(compute.index)];
  }

  void node(const ComputeNode& compute) {
    if (compute.kind == ExprKind::kShapeOf || is_unvaried_field(compute)) return;
    if (compute.kind == ExprKind::kOperation && row(compute.op).adjoint_kind != AdjointKind::kHasRule) return;
    const bool selects = compute.kind == ExprKind::kOperation && masks(compute.op);
    for (const Operand& arg : compute.args)
      flow(arg, compute.result, selects);
  }
  void node(const LoadNode& load) {
    if (differentiable(load.result)) mark(varied_, load.result);
  }
  void node(const StoreNode& store) { use(store.value); }
  void node(const AtomicNode& atomic) {
    use(atomic.value);
    if (atomic.result != kNone && differentiable(atomic.result)) mark(varied_, atomic.result);
  }
  void node(const CustomDerivativeNode& custom) {
    if (custom.calls_function() && custom.gradient_function == kNone) return;
    for (std::size_t r = 0; r < custom.results.size(); ++r) {
      if (is_unvaried(custom, r)) continue;
      const ValueId result = custom.results[r];
      if (!custom.varied_parts.empty() && custom.varied_parts[r].size() > 1)
        fields_of_results_.try_emplace(result, custom.varied_parts[r]);
      // A derivative through another call without a gradient is rejected if it is needed.
      const bool is_always_varied = custom.gradient_function == kNone || !custom.adjoint_arrays.empty();
      if (is_always_varied && differentiable(result)) mark(varied_, result);
      for (const VarId target : custom.targets)
        flow(custom.args[static_cast<std::size_t>(target)], result);
    }
  }
  void node(const Branch& branch) {
    region(branch.then_region);
    region(branch.else_region);
    for (const MergedValue& merge : branch.merges) {
      flow(merge.then_value, merge.result);
      flow(merge.else_value, merge.result);
    }
  }
  void node(const Loop& loop) {
    for (const CarriedValue& carried : loop.carried_values) {
      flow(carried.initial_value, carried.argument);
      flow(carried.initial_value, carried.result);
      flow(carried.next_value, carried.argument);
      flow(carried.next_value, carried.result);
    }
    region(loop.body);
  }

  const Module& module_;
  const Function& kernel_;
  const SsaKernel& ssa_;
  ValueSet varied_, useful_, maskable_, differentiable_;
  std::map<ValueId, VariedParts> fields_of_results_;  ///< for structs that calls return: the fields with a derivative
  Direction direction_ = Direction::kForward;
  bool changed_ = false;
};

}  // namespace

bool carries_floats(const Module& module, Type type) {
  if (type.shape != Shape::kStruct) return type.has_float_components();
  const auto& fields = module.structs[type.struct_id].fields;
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return field.type.is_value() && carries_floats(module, field.type); });
}

Activity find_activity(const Module& module, const Function& kernel, const SsaKernel& ssa) {
  return Walker(module, kernel, ssa).run();
}

VariedParts varied_parts(const Module& module, const SsaKernel& ssa, const Activity& activity, const Operand& result) {
  if (!result.type.is_struct()) return {activity.is_active(result)};
  VariedParts parts(module.structs[result.type.struct_id].fields.size(), false);
  // split_structs makes a struct of its fields in the last nodes of the function.
  Operand whole = result;
  for (auto node = ssa.body.nodes.rbegin(); node != ssa.body.nodes.rend() && !whole.is_constant(); ++node) {
    const auto* set_field = std::get_if<ComputeNode>(&node->node);
    if (set_field == nullptr || set_field->result != whole.value) continue;
    if (set_field->kind != ExprKind::kOperation || set_field->op != Op::kWithField) break;
    if (activity.is_active(set_field->args[1])) parts[static_cast<std::size_t>(set_field->index)] = true;
    whole = set_field->args[0];
  }
  if (activity.is_active(whole)) parts.assign(parts.size(), true);
  return parts;
}

}  // namespace assay::transforms
