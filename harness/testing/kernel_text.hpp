// Kernels for tests, written in Python.
#pragma once

#include <string>

#include "harness/suite/run/run.hpp"

namespace assay::harness::testing {

/// The only kernel of a Python text without "import warp as wp". Its file is "kernel.py". Aborts with the frontend's
/// error if the text cannot be parsed.
KernelSource kernel_of(const std::string& python);

}  // namespace assay::harness::testing
