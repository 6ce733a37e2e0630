// The first launch on which a pass failed, as values: enough to repeat it elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "harness/judge/compare/comparator.hpp"
#include "ir/launch.hpp"

namespace assay::harness {

/// The launch in which a pass failed: its arguments, and the incorrect array.
struct Counterexample {
  /// An argument of the launch.
  struct NamedArgument {
    std::string name;      ///< parameter name: "x"; "grad_x" for a gradient
    ir::Argument content;  ///< value or array, with its layout
  };

  std::size_t input_set_index = 0;                               ///< number of the input set, from 0
  backends::Precision precision = backends::Precision::kNative;  ///< precision variant that failed
  std::int64_t threads = 0;                                      ///< number of threads of the launch
  /// The kernel's arguments, followed by the gradients of a backward pass.
  std::vector<NamedArgument> launch_arguments;

  /// Name of the array that differs. This and the following members are empty if the pass failed for another reason.
  std::string array_name;
  /// The computed scalars of the array, element by element in row-major order, component by component.
  std::vector<ComputedScalar> got;
  std::vector<ExpectedScalar> expected;  ///< the oracle's value for each scalar
};

}  // namespace assay::harness
