// The first launch on which a pass failed, as values: enough to repeat it elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "harness/judge/compare/comparator.hpp"
#include "ir/launch.hpp"

namespace assay::harness {

struct Counterexample {
  struct NamedArgument {
    std::string name;      ///< parameter name: "x"; "grad_x" for a gradient
    ir::Argument content;  ///< value or array, with its layout
  };

  std::size_t input_set_index = 0;  ///< number of the input set, from 0
  backends::Precision precision = backends::Precision::kNative;
  std::int64_t threads = 0;  ///< number of threads of the launch
  std::vector<NamedArgument>
      launch_arguments;  ///< the kernel's arguments, followed by the gradients of a backward pass

  std::string
      array_name;  ///< name of the array that differs; empty, like the rest, if the pass failed for another reason
  std::vector<ComputedScalar>
      got;  ///< scalars of the array, element by element in row-major order, component by component
  std::vector<ExpectedScalar> expected;  ///< the oracle's value for each scalar
};

}  // namespace assay::harness
