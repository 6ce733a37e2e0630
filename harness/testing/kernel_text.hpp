// Kernels for tests, written as their users write them.
#pragma once

#include <string>

#include "harness/suite/run/run.hpp"

namespace assay::harness::testing {

/// The only kernel of a Python text, "import warp as wp" left out; it is named as in the text and lies in "kernel.py".
/// Aborts, with the reader's words, on a text that cannot be read.
KernelSource kernel_of(const std::string& python);

}  // namespace assay::harness::testing
