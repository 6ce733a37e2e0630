#include "ir/transforms/adjoint.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/analysis.hpp"
#include "ir/custom.hpp"
#include "ir/transforms/local_arrays.hpp"
#include "ir/transforms/refusal.hpp"
#include "ir/transforms/repeated_calls.hpp"
#include "ir/transforms/split_structs.hpp"
#include "ir/transforms/sweeps.hpp"
#include "ir/transforms/thread_private.hpp"
#include "ir/visit.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// checkpoint_stride(steps, slots): the number of iterations to advance before the next checkpoint when `steps`
/// iterations are to be reversed with `slots` checkpoints, including the current one. steps and slots are at least 2;
/// the result is between 1 and steps - 1. For the least r such that steps <= C(slots + r, slots), no iteration is run
/// more than r times if C(slots - 1 + r, slots - 1) of the steps are after the next checkpoint (Griewank and Walther
/// 2000).
Function checkpoint_stride(const Module& module) {
  Function function;
  function.name = "checkpoint_stride";
  function.results = {kI32};
  Builder b(module, function);
  const VarId steps = b.parameter("steps", kI32);
  const VarId slots = b.parameter("slots", kI32);
  const auto wide = [&](VarId variable) { return b.cast(kI64, b.var(variable)); };
  const auto one = [&] { return b.literal(kI64, std::int64_t{1}); };
  const VarId s = b.let("s", wide(slots));
  const VarId repeats = b.let("repeats", b.literal(kI64, std::int64_t{0}));
  const VarId reach = b.let("reach", one());
  const auto grown = [&] { return b.op(Op::kAdd, {b.var(s), b.var(repeats)}); };
  b.while_(b.op(Op::kLt, {b.var(reach), wide(steps)}), [&] {
    b.assign(repeats, b.op(Op::kAdd, {b.var(repeats), one()}));
    b.assign(reach, b.op(Op::kDiv, {b.op(Op::kMul, {b.var(reach), grown()}), b.var(repeats)}));
  });
  const VarId behind = b.let("behind", b.op(Op::kDiv, {b.op(Op::kMul, {b.var(reach), b.var(s)}), grown()}));
  const ExprId stride = b.op(Op::kSub, {b.var(steps), b.cast(kI32, b.var(behind))});
  b.return_({b.op(Op::kMax, {stride, b.i32(1)})});
  return function;
}

bool is_extremum(AtomicOp op) { return op == AtomicOp::kMin || op == AtomicOp::kMax; }

/// How a kernel changes one array.
struct Changes {
  bool stored = false;
  std::uint32_t atomics = 0;  ///< bit by AtomicOp

  bool any() const { return stored || atomics != 0; }
  static std::uint32_t bit(AtomicOp op) { return std::uint32_t{1} << static_cast<unsigned>(op); }
  /// The array is changed only by atomic minimums, or only by atomic maximums.
  bool is_extremum() const { return !stored && (atomics == bit(AtomicOp::kMin) || atomics == bit(AtomicOp::kMax)); }
};

void collect_changes(const Region& region, std::vector<Changes>& changes) {
  for (const SsaNode& node : region.nodes) {
    if (const auto* store = std::get_if<StoreNode>(&node.node))
      changes[static_cast<std::size_t>(store->array)].stored = true;
    if (const auto* update = std::get_if<AtomicNode>(&node.node))
      changes[static_cast<std::size_t>(update->array)].atomics |= Changes::bit(update->op);
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      collect_changes(branch->then_region, changes);
      collect_changes(branch->else_region, changes);
    }
    if (const auto* loop = std::get_if<Loop>(&node.node)) collect_changes(loop->body, changes);
  }
}

/// Indexed by parameter.
std::vector<Changes> find_changes(const Function& kernel, const SsaKernel& ssa) {
  std::vector<Changes> changes(kernel.variables.size());
  collect_changes(ssa.body, changes);
  return changes;
}

class AdjointMaker {
 public:
  /// `given` is the original module; in `module` and `kernel`, local arrays have been replaced by values where
  /// possible.
  AdjointMaker(const Module& given, const Module& module, const Function& kernel)
      : given_(given),
        module_(module),
        rewritten_(promote_private_elements(module, kernel)),
        kernel_(rewritten_ ? *rewritten_ : kernel) {}

