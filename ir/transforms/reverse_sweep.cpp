// The reverse sweep: the adjoints of all statements, from last to first.
#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "ir/algebra.hpp"
#include "ir/custom.hpp"
#include "ir/transforms/refusal.hpp"
#include "ir/transforms/sweeps.hpp"

namespace assay::transforms {

using namespace ir;

namespace {

/// Whether the result is a field, row or component of the first operand.
bool is_part(const ComputeNode& compute) {
  return compute.kind == ExprKind::kField ||
         (compute.kind == ExprKind::kOperation && compute.op == Op::kExtract && !compute.args[0].type.is_tile());
}

}  // namespace

void SweepGenerator::reverse(const Region& region) {
  for (const SsaNode& node : region.nodes)
    if (const auto* compute = std::get_if<ComputeNode>(&node.node); compute != nullptr && is_part(*compute))
      regions_of_parts_[index(compute->result)] = &region;
  const Region* const outer = std::exchange(reversed_region_, &region);
  for (const SsaNode& node : std::views::reverse(region.nodes)) {
    builder_.at(node.loc);
    if (liveness_.has_reverse(node)) reverse_node(node);
  }
  reversed_region_ = outer;
}

void SweepGenerator::reverse_node(const SsaNode& node) {
  if (const auto* compute = std::get_if<ComputeNode>(&node.node)) reverse_compute(*compute);
  if (const auto* load = std::get_if<LoadNode>(&node.node)) reverse_load(*load);
  if (const auto* store = std::get_if<StoreNode>(&node.node)) reverse_store(*store);
  if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) reverse_atomic(*atomic);
  if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) reverse_custom(*custom);
  if (const auto* branch = std::get_if<Branch>(&node.node)) reverse_branch(*branch);
  if (const auto* loop = std::get_if<Loop>(&node.node)) reverse_loop(*loop);
}

void SweepGenerator::reverse_compute(const ComputeNode& compute) {
  if (is_part(compute)) return reverse_part(compute);
  const VarId w = adjoint_variables_[index(compute.result)];
  if (w == kNone) return;
  if (const auto update = part_updates_.by_result.find(compute.result); update != part_updates_.by_result.end())
    return reverse_part_update(update->second, w);
  adjoint_is_nonzero_ = kNone;
  for (std::size_t k = 0; k < compute.args.size(); ++k) {
    const Operand& operand = compute.args[k];
    if (!activity_.is_active(operand)) continue;
    const bool is_object = compute.kind == ExprKind::kOperation && compute.op == Op::kWithField && k == 0;
    if (is_object && has_adjoint(operand.value)) {
      // The adjoint of the replaced field belongs to its new value.
      differentiated_operations_.insert(compute.op);
      add_fields(adjoint_variable(operand.value), {}, builder_.var(w), compute.index);
    } else {
      const ExprId term = contribution(compute, k, builder_.var(w));
      const Expr& source = builder_.function().expr(term);
      const bool is_w = source.kind == ExprKind::kVariable && source.variable == w;
      if (is_w) accumulate_variable(operand, w);
      else accumulate(operand, term);
    }
  }
}

void SweepGenerator::reverse_part(const ComputeNode& compute) {
  const std::vector<PartContribution> deferred = std::exchange(deferred_contributions_[index(compute.result)], {});
  const VarId w = adjoint_variables_[index(compute.result)];
  const Operand& whole = compute.args[0];
  if ((w == kNone && deferred.empty()) || !activity_.is_active(whole)) return;
  if (compute.kind == ExprKind::kOperation) differentiated_operations_.insert(compute.op);
  ElementPartStep step{.whole_type = whole.type, .field_index = compute.index};
  if (compute.kind == ExprKind::kOperation) step = {.whole_type = whole.type, .index = expr(compute.args[1])};
  if (w != kNone) accumulate_in_part(whole, {step}, builder_.var(w));
  for (const PartContribution& one : deferred) {
    std::vector<ElementPartStep> path{step};
    path.insert(path.end(), one.path.begin(), one.path.end());
    accumulate_in_part(whole, std::move(path), one.term);
  }
}

