// The forward sweep: runs the kernel again and records the values that the reverse sweep reads.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <utility>

#include "ir/transforms/refusal.hpp"
#include "ir/transforms/sweeps.hpp"

namespace assay::transforms {

using namespace ir;

namespace {

/// Whether the code for the node is independent of the values that are live after it.
bool is_simple(const SsaNode& node) {
  return !std::holds_alternative<CustomDerivativeNode>(node.node) && !std::holds_alternative<Branch>(node.node) &&
         !std::holds_alternative<Loop>(node.node);
}

/// The activity if these values are inactive.
Activity without(Activity activity, const ValueSet& values) {
  activity.active_values -= values;
  return activity;
}

}  // namespace

SweepGenerator::SweepGenerator(const Module& module, const Function& kernel, const SsaKernel& ssa, Activity activity,
                               Builder& builder, std::int32_t stride_function)
    : module_(module),
      kernel_(kernel),
      ssa_(ssa),
      part_updates_(find_part_updates(ssa)),
      activity_(without(std::move(activity), part_updates_.values_without_adjoint)),
      liveness_(module, kernel, ssa, activity_, part_updates_),
      builder_(builder),
      checkpoint_stride_function_(stride_function),
      primal_variables_(ssa.values.size(), kNone),
      predeclared_variables_(ssa.values.size(), kNone),
      adjoint_variables_(ssa.values.size(), kNone),
      has_borrowed_variable_(ssa.values.size(), false),
      deferred_contributions_(ssa.values.size()),
      regions_of_parts_(ssa.values.size(), nullptr),
      gradient_arrays_(kernel.variables.size()) {}

void SweepGenerator::run() {
  forward(ssa_.body, liveness_.reverse_reads(ssa_.body), {.records_values = true, .repeats_stores = true});
  for (std::size_t i = 0; i < result_adjoints_.size(); ++i)
    accumulate_variable(ssa_.results[i], result_adjoints_[i]);
  reverse(ssa_.body);
  auto& top = builder_.function().body.statements;
  top.insert(top.begin(), hoisted_declarations_.begin(), hoisted_declarations_.end());
}

ExprId SweepGenerator::expr(const Operand& operand) {
  if (!operand.is_constant()) return builder_.var(primal_variables_[index(operand.value)]);
  if (operand.type.is_float_scalar()) return builder_.literal(operand.type, std::bit_cast<double>(operand.bits));
  if (operand.type.is_scalar()) return builder_.literal(operand.type, static_cast<std::int64_t>(operand.bits));
  if (operand.type.is_aggregate() || operand.type.is_tile()) return builder_.zero(operand.type);
  return builder_.var(builder_.let_zero("zero", operand.type));
}

std::vector<ExprId> SweepGenerator::exprs(const std::vector<Operand>& operands) {
  std::vector<ExprId> result;
  result.reserve(operands.size());
  for (const Operand& operand : operands)
    result.push_back(expr(operand));
  return result;
}

VarId SweepGenerator::let_operand(const std::string& name, const Operand& operand) {
  if (operand.is_constant() && operand.bits == 0) return builder_.let_zero(name, operand.type);
  return builder_.let(name, expr(operand));
}

void SweepGenerator::define(ValueId value, ExprId expr) {
  VarId& variable = predeclared_variables_[index(value)];
  if (variable == kNone) {
    bind(value, builder_.let(value_of(value).name, expr));
  } else {
    builder_.assign(variable, expr);
    bind(value, std::exchange(variable, kNone));
  }
}

VarId SweepGenerator::declare_zero(ValueId value) {
  VarId variable = std::exchange(predeclared_variables_[index(value)], kNone);
  if (variable == kNone) variable = builder_.let_zero(value_of(value).name, value_of(value).type);
  bind(value, variable);
  return variable;
}

void SweepGenerator::forward(const Region& region, const ValueSet& live_after, ForwardSweepOptions sweep) {
  std::vector<std::pair<const SsaNode*, ValueSet>> needed;  // from last to first, each with the values live after it
  ValueSet live = live_after;
  for (const SsaNode& node : std::views::reverse(region.nodes)) {
    if (!liveness_.is_needed(node, live, sweep)) continue;
    needed.emplace_back(&node, is_simple(node) ? ValueSet() : live);
    liveness_.before(node, live, sweep);
  }
  for (const auto& [node, live_behind] : std::views::reverse(needed)) {
    builder_.at(node->loc);
    forward_node(*node, live_behind, sweep);
  }
  if (!region.nodes.empty()) builder_.at(region.nodes.back().loc);
}

void SweepGenerator::forward_node(const SsaNode& node, const ValueSet& live, ForwardSweepOptions sweep) {
  if (const auto* compute = std::get_if<ComputeNode>(&node.node)) forward_compute(*compute);
  if (const auto* load = std::get_if<LoadNode>(&node.node)) forward_load(*load);
  if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) forward_custom(*custom, live);
  if (const auto* branch = std::get_if<Branch>(&node.node)) forward_branch(*branch, live, sweep);
  if (const auto* loop = std::get_if<Loop>(&node.node)) forward_loop(*loop, live, sweep);
  if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) {
    record_error(reject(AdjointRejection::kUseOfAtomicResult, module_, node.loc, value_of(atomic->result).name));
    declare_zero(atomic->result);
  }
  if (const auto* store = std::get_if<StoreNode>(&node.node)) {
    store_part(store->array, store->indices, path_of(store->path), expr(store->value));
  }
}