  Result<AdjointModule> run() {
    AdjointModule adjoint;
    adjoint.module = {.structs = given_.structs,
                      .functions = given_.functions,
                      .kernels = {},
                      .source_name = given_.source_name,
                      .source_lines = given_.source_lines,
                      .imported_files = given_.imported_files,
                      .copied_lines = given_.copied_lines};
    const auto stride = static_cast<std::int32_t>(given_.functions.size());
    adjoint.module.functions.push_back(checkpoint_stride(module_));
    const FunctionAdjoints adjoints = add_function_adjoints(adjoint, stride);

    Result<SsaKernel> ssa = to_ssa(module_, kernel_, adjoints);
    if (!ssa.ok()) return ssa.error();
    split_structs(module_, kernel_, ssa.value());
    lower_private_atomics(kernel_, ssa.value());
    Activity activity = find_activity(module_, kernel_, ssa.value());
    const std::vector<Changes> changes = find_changes(kernel_, ssa.value());
    if (auto error = check_region(ssa.value().body, changes, activity)) return *error;

    Function backward;
    backward.variables.reserve(2 * kernel_.expressions.size());
    backward.expressions.reserve(4 * kernel_.expressions.size());
    backward.name = kernel_.name;
    backward.is_kernel = true;
    backward.annotations = kernel_.annotations;
    backward.loc = kernel_.loc;
    Builder builder(adjoint.module, backward);
    builder.at(kernel_.loc);
    for (VarId p = 0; p < kernel_.parameter_count; ++p)
      builder.parameter(kernel_.var(p).name, kernel_.var(p).type);
    for (VarId p = 0; p < kernel_.parameter_count; ++p)
      add_gradients(builder, p, adjoint.gradient_parameters);

    SweepGenerator sweeps(adjoint.module, kernel_, ssa.value(), std::move(activity), builder, stride);
    for (VarId p = 0; p < kernel_.parameter_count; ++p)
      sweeps.bind(p, p);
    for (int d = 0; d < kernel_.launch_rank; ++d) {
      const VarId primal = kernel_.parameter_count + d;
      sweeps.bind(primal, builder.thread_index(kernel_.var(primal).name));
    }
    for (const GradientParameter& gradient : adjoint.gradient_parameters) {
      if (gradient.is_array)
        sweeps.bind_gradient(gradient.primal_parameter, gradient.field_path, gradient.gradient_parameter);
    }
    sweeps.run();
    if (sweeps.error()) return *sweeps.error();
    for (const GradientParameter& gradient : adjoint.gradient_parameters) {
      if (!gradient.is_array) add_value_gradient(builder, gradient, sweeps.adjoint_of(gradient.primal_parameter));
    }
    adjoint.differentiated_operations.merge(std::set(sweeps.differentiated_operations()));
    for (VarId p = 0; p < kernel_.parameter_count; ++p) {
      const bool floats = kernel_.var(p).type.has_float_components();
      if (floats && changes[static_cast<std::size_t>(p)].is_extremum())
        adjoint.parameters_bound_to_final_content.push_back(p);
    }
    adjoint.arrays_read_by_replays = arrays_read_by_replays(ssa.value(), changes);
    adjoint.parameters_bound_to_final_content.insert(adjoint.parameters_bound_to_final_content.end(),
                                                     adjoint.arrays_read_by_replays.begin(),
                                                     adjoint.arrays_read_by_replays.end());
    adjoint.module.kernels.push_back(std::move(backward));
    drop_added_functions(adjoint.module, given_.functions.size());
    return adjoint;
  }