void SweepGenerator::reverse_part_update(const PartUpdate& update, VarId w) {
  differentiated_operations_.insert(Op::kInsert);
  std::vector<ElementPartStep> path;
  Type type = update.whole.type;
  for (const Operand& index : update.indices) {
    path.push_back({.whole_type = type, .index = expr(index)});
    type = type.indexed_part_type();
  }
  const bool reaches_term = activity_.is_active(update.term);
  const std::string name = update.part.is_constant() ? "part" : value_of(update.part.value).name;
  const VarId adjoint_of_part = reaches_term ? builder_.let("adj_" + name, part(builder_.var(w), path)) : kNone;
  if (update.adds_to_part) accumulate_variable(update.whole, w);
  else accumulate(update.whole, with_part(builder_.var(w), path, builder_.zero(type)));
  if (reaches_term && update.subtracts_term)
    accumulate(update.term, builder_.op(Op::kNeg, {builder_.var(adjoint_of_part)}));
  else if (reaches_term) accumulate_variable(update.term, adjoint_of_part);
}

ExprId SweepGenerator::contribution(const ComputeNode& compute, std::size_t k, ExprId w) {
  differentiated_operations_.insert(compute.op);
  const AdjointRule& rule = rule_of(compute.op);
  const std::uint8_t mask = reads_of(rule, k);
  rule_operands_.clear();
  rule_operand_types_.clear();
  for (std::size_t i = 0; i < compute.args.size(); ++i) {
    const bool read = i < 3 && (mask >> i & 1U) != 0;
    rule_operands_.push_back(read ? expr(compute.args[i]) : kNone);
    rule_operand_types_.push_back(compute.args[i].type);
  }
  const bool reads_result = (mask & kReadsResult) != 0;
  AdjointRuleContext context{.builder = builder_,
                             .w = w,
                             .args = rule_operands_,
                             .result = reads_result ? builder_.var(primal_variables_[index(compute.result)]) : kNone,
                             .operand_types = rule_operand_types_,
                             .index = compute.index};
  const ExprId term = rule.term(context, static_cast<int>(k));
  const bool shared = builder_.type_of(term).is_tile() && compute.args[k].type.is_scalar();

  const bool masked = rule.zero_adjoint_test == ZeroAdjointTest::kForUnselectedValues && mask != 0 &&
                      activity_.possibly_unused_values[index(compute.result)];
  const bool apart = compute.kind != ExprKind::kOperation || is_elementwise(compute.op);
  const ExprId guarded =
      rule.zero_adjoint_test == ZeroAdjointTest::kAlways || masked ? unless_zero(w, term, apart) : term;
  return shared ? sum_of_elements(guarded) : guarded;
}

ExprId SweepGenerator::sum_of_elements(ExprId tile) {
  const ExprId sum = builder_.op(Op::kTileSum, {tile}, tile_type(builder_.type_of(tile).scalar, 1));
  return builder_.op(Op::kTileExtract, {sum, builder_.i32(0)});
}

ExprId SweepGenerator::unless_zero(ExprId w, ExprId term, bool apart) {
  const Type type = builder_.type_of(w);
  if (type.is_tile() && !apart) {
    // Some element is nonzero if the number of nonzero elements is positive.
    const ExprId differs = builder_.op(Op::kNe, {w, builder_.zero(type.component())});
    const ExprId ones =
        builder_.op(Op::kWhere, {differs, builder_.literal(type.component(), 1.0), builder_.zero(type.component())});
    const ExprId some = builder_.op(Op::kGt, {sum_of_elements(ones), builder_.zero(type.component())});
    return builder_.op(Op::kWhere, {some, term, builder_.zero(builder_.type_of(term))});
  }
  ExprId taken = adjoint_is_nonzero_ == kNone ? kNone : builder_.var(adjoint_is_nonzero_);
  if (taken == kNone) {
    for (const algebra::E component : algebra::components({&builder_, w})) {
      const ExprId differs = builder_.op(Op::kNe, {component.id, builder_.zero(component.type().component())});
      taken = taken == kNone ? differs : builder_.op(Op::kOr, {taken, differs});
    }
    if (type.is_aggregate()) {
      adjoint_is_nonzero_ = builder_.let("is_nonzero", taken);
      taken = builder_.var(adjoint_is_nonzero_);
    }
  }
  return builder_.op(Op::kWhere, {taken, term, builder_.zero(builder_.type_of(term))});
}

