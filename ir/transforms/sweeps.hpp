// Generates the two sweeps of a backward kernel. Private to the adjoint pass.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.hpp"
#include "ir/element_part.hpp"
#include "ir/transforms/activity.hpp"
#include "ir/transforms/liveness.hpp"
#include "ir/transforms/part_updates.hpp"
#include "ir/transforms/rules.hpp"
#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// The maximum number of checkpoints of an outermost loop.
inline constexpr std::int32_t kMaxOuterLoopCheckpoints = 64;
/// The maximum number of checkpoints of an inner loop, whose states are recomputed for each iteration of the outer
/// loop.
inline constexpr std::int32_t kMaxInnerLoopCheckpoints = 32;

/// The variables of the backward kernel that belong to one reversed loop.
struct ReversedLoop {
  ir::VarId trip_count = ir::kNone;   ///< variable with the number of iterations of the forward sweep
  std::int32_t checkpoint_count = 0;  ///< maximum number of checkpoints
  /// Local array with the iteration that each checkpoint precedes. kNone: each iteration has a checkpoint, because the
  /// number of iterations is a constant that is small enough.
  ir::VarId checkpoint_positions = ir::kNone;
  std::vector<ir::VarId>
      checkpointed_values;  ///< local arrays of saved values, one for each of LoopLiveness::restored_carried_values
};

/// Whether the loop is one over range(n) with int32 numbers, so that its index is the number of the iteration.
inline bool has_index_from_zero(const Loop& loop) {
  return loop.is_range_loop && loop.start.is_constant() && loop.start.bits == 0 && loop.step.is_constant() &&
         loop.step.bits == 1 && loop.start.type == ir::kI32;
}

/// A gradient array that belongs to an array parameter, or to one field of its structs.
struct FieldGradient {
  std::vector<std::int32_t> field_path;  ///< indices of the fields that lead to the field; empty: the whole element
  ir::VarId gradient = ir::kNone;        ///< parameter of the backward kernel that is the gradient array
};

/// A contribution to a part of the adjoint of a value.
struct PartContribution {
  std::vector<ir::ElementPartStep> path;  ///< steps from the value to the part
  ir::ExprId term = ir::kNone;            ///< the contribution
};

/// Generates the two sweeps of one backward kernel.
class SweepGenerator {
 public:
  SweepGenerator(const ir::Module& module, const ir::Function& kernel, const SsaKernel& ssa, Activity activity,
                 ir::Builder& builder, std::int32_t stride_function);

  /// Sets the variable that holds a value from now on.
  void bind(ValueId value, ir::VarId variable) { primal_variables_[index(value)] = variable; }
  /// Sets the gradient array of an array parameter, or of one field of its structs.
  void bind_gradient(ir::VarId array, std::vector<std::int32_t> fields, ir::VarId gradient) {
    gradient_arrays_[static_cast<std::size_t>(array)].push_back({std::move(fields), gradient});
  }
  /// Sets the variables that hold the adjoints of the results of a function.
  void bind_result_adjoints(std::vector<ir::VarId> variables) { result_adjoints_ = std::move(variables); }
  /// Generates both sweeps of the whole kernel or function.
  void run();
  /// The adjoint of a by-value parameter after run(); kNone if nothing contributes to it.
  ir::VarId adjoint_of(ValueId value) const { return adjoint_variables_[index(value)]; }
  /// As AdjointModule::differentiated_operations.
  const std::set<ir::Op>& differentiated_operations() const { return differentiated_operations_; }
  /// The first rejection; the kernel is then unusable.
  const std::optional<Error>& error() const { return error_; }

