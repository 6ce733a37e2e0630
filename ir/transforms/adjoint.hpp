// The adjoint: from a kernel, the kernel that computes its vector-Jacobian product.
//
// The backward kernel has the primal's parameters, then one gradient parameter for each float array, value or struct
// field, then the primal's thread indices. Each thread runs the kernel again (the forward sweep) and then visits its
// statements in reverse (the reverse sweep), adding to the gradients:
//
// - A load adds to the gradient of its cell, atomically; a store reads and then clears it, so that only the last write
//   to a cell gets the seed; an atomic addition reads it. Gradients of by-value parameters are summed over threads.
// - Arrays that the kernel both writes and reads must be bound to scratch copies in their pre-launch state: the
//   forward sweep stores into them. Others are not touched.
// - An atomic minimum or maximum of floats needs the array's final content (Adjoint::final_arrays), which tells a
//   thread whether its value won. The winner takes the seed out of the gradient; in a tie the first thread to come
//   takes it whole, so that what is routed always sums to the seed.
// - A loop that carries values which its derivative needs keeps a fixed number of checkpoints, whatever its trip count:
//   all states of a short loop, a binomial selection of a long one (Griewank and Walther, "Revolve", ACM TOMS 26(1),
//   2000), between which iterations are run again.
// - A null gradient array is not wanted: its seed is zero and nothing is added to it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::transforms {

/// One gradient parameter of the backward kernel.
struct GradientParameter {
  ir::VarId gradient = ir::kNone;  ///< the parameter of the backward kernel
  ir::VarId primal = ir::kNone;    ///< the parameter of the primal kernel
  /// For structs, by value or in an array: the path of field numbers to the field whose gradient this is.
  std::vector<std::int32_t> fields = {};
  /// True for an array: the gradient has the primal's shape; of structs there is one array for each field. Otherwise it
  /// is an array of one element.
  bool is_array = false;
};

struct Adjoint {
  ir::Module module;  ///< the primal's structs and functions and a helper; kernels[0] is the backward kernel
  std::vector<GradientParameter> gradients;
  /// Parameters that must be bound to what the arrays held after the forward launch: those of which atomics take the
  /// minimum or maximum.
  std::vector<ir::VarId> final_arrays;
  /// Operations of the primal whose rule the backward kernel applies. A branch that passes an adjoint on counts as
  /// kConditional, which becomes one.
  std::set<ir::Op> differentiated;
};

/// Makes the backward kernel of `kernel`, which the verifier admits in `module`. Refuses, with a label and the source
/// line, what has no derivative or is not supported (see refusal.hpp).
Result<Adjoint> make_adjoint(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