void SweepGenerator::accumulate(const Operand& operand, ExprId term) {
  if (!activity_.is_active(operand)) return;
  const std::size_t value = index(operand.value);
  const bool is_borrowed = has_borrowed_variable_[value];
  if (has_adjoint(operand.value) && !(is_borrowed && !operand.type.is_struct()))
    return add_to_variable(adjoint_variable(operand.value), {}, term);
  if (is_borrowed) term = plus(builder_.var(adjoint_variables_[value]), term);
  adjoint_variables_[value] = builder_.let("adj_" + value_of(operand.value).name, term);
  has_borrowed_variable_[value] = false;
}

void SweepGenerator::accumulate_variable(const Operand& operand, VarId variable) {
  if (!activity_.is_active(operand)) return;
  if (has_adjoint(operand.value)) return accumulate(operand, builder_.var(variable));
  adjoint_variables_[index(operand.value)] = variable;
  has_borrowed_variable_[index(operand.value)] = true;
}

void SweepGenerator::accumulate_in_part(const Operand& whole, std::vector<ElementPartStep> path, ExprId term) {
  const std::size_t value = index(whole.value);
  if (adjoint_variables_[value] == kNone && regions_of_parts_[value] == reversed_region_) {
    deferred_contributions_[value].push_back({.path = std::move(path), .term = term});
    return;
  }
  add_to_variable(adjoint_variable(whole.value), path, term);
}

VarId SweepGenerator::adjoint_variable(ValueId value) {
  VarId& adjoint = adjoint_variables_[index(value)];
  const std::string name = "adj_" + value_of(value).name;
  if (has_borrowed_variable_[index(value)]) adjoint = builder_.let(name, builder_.var(adjoint));
  else if (adjoint == kNone) zero_variables_.insert(adjoint = builder_.let_zero(name, value_of(value).type));
  has_borrowed_variable_[index(value)] = false;
  for (const PartContribution& one : std::exchange(deferred_contributions_[index(value)], {}))
    add_to_variable(adjoint, one.path, one.term);
  return adjoint;
}

void SweepGenerator::add_to_variable(VarId variable, const std::vector<ElementPartStep>& path, ExprId term) {
  const Type type = builder_.type_of(term);
  if (!type.is_struct()) {
    changed_variables_.insert(variable);
    if (zero_variables_.erase(variable) == 0) term = plus(part(builder_.var(variable), path), term);
    return builder_.assign(variable, with_part(builder_.var(variable), path, term));
  }
  add_fields(variable, path, term, kNone);
}

void SweepGenerator::add_fields(VarId variable, const std::vector<ElementPartStep>& path, ExprId term,
                                std::int32_t omitted_field) {
  // Each field is added in a statement of its own, so the term must not be computed for each of them.
  const auto is_variable = [&](ExprId id) { return builder_.function().expr(id).kind == ExprKind::kVariable; };
  ExprId object = term;
  while (builder_.function().expr(object).kind == ExprKind::kField)
    object = builder_.function().expr(object).args[0];
  if (!is_variable(object)) term = builder_.var(builder_.let("term", term));
  const Type type = builder_.type_of(term);
  const auto& fields = module_.structs[type.struct_id].fields;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const bool is_omitted = std::cmp_equal(f, omitted_field);
    if (is_omitted || !fields[f].type.is_value() || !carries_floats(module_, fields[f].type)) continue;
    std::vector<ElementPartStep> field = path;
    field.push_back({.whole_type = type, .field_index = static_cast<std::int32_t>(f)});
    add_to_variable(variable, field, builder_.field(term, static_cast<std::int32_t>(f)));
  }
}

ExprId SweepGenerator::field_at(ExprId object, std::span<const std::int32_t> path) {
  for (const std::int32_t field : path)
    object = builder_.field(object, field);
  return object;
}

ExprId SweepGenerator::with_field_at(VarId object, std::span<const std::int32_t> path, ExprId value) {
  for (std::size_t depth = path.size(); depth-- > 0;) {
    ExprId outer = builder_.var(object);
    for (std::size_t k = 0; k < depth; ++k)
      outer = builder_.field(outer, path[k]);
    value = builder_.op(Op::kWithField, {outer, value}, kVoid, path[depth]);
  }
  return value;
}

namespace {

/// The gradient array of a field, seen from a part of an element.
struct GradientOfPart {
  std::span<const std::int32_t> fields;  ///< fields that lead from the part to the field of the gradient array
  std::size_t first_step = 0;            ///< first step of the path that leads from the gradient's element to the part
};

/// Nothing if the gradient array belongs to another part of the element.
std::optional<GradientOfPart> gradient_of_part(const FieldGradient& gradient, const Path& path) {
  std::size_t common = 0;
  while (common < gradient.field_path.size() && common < path.size()) {
    if (path[common].field_index != gradient.field_path[common]) return std::nullopt;
    ++common;
  }
  return GradientOfPart{.fields = std::span(gradient.field_path).subspan(common), .first_step = common};
}

}  // namespace