 private:
  /// Adds the adjoints of the functions that are called repeatedly and have derivatives. A function whose adjoint
  /// cannot be made is inlined.
  FunctionAdjoints add_function_adjoints(AdjointModule& adjoint, std::int32_t stride) const {
    FunctionAdjoints adjoints;
    for (const std::int32_t index : repeatedly_called_functions(module_, kernel_)) {
      const Function& function = module_.functions[static_cast<std::size_t>(index)];
      const auto has_floats = [&](Type type) { return carries_floats(module_, type); };
      const bool depends_on_floats =
          !gradient_targets(module_, function).empty() || !adjoint_array_targets(function).empty();
      if (!depends_on_floats || std::ranges::none_of(function.results, has_floats)) {
        adjoints.emplace(index, FunctionAdjoint{});
        continue;
      }
      FunctionAdjoint added;
      std::optional<Function> made = adjoint_of(function, adjoints, stride, adjoint, added);
      if (!made) continue;
      added.function = static_cast<std::int32_t>(adjoint.module.functions.size());
      adjoint.module.functions.push_back(*std::move(made));
      adjoints.emplace(index, std::move(added));
    }
    return adjoints;
  }

  /// The adjoint of a function f(p...) -> r...: a function (p..., adj_r..., adj_a...) -> adj_v... with the parameters
  /// of a custom gradient (ir/custom.hpp). It returns the adjoints of the parameters on which f depends. Sets all of
  /// `described` but the index of the function. nullopt if the adjoint cannot be made.
  std::optional<Function> adjoint_of(const Function& function, const FunctionAdjoints& adjoints, std::int32_t stride,
                                     AdjointModule& adjoint, FunctionAdjoint& described) const {
    Result<SsaKernel> ssa = to_ssa(module_, function, adjoints);
    if (!ssa.ok()) return std::nullopt;
    split_structs(module_, function, ssa.value());
    Activity activity = find_activity(module_, function, ssa.value());
    for (const Operand& result : ssa.value().results)
      described.varied_parts.push_back(varied_parts(module_, ssa.value(), activity, result));
    described.targets = gradient_targets(module_, function);
    std::erase_if(described.targets, [&](VarId p) { return !activity.active_values[static_cast<std::size_t>(p)]; });

    Function made;
    made.name = "adj_" + function.name;
    made.loc = function.loc;
    for (const VarId target : described.targets)
      made.results.push_back(function.var(target).type);
    Builder builder(adjoint.module, made);
    builder.at(function.loc);
    for (VarId p = 0; p < function.parameter_count; ++p)
      builder.parameter(function.var(p).name, function.var(p).type);
    std::vector<VarId> result_adjoints;
    for (const Type type : function.results)
      result_adjoints.push_back(builder.parameter("adj_result", type));
    std::vector<std::pair<VarId, VarId>> gradient_arrays;
    for (const VarId array : adjoint_array_targets(function)) {
      gradient_arrays.emplace_back(array,
                                   builder.parameter("adj_" + function.var(array).name, function.var(array).type));
      builder.function().variables.back().is_nullable = true;
    }
    SweepGenerator sweeps(adjoint.module, function, ssa.value(), std::move(activity), builder, stride);
    for (VarId p = 0; p < function.parameter_count; ++p)
      sweeps.bind(p, p);
    sweeps.bind_result_adjoints(std::move(result_adjoints));
    for (const auto& [array, gradient] : gradient_arrays)
      sweeps.bind_gradient(array, {}, gradient);
    sweeps.run();
    if (sweeps.error()) return std::nullopt;
    std::vector<ExprId> values;
    for (const VarId target : described.targets) {
      VarId value = sweeps.adjoint_of(target);
      if (value == kNone) value = builder.let_zero("adj_" + function.var(target).name, function.var(target).type);
      values.push_back(builder.var(value));
    }
    builder.return_(values);
    adjoint.differentiated_operations.merge(std::set(sweeps.differentiated_operations()));
    return made;
  }

  /// Removes those functions from `first` on that nothing calls.
  static void drop_added_functions(Module& module, std::size_t first) {
    std::vector<bool> is_used(module.functions.size(), false);
    const auto mark = [&](const Function& function) {
      for_each_call(function, [&](std::int32_t index) { is_used[static_cast<std::size_t>(index)] = true; });
    };
    mark(module.kernels[0]);
    for (std::size_t i = module.functions.size(); i-- > first;)
      if (is_used[i]) mark(module.functions[i]);
    std::vector<std::int32_t> numbers(module.functions.size());
    std::int32_t next = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = i < first || is_used[i] ? next++ : kNone;
    const auto renumber = [&](std::int32_t& index) { index = numbers[static_cast<std::size_t>(index)]; };
    for (std::size_t i = first; i < numbers.size(); ++i) {
      for_each_call(module.functions[i], renumber);
      if (is_used[i]) std::swap(module.functions[static_cast<std::size_t>(numbers[i])], module.functions[i]);
    }
    module.functions.resize(static_cast<std::size_t>(next));
    for_each_call(module.kernels[0], renumber);
  }

