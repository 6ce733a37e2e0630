// Which values carry a derivative: those that depend on a float input and reach a float output.
#pragma once

#include "ir/transforms/ssa.hpp"
#include "ir/transforms/value_set.hpp"

namespace assay::transforms {

struct Activity {
  ValueSet active;  ///< varied and useful, and of a type with float components
  /// May be multiplied by an adjoint that is exactly zero because a selection downstream did not take it. Its own
  /// value may then be infinite, and the product must be zero, not NaN.
  ValueSet maskable;

  bool is_active(const Operand& operand) const {
    return !operand.is_constant() && active[static_cast<std::size_t>(operand.value)];
  }
};

/// Whether values of the type have float components; looks into structs.
bool carries_floats(const ir::Module& module, ir::Type type);

Activity find_activity(const ir::Module& module, const ir::Function& kernel, const SsaKernel& ssa);

}  // namespace assay::transforms
