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
//   2000), with iterations recomputed in between. If the trip count is a small constant, code for a long loop is
//   left out.
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
  /// For a field of a struct, by value or in an array: the indices of the fields that lead to it; otherwise empty.
  std::vector<std::int32_t> field_path = {};
  /// Whether the primal parameter is an array. Then the gradient is an array of the same shape; an array of structs has
  /// one gradient array for each float field. Otherwise the gradient is an array of one element.
  bool is_array = false;
};

/// A module with the backward kernel, and how its parameters must be bound.
struct AdjointModule {
  /// The backward kernel as kernels[0], the structs and functions of the primal module, and a helper function.
  ir::Module module;
  std::vector<GradientParameter> gradient_parameters;  ///< gradient parameters, in order
  /// Parameters that must be bound to the contents of the arrays after the forward launch: arrays that an atomic
  /// minimum or maximum updates, and arrays_read_by_replays.
  std::vector<ir::VarId> parameters_bound_to_final_content;
  /// Arrays that the kernel changes but the backward kernel only reads, because it calls custom replays instead.
  std::vector<ir::VarId> arrays_read_by_replays;
  /// Operations of the primal kernel whose adjoint rule the backward kernel applies. A branch that propagates an
  /// adjoint counts as kConditional, because kConditional becomes a branch.
  std::set<ir::Op> differentiated_operations;
};

/// Makes the backward kernel of `kernel`, which must be valid in `module`. Kernels that have no derivative or are not
/// supported are rejected with a label and the source line (see refusal.hpp).
Result<AdjointModule> make_adjoint(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