void SweepGenerator::reverse_load(const LoadNode& load) {
  const VarId w = adjoint_variables_[index(load.result)];
  if (w == kNone) return;
  for (const FieldGradient& field : gradient_arrays_[static_cast<std::size_t>(load.array)]) {
    const auto found = gradient_of_part(field, load.path);
    if (!found) continue;
    const std::vector<ElementPartStep> path = path_of(load.path);
    add_to_part(field.gradient, load.indices, std::span(path).subspan(found->first_step),
                field_at(builder_.var(w), found->fields));
  }
}

void SweepGenerator::reverse_store(const StoreNode& store) {
  const bool is_active = activity_.is_active(store.value);
  VarId seed = kNone;
  if (is_active && store.value.type.is_struct()) seed = builder_.let_zero("seed", store.value.type);
  for (const FieldGradient& field : gradient_arrays_[static_cast<std::size_t>(store.array)]) {
    const auto found = gradient_of_part(field, store.path);
    if (!found) continue;
    const std::vector<ElementPartStep> whole_path = path_of(store.path);
    const auto path = std::span(whole_path).subspan(found->first_step);
    Type type = builder_.function().var(field.gradient).type.element();
    if (store.value.type.is_tile()) type = type.with_tile_extents_of(store.value.type);
    const auto cell = [&] { return part(this->cell(field.gradient, store.indices, type), path); };
    if (is_active && seed == kNone) {
      seed = builder_.let("seed", cell());
    } else if (is_active) {
      builder_.assign(seed, with_field_at(seed, found->fields, cell()));
    }
    store_part(field.gradient, store.indices, path,
               builder_.zero(path.empty() ? type : part_type(module_, type, {path.begin(), path.end()})));
  }
  if (is_active) accumulate_variable(store.value, seed);
}

void SweepGenerator::reverse_atomic(const AtomicNode& atomic) {
  const ir::AtomicOperationEntry& operation = row(atomic.op);
  const std::string& name = kernel_.var(atomic.array).name;
  if (!operation.is_differentiable)
    return record_error(reject(AdjointRejection::kUnorderedAtomic, module_, builder_.at(), name));
  if (atomic.op == AtomicOp::kMin || atomic.op == AtomicOp::kMax) return reverse_extremum(atomic);
  for (const FieldGradient& field : gradient_arrays_[static_cast<std::size_t>(atomic.array)]) {
    const auto found = gradient_of_part(field, atomic.path);
    if (!found) continue;
    const std::vector<ElementPartStep> path = path_of(atomic.path);
    const auto steps = std::span(path).subspan(found->first_step);
    const ExprId seed = steps.empty() ? cell(field.gradient, atomic.indices, atomic.value.type)
                                      : part(builder_.load(field.gradient, exprs(atomic.indices)), steps);
    accumulate(atomic.value, atomic.op == AtomicOp::kSub ? builder_.op(Op::kNeg, {seed}) : seed);
  }
}

void SweepGenerator::reverse_extremum(const AtomicNode& atomic) {
  if (!atomic.value.type.is_scalar()) return reverse_extremum_of_components(atomic);
  const VarId gradient = gradient_of(atomic.array);
  const VarId seed = builder_.let_zero("seed", atomic.value.type);
  // The array holds its final content here.
  const ExprId won = builder_.op(Op::kEq, {expr(atomic.value), builder_.load(atomic.array, exprs(atomic.indices))});
  builder_.if_(won, [&] {
    const VarId taken = builder_.atomic_result("taken", AtomicOp::kExchange, gradient, exprs(atomic.indices),
                                               builder_.zero(atomic.value.type));
    builder_.assign(seed, builder_.var(taken));
  });
  accumulate(atomic.value, builder_.var(seed));
}

