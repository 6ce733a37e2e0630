// Finds the places where an operator applies to a program, and changes one of them.
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

/// One change of a function.
struct Mutation {
  Operator op;
  std::size_t statement = 0;  ///< that is changed, by its number
  ir::Loc loc;                ///< in the user's file
  std::string what;           ///< "atomic_add(grad_x[i], adj_x_i) is dropped"
  /// Makes the change in a copy of the function that it was found in. What comes out may be no valid program.
  std::function<void(Editor&)> apply;
};

/// The function to change, and what its variables are.
struct Setting {
  /// Of the backward kernel of `kernel`.
  Setting(const transforms::Adjoint& adjoint, const ir::Function& kernel);
  /// Of a kernel as the user wrote it.
  Setting(const ir::Module& module, const ir::Function& kernel);

  const ir::Module& module;
  const ir::Function& function;
  std::vector<Listed> statements;
  KnownRanges ranges;
  std::vector<bool> dead;              ///< by statement: no launch within the domain reaches it
  std::vector<bool> effective;         ///< by statement: it has a part in what a launch leaves behind
  std::vector<ir::VarId> primal_of;    ///< by variable: for a gradient parameter, the kernel's parameter; else kNone
  std::set<std::string> source_names;  ///< of the kernel's variables
  /// By variable: whether it may hold part of a gradient. The gradient parameters do.
  std::vector<bool> carries;

  bool is_gradient(ir::VarId variable) const { return primal_of[static_cast<std::size_t>(variable)] != ir::kNone; }
  /// Whether the variable is a version of one that the user's source names; false for what passes made up.
  bool is_from_source(ir::VarId variable) const;
  bool carries_any(ir::ExprId root) const;
  /// Whether the statement itself works on gradients: it changes one, or computes part of one.
  bool works_on_gradients(const ir::Stmt& statement) const;
  bool in_loop(std::size_t statement) const;
  /// Whether a statement that has an effect reads the variable.
  bool is_read(ir::VarId variable) const;
  /// Variables that earlier statements around this one declare, and parameters and thread indices; some may be out of
  /// scope.
  std::vector<ir::VarId> visible(std::size_t statement) const;
};

/// All mutations of an operator on backward kernels (Part::kBackward) or on kernels (kForward, kPrimal), in the
/// order of the text. Left out are those that are known to change nothing: in dead code, in what has no effect, of
/// integers that lower precision holds too, of a load by the same load.
std::vector<Mutation> find_mutations(Operator op, const Setting& setting);

/// One change of the printed text.
struct TextMutation {
  Operator op;
  std::string what;
  backends::EmittedKernel kernel;  ///< the changed one; its helpers may differ from those of the same name elsewhere
  /// Of a missing barrier, in CUDA: the right kernel with `bar.sync 1` in the place of that barrier.
  std::optional<backends::EmittedKernel> marked = std::nullopt;
};
/// All mutations of an operator of Part::kText on the backward kernel.
std::vector<TextMutation> find_text_mutations(Operator op, const backends::EmittedKernel& kernel);

}  // namespace assay::mutation
