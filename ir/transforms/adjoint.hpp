// Reverse-mode differentiation: transforms a kernel into the kernel that computes its vector-Jacobian product.
//
// The backward kernel has the parameters of the primal, then one gradient parameter for each float array, value or
// struct field, then the thread indices of the primal. Each thread runs the kernel again (the forward sweep), then
// visits its statements in reverse order (the reverse sweep) and accumulates the gradients:
//
// - A load adds atomically to the gradient of its element. A store reads and then clears the gradient, so that only the
//   last write to an element gets the cotangent. An atomic addition reads the gradient. Gradients of by-value
//   parameters are summed over threads.
// - Arrays that the kernel both writes and reads must be bound to scratch copies of their state before the launch: the
//   forward sweep stores into them. Other arrays are not modified.
// - An atomic minimum or maximum of floats needs the final content of the array
// (AdjointModule::parameters_bound_to_final_content), from
//   which a thread determines whether its value was kept. The winning thread removes the cotangent from the gradient;
//   in a tie the first thread takes all of it, so that the propagated adjoints always sum to the cotangent.
// - A loop whose derivative needs loop-carried values keeps a fixed number of checkpoints for any trip count: all
//   states of a short loop, a binomial selection for a long loop (Griewank and Walther, "Revolve", ACM TOMS 26(1),
//   2000), with iterations recomputed in between.
// - A null gradient array is skipped: its cotangent is zero and nothing is added to it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::transforms {

/// One gradient parameter of the backward kernel.
struct GradientParameter {
  ir::VarId gradient_parameter = ir::kNone;  ///< parameter of the backward kernel that receives the gradient
  ir::VarId primal_parameter = ir::kNone;    ///< parameter of the primal kernel that the gradient belongs to
  /// For structs, by value or in an array: the field indices that lead to the field of this gradient.
  std::vector<std::int32_t> field_path = {};
  /// True for an array: the gradient has the shape of the primal; an array of structs has one gradient array per field.
  /// Otherwise the gradient is an array of one element.
  bool is_array = false;
};

struct AdjointModule {
  ir::Module module;  ///< structs and functions of the primal and a helper; kernels[0] is the backward kernel
  std::vector<GradientParameter> gradient_parameters;  ///< gradient parameters, in order
  /// Parameters that must be bound to the content of the arrays after the forward launch: arrays updated by an atomic
  /// minimum or maximum.
  std::vector<ir::VarId> parameters_bound_to_final_content;
  /// Operations of the primal whose rule the backward kernel applies. A branch that propagates an adjoint counts as
  /// kConditional, since kConditional becomes a branch.
  std::set<ir::Op> differentiated_operations;
};

/// Makes the backward kernel of `kernel`, which must be valid in `module`. Kernels that have no derivative or are not
/// supported are rejected with a label and the source line (see refusal.hpp).
Result<AdjointModule> make_adjoint(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