/// The winner of each component takes the gradient of that component, and only the first of several winners gets it:
/// a compare-and-swap exchanges the gradients of the components that the thread won with zero.
void SweepGenerator::reverse_extremum_of_components(const AtomicNode& atomic) {
  using algebra::E;
  const Type type = atomic.value.type;
  const VarId gradient = gradient_of(atomic.array);
  const VarId seed = builder_.let_zero("seed", type);
  // The array holds its final content here.
  const VarId final_value = builder_.let("final", builder_.load(atomic.array, exprs(atomic.indices)));
  std::vector<VarId> won;
  for (int k = 0; k < type.components(); ++k) {
    const E mine = algebra::component({&builder_, expr(atomic.value)}, k);
    const E kept = algebra::component({&builder_, builder_.var(final_value)}, k);
    won.push_back(builder_.let("won", algebra::call(Op::kEq, mine, kept).id));
  }
  const auto swapped = [&](const char* name, ExprId compare) {
    return builder_.atomic_result(name, AtomicOp::kCompareAndSwap, gradient, exprs(atomic.indices), builder_.zero(type),
                                  compare);
  };
  const auto where_won = [&](VarId whole) {
    std::vector<E> parts;
    for (int k = 0; k < type.components(); ++k) {
      const E part = algebra::component({&builder_, builder_.var(whole)}, k);
      parts.push_back(
          algebra::where({&builder_, builder_.var(won[static_cast<std::size_t>(k)])}, part, algebra::zero_like(part)));
    }
    return algebra::make(type, parts).id;
  };
  ExprId any = builder_.var(won[0]);
  for (std::size_t k = 1; k < won.size(); ++k)
    any = builder_.op(Op::kOr, {any, builder_.var(won[k])});
  builder_.if_(any, [&] {
    const VarId present = swapped("present", builder_.zero(type));  // changes nothing
    const VarId taken = swapped("taken", where_won(present));
    builder_.assign(seed, where_won(taken));
  });
  accumulate(atomic.value, builder_.var(seed));
}

void SweepGenerator::reverse_custom(const CustomDerivativeNode& custom) {
  const auto reaches = [&](ValueId result) { return adjoint_variables_[index(result)] != kNone; };
  if (std::ranges::none_of(custom.results, reaches)) return;
  const Function& gradient = module_.functions[static_cast<std::size_t>(custom.gradient_function)];
  std::vector<ExprId> args = exprs(custom.args);
  for (const ValueId result : custom.results) {
    const VarId w = adjoint_variables_[index(result)];
    args.push_back(w != kNone ? builder_.var(w)
                              : expr(Operand{.value = kNone, .type = value_of(result).type, .bits = 0}));
  }
  for (const VarId array : custom.adjoint_arrays)
    args.push_back(builder_.var(gradient_of(custom.args[static_cast<std::size_t>(array)].value)));
  std::vector<std::string> names;
  for (const VarId target : custom.targets)
    names.push_back("adj_" + gradient.var(target).name);
  const std::vector<VarId> adjoints = builder_.call_statement(custom.gradient_function, args, names);
  for (std::size_t k = 0; k < custom.targets.size(); ++k) {
    const Operand& arg = custom.args[static_cast<std::size_t>(custom.targets[k])];
    if (activity_.is_active(arg)) accumulate(arg, builder_.var(adjoints[k]));
  }
}

void SweepGenerator::collect_receivers(const Branch& branch, ValueSet& receivers) const {
  for (const MergedValue& merge : branch.merges) {
    if (activity_.is_active(merge.then_value)) receivers.add(index(merge.then_value.value));
    if (activity_.is_active(merge.else_value)) receivers.add(index(merge.else_value.value));
  }
  collect_receivers(branch.then_region, receivers);
  collect_receivers(branch.else_region, receivers);
}

void SweepGenerator::collect_receivers(const Region& region, ValueSet& receivers) const {
  const auto add = [&](const Operand& operand) {
    if (activity_.is_active(operand)) receivers.add(index(operand.value));
  };
  for (const SsaNode& node : region.nodes) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.node)) {
      if (is_active(compute->result)) std::ranges::for_each(compute->args, add);
      const auto update = part_updates_.by_result.find(compute->result);
      if (update != part_updates_.by_result.end()) add(update->second.term);
    }
    if (const auto* store = std::get_if<StoreNode>(&node.node)) add(store->value);
    if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) add(atomic->value);
    if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
      for (const VarId target : custom->targets)
        add(custom->args[static_cast<std::size_t>(target)]);
    }
    if (const auto* branch = std::get_if<Branch>(&node.node)) collect_receivers(*branch, receivers);
    if (const auto* loop = std::get_if<Loop>(&node.node)) {
      for (const CarriedValue& carried : loop->carried_values) {
        add(carried.initial_value);
        add(carried.next_value);
      }
      collect_receivers(loop->body, receivers);
    }
  }
}

