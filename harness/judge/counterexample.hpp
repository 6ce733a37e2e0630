// The launch on which a pass failed first, as values: enough to repeat it elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "harness/judge/compare/comparator.hpp"
#include "ir/launch.hpp"

namespace assay::harness {

struct Counterexample {
  struct Given {
    std::string name;  ///< "x"; "grad_x" for a gradient
    ir::Argument content;
  };

  std::size_t input_set = 0;
  backends::Precision precision = backends::Precision::kNative;
  std::int64_t threads = 0;
  std::vector<Given> given;  ///< what the launch found: the kernel's arguments, then, backward, the gradients

  std::string array;               ///< that differs; empty where the pass failed otherwise, and then the rest too
  std::vector<Computed> got;       ///< its scalars, element by element in row-major order, leaf by leaf
  std::vector<Expected> expected;  ///< one for each
};

}  // namespace assay::harness
