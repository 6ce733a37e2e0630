// Finds the places where a mutation operator applies to a program, and mutates one of them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "harness/mutation/dead_code.hpp"
#include "harness/mutation/editor.hpp"
#include "harness/mutation/operators.hpp"
#include "ir/module.hpp"
#include "ir/transforms/adjoint.hpp"

namespace assay::mutation {

/// One mutation of a function.
struct Mutation {
  MutationOperator op;        ///< the operator that makes the mutation
  std::size_t statement = 0;  ///< number of the changed statement, as in statements_of
  ir::Loc loc;                ///< location of the statement in the user's file
  std::string description;    ///< description for people: "atomic_add(grad_x[i], adj_x_i) is dropped"
  /// Applies the change to a copy of the function. The result may be an invalid program.
  std::function<void(FunctionEditor&)> apply;
};

/// Where a variable gets its value.
struct VariableDefinition {
  bool is_declared = false;              ///< whether a Let declares it
  ir::ExprId initial_value = ir::kNone;  ///< value in its declaration; kNone: none
  bool is_assigned = false;              ///< whether a statement that some launch reaches assigns it
};

/// A function to mutate, with an analysis of its statements and variables.
struct MutationContext {
  /// For the backward kernel of `kernel`.
  MutationContext(const transforms::AdjointModule& adjoint, const ir::Function& kernel);
  /// For the forward kernel.
  MutationContext(const ir::Module& module, const ir::Function& kernel);

  const ir::Module& module;                     ///< module of `function`
  const ir::Function& function;                 ///< the function to mutate: the backward kernel or the forward kernel
  std::vector<ListedStatement> statements;      ///< statements of the function, in program order
  KnownRanges known_ranges;                     ///< ranges of the function's integers
  std::vector<bool> is_dead_statement;          ///< by statement: whether no launch within the domain reaches it
  std::vector<VariableDefinition> definitions;  ///< by variable: where it gets its value
  std::vector<bool> affects_launch_result;      ///< by statement: whether it affects the result of a launch
  /// By variable: for a gradient parameter, the parameter of the kernel whose gradient it is; else kNone.
  std::vector<ir::VarId> primal_parameter_by_variable;
  std::set<std::string> source_names;  ///< names of the kernel's variables
  /// By variable: whether it may hold part of a gradient; true for the gradient parameters.
  std::vector<bool> carries_gradient;

  /// Whether the variable is a gradient parameter.
  bool is_gradient(ir::VarId variable) const {
    return primal_parameter_by_variable[static_cast<std::size_t>(variable)] != ir::kNone;
  }
  /// Whether the variable is a version of a variable in the user's source; false for variables added by passes.
  bool is_from_source(ir::VarId variable) const;
  bool carries_any(ir::ExprId root) const;  ///< whether it reads a variable that may hold part of a gradient
  /// Whether the statement itself changes a gradient or computes part of one.
  bool works_on_gradients(const ir::Stmt& statement) const;
  bool in_loop(std::size_t statement) const;  ///< whether the statement is inside a loop
  /// Whether a statement that has an effect reads the variable.
  bool is_read(ir::VarId variable) const;
  /// Variables declared by earlier statements, parameters and thread indices; some may be out of scope.
  std::vector<ir::VarId> visible(std::size_t statement) const;
};

/// All mutations by an operator on backward kernels (MutatedKernelPart::kBackward) or forward kernels (kForward,
/// kPrimal), in program order. Leaves out mutations known to be equivalent: in dead code, in statements without effect,
/// of integers that the lower precision represents exactly, and of a load by the same load.
std::vector<Mutation> find_mutations(MutationOperator op, const MutationContext& context);

/// One mutation of the printed text.
struct TextMutation {
  MutationOperator op;      ///< the operator that makes the mutation
  std::string description;  ///< description for people
  /// The mutant; its helpers may differ from helpers of the same name in other kernels.
  backends::EmittedKernel kernel;
  /// If the mutant lacks a barrier in CUDA: the correct kernel with `bar.sync 1` in place of that barrier.
  std::optional<backends::EmittedKernel> kernel_with_marked_barrier = std::nullopt;
};
/// All mutations by an operator of MutatedKernelPart::kPrintedText on the backward kernel.
std::vector<TextMutation> find_text_mutations(MutationOperator op, const backends::EmittedKernel& kernel);

}  // namespace assay::mutation