  /// See AdjointModule::arrays_read_by_replays.
  std::vector<VarId> arrays_read_by_replays(const SsaKernel& ssa, const std::vector<Changes>& changes) const {
    std::vector<VarId> arrays;
    std::vector<bool> loaded(kernel_.variables.size());
    collect_loaded(ssa.body, loaded);
    const ParameterUses uses = parameter_use(module_, kernel_);
    for (VarId p = 0; p < kernel_.parameter_count; ++p) {
      const auto number = static_cast<std::size_t>(p);
      if (loaded[number] && uses[number].changed() && !changes[number].any()) arrays.push_back(p);
    }
    return arrays;
  }

  static void collect_loaded(const Region& region, std::vector<bool>& loaded) {
    for (const SsaNode& node : region.nodes) {
      if (const auto* load = std::get_if<LoadNode>(&node.node)) loaded[static_cast<std::size_t>(load->array)] = true;
      if (const auto* branch = std::get_if<Branch>(&node.node)) {
        collect_loaded(branch->then_region, loaded);
        collect_loaded(branch->else_region, loaded);
      }
      if (const auto* loop = std::get_if<Loop>(&node.node)) collect_loaded(loop->body, loaded);
    }
  }

  /// Rejects derivatives through a function with a replay but no gradient, nonlinear gradients, custom functions that
  /// read arrays which the backward kernel changes, and gradients that add to the adjoint of an array which the kernel
  /// updates atomically.
  std::optional<Error> check_custom(const CustomDerivativeNode& custom, Loc loc, const std::vector<Changes>& changes,
                                    const Activity& activity) const {
    if (custom.calls_function()) return std::nullopt;
    const Function& called = module_.functions[static_cast<std::size_t>(custom.called_function)];
    const auto fail = [&](AdjointRejection rejection) { return reject(rejection, module_, loc, called.name); };
    const bool active = std::ranges::any_of(
        custom.results, [&](ValueId result) { return activity.active_values[static_cast<std::size_t>(result)]; });
    if (active && custom.gradient_function == kNone) return fail(AdjointRejection::kReplayWithoutGradient);
    for (const std::int32_t index : {active ? custom.gradient_function : kNone, called.replay_function_index}) {
      if (index == kNone) continue;
      const Function& reads = module_.functions[static_cast<std::size_t>(index)];
      const ParameterUses uses = parameter_use(module_, reads);
      for (std::size_t p = 0; p < custom.args.size(); ++p) {
        const Operand& arg = custom.args[p];
        if (arg.type.is_array() && uses[p].read && changes[static_cast<std::size_t>(arg.value)].any())
          return fail(AdjointRejection::kCustomFunctionReadsChangedArray);
      }
    }
    if (!active) return std::nullopt;
    for (const VarId array : custom.adjoint_arrays) {
      const ValueId parameter = custom.args[static_cast<std::size_t>(array)].value;
      if (changes[static_cast<std::size_t>(parameter)].atomics != 0)
        return reject(AdjointRejection::kReadOfAtomicallyUpdatedArray, module_, loc, kernel_.var(parameter).name);
    }
    const bool linear = has_linear_gradient(module_, called);
    return linear ? std::nullopt : std::optional(fail(AdjointRejection::kNonlinearCustomGradient));
  }