void SweepGenerator::forward_compute(const ComputeNode& compute) {
  if (compute.kind == ExprKind::kShapeOf) {
    define(compute.result, builder_.shape_of(compute.array, compute.index));
  } else if (compute.kind == ExprKind::kField) {
    define(compute.result, builder_.field(expr(compute.args[0]), compute.index));
  } else {
    define(compute.result, builder_.op(compute.op, exprs(compute.args), value_of(compute.result).type, compute.index));
  }
}

void SweepGenerator::forward_load(const LoadNode& load) {
  if (reversed_loop_depth_ > 0 && liveness_.stored_since(*outermost_reversed_loop_, load.array)) {
    record_error(
        reject(AdjointRejection::kValueOverwrittenInLoop, module_, builder_.at(), kernel_.var(load.array).name));
  }
  define(load.result, load.path.empty() ? cell(load.array, load.indices, value_of(load.result).type)
                                        : part(builder_.load(load.array, exprs(load.indices)), path_of(load.path)));
}

std::vector<ElementPartStep> SweepGenerator::path_of(const Path& path) {
  std::vector<ElementPartStep> steps;
  for (const ElementPathStep& step : path) {
    steps.push_back({.whole_type = step.whole_type, .field_index = step.field_index});
    if (step.field_index == kNone) steps.back().index = expr(step.index);
  }
  return steps;
}

ExprId SweepGenerator::part(ExprId whole, std::span<const ElementPartStep> path) {
  for (const ElementPartStep& step : path)
    whole = step.field_index == kNone ? builder_.op(Op::kExtract, {whole, step.index})
                                      : builder_.field(whole, step.field_index);
  return whole;
}

ExprId SweepGenerator::with_part(ExprId whole, std::span<const ElementPartStep> path, ExprId value) {
  if (path.empty()) return value;
  const ElementPartStep& step = path.front();
  value = with_part(part(whole, path.first(1)), path.subspan(1), value);
  return step.field_index == kNone ? builder_.op(Op::kInsert, {whole, step.index, value})
                                   : builder_.op(Op::kWithField, {whole, value}, kVoid, step.field_index);
}

void SweepGenerator::store_part(VarId array, const std::vector<Operand>& indices, std::span<const ElementPartStep> path,
                                ExprId value) {
  if (!path.empty()) value = with_part(builder_.load(array, exprs(indices)), path, value);
  builder_.store(array, exprs(indices), value);
}

void SweepGenerator::add_to_part(VarId array, const std::vector<Operand>& indices,
                                 std::span<const ElementPartStep> path, ExprId value) {
  // Zero outside the part.
  for (std::size_t k = path.size(); k-- > 0;)
    value = builder_.op(Op::kInsert, {builder_.zero(path[k].whole_type), path[k].index, value});
  builder_.atomic(AtomicOp::kAdd, array, exprs(indices), value);
}