void SweepGenerator::open_receivers(const ValueSet& receivers, const ValueSet& inside) {
  (receivers - inside).for_each([&](std::size_t v) { static_cast<void>(adjoint_variable(static_cast<ValueId>(v))); });
}

void SweepGenerator::forget_adjoints(const Region& region) {
  ValueSet defined = liveness_.none();
  liveness_.collect_defined(region, defined);
  defined.for_each([&](std::size_t v) { forget_adjoint(v); });
}

void SweepGenerator::reverse_branch(const Branch& branch) {
  ValueSet receivers = liveness_.none();
  collect_receivers(branch, receivers);
  ValueSet inside = liveness_.none();
  liveness_.collect_defined(branch.then_region, inside);
  liveness_.collect_defined(branch.else_region, inside);
  open_receivers(receivers, inside);

  const auto arm = [&](const Region& region, Operand MergedValue::*value) {
    return builder_.block([&] {
      for (const MergedValue& merge : branch.merges) {
        const VarId w = adjoint_variables_[index(merge.result)];
        if (w == kNone) continue;
        accumulate_variable(merge.*value, w);
        differentiated_operations_.insert(Op::kConditional);
      }
      reverse(region);
    });
  };
  const Loc loc = builder_.at();
  const ExprId condition = expr(branch.condition);
  const std::set<VarId> zero_before = zero_variables_;
  Block then_block = arm(branch.then_region, &MergedValue::then_value);
  const std::set<VarId> zero_after_then = std::exchange(zero_variables_, zero_before);
  Block else_block = arm(branch.else_region, &MergedValue::else_value);
  std::erase_if(zero_variables_, [&](VarId variable) { return !zero_after_then.contains(variable); });
  if (then_block.statements.empty() && else_block.statements.empty()) return;
  builder_.append({.node = If{condition, std::move(then_block), std::move(else_block)}, .loc = loc});
}

std::vector<VarId> SweepGenerator::open_carried_adjoints(const Loop& loop) {
  const bool is_unchanged = liveness_.needs(loop).is_reversed_forward;
  std::vector<VarId> adjoints;
  for (const CarriedValue& carried : loop.carried_values) {
    if (!is_active(carried.argument) && !is_active(carried.result)) {
      adjoints.push_back(kNone);
      continue;
    }
    const VarId after = adjoint_variables_[index(carried.result)];
    const std::string name = "adj_" + value_of(carried.argument).name;
    if (after == kNone) adjoints.push_back(builder_.let_zero(name, value_of(carried.argument).type));
    else adjoints.push_back(is_unchanged ? after : builder_.let(name, builder_.var(after)));
  }
  return adjoints;
}

ExprId SweepGenerator::iteration_value(const Loop& loop, ExprId iteration) {
  const bool from_zero = loop.start.is_constant() && loop.start.bits == 0;
  const bool by_one = loop.step.is_constant() && loop.step.bits == 1;
  const ExprId number = loop.start.type == kI32 ? iteration : builder_.cast(loop.start.type, iteration);
  const ExprId offset = by_one ? number : builder_.op(Op::kMul, {number, expr(loop.step)});
  return from_zero ? offset : plus(expr(loop.start), offset);
}

void SweepGenerator::reverse_loop(const Loop& loop) {
  const bool runs_forward = liveness_.needs(loop).is_reversed_forward;
  if (!runs_forward && !reversed_loops_.contains(&loop)) return;
  const Loc loc = builder_.at();

  ValueSet inside = liveness_.none();
  liveness_.collect_defined(loop.body, inside);
  for (const CarriedValue& carried : loop.carried_values)
    inside.add(index(carried.argument));
  ValueSet receivers = liveness_.none();
  collect_receivers(loop.body, receivers);
  for (const CarriedValue& carried : loop.carried_values) {
    if (activity_.is_active(carried.next_value)) receivers.add(index(carried.next_value.value));
  }
  open_receivers(receivers, inside);
  const std::vector<VarId> carried_adjoints = open_carried_adjoints(loop);

  // In the loop, an earlier iteration may have added to any of them.
  const std::set<VarId> zero_before = std::exchange(zero_variables_, {});
  if (++reversed_loop_depth_ == 1) outermost_reversed_loop_ = &loop;
  if (runs_forward) reverse_iterations_forward(loop, carried_adjoints);
  else reverse_iterations_backward(loop, carried_adjoints);
  if (--reversed_loop_depth_ == 0) outermost_reversed_loop_ = nullptr;
  zero_variables_ = zero_before;
  std::erase_if(zero_variables_, [&](VarId variable) { return changed_variables_.contains(variable); });
  builder_.at(loc);
  forget_adjoints(loop.body);
  for (std::size_t i = 0; i < loop.carried_values.size(); ++i) {
    forget_adjoint(index(loop.carried_values[i].argument));
    if (carried_adjoints[i] != kNone) accumulate_variable(loop.carried_values[i].initial_value, carried_adjoints[i]);
  }
}

