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
    std::string name;  ///< "x"; "grad_x" for a gradient
    ir::Argument content;
  };

  std::size_t input_set = 0;
  backends::Precision precision = backends::Precision::kNative;
  std::int64_t threads = 0;
  std::vector<NamedArgument>
      launch_arguments;  ///< the arguments of the launch: the kernel's, then, for a backward pass, the gradients

  std::string array;  ///< the array that differs; if the pass failed for another reason, this and the rest are empty
  std::vector<Computed> got;       ///< its scalars, element by element in row-major order, component by component
  std::vector<Expected> expected;  ///< one for each
};

}  // namespace assay::harness
