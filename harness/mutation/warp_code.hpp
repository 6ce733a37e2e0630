// Mutations of the text that Warp generates for a kernel: one line of its forward or backward function is changed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/mutation/operators.hpp"

namespace assay::mutation {

/// The file that Warp generates for one target, and the functions of the kernel in it.
struct WarpCode {
  std::string source;    ///< complete file
  std::string forward;   ///< function of the forward pass, a part of `source`
  std::string backward;  ///< function of the backward pass, a part of `source`; empty if there is none
};

/// The text that Warp generates for a kernel in both precisions.
struct WarpCodes {
  WarpCode native;    ///< code with the kernel's own types
  WarpCode promoted;  ///< code with f64 promotion; empty if Warp rejects the promoted kernel
};

/// One mutation of Warp's text.
struct WarpMutation {
  std::string description;  ///< description for people
  std::string source;       ///< the changed file
};

/// Whether there are mutations of Warp's text by the operator.
bool applies_to_warp_code(MutationOperator op);

/// All mutations by an operator, in the order of the text. Two texts that differ only in their types have the same
/// mutations. Leaves out mutations that cannot change a result, such as swapping equal operands.
std::vector<WarpMutation> find_warp_mutations(MutationOperator op, const WarpCode& code);

}  // namespace assay::mutation