void SweepGenerator::reverse_iterations_forward(const Loop& loop, const std::vector<VarId>& carried_adjoints) {
  const std::vector<std::size_t>& carried = liveness_.needs(loop).restored_carried_values;
  ValueSet next_values = liveness_.none();
  for (const std::size_t i : carried) {
    const CarriedValue& c = loop.carried_values[i];
    Liveness::add(next_values, c.next_value);
    bind(c.argument, let_operand(value_of(c.argument).name, c.initial_value));
  }
  // The adjoints of the carried values do not change, so nothing has to be added to them.
  ValueSet arguments = liveness_.none();
  for (const CarriedValue& c : loop.carried_values)
    arguments.add(index(c.argument));
  activity_.active_values -= arguments;
  const auto body = [&] {
    reverse_iteration(loop, next_values, carried_adjoints);
    carry(loop, carried);
  };
  if (loop.is_range_loop) {
    builder_.for_(value_of(loop.index).name, expr(loop.start), expr(loop.stop), expr(loop.step), [&](VarId variable) {
      bind(loop.index, variable);
      body();
    });
  } else {
    builder_.while_(builder_.var(primal_variables_[index(loop.carried_values[loop.condition].argument)]), body);
  }
}

void SweepGenerator::reverse_iterations_backward(const Loop& loop, const std::vector<VarId>& carried_adjoints) {
  const ReversedLoop record = reversed_loops_.at(&loop);
  VarId top = kNone;
  const bool has_state = !liveness_.needs(loop).restored_carried_values.empty();
  if (has_state && record.checkpoint_positions != kNone) {
    // A loop with more iterations than checkpoints restarts from its first state and places the checkpoints again.
    top = builder_.let("checkpoint", builder_.i32(0));
    builder_.store(record.checkpoint_positions, {builder_.i32(0)}, builder_.i32(0));
  }
  const bool is_index = has_index_from_zero(loop);
  const std::string name = is_index ? value_of(loop.index).name : "iteration";
  const ExprId last = minus(builder_.var(record.trip_count), builder_.i32(1));
  builder_.for_(name, last, builder_.i32(-1), builder_.i32(-1), [&](VarId iteration) {
    if (has_state) restore_state(loop, record, iteration, top);
    if (is_index) {
      bind(loop.index, iteration);
    } else if (loop.is_range_loop) {
      bind(loop.index, builder_.let(value_of(loop.index).name, iteration_value(loop, builder_.var(iteration))));
    }
    reverse_iteration(loop, liveness_.none(), carried_adjoints);
  });
}

void SweepGenerator::reverse_iteration(const Loop& loop, ValueSet live, const std::vector<VarId>& carried_adjoints) {
  const LoopLiveness& needs = liveness_.needs(loop);
  const Loc loc = builder_.at();
  live |= needs.read_values;
  forward(loop.body, live, {.records_values = true});
  builder_.at(loc);
  for (std::size_t i = 0; i < loop.carried_values.size(); ++i) {
    if (carried_adjoints[i] != kNone) accumulate_variable(loop.carried_values[i].next_value, carried_adjoints[i]);
  }
  reverse(loop.body);
  builder_.at(loc);
  // If the order does not matter, the adjoints are the same before and after the iteration.
  if (!needs.is_reversed_forward) assign_carried_adjoints(loop, carried_adjoints);
}