 private:
  using Op = ir::Op;
  using VarId = ir::VarId;
  using ExprId = ir::ExprId;
  static std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }
  const SsaValue& value_of(ValueId value) const { return ssa_.values[index(value)]; }
  bool is_active(ValueId value) const { return activity_.active_values[index(value)]; }

  // ---- expressions of the backward kernel
  ExprId expr(const Operand& operand);
  std::vector<ExprId> exprs(const std::vector<Operand>& operands);
  ExprId plus(ExprId a, ExprId b) { return builder_.op(Op::kAdd, {a, b}); }
  ExprId minus(ExprId a, ExprId b) { return builder_.op(Op::kSub, {a, b}); }
  /// Loads the element of the array at the indices, or the tile that starts there, by type.
  ExprId cell(VarId array, const std::vector<Operand>& indices, ir::Type type);
  /// The path in expressions of the backward kernel.
  std::vector<ir::ElementPartStep> path_of(const Path& path);
  /// A part of a value, and the value with that part replaced.
  ExprId part(ExprId whole, std::span<const ir::ElementPartStep> path);
  ExprId with_part(ExprId whole, std::span<const ir::ElementPartStep> path, ExprId value);
  /// Stores to an element or a part of it.
  void store_part(VarId array, const std::vector<Operand>& indices, std::span<const ir::ElementPartStep> path,
                  ExprId value);
  /// Adds atomically to an element or a part of it; the path must not contain fields.
  void add_to_part(VarId array, const std::vector<Operand>& indices, std::span<const ir::ElementPartStep> path,
                   ExprId value);
  /// A new variable initialized with the operand.
  VarId let_operand(const std::string& name, const Operand& operand);

  // ---- forward sweep (forward_sweep.cpp)
  void forward(const Region& region, const ValueSet& live_after, ForwardSweepOptions sweep);
  void forward_node(const SsaNode& node, const ValueSet& live, ForwardSweepOptions sweep);
  void forward_compute(const ComputeNode& compute);
  void forward_load(const LoadNode& load);
  void forward_custom(const CustomDerivativeNode& custom, const ValueSet& live);
  /// The same if the function itself is called.
  void forward_call(const CustomDerivativeNode& custom, const ValueSet& live);
  void forward_branch(const Branch& branch, const ValueSet& live, ForwardSweepOptions sweep);
  void forward_loop(const Loop& loop, const ValueSet& live, ForwardSweepOptions sweep);
  /// Repeats the loop forward, with the carried values that have these indices, and saves checkpoints if `record` is
  /// not null.
  void run_loop(const Loop& loop, const std::vector<std::size_t>& carried, ReversedLoop* record,
                ForwardSweepOptions sweep);
  void save_state(const Loop& loop, const ReversedLoop& record, VarId iteration);
  /// Declares before a branch the variables that the reverse sweep reads after it.
  void predeclare(const Region& region, const ValueSet& live);
  void define(ValueId value, ExprId expr);  ///< sets the variable of a value
  VarId declare_zero(ValueId value);        ///< a new variable
  /// The record of the loop, declared on first use; `trips`, if given, is its number of iterations.
  ReversedLoop& open_reversed_loop(const Loop& loop, ExprId trips = ir::kNone);
  ExprId trip_count(const Loop& loop);
  ExprId iteration_value(const Loop& loop, ExprId iteration);
  /// carried := next, simultaneously for all carried values.
  void carry(const Loop& loop, const std::vector<std::size_t>& carried);

  // ---- reverse sweep (reverse_sweep.cpp)
  void reverse(const Region& region);
  void reverse_node(const SsaNode& node);
  void reverse_compute(const ComputeNode& compute);
  /// The same for a field, row or component of a value.
  void reverse_part(const ComputeNode& compute);
  /// The same for an assignment to a part. `w` is the adjoint of the result.
  void reverse_part_update(const PartUpdate& update, VarId w);
  void reverse_load(const LoadNode& load);
  void reverse_store(const StoreNode& store);
  /// The gradient array of an array whose elements are not structs.
  VarId gradient_of(VarId array) const { return gradient_arrays_[static_cast<std::size_t>(array)].front().gradient; }
  /// The field of a struct at a path, and the struct with that field replaced.
  ExprId field_at(ExprId object, std::span<const std::int32_t> path);
  ExprId with_field_at(VarId object, std::span<const std::int32_t> path, ExprId value);
  void reverse_atomic(const AtomicNode& atomic);
  void reverse_extremum(const AtomicNode& atomic);
  void reverse_extremum_of_components(const AtomicNode& atomic);
  void reverse_custom(const CustomDerivativeNode& custom);
  void reverse_branch(const Branch& branch);
  void reverse_loop(const Loop& loop);
  /// Runs all iterations with their reverse sweeps, by LoopLiveness::is_reversed_forward.
  void reverse_iterations_forward(const Loop& loop, const std::vector<VarId>& carried_adjoints);
  void reverse_iterations_backward(const Loop& loop, const std::vector<VarId>& carried_adjoints);
  /// Computes the values of the body that its reverse sweep and `live` need, and reverses the body. Then the adjoints
  /// of the carried values belong to the start of the iteration.
  void reverse_iteration(const Loop& loop, ValueSet live, const std::vector<VarId>& carried_adjoints);
  /// Sets the adjoints of the carried values to those at the start of the iteration, all at once.
  void assign_carried_adjoints(const Loop& loop, const std::vector<VarId>& carried_adjoints);
  /// Binds the state of the loop at the start of `iteration`. `top` is the current checkpoint of a long loop; kNone if
  /// each iteration has a checkpoint.
  void restore_state(const Loop& loop, const ReversedLoop& record, VarId iteration, VarId top);
  void rerun_to(const Loop& loop, const ReversedLoop& record, VarId iteration, VarId top);
  /// Returns an expression that is true if the loop ran at most as many iterations as it has checkpoints.
  ExprId trip_count_fits_checkpoints(const ReversedLoop& record) {
    return builder_.op(Op::kLe, {builder_.var(record.trip_count), builder_.i32(record.checkpoint_count)});
  }
  std::vector<VarId> open_carried_adjoints(const Loop& loop);
  ExprId contribution(const ComputeNode& compute, std::size_t k, ExprId w);
  /// The sum of the elements of a tile: the adjoint of a scalar that was broadcast to the tile.
  ExprId sum_of_elements(ExprId tile);
  /// The term, or zero if w is zero. For tiles this is decided for each element if `apart`, otherwise for the whole
  /// tile.
  ExprId unless_zero(ExprId w, ExprId term, bool apart);
  /// Adds the contribution to the adjoint of the operand.
  void accumulate(const Operand& operand, ExprId contribution);
  /// Adds a variable that does not change any more. Until something else is added, this variable is the adjoint of the
  /// operand.
  void accumulate_variable(const Operand& operand, VarId variable);
  /// Adds the contribution to a part of the adjoint of the operand. If the operand is itself a part of a value of the
  /// region that is being reversed, this is deferred until the operand's own node is reversed, so that the contribution
  /// is added to the adjoint of the whole value directly.
  void accumulate_in_part(const Operand& whole, std::vector<ir::ElementPartStep> path, ExprId contribution);
  /// Whether anything has contributed to the adjoint of the value.
  [[nodiscard]] bool has_adjoint(ValueId value) const {
    return adjoint_variables_[index(value)] != ir::kNone || !deferred_contributions_[index(value)].empty();
  }
  /// The variable with the adjoint of the value, including deferred contributions, to be changed. Declares it if the
  /// value has none of its own.
  VarId adjoint_variable(ValueId value);
  /// Adds the term to a part of the variable, or to the whole variable if the path is empty. Structs are added field by
  /// field.
  void add_to_variable(VarId variable, const std::vector<ir::ElementPartStep>& path, ExprId term);
  /// Adds the fields of a struct, except the one with the index `omitted_field`, to a part of the variable.
  void add_fields(VarId variable, const std::vector<ir::ElementPartStep>& path, ExprId term,
                  std::int32_t omitted_field);
  /// Declares the adjoints of the receivers that are not in `inside`.
  void open_receivers(const ValueSet& receivers, const ValueSet& inside);
  void collect_receivers(const Branch& branch, ValueSet& receivers) const;
  void collect_receivers(const Region& region, ValueSet& receivers) const;
  void forget_adjoints(const Region& region);  ///< forgets the adjoints of the values that the region defines
  void forget_adjoint(std::size_t value) {
    adjoint_variables_[value] = ir::kNone;
    has_borrowed_variable_[value] = false;
  }

  /// Keeps the error if it is the first. The sweeps continue, so that every value has a variable.
  void record_error(Error error) {
    if (!error_) error_ = std::move(error);
  }

  const ir::Module& module_;    ///< module that contains the kernel
  const ir::Function& kernel_;  ///< kernel that is differentiated
  const SsaKernel& ssa_;        ///< the kernel in SSA form
  PartUpdates part_updates_;    ///< assignments to parts of values
  Activity activity_;           ///< values that need an adjoint
  Liveness liveness_;           ///< values that the sweeps need
  ir::Builder& builder_;        ///< appends to the backward kernel
  /// Index in the backward module of the function checkpoint_stride(steps, slots).
  std::int32_t checkpoint_stride_function_;
  std::vector<VarId> primal_variables_;  ///< for each value: variable that holds it in the backward kernel
  /// For each value: variable for it that is declared before the branch that defines the value.
  std::vector<VarId> predeclared_variables_;
  /// For each value: variable that sums its adjoint; kNone until the first contribution.
  std::vector<VarId> adjoint_variables_;
  /// For each value: whether this variable also serves as another adjoint, so that it must not be changed.
  std::vector<bool> has_borrowed_variable_;
  /// Adjoints that are still zero at the current point, so that the first contribution need not be added.
  std::set<VarId> zero_variables_;
  std::set<VarId> changed_variables_;  ///< adjoints to which something has been added anywhere
  /// For each value: contributions to parts of its adjoint that are not in a variable yet.
  std::vector<std::vector<PartContribution>> deferred_contributions_;
  /// For each value that is a part of another value: the region that contains its node, set when the region is
  /// reversed.
  std::vector<const Region*> regions_of_parts_;
  const Region* reversed_region_ = nullptr;                  ///< region that is being reversed; null: none
  std::vector<std::vector<FieldGradient>> gradient_arrays_;  ///< for each array parameter: its gradient arrays
  std::vector<VarId> result_adjoints_;                       ///< variables with the adjoints of SsaKernel::results
  std::set<Op> differentiated_operations_;                   ///< operations whose adjoint rule was applied
  std::map<const Loop*, ReversedLoop> reversed_loops_;       ///< variables of each reversed loop
  std::vector<ExprId> rule_operands_;                        ///< operands of the current rule
  std::vector<ir::Type> rule_operand_types_;                 ///< types of these operands
  std::vector<ir::Stmt> hoisted_declarations_;  ///< declarations of local arrays, to be placed at the top of the kernel
  /// Variable that tells whether any component of the current operation's adjoint is nonzero; kNone until a rule needs
  /// it.
  VarId adjoint_is_nonzero_ = ir::kNone;
  int reversed_loop_depth_ = 0;                    ///< nesting depth of reversed loops at the current point
  const Loop* outermost_reversed_loop_ = nullptr;  ///< outermost reversed loop at the current point; null: none
  std::optional<Error> error_;                     ///< first rejection; nullopt: none
};

}  // namespace assay::transforms