ExprId SweepGenerator::cell(VarId array, const std::vector<Operand>& indices, Type type) {
  const bool of_tiles = builder_.function().var(array).type.element() == type;
  return type.is_tile() && !of_tiles ? builder_.load_tile(type, array, exprs(indices))
                                     : builder_.load(array, exprs(indices));
}

void SweepGenerator::forward_custom(const CustomDerivativeNode& custom, const ValueSet& live) {
  if (custom.calls_function()) return forward_call(custom, live);
  for (std::size_t i = 0; i < custom.results.size(); ++i)
    if (Liveness::has(live, custom.results[i])) define(custom.results[i], expr(custom.primal_values[i]));
}

void SweepGenerator::forward_call(const CustomDerivativeNode& custom, const ValueSet& live) {
  std::vector<std::string> names;
  for (const ValueId result : custom.results)
    names.push_back(value_of(result).name);
  const std::vector<VarId> variables = builder_.call_statement(custom.called_function, exprs(custom.args), names);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const ValueId result = custom.results[i];
    if (!Liveness::has(live, result)) continue;
    if (predeclared_variables_[index(result)] == kNone) bind(result, variables[i]);
    else define(result, builder_.var(variables[i]));
  }
}

void SweepGenerator::predeclare(const Region& region, const ValueSet& live) {
  for (const SsaNode& node : region.nodes) {
    const auto declare = [&](ValueId value) {
      if (!Liveness::has(live, value) || predeclared_variables_[index(value)] != kNone) return;
      predeclared_variables_[index(value)] = builder_.let_zero(value_of(value).name, value_of(value).type);
    };
    if (const auto* compute = std::get_if<ComputeNode>(&node.node)) declare(compute->result);
    if (const auto* load = std::get_if<LoadNode>(&node.node)) declare(load->result);
    if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
      for (const ValueId result : custom->results)
        declare(result);
    }
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      for (const MergedValue& merge : branch->merges)
        declare(merge.result);
      predeclare(branch->then_region, live);
      predeclare(branch->else_region, live);
    }
    if (const auto* loop = std::get_if<Loop>(&node.node)) {
      for (const CarriedValue& carried : loop->carried_values)
        declare(carried.result);
      if (liveness_.has_reverse(*loop) && !liveness_.needs(*loop).is_reversed_forward) open_reversed_loop(*loop);
    }
  }
}

void SweepGenerator::forward_branch(const Branch& branch, const ValueSet& live, ForwardSweepOptions sweep) {
  std::vector<const MergedValue*> merges;
  for (const MergedValue& merge : branch.merges) {
    if (Liveness::has(live, merge.result)) merges.push_back(&merge);
  }
  if (sweep.records_values) {
    predeclare(branch.then_region, live);
    predeclare(branch.else_region, live);
  }
  const ExprId condition = expr(branch.condition);
  for (const MergedValue* merge : merges)
    declare_zero(merge->result);
  const Loc loc = builder_.at();
  const auto arm = [&](const Region& region, Operand MergedValue::*value) {
    return builder_.block([&] {
      ValueSet inner = live;
      for (const MergedValue* merge : merges)
        Liveness::add(inner, merge->*value);
      forward(region, inner, sweep);
      for (const MergedValue* merge : merges)
        builder_.assign(primal_variables_[index(merge->result)], expr(merge->*value));
    });
  };
  Block then_block = arm(branch.then_region, &MergedValue::then_value);
  Block else_block = arm(branch.else_region, &MergedValue::else_value);
  if (then_block.statements.empty() && else_block.statements.empty()) return;
  builder_.append({.node = If{condition, std::move(then_block), std::move(else_block)}, .loc = loc});
}

namespace {

/// The number of iterations of a range of constants; nullopt for other loops.
std::optional<std::int64_t> constant_trip_count(const Loop& loop) {
  if (!loop.is_range_loop || !loop.start.is_constant() || !loop.stop.is_constant() || !loop.step.is_constant())
    return std::nullopt;
  const auto number = [](const Operand& operand) { return static_cast<std::int64_t>(operand.bits); };
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // so that no difference overflows
  for (const Operand* const operand : {&loop.start, &loop.stop, &loop.step})
    if (number(*operand) < -kLargest || number(*operand) > kLargest) return std::nullopt;
  const std::int64_t step = number(loop.step);
  if (step == 0) return std::nullopt;
  const std::int64_t distance =
      step > 0 ? number(loop.stop) - number(loop.start) : number(loop.start) - number(loop.stop);
  const std::int64_t stride = step > 0 ? step : -step;
  return distance <= 0 ? 0 : (distance - 1) / stride + 1;
}

}  // namespace