  /// Rejects loads of arrays that the kernel updates atomically, uses of the value returned by an atomic, and atomic
  /// minimums and maximums of arrays that are also changed in another way.
  std::optional<Error> check_region(const Region& region, const std::vector<Changes>& changes,
                                    const Activity& activity) const {
    const auto of = [&](VarId array) { return changes[static_cast<std::size_t>(array)]; };
    for (const SsaNode& node : region.nodes) {
      if (const auto* load = std::get_if<LoadNode>(&node.node)) {
        if (of(load->array).atomics != 0) {
          return reject(AdjointRejection::kReadOfAtomicallyUpdatedArray, module_, node.loc,
                        kernel_.var(load->array).name);
        }
      }
      if (const auto* update = std::get_if<AtomicNode>(&node.node)) {
        if (update->result != kNone && activity.active_values[static_cast<std::size_t>(update->result)]) {
          return reject(AdjointRejection::kUseOfAtomicResult, module_, node.loc, kernel_.var(update->array).name);
        }
        if (is_extremum(update->op) && update->value.type.has_float_components() && !of(update->array).is_extremum()) {
          return reject(AdjointRejection::kOverwrittenAtomicExtremum, module_, node.loc,
                        kernel_.var(update->array).name);
        }
      }
      if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
        if (auto error = check_custom(*custom, node.loc, changes, activity)) return error;
      }
      if (const auto* branch = std::get_if<Branch>(&node.node)) {
        if (auto error = check_region(branch->then_region, changes, activity)) return error;
        if (auto error = check_region(branch->else_region, changes, activity)) return error;
      }
      if (const auto* loop = std::get_if<Loop>(&node.node)) {
        if (auto error = check_region(loop->body, changes, activity)) return error;
      }
    }
    return std::nullopt;
  }

  void add_gradients(Builder& builder, VarId primal, std::vector<GradientParameter>& gradients) const {
    const Variable& parameter = kernel_.var(primal);
    if (!carries_floats(module_, parameter.type)) return;
    const std::string name = "grad_" + parameter.name;
    const bool is_array = parameter.type.is_array();
    if (parameter.type.shape == Shape::kStruct) {
      add_field_gradients(builder, {.primal_parameter = primal, .is_array = is_array}, name, parameter.type, gradients);
      return;
    }
    add_gradient(builder, {.primal_parameter = primal, .is_array = is_array}, name,
                 is_array ? parameter.type : parameter.type.array_of(1), gradients);
  }

  void add_field_gradients(Builder& builder, const GradientParameter& at, const std::string& name, Type type,
                           std::vector<GradientParameter>& gradients) const {
    const auto& fields = module_.structs[type.struct_id].fields;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (!fields[f].type.is_value() || !carries_floats(module_, fields[f].type)) continue;
      GradientParameter inner = at;
      inner.field_path.push_back(static_cast<std::int32_t>(f));
      const std::string inner_name = name + "_" + fields[f].name;
      if (fields[f].type.is_struct()) {
        add_field_gradients(builder, inner, inner_name, fields[f].type, gradients);
      } else {
        const int rank = at.is_array ? kernel_.var(at.primal_parameter).type.rank : 1;
        add_gradient(builder, inner, inner_name, fields[f].type.array_of(rank), gradients);
      }
    }
  }

  static void add_gradient(Builder& builder, GradientParameter gradient, const std::string& name, Type type,
                           std::vector<GradientParameter>& gradients) {
    gradient.gradient_parameter = builder.parameter(name, type);
    builder.function().variables.back().is_nullable = true;
    gradients.push_back(std::move(gradient));
  }

  static void add_value_gradient(Builder& builder, const GradientParameter& gradient, VarId adjoint) {
    if (adjoint == kNone) return;
    ExprId value = builder.var(adjoint);
    for (const std::int32_t field : gradient.field_path)
      value = builder.field(value, field);
    builder.atomic(AtomicOp::kAdd, gradient.gradient_parameter, {builder.i32(0)}, value);
  }

  const Module& given_;
  const Module& module_;
  const std::optional<Function> rewritten_;
  const Function& kernel_;
};

}  // namespace

Result<AdjointModule> make_adjoint(const Module& module, const Function& kernel) {
  const std::optional<Module> rewritten = replace_local_arrays(module);
  const Module& values = rewritten ? *rewritten : module;
  const std::optional<Function> rewritten_kernel = replace_local_arrays(values, kernel);
  return AdjointMaker(module, values, rewritten_kernel ? *rewritten_kernel : kernel).run();
}

}  // namespace assay::transforms