void SweepGenerator::assign_carried_adjoints(const Loop& loop, const std::vector<VarId>& carried_adjoints) {
  std::vector<VarId> before;
  for (std::size_t i = 0; i < carried_adjoints.size(); ++i) {
    before.push_back(adjoint_variables_[index(loop.carried_values[i].argument)]);
    // The assignments below change this adjoint before it is read.
    const bool changes = carried_adjoints[i] != kNone && before[i] != kNone && before[i] != carried_adjoints[i] &&
                         std::ranges::count(carried_adjoints, before[i]) > 0;
    if (changes)
      before[i] = builder_.let("adj_" + value_of(loop.carried_values[i].argument).name, builder_.var(before[i]));
  }
  for (std::size_t i = 0; i < carried_adjoints.size(); ++i) {
    if (carried_adjoints[i] == kNone || before[i] == carried_adjoints[i]) continue;
    const Type type = value_of(loop.carried_values[i].argument).type;
    builder_.assign(carried_adjoints[i], before[i] != kNone ? builder_.var(before[i])
                                                            : expr(Operand{.value = kNone, .type = type, .bits = 0}));
  }
}

void SweepGenerator::restore_state(const Loop& loop, const ReversedLoop& record, VarId iteration, VarId top) {
  const auto& state = liveness_.needs(loop).restored_carried_values;
  for (std::size_t s = 0; s < state.size(); ++s) {
    const ValueId argument = loop.carried_values[state[s]].argument;
    const SsaValue& value = value_of(argument);
    bind(argument, top == kNone ? builder_.let(value.name,
                                               builder_.load(record.checkpointed_values[s], {builder_.var(iteration)}))
                                : builder_.let_zero(value.name, value.type));
  }
  if (top == kNone) return;
  const auto load_from = [&](VarId slot) {
    for (std::size_t s = 0; s < state.size(); ++s) {
      builder_.assign(primal_variables_[index(loop.carried_values[state[s]].argument)],
                      builder_.load(record.checkpointed_values[s], {builder_.var(slot)}));
    }
  };
  builder_.if_(
      trip_count_fits_checkpoints(record), [&] { load_from(iteration); },
      [&] {
        builder_.while_(builder_.op(Op::kGt, {builder_.load(record.checkpoint_positions, {builder_.var(top)}),
                                              builder_.var(iteration)}),
                        [&] { builder_.assign(top, minus(builder_.var(top), builder_.i32(1))); });
        load_from(top);
        rerun_to(loop, record, iteration, top);
      });
}

void SweepGenerator::rerun_to(const Loop& loop, const ReversedLoop& record, VarId iteration, VarId top) {
  const auto& state = liveness_.needs(loop).restored_carried_values;
  const VarId position = builder_.let("position", builder_.load(record.checkpoint_positions, {builder_.var(top)}));
  ValueSet inner = liveness_.none();
  for (const std::size_t i : state)
    Liveness::add(inner, loop.carried_values[i].next_value);
  const auto free_slot = [&] {
    return builder_.op(Op::kLt, {builder_.var(top), builder_.i32(record.checkpoint_count - 1)});
  };
  const Loc loc = builder_.at();
  builder_.while_(builder_.op(Op::kLt, {builder_.var(position), builder_.var(iteration)}), [&] {
    const VarId stop = builder_.let("stop", builder_.var(iteration));
    builder_.if_(free_slot(), [&] {
      const ExprId steps = plus(minus(builder_.var(iteration), builder_.var(position)), builder_.i32(1));
      const ExprId slots = minus(builder_.i32(record.checkpoint_count), builder_.var(top));
      builder_.assign(stop, plus(builder_.var(position), builder_.call(checkpoint_stride_function_, {steps, slots})));
    });
    builder_.while_(builder_.op(Op::kLt, {builder_.var(position), builder_.var(stop)}), [&] {
      if (loop.is_range_loop) {
        bind(loop.index, builder_.let(value_of(loop.index).name, iteration_value(loop, builder_.var(position))));
      }
      forward(loop.body, inner, {});
      builder_.at(loc);
      carry(loop, state);
      builder_.assign(position, plus(builder_.var(position), builder_.i32(1)));
    });
    builder_.if_(free_slot(), [&] {
      builder_.assign(top, plus(builder_.var(top), builder_.i32(1)));
      builder_.store(record.checkpoint_positions, {builder_.var(top)}, builder_.var(position));
      for (std::size_t s = 0; s < state.size(); ++s) {
        builder_.store(record.checkpointed_values[s], {builder_.var(top)},
                       builder_.var(primal_variables_[index(loop.carried_values[state[s]].argument)]));
      }
    });
  });
}

}  // namespace assay::transforms