ReversedLoop& SweepGenerator::open_reversed_loop(const Loop& loop, ExprId trips) {
  const auto found = reversed_loops_.find(&loop);
  if (found != reversed_loops_.end()) {
    if (trips != kNone) builder_.assign(found->second.trip_count, trips);
    return found->second;
  }
  ReversedLoop& record = reversed_loops_[&loop];
  record.trip_count = trips == kNone ? builder_.let_zero("trips", kI32) : builder_.let("trips", trips);
  if (liveness_.needs(loop).restored_carried_values.empty()) return record;
  record.checkpoint_count = reversed_loop_depth_ == 0 ? kMaxOuterLoopCheckpoints : kMaxInnerLoopCheckpoints;
  const std::optional<std::int64_t> known = constant_trip_count(loop);
  const bool has_all = known && *known <= record.checkpoint_count;
  if (has_all) record.checkpoint_count = static_cast<std::int32_t>(std::max<std::int64_t>(*known, 1));
  const auto hoist = [&](const std::string& name, Type type) {
    const VarId variable =
        builder_.declare(name, type.local_array_of(static_cast<std::uint32_t>(record.checkpoint_count)));
    builder_.function().variables.back().is_stored_before_read = true;
    hoisted_declarations_.push_back({.node = Let{variable, kNone}, .loc = builder_.at()});
    return variable;
  };
  if (!has_all) record.checkpoint_positions = hoist("checkpoint_at", kI32);
  for (const std::size_t i : liveness_.needs(loop).restored_carried_values) {
    const SsaValue& value = value_of(loop.carried_values[i].argument);
    record.checkpointed_values.push_back(hoist("checkpoint_" + value.name, value.type));
  }
  return record;
}

ExprId SweepGenerator::trip_count(const Loop& loop) {
  if (const auto known = constant_trip_count(loop); known && *known <= std::numeric_limits<std::int32_t>::max())
    return builder_.i32(*known);
  const Type type = loop.start.type;
  const bool constant = loop.step.is_constant();
  const auto step = static_cast<std::int64_t>(loop.step.bits);
  if (constant && step == 1 && type == kI32) {
    const bool from_zero = loop.start.is_constant() && loop.start.bits == 0;
    return builder_.op(Op::kMax,
                       {from_zero ? expr(loop.stop) : minus(expr(loop.stop), expr(loop.start)), builder_.i32(0)});
  }
  // Distances fit in the unsigned type of the same width, but not in the signed type.
  const Type distance = row(type.scalar).bytes <= 4 ? scalar_type(Scalar::kU32) : scalar_type(Scalar::kU64);
  const auto one = [&] { return builder_.literal(distance, std::int64_t{1}); };
  const auto zero = [&] { return builder_.literal(type, std::int64_t{0}); };
  const auto wide = [&](const Operand& operand) { return builder_.cast(distance, expr(operand)); };
  const auto trips = [&](const Operand& low, const Operand& high, ExprId stride) {
    const ExprId whole = builder_.op(Op::kDiv, {minus(minus(wide(high), wide(low)), one()), stride});
    return builder_.op(Op::kWhere, {builder_.op(Op::kLt, {expr(low), expr(high)}),
                                    builder_.cast(kI32, plus(whole, one())), builder_.i32(0)});
  };
  const auto ascending = [&] { return trips(loop.start, loop.stop, wide(loop.step)); };
  const auto descending = [&] {
    return trips(loop.stop, loop.start, minus(builder_.literal(distance, std::int64_t{0}), wide(loop.step)));
  };
  if (constant) return step > 0 || !row(type.scalar).is_signed ? ascending() : descending();
  return builder_.op(Op::kWhere, {builder_.op(Op::kGt, {expr(loop.step), zero()}), ascending(), descending()});
}

