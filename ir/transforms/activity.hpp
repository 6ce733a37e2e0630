// Activity analysis: a value is active if it depends on a float input and contributes to a float output.
#pragma once

#include "ir/transforms/ssa.hpp"
#include "ir/transforms/value_set.hpp"

namespace assay::transforms {

/// The result of the activity analysis.
struct Activity {
  /// Values that depend on a float input, contribute to a float output, and have float components.
  ValueSet active_values;
  /// Values whose adjoint may be exactly zero because a later selection did not choose them. Such a value may be
  /// infinite; its product with the zero adjoint must then be zero, not NaN.
  ValueSet possibly_unused_values;

  /// Returns whether the operand is an active value.
  bool is_active(const Operand& operand) const {
    return !operand.is_constant() && active_values[static_cast<std::size_t>(operand.value)];
  }
};

/// Whether values of the type have float components, including fields of structs.
bool carries_floats(const ir::Module& module, ir::Type type);

Activity find_activity(const ir::Module& module, const ir::Function& kernel, const SsaKernel& ssa);

/// The active parts of a value that a function returns. `ssa` is the function after split_structs.
VariedParts varied_parts(const ir::Module& module, const SsaKernel& ssa, const Activity& activity,
                         const Operand& result);

}  // namespace assay::transforms