void SweepGenerator::forward_loop(const Loop& loop, const ValueSet& live, ForwardSweepOptions sweep) {
  const bool reversed =
      sweep.records_values && liveness_.needs(loop).has_reverse_sweep && !liveness_.needs(loop).is_reversed_forward;
  ReversedLoop* record = reversed ? &open_reversed_loop(loop, loop.is_range_loop ? trip_count(loop) : kNone) : nullptr;
  const std::vector<std::size_t> carried = liveness_.carried_to_run(loop, live, sweep);
  const bool stores = sweep.repeats_stores && liveness_.has_replayed_store(loop.body);
  if (!carried.empty() || stores) run_loop(loop, carried, record, sweep);
}

void SweepGenerator::save_state(const Loop& loop, const ReversedLoop& record, VarId iteration) {
  const auto& state = liveness_.needs(loop).restored_carried_values;
  if (state.empty()) return;
  const auto save = [&] {
    for (std::size_t s = 0; s < state.size(); ++s) {
      builder_.store(record.checkpointed_values[s], {builder_.var(iteration)},
                     builder_.var(primal_variables_[index(loop.carried_values[state[s]].argument)]));
    }
  };
  if (record.checkpoint_positions == kNone) return save();
  builder_.if_(builder_.op(Op::kLt, {builder_.var(iteration), builder_.i32(record.checkpoint_count)}), save);
}

void SweepGenerator::carry(const Loop& loop, const std::vector<std::size_t>& carried) {
  std::vector<ExprId> next;
  for (const std::size_t i : carried) {
    const CarriedValue& c = loop.carried_values[i];
    const bool moves = !c.next_value.is_constant() && c.next_value.value != c.argument &&
                       std::any_of(carried.begin(), carried.end(), [&](std::size_t j) {
                         return loop.carried_values[j].argument == c.next_value.value;
                       });
    next.push_back(moves ? builder_.var(builder_.let("next_" + value_of(c.argument).name, expr(c.next_value)))
                         : expr(c.next_value));
  }
  for (std::size_t n = 0; n < carried.size(); ++n) {
    const CarriedValue& c = loop.carried_values[carried[n]];
    if (c.next_value.value != c.argument) builder_.assign(primal_variables_[index(c.argument)], next[n]);
  }
}

void SweepGenerator::run_loop(const Loop& loop, const std::vector<std::size_t>& carried, ReversedLoop* record,
                              ForwardSweepOptions sweep) {
  ValueSet inner = liveness_.none();
  for (const std::size_t i : carried) {
    const CarriedValue& c = loop.carried_values[i];
    Liveness::add(inner, c.next_value);
    const VarId given = std::exchange(predeclared_variables_[index(c.result)], kNone);
    const VarId variable = given != kNone ? given : let_operand(value_of(c.argument).name, c.initial_value);
    if (given != kNone) builder_.assign(variable, expr(c.initial_value));
    bind(c.argument, variable);
    bind(c.result, variable);
  }
  const bool keeps = record != nullptr && !liveness_.needs(loop).restored_carried_values.empty();
  // The index of range(n) counts the iterations itself.
  const bool is_counted = has_index_from_zero(loop);
  const bool counts = record != nullptr && ((keeps && !is_counted) || !loop.is_range_loop);
  VarId iteration = kNone;
  if (counts) iteration = loop.is_range_loop ? builder_.let_zero("iteration", kI32) : record->trip_count;
  const Loc loc = builder_.at();
  const auto body = [&] {
    if (keeps) save_state(loop, *record, iteration);
    forward(loop.body, inner, sweep.inside_loop());
    builder_.at(loc);
    carry(loop, carried);
    if (counts) builder_.assign(iteration, plus(builder_.var(iteration), builder_.i32(1)));
  };
  if (loop.is_range_loop) {
    const ExprId start = expr(loop.start);
    const ExprId stop = expr(loop.stop);
    const ExprId step = expr(loop.step);
    builder_.for_(value_of(loop.index).name, start, stop, step, [&](VarId variable) {
      bind(loop.index, variable);
      if (is_counted) iteration = variable;
      body();
    });
  } else {
    builder_.while_(builder_.var(primal_variables_[index(loop.carried_values[loop.condition].argument)]), body);
  }
}

}  // namespace assay::transforms
